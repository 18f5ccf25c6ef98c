// RUN: %mlir_opt_with_plugin %s --pass-pipeline='builtin.module(rope-cpu-pipeline{portable})' | FileCheck %s
// RUN: not %mlir_opt_with_plugin %s --pass-pipeline='builtin.module(rope-cpu-pipeline{no-such-option})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OPTION

// A stock mlir-opt runs our pipeline with its options, and knows which there are.
// CHECK: llvm.func @double
// CHECK: llvm.fadd
// OPTION: no such option no-such-option
func.func @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
