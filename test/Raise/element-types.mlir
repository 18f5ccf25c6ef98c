// RUN: rope-opt --rope-raise --split-input-file %s | FileCheck %s
// RUN: rope-opt --rope-raise=explain=true --split-input-file %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// No op takes f8: the keys are those that the model has in f32.
// CHECK-LABEL: @keys_from_f8
// CHECK: %[[K:.*]] = arith.extf %arg1
// CHECK: rope.attention ins(%arg0, %[[K]], %arg2 : tensor<3x8xf32>, tensor<5x8xf32>, tensor<5x4xf32>)
func.func @keys_from_f8(%q: tensor<3x8xf32>, %k: tensor<5x8xf8E4M3FN>, %v: tensor<5x4xf32>) -> tensor<3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %kw = arith.extf %k : tensor<5x8xf8E4M3FN> to tensor<5x8xf32>
  %e = tensor.empty() : tensor<3x5xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %qk = linalg.matmul indexing_maps = [affine_map<(m, n, d) -> (m, d)>, affine_map<(m, n, d) -> (n, d)>, affine_map<(m, n, d) -> (m, n)>]
      ins(%q, %kw : tensor<3x8xf32>, tensor<5x8xf32>) outs(%z0 : tensor<3x5xf32>) -> tensor<3x5xf32>
  %p = linalg.softmax dimension(1) ins(%qk : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %eo = tensor.empty() : tensor<3x4xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<3x4xf32>) -> tensor<3x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<3x5xf32>, tensor<5x4xf32>) outs(%o0 : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// -----

// As well if the product casts them.
// CHECK-LABEL: @keys_of_f8
// CHECK: %[[K:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<5x8xf8E4M3FN>) outs(%{{.*}} : tensor<5x8xf32>)
// CHECK: rope.attention ins(%arg0, %[[K]], %arg2 : tensor<3x8xf32>, tensor<5x8xf32>, tensor<5x4xf32>)
func.func @keys_of_f8(%q: tensor<3x8xf32>, %k: tensor<5x8xf8E4M3FN>, %v: tensor<5x4xf32>) -> tensor<3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x5xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %qk = linalg.generic {indexing_maps = [affine_map<(m, n, d) -> (m, d)>, affine_map<(m, n, d) -> (n, d)>, affine_map<(m, n, d) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<3x8xf32>, tensor<5x8xf8E4M3FN>) outs(%z0 : tensor<3x5xf32>) {
    ^bb0(%a: f32, %b: f8E4M3FN, %o: f32):
      %w = arith.extf %b : f8E4M3FN to f32
      %m = arith.mulf %a, %w : f32
      %r = arith.addf %o, %m : f32
      linalg.yield %r : f32
  } -> tensor<3x5xf32>
  %p = linalg.softmax dimension(1) ins(%qk : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %eo = tensor.empty() : tensor<3x4xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<3x4xf32>) -> tensor<3x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<3x5xf32>, tensor<5x4xf32>) outs(%o0 : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// -----

// REMARK: remark: no attention: an operand is of f8E4M3FN
// CHECK-LABEL: @values_of_f8
// CHECK-NOT: rope.attention
func.func @values_of_f8(%q: tensor<3x8xf32>, %k: tensor<5x8xf32>, %v: tensor<5x4xf8E4M3FN>) -> tensor<3x4xf8E4M3FN> {
  %zero = arith.constant 0.0 : f32
  %zero8 = arith.constant 0.0 : f8E4M3FN
  %e = tensor.empty() : tensor<3x5xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %qk = linalg.matmul indexing_maps = [affine_map<(m, n, d) -> (m, d)>, affine_map<(m, n, d) -> (n, d)>, affine_map<(m, n, d) -> (m, n)>]
      ins(%q, %k : tensor<3x8xf32>, tensor<5x8xf32>) outs(%z0 : tensor<3x5xf32>) -> tensor<3x5xf32>
  %p = linalg.softmax dimension(1) ins(%qk : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %p8 = arith.truncf %p : tensor<3x5xf32> to tensor<3x5xf8E4M3FN>
  %eo = tensor.empty() : tensor<3x4xf8E4M3FN>
  %o0 = linalg.fill ins(%zero8 : f8E4M3FN) outs(%eo : tensor<3x4xf8E4M3FN>) -> tensor<3x4xf8E4M3FN>
  %o = linalg.matmul ins(%p8, %v : tensor<3x5xf8E4M3FN>, tensor<5x4xf8E4M3FN>) outs(%o0 : tensor<3x4xf8E4M3FN>) -> tensor<3x4xf8E4M3FN>
  return %o : tensor<3x4xf8E4M3FN>
}

// -----

// REMARK: remark: no rotation: it is of f8E4M3FN
// CHECK-LABEL: @rotation_of_f8
// CHECK-NOT: rope.rotate
#id = affine_map<(m, d) -> (m, d)>
#row = affine_map<(m, d) -> (m)>
func.func @rotation_of_f8(%x: tensor<4x4xf8E4M3FN>, %ids: tensor<4xi64>) -> tensor<4x4xf8E4M3FN> {
  %c2 = arith.constant 2 : index
  %f = arith.constant dense<[1.0, 0.1]> : tensor<2xf32>
  %e = tensor.empty() : tensor<4x4xf8E4M3FN>
  %y = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<4xi64>) outs(%e : tensor<4x4xf8E4M3FN>) {
    ^bb0(%at: i64, %o: f8E4M3FN):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %n = arith.remui %j, %c2 : index
      %nh = arith.addi %n, %c2 : index
      %w = tensor.extract %f[%n] : tensor<2xf32>
      %r = arith.sitofp %at : i64 to f32
      %t = arith.mulf %r, %w : f32
      %c = math.cos %t : f32
      %s = math.sin %t : f32
      %un = tensor.extract %x[%i, %n] : tensor<4x4xf8E4M3FN>
      %vn = tensor.extract %x[%i, %nh] : tensor<4x4xf8E4M3FN>
      %u = arith.extf %un : f8E4M3FN to f32
      %v = arith.extf %vn : f8E4M3FN to f32
      %uc = arith.mulf %u, %c : f32
      %vs = arith.mulf %v, %s : f32
      %a = arith.subf %uc, %vs : f32
      %us = arith.mulf %u, %s : f32
      %vc = arith.mulf %v, %c : f32
      %b = arith.addf %us, %vc : f32
      %first = arith.cmpi ult, %j, %c2 : index
      %z = arith.select %first, %a, %b : f32
      %r8 = arith.truncf %z : f32 to f8E4M3FN
      linalg.yield %r8 : f8E4M3FN
  } -> tensor<4x4xf8E4M3FN>
  return %y : tensor<4x4xf8E4M3FN>
}

// -----

// REMARK: remark: no rotation: it is of tf32
// CHECK-LABEL: @rotation_of_tf32
// CHECK-NOT: rope.rotate
#id = affine_map<(m, d) -> (m, d)>
#row = affine_map<(m, d) -> (m)>
func.func @rotation_of_tf32(%x: tensor<4x4xtf32>, %ids: tensor<4xi64>) -> tensor<4x4xtf32> {
  %c2 = arith.constant 2 : index
  %f = arith.constant dense<[1.0, 0.1]> : tensor<2xf32>
  %e = tensor.empty() : tensor<4x4xtf32>
  %y = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<4xi64>) outs(%e : tensor<4x4xtf32>) {
    ^bb0(%at: i64, %o: tf32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %n = arith.remui %j, %c2 : index
      %nh = arith.addi %n, %c2 : index
      %w = tensor.extract %f[%n] : tensor<2xf32>
      %r = arith.sitofp %at : i64 to f32
      %t = arith.mulf %r, %w : f32
      %c = math.cos %t : f32
      %s = math.sin %t : f32
      %un = tensor.extract %x[%i, %n] : tensor<4x4xtf32>
      %vn = tensor.extract %x[%i, %nh] : tensor<4x4xtf32>
      %u = arith.extf %un : tf32 to f32
      %v = arith.extf %vn : tf32 to f32
      %uc = arith.mulf %u, %c : f32
      %vs = arith.mulf %v, %s : f32
      %a = arith.subf %uc, %vs : f32
      %us = arith.mulf %u, %s : f32
      %vc = arith.mulf %v, %c : f32
      %b = arith.addf %us, %vc : f32
      %first = arith.cmpi ult, %j, %c2 : index
      %z = arith.select %first, %a, %b : f32
      %r8 = arith.truncf %z : f32 to tf32
      linalg.yield %r8 : tf32
  } -> tensor<4x4xtf32>
  return %y : tensor<4x4xtf32>
}

// -----

// Truths are no positions, but the model's own table will do.
// REMARK: remark: rotation of 2 pairs by the model's own cos and sin (positions are of i1)
// CHECK-LABEL: @positions_of_i1
// CHECK-NOT: rope.table
// CHECK: rope.assemble
// CHECK: rope.rotate
#id = affine_map<(m, d) -> (m, d)>
#row = affine_map<(m, d) -> (m)>
func.func @positions_of_i1(%x: tensor<4x4xf32>, %ids: tensor<4xi1>) -> tensor<4x4xf32> {
  %c2 = arith.constant 2 : index
  %f = arith.constant dense<[1.0, 0.1]> : tensor<2xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %y = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<4xi1>) outs(%e : tensor<4x4xf32>) {
    ^bb0(%at: i1, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %n = arith.remui %j, %c2 : index
      %nh = arith.addi %n, %c2 : index
      %w = tensor.extract %f[%n] : tensor<2xf32>
      %r = arith.uitofp %at : i1 to f32
      %t = arith.mulf %r, %w : f32
      %c = math.cos %t : f32
      %s = math.sin %t : f32
      %u = tensor.extract %x[%i, %n] : tensor<4x4xf32>
      %v = tensor.extract %x[%i, %nh] : tensor<4x4xf32>
      %uc = arith.mulf %u, %c : f32
      %vs = arith.mulf %v, %s : f32
      %a = arith.subf %uc, %vs : f32
      %us = arith.mulf %u, %s : f32
      %vc = arith.mulf %v, %c : f32
      %b = arith.addf %us, %vc : f32
      %first = arith.cmpi ult, %j, %c2 : index
      %z = arith.select %first, %a, %b : f32
      linalg.yield %z : f32
  } -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @positions_of_i8
// CHECK: rope.table {{.*}} ins(%arg1 : tensor<4xi8>)
#id = affine_map<(m, d) -> (m, d)>
#row = affine_map<(m, d) -> (m)>
func.func @positions_of_i8(%x: tensor<4x4xf32>, %ids: tensor<4xi8>) -> tensor<4x4xf32> {
  %c2 = arith.constant 2 : index
  %f = arith.constant dense<[1.0, 0.1]> : tensor<2xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %y = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<4xi8>) outs(%e : tensor<4x4xf32>) {
    ^bb0(%at: i8, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %n = arith.remui %j, %c2 : index
      %nh = arith.addi %n, %c2 : index
      %w = tensor.extract %f[%n] : tensor<2xf32>
      %r = arith.sitofp %at : i8 to f32
      %t = arith.mulf %r, %w : f32
      %c = math.cos %t : f32
      %s = math.sin %t : f32
      %u = tensor.extract %x[%i, %n] : tensor<4x4xf32>
      %v = tensor.extract %x[%i, %nh] : tensor<4x4xf32>
      %uc = arith.mulf %u, %c : f32
      %vs = arith.mulf %v, %s : f32
      %a = arith.subf %uc, %vs : f32
      %us = arith.mulf %u, %s : f32
      %vc = arith.mulf %v, %c : f32
      %b = arith.addf %us, %vc : f32
      %first = arith.cmpi ult, %j, %c2 : index
      %z = arith.select %first, %a, %b : f32
      linalg.yield %z : f32
  } -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
