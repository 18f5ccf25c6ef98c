// RUN: rope-opt %s --rope-return-in-arguments --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @calls(
// CHECK-SAME: %[[X:.*]]: memref<8xf32>)
// CHECK: %[[A:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
// CHECK: call @allocates(%[[X]], %[[A]]) : (memref<8xf32>, memref<8xf32>) -> ()
// CHECK: %[[M:.*]] = memref.expand_shape %[[A]] {{\[}}[0, 1]]
// CHECK: %[[N:.*]] = call @writes(%[[X]]) : (memref<8xf32>) -> index
// CHECK: %[[C:.*]] = memref.cast %[[X]] : memref<8xf32> to memref<?xf32>
// CHECK: return %[[M]], %[[C]], %[[N]]
func.func @calls(%x: memref<8xf32>) -> (memref<2x4xf32>, memref<?xf32>, index) {
  %m = call @allocates(%x) : (memref<8xf32>) -> memref<2x4xf32>
  %y:2 = call @writes(%x) : (memref<8xf32>) -> (memref<?xf32>, index)
  return %m, %y#0, %y#1 : memref<2x4xf32>, memref<?xf32>, index
}

// CHECK-LABEL: func.func private @allocates(
// CHECK-SAME: %[[X:.*]]: memref<8xf32>, %[[M:.*]]: memref<8xf32>) {
// CHECK-NOT: memref.alloc
// CHECK: memref.copy %[[X]], %[[M]]
// CHECK: return
func.func private @allocates(%x: memref<8xf32>) -> memref<2x4xf32> {
  %m = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
  memref.copy %x, %m : memref<8xf32> to memref<8xf32>
  %r = memref.expand_shape %m [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>
  return %r : memref<2x4xf32>
}

// CHECK-LABEL: func.func private @writes(
// CHECK-SAME: %{{.*}}: memref<8xf32>) -> index {
func.func private @writes(%x: memref<8xf32>) -> (memref<?xf32>, index) {
  %i = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  memref.store %z, %x[%i] : memref<8xf32>
  %c = memref.cast %x : memref<8xf32> to memref<?xf32>
  return %c, %i : memref<?xf32>, index
}

// -----

// One allocation for two results, in two shapes.
// CHECK-LABEL: func.func @twice(
// CHECK: %[[M:.*]] = memref.alloc
// CHECK: call @same(%[[M]]) : (memref<4xf32>) -> ()
// CHECK: %[[E:.*]] = memref.expand_shape %[[M]]
// CHECK: return %[[E]], %[[M]]
func.func @twice() -> (memref<2x2xf32>, memref<4xf32>) {
  %m:2 = call @same() : () -> (memref<2x2xf32>, memref<4xf32>)
  return %m#0, %m#1 : memref<2x2xf32>, memref<4xf32>
}
func.func private @same() -> (memref<2x2xf32>, memref<4xf32>) {
  %m = memref.alloc() : memref<4xf32>
  %e = memref.expand_shape %m [[0, 1]] output_shape [2, 2] : memref<4xf32> into memref<2x2xf32>
  return %e, %m : memref<2x2xf32>, memref<4xf32>
}

// -----

// A cache that is returned in another shape.
// CHECK-LABEL: func.func @shape(
// CHECK-SAME: %[[X:.*]]: memref<8xf32>
// CHECK: call @written(%[[X]]) : (memref<8xf32>) -> ()
// CHECK: %[[E:.*]] = memref.expand_shape %[[X]]
// CHECK: %[[C:.*]] = memref.cast %[[E]]
// CHECK: return %[[C]]
func.func @shape(%x: memref<8xf32>) -> memref<?x4xf32> {
  %y = call @written(%x) : (memref<8xf32>) -> memref<?x4xf32>
  return %y : memref<?x4xf32>
}
func.func private @written(%x: memref<8xf32>) -> memref<?x4xf32> {
  %e = memref.expand_shape %x [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>
  %c = memref.cast %e : memref<2x4xf32> to memref<?x4xf32>
  return %c : memref<?x4xf32>
}

// -----

// Sizes that the caller does not know, memory that is a part of other memory or
// is allocated in a branch, and functions whose callers are not all known.
// CHECK-LABEL: func.func @others(
// CHECK-SAME: -> (memref<?xf32>, memref<4xf32, strided<[1], offset: 4>>, memref<4xf32>, memref<4xf32>)
func.func @others(%n: index, %b: i1) -> (memref<?xf32>, memref<4xf32, strided<[1], offset: 4>>, memref<4xf32>, memref<4xf32>) {
  // CHECK: call @dynamic({{.*}}) : (index) -> memref<?xf32>
  // CHECK: call @part() : () -> memref<4xf32, strided<[1], offset: 4>>
  // CHECK: call @branch({{.*}}) : (i1) -> memref<4xf32>
  // CHECK: call @referenced() : () -> memref<4xf32>
  %m = call @dynamic(%n) : (index) -> memref<?xf32>
  %p = call @part() : () -> memref<4xf32, strided<[1], offset: 4>>
  %q = call @branch(%b) : (i1) -> memref<4xf32>
  %r = call @referenced() : () -> memref<4xf32>
  return %m, %p, %q, %r : memref<?xf32>, memref<4xf32, strided<[1], offset: 4>>, memref<4xf32>, memref<4xf32>
}
func.func private @dynamic(%n: index) -> memref<?xf32> {
  %m = memref.alloc(%n) : memref<?xf32>
  return %m : memref<?xf32>
}
func.func private @part() -> memref<4xf32, strided<[1], offset: 4>> {
  %m = memref.alloc() : memref<8xf32>
  %p = memref.subview %m[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  return %p : memref<4xf32, strided<[1], offset: 4>>
}
func.func private @branch(%b: i1) -> memref<4xf32> {
  %m = scf.if %b -> memref<4xf32> {
    %t = memref.alloc() : memref<4xf32>
    scf.yield %t : memref<4xf32>
  } else {
    %e = memref.alloc() : memref<4xf32>
    scf.yield %e : memref<4xf32>
  }
  return %m : memref<4xf32>
}
func.func private @referenced() -> memref<4xf32> {
  %m = memref.alloc() : memref<4xf32>
  return %m : memref<4xf32>
}
func.func @reference() -> (() -> memref<4xf32>) {
  %f = constant @referenced : () -> memref<4xf32>
  return %f : () -> memref<4xf32>
}

// -----

// A public function has callers elsewhere.
// CHECK-LABEL: func.func @public(
// CHECK-SAME: -> memref<4xf32>
func.func @public() -> memref<4xf32> {
  %m = memref.alloc() : memref<4xf32>
  return %m : memref<4xf32>
}
