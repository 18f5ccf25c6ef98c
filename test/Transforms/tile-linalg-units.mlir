// RUN: rope-run %s --random=1 --pipeline-options=portable --save=%t.npz
// RUN: rope-opt %s --rope-tile-linalg -o %t.mlir
// RUN: rope-run %t.mlir --random=1 --pipeline-options=portable --expect=%t.npz --rtol=1e-6
// RUN: FileCheck %s < %t.mlir

// Dims of extent 1 beside those that tiles make so: which one a slice drops
// does not matter to the numbers.

// CHECK: vector.contract
func.func @f(%a: tensor<4x1x33xf32>, %b: tensor<4x33x64xf32>, %c: tensor<4x1x64xf32>, %x: tensor<1x1x33xf32>, %y: tensor<1x33x64xf32>, %z: tensor<1x1x64xf32>) -> (tensor<4x1x64xf32>, tensor<1x1x64xf32>, tensor<4x1xf32>) {
  %r = linalg.generic {indexing_maps = [affine_map<(h, i, j, k) -> (h, i, k)>, affine_map<(h, i, j, k) -> (h, k, j)>, affine_map<(h, i, j, k) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%a, %b : tensor<4x1x33xf32>, tensor<4x33x64xf32>) outs(%c : tensor<4x1x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<4x1x64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, i, j, k) -> (h, i, k)>, affine_map<(h, i, j, k) -> (h, k, j)>, affine_map<(h, i, j, k) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %y : tensor<1x1x33xf32>, tensor<1x33x64xf32>) outs(%z : tensor<1x1x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<1x1x64xf32>
  %e = tensor.empty() : tensor<4x1xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x1xf32>) -> tensor<4x1xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(h, i, k) -> (h, i, k)>, affine_map<(h, i, k) -> (h, i)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%c : tensor<4x1x64xf32>) outs(%f : tensor<4x1xf32>) {
  ^bb0(%p: f32, %o: f32):
    %1 = arith.addf %p, %o : f32
    linalg.yield %1 : f32
  } -> tensor<4x1xf32>
  return %r, %s, %t : tensor<4x1x64xf32>, tensor<1x1x64xf32>, tensor<4x1xf32>
}
