// RUN: rope-opt --rope-explain --split-input-file %s -o /dev/null 2>&1 | FileCheck %s

// Products and their sum in bf16: three roundings become one.
// CHECK: remark: rotation of 2 pairs by the model's own cos and sin, without the roundings to bf16 on the way{{$}}
#id = affine_map<(m, d) -> (m, d)>
func.func @products_in_bf16(%x: tensor<8x4xbf16>, %cos: tensor<8x2xbf16>, %sin: tensor<8x2xbf16>) -> tensor<8x4xbf16> {
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<8x4xbf16>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<8x4xbf16>) {
    ^bb0(%o: bf16):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = arith.remui %j, %c2 : index
      %kh = arith.addi %k, %c2 : index
      %c = tensor.extract %cos[%i, %k] : tensor<8x2xbf16>
      %s = tensor.extract %sin[%i, %k] : tensor<8x2xbf16>
      %u = tensor.extract %x[%i, %k] : tensor<8x4xbf16>
      %v = tensor.extract %x[%i, %kh] : tensor<8x4xbf16>
      %uc = arith.mulf %u, %c : bf16
      %vs = arith.mulf %v, %s : bf16
      %a = arith.subf %uc, %vs : bf16
      %us = arith.mulf %u, %s : bf16
      %vc = arith.mulf %v, %c : bf16
      %b = arith.addf %us, %vc : bf16
      %first = arith.cmpi ult, %j, %c2 : index
      %r = arith.select %first, %a, %b : bf16
      linalg.yield %r : bf16
  } -> tensor<8x4xbf16>
  return %y : tensor<8x4xbf16>
}

// -----

// An island of f32 rounds once, as the op does.
// CHECK: remark: rotation of 2 pairs by the model's own cos and sin{{$}}
#id = affine_map<(m, d) -> (m, d)>
func.func @island_of_f32(%x: tensor<8x4xbf16>, %cos: tensor<8x2xf32>, %sin: tensor<8x2xf32>) -> tensor<8x4xbf16> {
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<8x4xbf16>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<8x4xbf16>) {
    ^bb0(%o: bf16):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = arith.remui %j, %c2 : index
      %kh = arith.addi %k, %c2 : index
      %c = tensor.extract %cos[%i, %k] : tensor<8x2xf32>
      %s = tensor.extract %sin[%i, %k] : tensor<8x2xf32>
      %un = tensor.extract %x[%i, %k] : tensor<8x4xbf16>
      %vn = tensor.extract %x[%i, %kh] : tensor<8x4xbf16>
      %u = arith.extf %un : bf16 to f32
      %v = arith.extf %vn : bf16 to f32
      %uc = arith.mulf %u, %c : f32
      %vs = arith.mulf %v, %s : f32
      %a = arith.subf %uc, %vs : f32
      %us = arith.mulf %u, %s : f32
      %vc = arith.mulf %v, %c : f32
      %b = arith.addf %us, %vc : f32
      %first = arith.cmpi ult, %j, %c2 : index
      %w = arith.select %first, %a, %b : f32
      %r = arith.truncf %w : f32 to bf16
      linalg.yield %r : bf16
  } -> tensor<8x4xbf16>
  return %y : tensor<8x4xbf16>
}

// -----

// Scores and probabilities in f16.
// CHECK: remark: attention, without the roundings to f16 on the way{{$}}
func.func @scores_in_f16(%q: tensor<2x8x16xf16>, %k: tensor<2x24x16xf16>, %v: tensor<2x24x4xf16>) -> tensor<2x8x4xf16> {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<2x8x24xf16>
  %z0 = linalg.fill ins(%z : f16) outs(%e : tensor<2x8x24xf16>) -> tensor<2x8x24xf16>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b,m,n,d)->(b,m,d)>, affine_map<(b,m,n,d)->(b,n,d)>, affine_map<(b,m,n,d)->(b,m,n)>]
      ins(%q, %k : tensor<2x8x16xf16>, tensor<2x24x16xf16>) outs(%z0 : tensor<2x8x24xf16>) -> tensor<2x8x24xf16>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x8x24xf16>) outs(%e : tensor<2x8x24xf16>) -> tensor<2x8x24xf16>
  %eo = tensor.empty() : tensor<2x8x4xf16>
  %o0 = linalg.fill ins(%z : f16) outs(%eo : tensor<2x8x4xf16>) -> tensor<2x8x4xf16>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x8x24xf16>, tensor<2x24x4xf16>) outs(%o0 : tensor<2x8x4xf16>) -> tensor<2x8x4xf16>
  return %o : tensor<2x8x4xf16>
}
