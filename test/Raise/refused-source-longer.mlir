// RUN: rope-opt --rope-raise=explain %s 2>&1 | FileCheck %s

// The rows of the source that the result leaves out are not turned.
// CHECK-COUNT-2: the source is not known to be as long as the result
// CHECK-NOT: rope.rotate
func.func @rot(%xx: tensor<16x8xf32>, %c: tensor<8x4xf32>, %s: tensor<8x4xf32>) -> tensor<8x8xf32> {
  %a = tensor.extract_slice %xx[0, 0] [8, 4] [1, 1] : tensor<16x8xf32> to tensor<8x4xf32>
  %b = tensor.extract_slice %xx[0, 4] [8, 4] [1, 1] : tensor<16x8xf32> to tensor<8x4xf32>
  %ac = arith.mulf %a, %c : tensor<8x4xf32>
  %bs = arith.mulf %b, %s : tensor<8x4xf32>
  %u = arith.subf %ac, %bs : tensor<8x4xf32>
  %as = arith.mulf %a, %s : tensor<8x4xf32>
  %bc = arith.mulf %b, %c : tensor<8x4xf32>
  %v = arith.addf %bc, %as : tensor<8x4xf32>
  %y = tensor.concat dim(1) %u, %v : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @dyn(%xx: tensor<?x8xf32>, %c: tensor<?x4xf32>, %s: tensor<?x4xf32>, %n: index) -> tensor<?x8xf32> {
  %a = tensor.extract_slice %xx[0, 0] [%n, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %b = tensor.extract_slice %xx[0, 4] [%n, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %ac = arith.mulf %a, %c : tensor<?x4xf32>
  %bs = arith.mulf %b, %s : tensor<?x4xf32>
  %u = arith.subf %ac, %bs : tensor<?x4xf32>
  %as = arith.mulf %a, %s : tensor<?x4xf32>
  %bc = arith.mulf %b, %c : tensor<?x4xf32>
  %v = arith.addf %bc, %as : tensor<?x4xf32>
  %y = tensor.concat dim(1) %u, %v : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
