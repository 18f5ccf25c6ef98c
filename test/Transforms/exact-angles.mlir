// RUN: rope-opt %s --rope-exact-angles 2>/dev/null | FileCheck %s
// RUN: rope-opt %s --rope-exact-angles -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!T = tensor<4096x2x2xf32>

// Constant positions, unknown ones, fractions of two axes, and frequencies of a
// length. 4095·0.1f is 409.5 + 6.1e-6, and rounding that is worth 1.5e-5 more.
// CHECK-LABEL: @tables
// CHECK-NOT: f32_
// REMARK: :[[@LINE+7]]:8: remark: angles are exact, no longer f32_angle: the largest difference is 1.831e-05 radians
// REMARK: remark: angles are exact, no longer f32_quotient: they differ by up to {{[0-9.]+}}e-08 radians for each token of the position
// REMARK: remark: angles are exact, no longer f32_angle: the largest difference is 0.000e+00 radians
// REMARK: remark: angles are exact, no longer f32_angle: by how much depends on the length
// REMARK-NOT: remark
func.func @tables(%p: tensor<4096xi64>, %n: index, %t0: !T, %u0: tensor<2x2x2xf32>) -> (!T, !T, tensor<2x2x2xf32>, !T, !T) {
  %c0 = arith.constant 0 : index
  %1 = rope.table #rope.explicit<frequencies = [1.0, 0.1]> ins(%c0 : index) f32_angle outs(%t0 : !T) -> !T
  %2 = rope.table #rope.explicit<frequencies = [1.0, 0.1]> ins(%p : tensor<4096xi64>) f32_quotient outs(%t0 : !T) -> !T
  %axes = arith.constant dense<[[0.5, 1.5], [3.0, 5.0]]> : tensor<2x2xf32>
  %3 = rope.table #rope.explicit<frequencies = [1.0, 0.5]> ins(%axes : tensor<2x2xf32>) axes [1, 0] f32_angle outs(%u0 : tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  %4 = rope.table #rope.dynamic_ntk<theta = 1.0e4, factor = 2.0, trained = 2048> ins(%c0 : index) length(%n) f32_angle outs(%t0 : !T) -> !T
  %5 = rope.table #rope.default<1.0e4> ins(%c0 : index) outs(%t0 : !T) -> !T
  return %1, %2, %3, %4, %5 : !T, !T, tensor<2x2x2xf32>, !T, !T
}
