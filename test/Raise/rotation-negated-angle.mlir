// RUN: rope-opt --rope-raise %s | FileCheck %s

// The angles are those of negated positions: the table of the positions turns
// back.
// CHECK-LABEL: @rot
// CHECK: rope.table #rope.default<1.600000e+01> ins(%c0 : index) f32_angle
// CHECK: rope.rerotate <half along [0]>
func.func @rot(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %w = arith.constant dense<[1.0, 0.5, 0.25, 0.125, 1.0, 0.5, 0.25, 0.125]> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %ang = linalg.generic {indexing_maps = [affine_map<(d0,d1)->(d1)>, affine_map<(d0,d1)->(d0,d1)>], iterator_types=["parallel","parallel"]} ins(%w : tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i64
    %f = arith.sitofp %c : i64 to f32
    %n = arith.negf %f : f32
    %m = arith.mulf %n, %in : f32
    linalg.yield %m : f32
  } -> tensor<8x8xf32>
  %cos = math.cos %ang : tensor<8x8xf32>
  %sin = math.sin %ang : tensor<8x8xf32>
  %a = tensor.extract_slice %x[0, 0] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %b = tensor.extract_slice %x[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %nb = arith.negf %b : tensor<8x4xf32>
  %r = tensor.concat dim(1) %nb, %a : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %p = arith.mulf %x, %cos : tensor<8x8xf32>
  %q = arith.mulf %r, %sin : tensor<8x8xf32>
  %y = arith.addf %p, %q : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
