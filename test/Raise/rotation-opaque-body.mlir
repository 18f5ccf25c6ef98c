// RUN: rope-opt --rope-raise %s | FileCheck %s

// What a function that cannot be looked into gives for one channel says nothing
// of what it gives for another: each channel has its own cosine.
// CHECK-LABEL: @rot
// CHECK: rope.assemble {{.*}} -> tensor<8x2x8xf32>
// CHECK: rope.rotate <half along [0] full = true>
func.func private @ext(f32) -> f32
func.func @rot(%x: tensor<8x8xf32>, %ang: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %cos = linalg.generic {indexing_maps = [affine_map<(d0,d1)->(d0,d1)>, affine_map<(d0,d1)->(d0,d1)>], iterator_types=["parallel","parallel"]} ins(%ang : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = func.call @ext(%in) : (f32) -> f32
    linalg.yield %m : f32
  } -> tensor<8x8xf32>
  %sin = linalg.generic {indexing_maps = [affine_map<(d0,d1)->(d0,d1)>, affine_map<(d0,d1)->(d0,d1)>], iterator_types=["parallel","parallel"]} ins(%ang : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = func.call @ext(%in) : (f32) -> f32
    linalg.yield %m : f32
  } -> tensor<8x8xf32>
  %a = tensor.extract_slice %x[0, 0] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %b = tensor.extract_slice %x[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %nb = arith.negf %b : tensor<8x4xf32>
  %r = tensor.concat dim(1) %nb, %a : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %p = arith.mulf %x, %cos : tensor<8x8xf32>
  %q = arith.mulf %r, %sin : tensor<8x8xf32>
  %y = arith.addf %p, %q : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
