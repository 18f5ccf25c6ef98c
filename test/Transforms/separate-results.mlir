// RUN: rope-opt %s --rope-separate-results | FileCheck %s

// CHECK-LABEL: func @same
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: %[[B:.*]] = memref.alloc
// CHECK: memref.copy %[[A]], %[[B]]
// CHECK: return %[[A]], %[[B]]
func.func @same() -> (memref<4xf32>, memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  return %a, %a : memref<4xf32>, memref<4xf32>
}

// CHECK-LABEL: func @view
// CHECK: %[[V:.*]] = memref.expand_shape
// CHECK: %[[B:.*]] = memref.alloc() : memref<2x2xf32>
// CHECK: memref.copy %[[V]], %[[B]]
// CHECK: return %{{.*}}, %{{.*}}, %[[B]]
func.func @view() -> (memref<4xf32>, index, memref<2x2xf32>) {
  %i = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  %v = memref.expand_shape %a [[0, 1]] output_shape [2, 2] : memref<4xf32> into memref<2x2xf32>
  return %a, %i, %v : memref<4xf32>, index, memref<2x2xf32>
}

// CHECK-LABEL: func @dynamic
// CHECK: %[[N:.*]] = memref.dim %[[A:.*]], %c0
// CHECK: %[[B:.*]] = memref.alloc(%[[N]]) : memref<?x4xf32>
// CHECK: %[[C:.*]] = memref.cast %[[B]]
// CHECK: return %[[A]], %[[C]]
func.func @dynamic(%n: index) -> (memref<?x4xf32, strided<[?, ?]>>, memref<?x4xf32, strided<[?, ?]>>) {
  %a = memref.alloc(%n) : memref<?x4xf32>
  %c = memref.cast %a : memref<?x4xf32> to memref<?x4xf32, strided<[?, ?]>>
  return %c, %c : memref<?x4xf32, strided<[?, ?]>>, memref<?x4xf32, strided<[?, ?]>>
}

// CHECK-LABEL: func @different
// CHECK-NOT: copy
func.func @different() -> (memref<4xf32>, memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  return %a, %b : memref<4xf32>, memref<4xf32>
}

// A private function's callers are all seen: deallocation settles who owns
// what.
// CHECK-LABEL: func private @inside
// CHECK-NOT: copy
func.func private @inside() -> (memref<4xf32>, memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  return %a, %a : memref<4xf32>, memref<4xf32>
}

// On tensors, before bufferization, of any function.
// CHECK-LABEL: func private @twice
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%[[X:.*]]) : tensor<4xf32>
// CHECK: return %[[X]], %[[C]]
func.func private @twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func @parts
// CHECK: %[[V:.*]] = tensor.expand_shape
// CHECK: %[[W:.*]] = tensor.extract_slice
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%[[V]]) : tensor<2x?xf32>
// CHECK: %[[D:.*]] = bufferization.alloc_tensor() copy(%[[W]]) : tensor<2xf32>
// CHECK: return %{{.*}}, %[[C]], %{{.*}}, %[[D]]
func.func @parts(%x: tensor<?xf32>, %n: index) -> (tensor<?xf32>, tensor<2x?xf32>, index, tensor<2xf32>) {
  %v = tensor.expand_shape %x [[0, 1]] output_shape [2, %n] : tensor<?xf32> into tensor<2x?xf32>
  %w = tensor.extract_slice %x[1] [2] [1] : tensor<?xf32> to tensor<2xf32>
  return %x, %v, %n, %w : tensor<?xf32>, tensor<2x?xf32>, index, tensor<2xf32>
}

// CHECK-LABEL: func @own
// CHECK-NOT: alloc_tensor
func.func @own(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %x, %y : tensor<4xf32>, tensor<4xf32>
}
