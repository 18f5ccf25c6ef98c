// RUN: rope-opt %s --rope-expand-structured | FileCheck %s

// CHECK-LABEL: func @softmax
// CHECK-NOT: linalg.softmax
// CHECK: arith.maxnumf
// CHECK: math.exp
// CHECK: arith.divf
func.func @softmax(%x: tensor<?x16xf32>, %y: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %r = linalg.softmax dimension(1) ins(%x : tensor<?x16xf32>) outs(%y : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %r : tensor<?x16xf32>
}

// CHECK-LABEL: func @pack
// CHECK: tensor.pad
// CHECK: tensor.expand_shape
// CHECK: linalg.transpose
// CHECK-NOT: linalg.pack
func.func @pack(%x: tensor<33x16xf32>, %y: tensor<5x2x8x8xf32>) -> tensor<5x2x8x8xf32> {
  %z = arith.constant 0.0 : f32
  %r = linalg.pack %x padding_value(%z : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %y : tensor<33x16xf32> -> tensor<5x2x8x8xf32>
  return %r : tensor<5x2x8x8xf32>
}

// CHECK-LABEL: func @unpack
// CHECK: linalg.transpose
// CHECK: tensor.collapse_shape
// CHECK-NOT: linalg.unpack
func.func @unpack(%x: tensor<5x2x8x8xf32>, %y: tensor<33x16xf32>) -> tensor<33x16xf32> {
  %r = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %y : tensor<5x2x8x8xf32> -> tensor<33x16xf32>
  return %r : tensor<33x16xf32>
}

// CHECK-LABEL: func @buffers
// CHECK: linalg.softmax
func.func @buffers(%x: memref<4x16xf32>, %y: memref<4x16xf32>) {
  linalg.softmax dimension(1) ins(%x : memref<4x16xf32>) outs(%y : memref<4x16xf32>)
  return
}
