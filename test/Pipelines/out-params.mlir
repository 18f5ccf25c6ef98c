// RUN: rope-opt %s --rope-cpu-pipeline=results-as-out-params | FileCheck %s
// RUN: rope-opt %s --rope-cpu-pipeline | FileCheck %s --check-prefix=RESULT

// The result's buffer is the caller's, whether its size is known or not:
// nothing is allocated or copied.
// CHECK-LABEL: llvm.func @fixed(
// CHECK-NOT: llvm.call
// CHECK-NOT: llvm.return %
// RESULT-LABEL: llvm.func @fixed(
// RESULT: llvm.call @malloc
// RESULT: llvm.return %
func.func @fixed(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = arith.addf %x, %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: llvm.func @dynamic(
// CHECK-NOT: llvm.call
// CHECK-NOT: llvm.return %
// RESULT-LABEL: llvm.func @dynamic(
// RESULT: llvm.return %
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// A strided result is copied by loops, not by a call of the runner library.
// CHECK-LABEL: llvm.func @strided(
// CHECK-NOT: memrefCopy
// CHECK: llvm.cond_br
func.func @strided(%x: tensor<8x8xf32>) -> tensor<8x4xf32> {
  %0 = tensor.extract_slice %x[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// The same tensor twice is written twice.
// CHECK-LABEL: llvm.func @twice(
// CHECK: llvm.store
// CHECK: llvm.intr.memcpy
func.func @twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0, %0 : tensor<4xf32>, tensor<4xf32>
}
