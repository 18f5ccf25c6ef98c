// RUN: rope-opt %s --rope-separate-results | FileCheck %s

// CHECK-LABEL: func @same
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: %[[B:.*]] = bufferization.clone %[[A]]
// CHECK: return %[[A]], %[[B]]
func.func @same() -> (memref<4xf32>, memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  return %a, %a : memref<4xf32>, memref<4xf32>
}

// CHECK-LABEL: func @view
// CHECK: %[[V:.*]] = memref.expand_shape
// CHECK: %[[B:.*]] = bufferization.clone %[[V]]
// CHECK: return %{{.*}}, %{{.*}}, %[[B]]
func.func @view() -> (memref<4xf32>, index, memref<2x2xf32>) {
  %i = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  %v = memref.expand_shape %a [[0, 1]] output_shape [2, 2] : memref<4xf32> into memref<2x2xf32>
  return %a, %i, %v : memref<4xf32>, index, memref<2x2xf32>
}

// CHECK-LABEL: func @different
// CHECK-NOT: clone
func.func @different() -> (memref<4xf32>, memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  return %a, %b : memref<4xf32>, memref<4xf32>
}

// A private function's callers are all seen: deallocation settles who owns
// what.
// CHECK-LABEL: func private @inside
// CHECK-NOT: clone
func.func private @inside() -> (memref<4xf32>, memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  return %a, %a : memref<4xf32>, memref<4xf32>
}
