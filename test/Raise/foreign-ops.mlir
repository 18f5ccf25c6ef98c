// RUN: rope-opt --rope-raise --allow-unregistered-dialect %s | FileCheck %s

// An op that nobody knows ends what can be seen, and no more: the rotation of
// its result is found. One between the source and the result is not looked
// through.
// CHECK-LABEL: @between
// CHECK: %[[X:.*]] = "foreign.make"
// CHECK: rope.rotate <half along [0]> ins(%[[X]],
// CHECK-LABEL: @within
// CHECK-NOT: rope.
func.func @between(%c: tensor<8x2xf32>, %s: tensor<8x2xf32>) -> tensor<8x4xf32> {
  %x = "foreign.make"() : () -> tensor<8x4xf32>
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
func.func @within(%x: tensor<8x4xf32>, %c: tensor<8x2xf32>, %s: tensor<8x2xf32>) -> tensor<8x4xf32> {
  %u = tensor.extract_slice %x[0, 0] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %v = tensor.extract_slice %x[0, 2] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %uc = arith.mulf %u, %c : tensor<8x2xf32>
  %vs0 = arith.mulf %v, %s : tensor<8x2xf32>
  %vs = "foreign.pass"(%vs0) : (tensor<8x2xf32>) -> tensor<8x2xf32>
  %a = arith.subf %uc, %vs : tensor<8x2xf32>
  %us = arith.mulf %u, %s : tensor<8x2xf32>
  %vc = arith.mulf %v, %c : tensor<8x2xf32>
  %b = arith.addf %us, %vc : tensor<8x2xf32>
  %y = tensor.concat dim(1) %a, %b : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
