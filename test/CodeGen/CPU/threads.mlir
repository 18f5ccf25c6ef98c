// Threads share heads and rows by OpenMP.

// RUN: rope-opt %s --rope-plan=lanes=4 --rope-attention-to-vector=threads --rope-linear-attention-to-vector=threads --rope-rotation-to-vector="threads stream-bytes=4096" --canonicalize --cse | FileCheck %s
// RUN: rope-opt %s --rope-plan=lanes=4 --rope-attention-to-vector --rope-linear-attention-to-vector --rope-rotation-to-vector | FileCheck %s --check-prefix=ALONE
// RUN: rope-opt %s --rope-cpu-pipeline="lanes=4 threads" | FileCheck %s --check-prefix=LOWERED

// ALONE-NOT: omp.
// LOWERED: omp.parallel
// LOWERED-NOT: memref.
// LOWERED-NOT: unrealized

!K = memref<2x3x40x4xf32>
!Q = memref<2x6x40x4xf32>

// Rows in one run: a thread at a time takes some of the first dim that has more
// than one, 64 KiB in all.
// CHECK-LABEL: func.func @rows(
// CHECK: omp.parallel if(
// CHECK: omp.wsloop schedule(dynamic) {
// CHECK: omp.loop_nest (%[[I:.*]]) : i64 = (%c0_i64) to (%[[COUNT:.*]]) step (%c85_i64) {
// CHECK: %[[N:.*]] = arith.index_cast %[[I]] : i64 to index
// CHECK: scf.for %[[ROW:.*]] = %[[N]] to %{{.*}} step %c1 {
// CHECK: vector.load %{{.*}}[%c0, %[[ROW]], %{{.*}}, %c0]
// CHECK: omp.yield
// CHECK: omp.terminator
func.func @rows(%x: memref<1x?x3x64xf32>, %t: memref<1x?x2x32xf32>) {
  rope.rotate <half along [0, 1]> ins(%x, %t : memref<1x?x3x64xf32>, memref<1x?x2x32xf32>) outs(%x : memref<1x?x3x64xf32>)
  return
}

// One block of the table's rows is for 128 threads: each takes 8 of the 1024
// that share the table.
// CHECK-LABEL: func.func @one_block(
// CHECK: omp.loop_nest (%[[I:.*]]) : i64 = (%c0_i64) to (%c128_i64) step (%c1_i64) {
// CHECK: %[[TASK:.*]] = arith.index_cast %[[I]]
// CHECK: %[[PIECE:.*]] = arith.remui %[[TASK]], %c128
// CHECK: %[[FIRST:.*]] = arith.muli %[[PIECE]], %c8
// CHECK: %[[END:.*]] = arith.addi %[[FIRST]], %c8
// CHECK: %[[BLOCK:.*]] = arith.divui %[[TASK]], %c128
// CHECK: %[[ROW:.*]] = arith.muli %[[BLOCK]], %c64
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]] step %c1 {
// CHECK: scf.for %{{.*}} = %[[ROW]] to
func.func @one_block(%x: memref<1024x32x64xf32>, %t: memref<32x2x32xf32>) {
  rope.rotate <half along [1]> ins(%x, %t : memref<1024x32x64xf32>, memref<32x2x32xf32>) outs(%x : memref<1024x32x64xf32>)
  return
}

// Four heads that are written past the caches, and 128 of their 1000 rows.
// CHECK-LABEL: func.func @long_streams(
// CHECK: omp.loop_nest {{.*}} to (%c16_i64) step (%c1_i64)
// CHECK: arith.remui %{{.*}}, %c8
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c128
// CHECK: %[[NEXT:.*]] = arith.addi %[[FIRST]], %c128
// CHECK: %[[END:.*]] = arith.minsi %[[NEXT]], %c1000
// CHECK: arith.divui %{{.*}}, %c8
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]] step %c1 {
// CHECK-COUNT-4: vector.load %{{.*}} : memref<8x1000x32xf32>, vector<32xf32>
// CHECK: nontemporal
func.func @long_streams(%x: memref<8x1000x32xf32>, %t: memref<1000x2x16xf32>, %y: memref<8x1000x32xf32>) {
  rope.rotate <half along [1]> ins(%x, %t : memref<8x1000x32xf32>, memref<1000x2x16xf32>) outs(%y : memref<8x1000x32xf32>)
  return
}

// Rows that share nothing stand in a loop, too.
// CHECK-LABEL: func.func @one_stream(
// CHECK: omp.loop_nest (%[[I:.*]]) : i64 = (%c0_i64) to (%c4096_i64) step (%c512_i64) {
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step %c1 {
// CHECK: vector.load %{{.*}}[%[[ROW]], %c0] : memref<4096x32xf32>, vector<32xf32>
// CHECK: nontemporal
// CHECK: omp.yield
func.func @one_stream(%x: memref<4096x32xf32>, %t: memref<4096x2x16xf32>, %y: memref<4096x32xf32>) {
  rope.rotate <half along [0]> ins(%x, %t : memref<4096x32xf32>, memref<4096x2x16xf32>) outs(%y : memref<4096x32xf32>)
  return
}

// What is written past the caches settles in each thread. Little work is not
// shared.
// CHECK-LABEL: func.func @streams(
// CHECK: scf.if
// CHECK: omp.parallel if(%false) {
// CHECK: omp.loop_nest {{.*}} to (%c8_i64) step (%c4_i64)
// CHECK-COUNT-4: vector.load %{{.*}} : memref<8x100x32xf32>, vector<32xf32>
// CHECK: omp.yield
// CHECK: llvm.fence seq_cst
// CHECK-NEXT: omp.terminator
// CHECK: } else {
// CHECK: omp.loop_nest {{.*}} to (%c100_i64) step (%c64_i64)
// CHECK-NOT: fence
// CHECK: omp.terminator
func.func @streams(%x: memref<8x100x32xf32>, %t: memref<100x2x32xf32>, %y: memref<8x100x32xf32>) {
  rope.rotate <half along [1] full = true> ins(%x, %t : memref<8x100x32xf32>, memref<100x2x32xf32>) outs(%y : memref<8x100x32xf32>)
  return
}

// Each thread has memory of its own, and takes one part of a head after the
// other: so that all threads have the same number of them.
// CHECK-LABEL: func.func private @rope_attention(
// CHECK-NOT: memref.alloc
// CHECK: %[[CALL:.*]] = call @omp_get_max_threads() : () -> i32
// CHECK: %[[THREADS:.*]] = arith.index_cast %[[CALL]] : i32 to index
// CHECK: %[[LEFT:.*]] = arith.remui %[[THREADS]], %c6
// CHECK: %[[DIVIDES:.*]] = arith.cmpi eq, %[[LEFT]], %c0
// CHECK: %[[SHARE:.*]] = arith.divui %[[THREADS]], %c6
// CHECK: %[[FEW:.*]] = arith.select %[[DIVIDES]], %[[SHARE]], %[[THREADS]]
// CHECK: %[[OVER:.*]] = arith.remui %c6, %[[THREADS]]
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[OVER]], %c0
// CHECK: %[[PLENTY:.*]] = arith.muli %[[THREADS]], %c4
// CHECK: %[[MANY:.*]] = arith.cmpi slt, %[[PLENTY]], %c6
// CHECK: %[[WHOLE:.*]] = arith.ori %[[EVEN]], %[[MANY]]
// CHECK: %[[EACH:.*]] = arith.select %[[WHOLE]], %c1, %[[FEW]]
// CHECK: %[[MOST:.*]] = arith.minsi %[[EACH]], %c1
// CHECK: %[[PARTS:.*]] = arith.maxsi %[[MOST]], %c1
// CHECK: %[[COUNT:.*]] = arith.muli %[[PARTS]], %c6
// CHECK: omp.parallel if(
// CHECK: memref.alloca()
// CHECK: memref.alloc(
// CHECK: %[[END:.*]] = arith.index_cast %[[COUNT]]
// CHECK: omp.wsloop schedule(dynamic) {
// CHECK: omp.loop_nest (%[[I:.*]]) : i64 = (%{{.*}}) to (%[[END]]) step (%{{.*}}) {
// CHECK: %[[TASK:.*]] = arith.index_cast %[[I]]
// CHECK: %[[HEAD:.*]] = arith.divui %[[TASK]], %[[PARTS]]
// CHECK: arith.divui %[[HEAD]], %c3
// CHECK: arith.remui %[[HEAD]], %c3
// CHECK: %[[PART:.*]] = arith.remui %[[TASK]], %[[PARTS]]
// CHECK-NOT: memref.alloc
// CHECK: scf.for %{{.*}} = %[[PART]] to %c1 step %[[PARTS]] {
// CHECK: omp.yield
// CHECK: memref.dealloc
// CHECK: omp.terminator
// CHECK-NOT: dealloc
func.func @attention(%q: !Q, %k: !K, %o: !Q) {
  rope.attention ins(%q, %k, %k : !Q, !K, !K) outs(%o : !Q) scale 0.5 causal
  return
}

// CHECK-LABEL: func.func private @rope_linear_attention(
// CHECK-NOT: memref.alloc
// CHECK: omp.parallel if(
// CHECK: memref.alloca()
// CHECK: omp.loop_nest {{.*}} to (%c6_i64)
// CHECK-NOT: memref.alloc
// CHECK: omp.terminator
func.func @linear(%q: !Q, %k: !K, %o: !Q) {
  rope.linear_attention ins(%q, %k, %k : !Q, !K, !K) outs(%o : !Q) feature_map exp
  return
}
