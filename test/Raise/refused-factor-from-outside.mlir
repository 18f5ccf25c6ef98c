// RUN: rope-opt --rope-raise %s | FileCheck %s

// A factor from outside of the body is no operand to split off.
// CHECK-LABEL: @outside
// CHECK: arith.mulf %{{.+}}, %cst
#a = affine_map<(d0, d1, d2) -> (d0)>
#b = affine_map<(d0, d1, d2) -> (d2)>
#o = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @outside(%x: tensor<4xf16>, %r: tensor<3xf32>, %init: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %c = arith.constant 2.0 : f32
  %y = linalg.generic {indexing_maps = [#a, #b, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %r : tensor<4xf16>, tensor<3xf32>) outs(%init : tensor<4x5xf32>) {
  ^bb0(%in: f16, %unused: f32, %out: f32):
    %w = arith.extf %in : f16 to f32
    %m = arith.mulf %w, %c : f32
    %s = arith.addf %out, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}
