// Results that are too large for the caches are written past them.

// RUN: rope-opt %s --split-input-file --rope-plan --rope-rotation-to-vector=stream-bytes=4096 --canonicalize --cse | FileCheck %s
// RUN: rope-opt %s --split-input-file --rope-plan --rope-rotation-to-vector --canonicalize --cse | FileCheck %s --check-prefix=SMALL
// RUN: rope-opt %s --split-input-file --rope-plan --rope-rotation-to-vector=stream-bytes=0 --canonicalize --cse | FileCheck %s --check-prefix=OFF

// OFF-NOT: nontemporal
// OFF-NOT: scf.if

// Only the address decides when the code runs. Four heads go together, each
// from its first row to its last; a row is stored line by line.
// SMALL-LABEL: func.func @heads(
// SMALL-NOT: scf.if
// CHECK-LABEL: func.func @heads(
// CHECK-SAME: %[[X:.*]]: memref<6x100x32xf32>, %[[T:.*]]: memref<100x2x16xf32>, %[[Y:.*]]: memref<6x100x32xf32>)
// CHECK: %[[START:.*]] = memref.extract_aligned_pointer_as_index %[[Y]]
// CHECK: %[[REST:.*]] = arith.remui %[[START]], %c64
// CHECK: %[[WHOLE:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[WHOLE]] {
// CHECK: scf.for %[[BLOCK:.*]] = %c0 to %c6 step %c4 {
// CHECK: %[[SUM:.*]] = arith.addi %[[BLOCK]], %c4
// CHECK: %[[END:.*]] = arith.minsi %[[SUM]], %c6
// CHECK: scf.for %[[N:.*]] = %c0 to %c100 step %c1 {
// CHECK: scf.for %[[H:.*]] = %[[BLOCK]] to %[[END]] step %c1 {
// CHECK: vector.load %[[X]][%[[H]], %[[N]], %c0] : {{.*}}, vector<32xf32>
// CHECK: vector.store %{{.*}}, %[[Y]][%[[H]], %[[N]], %c0] {alignment = 64 : i64, nontemporal = true} : {{.*}}, vector<16xf32>
// CHECK: vector.store %{{.*}}, %[[Y]][%[[H]], %[[N]], %c16] {alignment = 64 : i64, nontemporal = true} : {{.*}}, vector<16xf32>
// CHECK: llvm.fence seq_cst
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %c0 to %c6 step %c1 {
// CHECK-NOT: nontemporal
// CHECK: vector.store %{{.*}}, vector<32xf32>
// CHECK-NOT: llvm.fence
func.func @heads(%x: memref<6x100x32xf32>, %t: memref<100x2x16xf32>, %y: memref<6x100x32xf32>) {
  rope.rotate <half along [1]> ins(%x, %t : memref<6x100x32xf32>, memref<100x2x16xf32>) outs(%y : memref<6x100x32xf32>)
  return
}

// -----

// Extents, distances and the start of rows that are not known are looked at.
// SMALL-LABEL: func.func @unknown(
// SMALL: arith.cmpi sgt, %{{.*}}, %c67108863
// CHECK-LABEL: func.func @unknown(
// CHECK: %[[ROWS:.*]] = memref.dim
// CHECK: %[[BYTES:.*]] = arith.muli %[[ROWS]], %c128
// CHECK: %[[LARGE:.*]] = arith.cmpi sgt, %[[BYTES]], %c4095
// CHECK: memref.extract_strided_metadata
// CHECK-COUNT-2: arith.remui %{{.*}}, %c64
// CHECK: scf.if
// CHECK: nontemporal
#rows = strided<[?, 1], offset: ?>
func.func @unknown(%x: memref<?x32xf32>, %t: memref<?x2x16xf32>, %y: memref<?x32xf32, #rows>) {
  rope.rotate <half along [0]> ins(%x, %t : memref<?x32xf32>, memref<?x2x16xf32>) outs(%y : memref<?x32xf32, #rows>)
  return
}

// -----

// The input says how many channels there are: whole lines or not.
// CHECK-LABEL: func.func @open_channels(
// CHECK: vector.store %{{.*}}, %{{.*}}[%{{.*}}, %c16] {{.*}}nontemporal = true} : memref<100x?xf32>, vector<16xf32>
// CHECK-LABEL: func.func @open_channels_across_lines(
// CHECK-NOT: nontemporal
func.func @open_channels(%x: memref<100x32xf32>, %t: memref<100x2x16xf32>, %y: memref<100x?xf32>) {
  rope.rotate <half along [0]> ins(%x, %t : memref<100x32xf32>, memref<100x2x16xf32>) outs(%y : memref<100x?xf32>)
  return
}
func.func @open_channels_across_lines(%x: memref<100x24xf32>, %t: memref<100x2x12xf32>, %y: memref<100x?xf32>) {
  rope.rotate <half along [0]> ins(%x, %t : memref<100x24xf32>, memref<100x2x12xf32>) outs(%y : memref<100x?xf32>)
  return
}

// -----

// Not what was just read, rows of half a line, rows across lines, and what is
// not large.
// CHECK-LABEL: func.func @never(
// CHECK-NOT: nontemporal
!X = memref<6x100x32xf32>
!H = memref<6x100x8xf32>
!A = memref<6x100x32xf32, strided<[3600, 36, 1]>>
!S = memref<6x4x32xf32>
func.func @never(%x: !X, %h: !H, %g: !H, %a: !A, %s: !S, %r: !S, %t: memref<100x2x16xf32>, %u: memref<100x2x4xf32>, %v: memref<4x2x16xf32>) {
  rope.rotate <half along [1]> ins(%x, %t : !X, memref<100x2x16xf32>) outs(%x : !X)
  rope.rotate <half along [1]> ins(%h, %u : !H, memref<100x2x4xf32>) outs(%g : !H)
  rope.rotate <half along [1]> ins(%x, %t : !X, memref<100x2x16xf32>) outs(%a : !A)
  rope.rotate <half along [1]> ins(%s, %v : !S, memref<4x2x16xf32>) outs(%r : !S)
  return
}
