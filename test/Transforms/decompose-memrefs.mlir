// RUN: rope-opt %s --rope-decompose | FileCheck %s --implicit-check-not=rope.
// RUN: rope-opt %s --rope-cpu-pipeline | FileCheck %s --check-prefix=LLVM
// RUN: rope-opt %s --rope-decompose=ops=rope.table,rope.compose | FileCheck %s --check-prefix=SOME

!X = memref<8x?x4xf32>
!T = memref<?x2x2xf32>

// In place on views, without a tensor, a copy or an allocation.

// CHECK-LABEL: func @in_place
// CHECK-SAME: %[[X:[^:]*]]: memref<8x?x4xf32>
// CHECK-NOT: to_tensor
// CHECK-DAG: %[[U:.*]] = memref.subview %[[X]][0, 0, 0] [8, %{{.*}}, 2]
// CHECK-DAG: %[[V:.*]] = memref.subview %[[X]][0, 0, 2] [8, %{{.*}}, 2]
// CHECK: linalg.generic {{.*}} ins(%[[U]], %[[V]],
// CHECK-NOT: to_tensor
// CHECK: return
// LLVM-LABEL: llvm.func @in_place
// LLVM-NOT: llvm.call @malloc
// LLVM: llvm.return
// SOME-LABEL: func @in_place
// SOME: rope.rotate
func.func @in_place(%x: !X, %t: !T) {
  rope.rotate <half along [1]> ins(%x, %t : !X, !T) outs(%x : !X)
  return
}

// Other channels are copied between views.

// CHECK-LABEL: func @partial
// CHECK-SAME: %[[X:[^:]*]]: memref<8x?x5xf32>, %{{.*}}: {{.*}}, %[[Y:[^:]*]]: memref<8x?x5xf32>
// CHECK-COUNT-2: linalg.generic
// CHECK: return
// LLVM-LABEL: llvm.func @partial
// LLVM-NOT: llvm.call @malloc
// LLVM: llvm.return
// SOME-LABEL: func @partial
func.func @partial(%x: memref<8x?x5xf32>, %t: !T, %y: memref<8x?x5xf32>) {
  rope.rotate <half along [1]> ins(%x, %t : memref<8x?x5xf32>, !T) outs(%y : memref<8x?x5xf32>)
  return
}

// A table has constants, which are tensors.

// CHECK-LABEL: func @table
// CHECK-SAME: %[[T:[^:]*]]: memref<?x2x2xf32>
// CHECK: %[[INIT:.*]] = bufferization.to_tensor %[[T]] restrict writable
// CHECK: linalg.generic
// CHECK: bufferization.materialize_in_destination %{{.*}} in writable %[[T]]
// LLVM-LABEL: llvm.func @table
// SOME-LABEL: func @table
// SOME-NOT: rope.
// SOME: return
func.func @table(%t: !T, %start: index) {
  rope.table #rope.default<1.0e4> ins(%start : index) outs(%t : !T)
  return
}
