// RUN: %mlir_opt_with_plugin %s --pass-pipeline='builtin.module(rope-raise)' | FileCheck %s
// RUN: %mlir_opt_with_plugin %s --pass-pipeline='builtin.module(rope-raise,rope-decompose)' | FileCheck %s --check-prefix=UPSTREAM

// A stock mlir-opt raises, and takes apart again what it raised.
// CHECK: rope.rotate <half along [0]>
// UPSTREAM-NOT: rope.
// UPSTREAM: linalg.generic
// UPSTREAM-NOT: rope.
func.func @rotate(%x: tensor<8x4xf32>, %c: tensor<8x2xf32>, %s: tensor<8x2xf32>) -> tensor<8x4xf32> {
  %u = tensor.extract_slice %x[0, 0] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %v = tensor.extract_slice %x[0, 2] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %uc = arith.mulf %u, %c : tensor<8x2xf32>
  %vs = arith.mulf %v, %s : tensor<8x2xf32>
  %a = arith.subf %uc, %vs : tensor<8x2xf32>
  %us = arith.mulf %u, %s : tensor<8x2xf32>
  %vc = arith.mulf %v, %c : tensor<8x2xf32>
  %b = arith.addf %us, %vc : tensor<8x2xf32>
  %y = tensor.concat dim(1) %a, %b : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
