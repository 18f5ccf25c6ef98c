// Few rows: keys and values are read where they lie, and nothing is packed.

// RUN: rope-opt %s --split-input-file --rope-attention-to-vector --canonicalize --cse | FileCheck %s --implicit-check-not="memref.alloc(" --implicit-check-not=memref.copy

#plan = #rope.cpu_plan<lanes = 4, rows = 2, keys = 2, channels = 2, group = 1, strips = 1, weave = -1, stream = 2>

// Two rows and two keys: each lane has a channel, and the sums of the lanes of
// four vectors of products are taken together. Beside keys, the lines of values
// of the panel before are asked for, one after the other.
// CHECK-LABEL: func.func private @rope_attention
// CHECK-SAME: %[[K:[^:]*]]: memref<16x8xf32>, %[[V:[^:]*]]: memref<16x8xf32>,
// CHECK: %[[QUERIES:.*]] = memref.alloca() {alignment = 64 : i64} : memref<2x8xf32>
// CHECK: %[[REFERENCES:.*]] = memref.alloca() {alignment = 64 : i64} : memref<2xf32>
// CHECK: %[[SCORES:.*]] = memref.alloca() {alignment = 64 : i64} : memref<2x2x8xf32>
// CHECK: %[[PRODUCTS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<4x4xf32>
// CHECK: %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<2x4xf32>
// CHECK: scf.for %[[KEY:.*]] = %c0 to %c8 step %c4
// CHECK: scf.for %[[TILE:.*]] = %c0 to %c2 step %c1
// CHECK: %[[FIRST:.*]] = arith.addi %[[KEY]]
// CHECK: memref.prefetch %[[V]][%[[FIRST]], %c0]
// CHECK: memref.prefetch %[[V]]
// CHECK: vector.load %[[K]][%[[FIRST]], %c0] : memref<16x8xf32>, vector<4xf32>
// CHECK: vector.load %[[QUERIES]][%c0, %c0]
// CHECK-NEXT: vector.fma
// CHECK-NEXT: vector.load %[[QUERIES]][%c1, %c0]
// CHECK-NEXT: vector.fma
// CHECK: vector.load %[[K]][%[[FIRST]], %c4]
// CHECK-COUNT-6: vector.fma
// CHECK: vector.store %{{.*}}, %[[PRODUCTS]][%c0, %c0]
// CHECK: vector.load %[[PRODUCTS]][%c0, %c0]
// CHECK: %[[A:.*]] = vector.shuffle %{{.*}}, %{{.*}} [0, 1, 4, 5]
// CHECK: %[[B:.*]] = vector.shuffle %{{.*}}, %{{.*}} [2, 3, 6, 7]
// CHECK: %[[EVEN:.*]] = arith.addf %[[A]], %[[B]]
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 4, 5]
// CHECK: %[[ODD:.*]] = arith.addf
// CHECK: vector.shuffle %[[EVEN]], %[[ODD]] [0, 2, 4, 6]
// CHECK: vector.shuffle %[[EVEN]], %[[ODD]] [1, 3, 5, 7]
// CHECK: %[[BOTH:.*]] = arith.addf
// CHECK: vector.store %[[BOTH]], %[[SUMS]][%[[TILE]], %c0]
// Rows of four keys: the first two of both tiles, and the last two.
// CHECK: %[[T0:.*]] = vector.load %[[SUMS]][%c0, %c0]
// CHECK: %[[T1:.*]] = vector.load %[[SUMS]][%c1, %c0]
// CHECK: %[[R0:.*]] = vector.shuffle %[[T0]], %[[T1]] [0, 1, 4, 5]
// CHECK: %[[R1:.*]] = vector.shuffle %[[T0]], %[[T1]] [2, 3, 6, 7]
// CHECK: memref.load %[[REFERENCES]][%c0]
// CHECK: %[[S0:.*]] = arith.addf %[[R0]]
// CHECK: vector.store %[[S0]], %[[SCORES]][%c0, %c0, %[[KEY]]]
// CHECK: %[[S1:.*]] = arith.addf %[[R1]]
// CHECK: vector.store %[[S1]], %[[SCORES]][%c0, %c1, %[[KEY]]]
// Beside values, keys of the panel after the next are asked for.
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c2 iter_args
// CHECK-COUNT-2: memref.prefetch %[[K]]
// CHECK: vector.load %[[V]]
func.func @rows(%q: memref<2x8xf32>, %k: memref<16x8xf32>, %v: memref<16x8xf32>, %o: memref<2x8xf32>) {
  rope.attention ins(%q, %k, %v : memref<2x8xf32>, memref<16x8xf32>, memref<16x8xf32>)
    outs(%o : memref<2x8xf32>) scale 0.5 {rope.plan = #plan}
  return
}

// -----

#plan = #rope.cpu_plan<lanes = 4, rows = 1, keys = 2, channels = 2, group = 1, strips = 1, weave = -1, stream = 1>

// One row: four keys make a vector of scores. What is lost by rounding when panels are added up is kept. Beyond the last of a
// number of keys not known, there is nothing to read: the last panel is copied.
// CHECK-LABEL: func.func private @rope_attention
// CHECK-SAME: %[[K:[^:]*]]: memref<?x8xf32>
// CHECK: %[[LOST:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1x8xf32>
// CHECK: %[[ROWS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<8x8xf32>
// CHECK: %[[ENDS:.*]] = arith.cmpi slt
// CHECK: scf.if %[[ENDS]] {
// CHECK: vector.store %{{.*}}, %[[ROWS]]
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c4
// CHECK: vector.load %[[ROWS]]
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c4
// CHECK: vector.load %[[K]]
func.func @row(%q: memref<1x8xf32>, %k: memref<?x8xf32>, %v: memref<?x8xf32>, %o: memref<1x8xf32>) {
  rope.attention ins(%q, %k, %v : memref<1x8xf32>, memref<?x8xf32>, memref<?x8xf32>)
    outs(%o : memref<1x8xf32>) scale 0.5 {rope.plan = #plan}
  return
}

// -----

#plan = #rope.cpu_plan<lanes = 4, rows = 1, keys = 2, channels = 2, group = 1, strips = 1, weave = -1, stream = 1>

// Keys that turn and values of few channels: a panel at a time.
// CHECK-LABEL: func.func private @rope_attention
// CHECK-SAME: %[[K:[^:]*]]: memref<16x8xf32>, %[[V:[^:]*]]: memref<16x6xbf16>, %[[T:[^:]*]]: memref<16x2x4xf32>
// CHECK-DAG: %[[KEYS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<8x8xf32>
// CHECK-DAG: %[[VALUES:.*]] = memref.alloca() {alignment = 64 : i64} : memref<8x8xf32>
// CHECK: vector.load %[[T]]
// CHECK: vector.load %[[V]][%{{.*}}] : memref<16x6xbf16>, vector<6xbf16>
func.func @staged(%q: memref<1x8xf32>, %k: memref<16x8xf32>, %v: memref<16x6xbf16>, %t: memref<16x2x4xf32>, %o: memref<1x6xf32>) {
  rope.attention ins(%q, %k, %v : memref<1x8xf32>, memref<16x8xf32>, memref<16x6xbf16>)
    rotate_key(%t : memref<16x2x4xf32>) <half along [0]>
    outs(%o : memref<1x6xf32>) scale 0.5 {rope.plan = #plan}
  return
}

// -----

#plan = #rope.cpu_plan<lanes = 4, rows = 2, keys = 4, channels = 1, group = 1, strips = 1, weave = -1, stream = 2>

// Values of two vectors of channels, for one of which there are registers:
// eight keys of the first, eight of the second, and the next eight. Sums wait
// in memory. Both tiles ask for keys, of two lines each: one key beside two
// keys of values, the second tile four keys after the first.
// CHECK-LABEL: func.func private @rope_attention
// CHECK-SAME: %[[K:[^:]*]]: memref<16x32xf32>, %[[V:[^:]*]]: memref<16x8xf32>,
// CHECK: scf.for %[[CHUNK:.*]] = %c0 to %c16 step %c8 {
// CHECK: vector.load %[[WAITING:.*]][%c0, %c0] : memref<2x8xf32>, vector<4xf32>
// CHECK: %[[END:.*]] = arith.addi %[[CHUNK]], %c8
// CHECK: scf.for %{{.*}} = %[[CHUNK]] to %[[END]] step %c2 iter_args
// CHECK: memref.prefetch %[[K]][%[[KEY:.*]], %c0]
// CHECK: memref.prefetch %[[K]][%[[KEY]], %c16]
// CHECK-NOT: memref.prefetch
// CHECK: vector.load %[[V]][%{{.*}}, %c0]
// CHECK: vector.store %{{.*}}, %[[WAITING]][%c0, %c0]
// CHECK: vector.load %[[WAITING]][%c0, %c4]
// CHECK: scf.for %{{.*}} = %[[CHUNK]] to %[[END]] step %c2 iter_args
// CHECK: %[[TURN:.*]] = arith.divui
// CHECK: arith.addi %[[TURN]], %c4
// CHECK-COUNT-2: memref.prefetch %[[K]]
// CHECK: vector.load %[[V]][%{{.*}}, %c4]
// CHECK: vector.store %{{.*}}, %[[WAITING]][%c0, %c4]
// CHECK: }
// CHECK: vector.load %[[WAITING]][%c0, %c0]
func.func @chunks(%q: memref<2x32xf32>, %k: memref<16x32xf32>, %v: memref<16x8xf32>, %o: memref<2x8xf32>) {
  rope.attention ins(%q, %k, %v : memref<2x32xf32>, memref<16x32xf32>, memref<16x8xf32>)
    outs(%o : memref<2x8xf32>) scale 0.5 {rope.plan = #plan}
  return
}

// -----

#plan = #rope.cpu_plan<lanes = 4, rows = 1, keys = 2, channels = 2, group = 1, strips = 1, weave = -1, stream = 1>

// bf16 are widened in place, even channels and odd ones: queries come in that
// order, and outputs leave it. The keys of a panel that has not all of them are
// copied in that order, too.
// CHECK-LABEL: func.func private @rope_attention
// CHECK-SAME: %[[K:[^:]*]]: memref<9x8xbf16>, %[[V:[^:]*]]: memref<9x8xbf16>, %[[O:[^:]*]]: memref<1x8xf32>
// CHECK-DAG: %[[ODD:.*]] = arith.constant dense<-65536> : vector<4xi32>
// CHECK-DAG: %[[BITS:.*]] = arith.constant dense<16> : vector<4xi32>
// CHECK: arith.mulf %{{.*}} : vector<8xf32>
// CHECK: vector.shuffle %[[Q:.*]], %[[Q]] [0, 2, 4, 6, 1, 3, 5, 7] : vector<8xf32>
// CHECK: vector.load %[[K]]
// CHECK: %[[KEYS:.*]] = arith.extf
// CHECK: vector.shuffle %[[KEYS]], %[[KEYS]] [0, 2, 4, 6, 1, 3, 5, 7] : vector<8xf32>
// CHECK: } else {
// CHECK: vector.load %[[K]][%{{.*}}, %c0] : memref<9x8xbf16>, vector<8xbf16>
// CHECK: %[[WORDS:.*]] = arith.bitcast %{{.*}} : vector<4xf32> to vector<4xi32>
// CHECK: arith.shli %[[WORDS]], %[[BITS]]
// CHECK: arith.andi %[[WORDS]], %[[ODD]]
// CHECK-NOT: arith.extf
// CHECK: vector.load %[[V]][%{{.*}}, %c0] : memref<9x8xbf16>, vector<8xbf16>
// CHECK: arith.shli %{{.*}}, %[[BITS]]
// CHECK: arith.andi %{{.*}}, %[[ODD]]
// CHECK: %[[OUT:.*]] = vector.shuffle %[[SUM:.*]], %[[SUM]] [0, 4, 1, 5, 2, 6, 3, 7] : vector<8xf32>
// CHECK: arith.mulf %[[OUT]]
// CHECK: vector.store %{{.*}}, %[[O]]
func.func @pairs(%q: memref<1x8xf32>, %k: memref<9x8xbf16>, %v: memref<9x8xbf16>, %o: memref<1x8xf32>) {
  rope.attention ins(%q, %k, %v : memref<1x8xf32>, memref<9x8xbf16>, memref<9x8xbf16>)
    outs(%o : memref<1x8xf32>) scale 0.5 {rope.plan = #plan}
  return
}
