// RUN: rope-opt %s --rope-decompose | FileCheck %s

!X = memref<?x4xf32>
!T = memref<?x2x2xf32>

// Pairs are read here and written there: one memref, one tensor.

// CHECK-LABEL: func @moved
// CHECK-SAME: %[[X:[^:]*]]: memref<?x4xf32>
// CHECK-COUNT-1: bufferization.to_tensor %[[X]] restrict writable
// CHECK-NOT: bufferization.to_tensor %[[X]]
// CHECK: bufferization.materialize_in_destination %{{.*}} in writable %[[X]]
func.func @moved(%x: !X, %t: !T) {
  rope.rotate <interleaved to half along [0]> ins(%x, %t : !X, !T) outs(%x : !X)
  return
}

// Another view of the memref that is written is copied before.

// CHECK-LABEL: func @views
// CHECK: %[[FROM:.*]] = memref.subview
// CHECK: %[[TO:.*]] = memref.subview
// CHECK: %[[IN:.*]] = bufferization.to_tensor %[[FROM]] restrict :
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[IN]])
// CHECK: tensor.extract_slice %[[COPY]]
// CHECK: bufferization.materialize_in_destination %{{.*}} in writable %[[TO]]
func.func @views(%x: !X, %t: memref<2x2x2xf32>) {
  %from = memref.subview %x[1, 0] [2, 4] [1, 1] : !X to memref<2x4xf32, strided<[4, 1], offset: 4>>
  %to = memref.subview %x[0, 0] [2, 4] [1, 1] : !X to memref<2x4xf32, strided<[4, 1]>>
  rope.rotate <half along [0]> ins(%from, %t : memref<2x4xf32, strided<[4, 1], offset: 4>>, memref<2x2x2xf32>) outs(%to : memref<2x4xf32, strided<[4, 1]>>)
  return
}
