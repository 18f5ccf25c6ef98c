// RUN: rope-opt --rope-raise %s | FileCheck %s

// What the product computes of the keys is the operand: its op stays.
// CHECK-LABEL: @tanh_of_keys
// CHECK: %[[K:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<5x8xf32>)
// CHECK: math.tanh
// CHECK: rope.attention ins(%arg0, %[[K]], %arg2 :
func.func @tanh_of_keys(%q: tensor<3x8xf32>, %k: tensor<5x8xf32>, %v: tensor<5x4xf32>) -> tensor<3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x5xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %qk = linalg.generic {indexing_maps = [affine_map<(m, n, d) -> (m, d)>, affine_map<(m, n, d) -> (n, d)>, affine_map<(m, n, d) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<3x8xf32>, tensor<5x8xf32>) outs(%z0 : tensor<3x5xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %w = math.tanh %b : f32
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
