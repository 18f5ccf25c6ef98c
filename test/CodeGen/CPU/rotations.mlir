// RUN: rope-opt %s --split-input-file --rope-plan --rope-rotation-to-vector --canonicalize --cse | FileCheck %s

// Each row is read, turned and written once. Heads share the table, so some
// rows of it stay while all heads pass.
// CHECK-LABEL: func.func @heads(
// CHECK-SAME: %[[X:.*]]: memref<3x1000x8xf32>, %[[T:.*]]: memref<1000x2x4xf32>, %[[Y:.*]]: memref<3x1000x8xf32>)
// CHECK: scf.for %[[BLOCK:.*]] = %c0 to %c1000 step %c512 {
// CHECK: %[[SUM:.*]] = arith.addi %[[BLOCK]], %c512
// CHECK: %[[END:.*]] = arith.minsi %[[SUM]], %c1000
// CHECK: scf.for %[[H:.*]] = %c0 to %c3 step %c1 {
// CHECK: scf.for %[[N:.*]] = %[[BLOCK]] to %[[END]] step %c1 {
// CHECK: %[[ROW:.*]] = vector.load %[[X]][%[[H]], %[[N]], %c0] : {{.*}}, vector<8xf32>
// CHECK: %[[COS:.*]] = vector.load %[[T]][%[[N]], %c0, %c0] : {{.*}}, vector<4xf32>
// CHECK: %[[SIN:.*]] = vector.load %[[T]][%[[N]], %c1, %c0] : {{.*}}, vector<4xf32>
// CHECK: %[[U:.*]] = vector.shuffle %[[ROW]], %[[ROW]] [0, 1, 2, 3]
// CHECK: %[[V:.*]] = vector.shuffle %[[ROW]], %[[ROW]] [4, 5, 6, 7]
// CHECK: %[[MINUS:.*]] = arith.negf %[[SIN]]
// CHECK: %[[UCOS:.*]] = arith.mulf %[[U]], %[[COS]]
// CHECK: vector.fma %[[V]], %[[MINUS]], %[[UCOS]]
// CHECK: %[[VCOS:.*]] = arith.mulf %[[V]], %[[COS]]
// CHECK: vector.fma %[[U]], %[[SIN]], %[[VCOS]]
// CHECK: vector.store %{{.*}}, %[[Y]][%[[H]], %[[N]], %c0]
func.func @heads(%x: memref<3x1000x8xf32>, %t: memref<1000x2x4xf32>, %y: memref<3x1000x8xf32>) {
  rope.rotate <half along [1]> ins(%x, %t : memref<3x1000x8xf32>, memref<1000x2x4xf32>) outs(%y : memref<3x1000x8xf32>)
  return
}

// -----

// Where no dim before the table's shares it, there is nothing to keep: rows are
// turned in the order of memory. The opposite way, in f32, rounded once.
// CHECK-LABEL: func.func @opposite(
// CHECK-SAME: %[[X:.*]]: memref<5x3x6xbf16>, %[[T:.*]]: memref<5x2x2xf16>
// CHECK: scf.for %[[N:.*]] = %c0 to %c5 step %c1 {
// CHECK-NOT: arith.minsi
// CHECK: scf.for %[[H:.*]] = %c0 to %c3 step %c1 {
// CHECK: %[[ROW:.*]] = vector.load %[[X]][%[[N]], %[[H]], %c0] : {{.*}}, vector<6xbf16>
// CHECK: arith.extf %[[ROW]] : vector<6xbf16> to vector<6xf32>
// CHECK: %[[SIN:.*]] = vector.load %[[T]][%[[N]], %c1, %c0]
// CHECK: %[[WIDE:.*]] = arith.extf %[[SIN]] : vector<2xf16> to vector<2xf32>
// CHECK: arith.negf %[[WIDE]]
// CHECK: %[[ROUNDED:.*]] = arith.truncf %{{.*}} : vector<6xf32> to vector<6xbf16>
// CHECK: vector.store %[[ROUNDED]], %[[X]][%[[N]], %[[H]], %c0]
func.func @opposite(%x: memref<5x3x6xbf16>, %t: memref<5x2x2xf16>) {
  rope.rerotate <interleaved along [0]> ins(%x, %t : memref<5x3x6xbf16>, memref<5x2x2xf16>) outs(%x : memref<5x3x6xbf16>)
  return
}

// -----

// Channels with a stride are copied first.
// CHECK-LABEL: func.func @strided(
// CHECK-SAME: %[[X:.*]]: memref<3x4xf32, strided<[1, 3]>>
// CHECK: %[[COPY:.*]] = memref.alloc() : memref<3x4xf32>
// CHECK: memref.copy %[[X]], %[[COPY]]
// CHECK: vector.load %[[COPY]]
// CHECK: memref.dealloc %[[COPY]]
func.func @strided(%x: memref<3x4xf32, strided<[1, 3]>>, %t: memref<2x2xf32>, %y: memref<3x4xf32>) {
  rope.rotate <half along []> ins(%x, %t : memref<3x4xf32, strided<[1, 3]>>, memref<2x2xf32>) outs(%y : memref<3x4xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @doubles
// CHECK: rope.rotate
func.func @doubles(%x: memref<3x4xf64>, %t: memref<2x2xf64>, %y: memref<3x4xf64>) {
  rope.rotate <half along []> ins(%x, %t : memref<3x4xf64>, memref<2x2xf64>) outs(%y : memref<3x4xf64>)
  return
}
