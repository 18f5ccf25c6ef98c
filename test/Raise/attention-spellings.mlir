// RUN: rope-opt --rope-raise --split-input-file %s | FileCheck %s

// The softmax as an op.
// CHECK-LABEL: @softmax_op
// CHECK: rope.attention ins(%arg0, %arg1, %arg2 : {{.*}} scale 2.500000e-01 layout <query = "hmd", key = "hnd", value = "hne", output = "hme">
// CHECK-NOT: linalg
func.func @softmax_op(%q: tensor<2x8x16xf32>, %k: tensor<2x24x16xf32>, %v: tensor<2x24x4xf32>) -> tensor<2x8x4xf32> {
  %z = arith.constant 0.0 : f32
  %scale = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<2x8x24xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<2x8x24xf32>) -> tensor<2x8x24xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b,m,n,d)->(b,m,d)>, affine_map<(b,m,n,d)->(b,n,d)>, affine_map<(b,m,n,d)->(b,m,n)>]
      ins(%q, %k : tensor<2x8x16xf32>, tensor<2x24x16xf32>) outs(%z0 : tensor<2x8x24xf32>) -> tensor<2x8x24xf32>
  %f = linalg.fill ins(%scale : f32) outs(%e : tensor<2x8x24xf32>) -> tensor<2x8x24xf32>
  %t = linalg.mul ins(%s, %f : tensor<2x8x24xf32>, tensor<2x8x24xf32>) outs(%e : tensor<2x8x24xf32>) -> tensor<2x8x24xf32>
  %p = linalg.softmax dimension(2) ins(%t : tensor<2x8x24xf32>) outs(%e : tensor<2x8x24xf32>) -> tensor<2x8x24xf32>
  %eo = tensor.empty() : tensor<2x8x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x8x24xf32>, tensor<2x24x4xf32>) outs(%o0 : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  return %o : tensor<2x8x4xf32>
}

// -----

// The division after the values, powers of two, a sum of 1 more in the
// denominator (a sink of 0), and a product that is summed by another op.
// CHECK-LABEL: @divided_last
// CHECK: %[[SINK:.*]] = linalg.generic
// CHECK: rope.attention ins(%arg0, %arg1, %arg2 : {{.*}} sink(%[[SINK]] : tensor<f32>) {{.*}} scale 0.9999999{{[0-9]*}} layout
// CHECK-NOT: math.exp2
#mnd = affine_map<(m, n, d) -> (m, n, d)>
#mn0 = affine_map<(m, n, d) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
func.func @divided_last(%q: tensor<8x16xf32>, %k: tensor<24x16xf32>, %v: tensor<24x4xf32>) -> tensor<8x4xf32> {
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %log2e = arith.constant 1.44269502 : f32
  %e3 = tensor.empty() : tensor<8x24x16xf32>
  %products = linalg.generic {indexing_maps = [affine_map<(m,n,d)->(m,d)>, affine_map<(m,n,d)->(n,d)>, #mnd], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%q, %k : tensor<8x16xf32>, tensor<24x16xf32>) outs(%e3 : tensor<8x24x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<8x24x16xf32>
  %e = tensor.empty() : tensor<8x24xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<8x24xf32>) -> tensor<8x24xf32>
  %s = linalg.generic {indexing_maps = [#mnd, #mn0], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%products : tensor<8x24x16xf32>) outs(%z0 : tensor<8x24xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
  } -> tensor<8x24xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<8x24xf32>) outs(%e : tensor<8x24xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.mulf %a, %log2e : f32
      %r = math.exp2 %t : f32
      linalg.yield %r : f32
  } -> tensor<8x24xf32>
  %er = tensor.empty() : tensor<8xf32>
  %r0 = linalg.fill ins(%z : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x24xf32>) outs(%r0 : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
  } -> tensor<8xf32>
  %eo = tensor.empty() : tensor<8x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<8x4xf32>) -> tensor<8x4xf32>
  %pv = linalg.matmul ins(%x, %v : tensor<8x24xf32>, tensor<24x4xf32>) outs(%o0 : tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%pv, %sum : tensor<8x4xf32>, tensor<8xf32>) outs(%eo : tensor<8x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %n = arith.addf %b, %one : f32
      %r = arith.divf %a, %n : f32
      linalg.yield %r : f32
  } -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
