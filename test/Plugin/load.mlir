// RUN: %mlir_opt_with_plugin %s --pass-pipeline='builtin.module(rope-protect-arguments)' | FileCheck %s

// A stock mlir-opt reads our ops and runs our pass.
// CHECK-LABEL: func.func @rotate
// CHECK-SAME: bufferization.writable = false
// CHECK: rope.rotate <half along [1]>
func.func @rotate(%x: tensor<2x8x64xf32>, %table: tensor<8x2x32xf32>) -> tensor<2x8x64xf32> {
  %init = tensor.empty() : tensor<2x8x64xf32>
  %0 = rope.rotate <half along [1]> ins(%x, %table : tensor<2x8x64xf32>, tensor<8x2x32xf32>)
         outs(%init : tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
  return %0 : tensor<2x8x64xf32>
}
