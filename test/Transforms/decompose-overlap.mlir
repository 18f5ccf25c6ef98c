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

// What a branch yields may be another view of the memref that is read; two
// arguments and an allocation are apart.

// CHECK-LABEL: func @branch
// CHECK: %[[TO:.*]] = scf.if
// CHECK: bufferization.alloc_tensor() copy
// CHECK: bufferization.materialize_in_destination %{{.*}} in writable %[[TO]]
func.func @branch(%x: !X, %y: !X, %t: !T, %c: i1) {
  %to = scf.if %c -> !X {
    scf.yield %x : !X
  } else {
    scf.yield %y : !X
  }
  rope.rotate <half along [0]> ins(%x, %t : !X, !T) outs(%to : !X)
  return
}

// So may what a loop selects, again and again.

// CHECK-LABEL: func @loop
// CHECK: bufferization.alloc_tensor() copy
func.func @loop(%x: !X, %y: !X, %t: !T, %c: i1, %from: index, %to: index) {
  %step = arith.constant 1 : index
  %last = scf.for %i = %from to %to step %step iter_args(%one = %y) -> !X {
    %other = arith.select %c, %one, %x : !X
    rope.rotate <half along [0]> ins(%x, %t : !X, !T) outs(%other : !X)
    scf.yield %other : !X
  }
  return
}

// CHECK-LABEL: func @apart
// CHECK-NOT: alloc_tensor
// CHECK: return
func.func @apart(%x: !X, %y: !X, %t: !T, %c: i1, %n: index) {
  %a = memref.alloc(%n) : !X
  %to = arith.select %c, %a, %y : !X
  rope.rotate <half along [0]> ins(%x, %t : !X, !T) outs(%to : !X)
  return
}
