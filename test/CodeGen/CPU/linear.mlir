// RUN: rope-opt %s --split-input-file --rope-plan=lanes=4 --rope-linear-attention-to-vector --canonicalize --cse | FileCheck %s
// RUN: rope-opt %s --split-input-file --rope-plan=lanes=4 --rope-decompose=keep-planned=true | FileCheck %s --check-prefix=KEPT
// RUN: rope-opt %s --split-input-file --rope-plan=lanes=4 --remarks-filter=rope-plan --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Chunk by chunk: keys enter their sum one by one, and become columns; each
// query head of the group adds up what it gets from the state and from the keys
// up to each row's own; then the chunk's keys enter the state.
// KEPT-LABEL: func.func @causal(
// KEPT: rope.linear_attention
// KEPT-SAME: {rope.plan = #rope.cpu_plan<lanes = 4, rows = 4, keys = 4, channels = 2>}
// REMARK: remark: [Passed] linear attention | Category:rope-plan
// REMARK-SAME: Remark="vector code in chunks of 16 keys"
// CHECK-LABEL: func.func private @rope_linear_attention(
// CHECK-SAME: %[[Q:.*]]: memref<6x40x4xf32>, %[[K:.*]]: memref<2x40x4xf32>, %[[V:.*]]: memref<2x40x8xf32>, %[[O:.*]]: memref<6x40x8xf32>)
// CHECK: %[[STATE:.*]] = memref.alloca() {{.*}} : memref<4x8xf32>
// CHECK: %[[SUM:.*]] = memref.alloca() {{.*}} : memref<4xf32>
// CHECK: scf.for %[[H:.*]] = %c0 to %c2 step %c1 {
// CHECK: scf.for %[[FIRST:.*]] = %c0 to %c40 step %c16 {
// CHECK: %[[LEFT:.*]] = arith.subi %c40, %[[FIRST]]
// CHECK: %[[COUNT:.*]] = arith.minsi %[[LEFT]], %c16
// CHECK: scf.for %[[I:.*]] = %c0 to %[[COUNT]] step %c1 {
// CHECK: %[[N:.*]] = arith.addi %[[FIRST]], %[[I]]
// CHECK: memref.prefetch %[[K]][%[[H]], %{{.*}}, %c0], read
// CHECK: memref.prefetch %[[V]][%[[H]], %{{.*}}, %c0], read
// CHECK: %[[ROW:.*]] = vector.load %[[K]][%[[H]], %[[N]], %c0]
// CHECK: %[[FEATURES:.*]] = arith.maximumf %[[ROW]]
// CHECK: %[[OLD:.*]] = vector.load %[[SUM]][%c0]
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[FEATURES]]
// CHECK: vector.store %[[NEW]], %[[SUM]][%c0]
// CHECK: vector.store %[[NEW]], %[[SUMS:.*]][%[[I]], %c0]
// CHECK: vector.store %[[FEATURES]], %[[KEYS:.*]][%[[I]], %c0]
// CHECK: vector.load %[[KEYS]]
// CHECK-COUNT-4: vector.store %{{.*}}, %[[COLUMNS:.*]][%c{{[0-3]}}, %{{.*}}] : memref<4x16xf32>
// CHECK: scf.for %[[G:.*]] = %c0 to %c3 step %c1 {
// CHECK: scf.for %[[J:.*]] = %c0 to %[[COUNT]] step %c1 {
// CHECK: %[[UPTO:.*]] = vector.load %[[SUMS]][%[[J]], %c0]
// CHECK: %[[PRODUCT:.*]] = arith.mulf %{{.*}}, %[[UPTO]]
// CHECK: %[[DEN:.*]] = vector.reduction <add>, %[[PRODUCT]]
// CHECK: arith.addf %[[DEN]], %cst
// The scores of all keys of the chunk.
// CHECK: scf.for %[[R:.*]] = %c0 to %[[COUNT]] step %c4 {
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c8 {
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1 iter_args
// CHECK: vector.load %[[COLUMNS]]
// CHECK-COUNT-8: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// What the state gives, then the keys before the tile of rows.
// CHECK: scf.for %[[R:.*]] = %c0 to %[[COUNT]] step %c4 {
// CHECK: %[[PART:.*]]:8 = scf.for %{{.*}} = %c0 to %c4 step %c1 iter_args
// CHECK: vector.load %[[STATE]]
// CHECK-COUNT-8: vector.fma
// CHECK: %{{.*}}:8 = scf.for %{{.*}} = %c0 to %[[R]] step %c1 iter_args(%{{.*}} = %[[PART]]#0
// CHECK: vector.load %[[V]]
// CHECK-COUNT-8: vector.fma
// CHECK: scf.yield
// And a triangle: 4, 3, 2 and 1 rows of two vectors.
// CHECK-COUNT-20: vector.fma
// CHECK-NOT: vector.fma
// CHECK: arith.divf
// CHECK: vector.store %{{.*}}, %[[O]]
// CHECK: scf.for %{{.*}} = %c0 to %[[COUNT]] step %c1 iter_args
// CHECK: vector.load %[[V]]
// CHECK: memref.load %[[KEYS]]
// CHECK-COUNT-8: vector.fma
// CHECK: scf.yield
// CHECK-COUNT-8: vector.store %{{.*}}, %[[STATE]]
func.func @causal(%q: memref<6x40x4xf32>, %k: memref<2x40x4xf32>, %v: memref<2x40x8xf32>, %o: memref<6x40x8xf32>) {
  rope.linear_attention ins(%q, %k, %v : memref<6x40x4xf32>, memref<2x40x4xf32>, memref<2x40x8xf32>)
    outs(%o : memref<6x40x8xf32>) feature_map relu causal normalizer_eps 1.0e-6
    layout <query = "(hg)md", key = "hnd", value = "hne", output = "(hg)me">
  return
}

// -----

// All keys enter the state before the first row is computed. A state with
// strides is copied, before and after, and an output after; values of another
// type are.
// CHECK-LABEL: func.func @full(
// CHECK: %[[ROWS:.*]] = memref.alloc() : memref<8x8xf32>
// CHECK-NOT: memref.copy
// CHECK: %[[COPY:.*]] = memref.alloc() : memref<4x8xf32>
// CHECK: memref.copy %{{.*}}, %[[COPY]]
// CHECK-NOT: memref.copy
// CHECK: call @rope_linear_attention(%{{.*}}, %[[ROWS]], %[[COPY]])
// CHECK: memref.copy %[[COPY]], %{{.*}}
// CHECK: memref.copy %[[ROWS]], %{{.*}}
// CHECK-LABEL: func.func private @rope_linear_attention(
// CHECK-SAME: %[[V:[a-z0-9]+]]: memref<100x8xbf16>, %{{.*}}, %[[CARRIED:[a-z0-9]+]]: memref<4x8xf32>)
// CHECK: vector.load %[[CARRIED]]
// CHECK: scf.for %{{.*}} = %c0 to %c100 step %c16 {
// CHECK-NOT: vector.shuffle
// CHECK: vector.load %[[V]]
// CHECK: arith.extf
// CHECK: scf.for %{{.*}} iter_args
// CHECK-NOT: vector.load %[[V]]
// CHECK-NOT: arith.divf
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c4 {
// CHECK: vector.store %{{.*}}, %[[CARRIED]]
func.func @full(%q: memref<8x4xf32>, %k: memref<100x4xf32>, %v: memref<100x8xbf16>, %o: memref<8x8xf32, strided<[16, 2]>>, %s: memref<4x8xf32, strided<[16, 2]>>) {
  rope.linear_attention ins(%q, %k, %v : memref<8x4xf32>, memref<100x4xf32>, memref<100x8xbf16>)
    outs(%o, %s : memref<8x8xf32, strided<[16, 2]>>, memref<4x8xf32, strided<[16, 2]>>) feature_map identity
  return
}

// -----

// A row that leaves its channels open is asked for in whole, too: those of
// another operand say how many there are.
// KEPT-LABEL: func.func @open_channels(
// CHECK-LABEL: func.func private @rope_linear_attention(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<8x?xf32>, %[[K:[a-z0-9]+]]: memref<8x20xf32>
// CHECK-COUNT-2: memref.prefetch %[[Q]]
func.func @open_channels(%q: memref<8x?xf32>, %k: memref<8x20xf32>, %o: memref<8x20xf32>) {
  rope.linear_attention ins(%q, %k, %k : memref<8x?xf32>, memref<8x20xf32>, memref<8x20xf32>)
    outs(%o : memref<8x20xf32>) feature_map identity
  return
}

// -----

// KEPT-LABEL: func.func @wide(
// KEPT-NOT: rope.linear_attention
// REMARK: remark: [Missed] linear attention | Category:rope-plan
// REMARK-SAME: kv_state is f64, vectors are f32
func.func @wide(%q: memref<8x4xf32>, %o: memref<8x4xf32>, %s: memref<4x4xf64>) {
  rope.linear_attention ins(%q, %q, %q : memref<8x4xf32>, memref<8x4xf32>, memref<8x4xf32>)
    outs(%o, %s : memref<8x4xf32>, memref<4x4xf64>) feature_map identity
  return
}

// -----

// REMARK: remark: [Missed] linear attention
// REMARK-SAME: f32 cannot hold the epsilon of the normaliser
func.func @epsilon(%q: memref<8x4xf32>, %o: memref<8x4xf32>) {
  rope.linear_attention ins(%q, %q, %q : memref<8x4xf32>, memref<8x4xf32>, memref<8x4xf32>)
    outs(%o : memref<8x4xf32>) feature_map exp normalizer_eps 1.0e-300
  return
}

// -----

// REMARK: remark: [Missed] linear attention
// REMARK-SAME: channels are not the last dim of kv_state
func.func @state(%q: memref<8x4xf32>, %o: memref<8x4xf32>, %s: memref<4x4xf32>) {
  rope.linear_attention ins(%q, %q, %q : memref<8x4xf32>, memref<8x4xf32>, memref<8x4xf32>)
    outs(%o, %s : memref<8x4xf32>, memref<4x4xf32>) feature_map identity
    layout <query = "md", key = "nd", value = "ne", output = "me", kv_state = "ed">
  return
}

// -----

// REMARK: remark: [Missed] linear attention
// REMARK-SAME: the number of channels is dynamic
func.func @channels(%q: memref<8x?xf32>, %o: memref<8x?xf32>) {
  rope.linear_attention ins(%q, %q, %q : memref<8x?xf32>, memref<8x?xf32>, memref<8x?xf32>)
    outs(%o : memref<8x?xf32>) feature_map identity
  return
}

// -----

// REMARK: remark: [Missed] linear attention
// REMARK-SAME: an input may share memory with a result
func.func @overlap(%q: memref<8x4xf32>) {
  rope.linear_attention ins(%q, %q, %q : memref<8x4xf32>, memref<8x4xf32>, memref<8x4xf32>)
    outs(%q : memref<8x4xf32>) feature_map identity
  return
}
