// Parts at the start of a tensor are replaced, and the rest is what it was.

// RUN: rope-run %s --entry column --random 1 --compare --rtol 0 | FileCheck %s
// RUN: rope-run %s --entry row --random 1 --compare --rtol 0 | FileCheck %s
// RUN: rope-run %s --entry middle --random 1 --compare --rtol 0 | FileCheck %s

// CHECK: max_abs 0.000e+00 {{.*}} ok
func.func @column(%old: tensor<8x40xi8>, %new: tensor<8xi8>) -> tensor<8x40xi8> {
  %s = tensor.extract_slice %old[0, 0] [8, 1] [1, 1] : tensor<8x40xi8> to tensor<8x1xi8>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]} ins(%new : tensor<8xi8>) outs(%s : tensor<8x1xi8>) {
    ^bb0(%a: i8, %o: i8):
      %11 = arith.addi %a, %o : i8
      linalg.yield %11 : i8
    } -> tensor<8x1xi8>
  %r = tensor.insert_slice %0 into %old[0, 0] [8, 1] [1, 1] : tensor<8x1xi8> into tensor<8x40xi8>
  return %r : tensor<8x40xi8>
}
func.func @row(%old: tensor<4x16xf32>, %new: tensor<16xf32>) -> tensor<4x16xf32> {
  %s = tensor.extract_slice %old[0, 0] [1, 16] [1, 1] : tensor<4x16xf32> to tensor<16xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%new : tensor<16xf32>) outs(%s : tensor<16xf32>) {
    ^bb0(%a: f32, %o: f32):
      %11 = arith.addf %a, %o : f32
      linalg.yield %11 : f32
    } -> tensor<16xf32>
  %r = tensor.insert_slice %0 into %old[0, 0] [1, 16] [1, 1] : tensor<16xf32> into tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}
func.func @middle(%old: tensor<4x8x3xf32>, %new: tensor<8xf32>) -> tensor<4x8x3xf32> {
  %s = tensor.extract_slice %old[0, 0, 0] [1, 8, 1] [1, 1, 1] : tensor<4x8x3xf32> to tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%new : tensor<8xf32>) outs(%s : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %11 = arith.addf %a, %o : f32
      linalg.yield %11 : f32
    } -> tensor<8xf32>
  %r = tensor.insert_slice %0 into %old[0, 0, 0] [1, 8, 1] [1, 1, 1] : tensor<8xf32> into tensor<4x8x3xf32>
  return %r : tensor<4x8x3xf32>
}
