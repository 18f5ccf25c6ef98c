// Threads share the keys of few heads that are read once, in runs whose states
// are merged.

// RUN: rope-opt %s --split-input-file --rope-plan=lanes=4 --rope-attention-to-vector=threads --canonicalize | FileCheck %s
// RUN: rope-opt %s --split-input-file --rope-plan=lanes=4 --rope-attention-to-vector --canonicalize | FileCheck %s --check-prefix=ALONE "--implicit-check-not=omp."

// Eight runs of 16 panels of 32 keys: each leaves output, sums and reference of
// 8 rows. Once all are there, each row is put together from eight states.
// CHECK-LABEL: func.func private @rope_attention
// CHECK: %[[STATES:.*]] = memref.alloc() {{.*}} : memref<64x72xf32>
// CHECK: omp.parallel if(%true) {
// CHECK-NOT: memref.alloc(
// CHECK: omp.wsloop schedule(dynamic) {
// CHECK: omp.loop_nest (%[[I:.*]]) : i64 = (%c0_i64) to (%c8_i64)
// CHECK: %[[TASK:.*]] = arith.index_cast %[[I]] : i64 to index
// CHECK: %[[NUMBER:.*]] = arith.remui %[[TASK]], %c8
// CHECK: %[[BEFORE:.*]] = arith.muli %[[NUMBER]], %c128
// CHECK: %[[FIRST:.*]] = arith.divui %[[BEFORE]], %c8
// CHECK: %[[NEXT:.*]] = arith.addi %[[NUMBER]], %c1
// CHECK: %[[UPTO:.*]] = arith.muli %[[NEXT]], %c128
// CHECK: %[[END:.*]] = arith.divui %[[UPTO]], %c8
// CHECK: arith.cmpi slt, %[[FIRST]], %[[END]]
// CHECK: vector.store {{.*}} %[[STATES]][%[[ROW:.*]], %c0] {{.*}} vector<64xf32>
// CHECK: vector.store {{.*}} %[[STATES]][%[[ROW]], %c64] {{.*}} vector<4xf32>
// CHECK: vector.store {{.*}} %[[STATES]][%[[ROW]], %c68] {{.*}} vector<4xf32>
// CHECK: omp.yield
// CHECK: omp.wsloop schedule(dynamic) {
// CHECK: omp.loop_nest ({{.*}}) : i64 = (%c0_i64) to (%c8_i64)
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c1 iter_args
// CHECK: memref.load %[[STATES]]
// CHECK: vector.load %[[STATES]]{{.*}} vector<64xf32>
// CHECK: vector.store {{.*}} vector<64xf32>
// CHECK: omp.terminator
// CHECK: memref.dealloc %[[STATES]]

// ALONE-LABEL: func.func private @rope_attention
func.func @one_head(%q: memref<1x8x1x64xf32>, %k: memref<1x1x4096x64xf32>, %o: memref<1x8x1x64xf32>) {
  rope.attention ins(%q, %k, %k : memref<1x8x1x64xf32>, memref<1x1x4096x64xf32>, memref<1x1x4096x64xf32>) outs(%o : memref<1x8x1x64xf32>) scale 0.125
    layout <query = "b(hg)md", key = "bhnd", value = "bhne", output = "b(hg)me">
  return
}

// -----

// Enough heads.
// CHECK-LABEL: func.func private @rope_attention
// CHECK-NOT: memref.alloc(
// CHECK: omp.wsloop
// CHECK-NOT: omp.wsloop
// CHECK: omp.terminator

// ALONE-LABEL: func.func private @rope_attention
func.func @heads(%q: memref<1x8x1x64xf32>, %k: memref<1x8x4096x64xf32>, %o: memref<1x8x1x64xf32>) {
  rope.attention ins(%q, %k, %k : memref<1x8x1x64xf32>, memref<1x8x4096x64xf32>, memref<1x8x4096x64xf32>) outs(%o : memref<1x8x1x64xf32>) scale 0.125
    layout <query = "b(hg)md", key = "bhnd", value = "bhne", output = "b(hg)me">
  return
}

// -----

// Few keys.
// CHECK-LABEL: func.func private @rope_attention
// CHECK-NOT: memref.alloc(
// CHECK: omp.wsloop
// CHECK-NOT: omp.wsloop
// CHECK: omp.terminator

// ALONE-LABEL: func.func private @rope_attention
func.func @keys(%q: memref<1x8x1x64xf32>, %k: memref<1x1x1024x64xf32>, %o: memref<1x8x1x64xf32>) {
  rope.attention ins(%q, %k, %k : memref<1x8x1x64xf32>, memref<1x1x1024x64xf32>, memref<1x1x1024x64xf32>) outs(%o : memref<1x8x1x64xf32>) scale 0.125
    layout <query = "b(hg)md", key = "bhnd", value = "bhne", output = "b(hg)me">
  return
}

// -----

// How many keys there are is not known: nor is whether they are worth a split.
// CHECK-LABEL: func.func private @rope_attention
// CHECK: %[[PANELS:.*]] = arith.divui %{{.*}}, %c32
// CHECK: %[[MOST:.*]] = arith.divui %[[PANELS]], %c2
// CHECK: %[[SOME:.*]] = arith.maxsi %[[MOST]], %c1
// CHECK: %[[WANTED:.*]] = arith.minsi %[[SOME]], %c8
// CHECK: %[[PAYS:.*]] = arith.cmpi sgt, %{{.*}}, %c8192
// CHECK: %[[RUNS:.*]] = arith.select %[[PAYS]], %[[WANTED]], %c1
// CHECK: %[[ROWS:.*]] = arith.muli %[[RUNS]], %c8
// CHECK: memref.alloc(%[[ROWS]]) {{.*}} : memref<?x72xf32>
// CHECK: omp.parallel

// ALONE-LABEL: func.func private @rope_attention
func.func @unknown(%q: memref<1x8x1x64xf32>, %k: memref<1x1x?x64xf32>, %o: memref<1x8x1x64xf32>) {
  rope.attention ins(%q, %k, %k : memref<1x8x1x64xf32>, memref<1x1x?x64xf32>, memref<1x1x?x64xf32>) outs(%o : memref<1x8x1x64xf32>) scale 0.125
    layout <query = "b(hg)md", key = "bhnd", value = "bhne", output = "b(hg)me">
  return
}

// -----

// Many rows: keys are packed, and read again and again.
// CHECK-LABEL: func.func private @rope_attention
// CHECK: omp.wsloop
// CHECK-NOT: omp.wsloop
// CHECK: omp.terminator
func.func @rows(%q: memref<1x1x512x64xf32>, %k: memref<1x1x512x64xf32>, %o: memref<1x1x512x64xf32>) {
  rope.attention ins(%q, %k, %k : memref<1x1x512x64xf32>, memref<1x1x512x64xf32>, memref<1x1x512x64xf32>) outs(%o : memref<1x1x512x64xf32>) scale 0.125
  return
}
