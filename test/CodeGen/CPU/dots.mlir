// Few rows: keys and values are read where they lie, and nothing is packed.

// RUN: rope-opt %s --split-input-file --rope-attention-to-vector --canonicalize --cse | FileCheck %s --implicit-check-not="memref.alloc(" --implicit-check-not=memref.copy

#plan = #rope.cpu_plan<lanes = 4, rows = 2, keys = 2, channels = 2, group = 1, strips = 1, weave = -1, stream = 2>

// Two rows and two keys at a time: each lane has a channel, and the sums of the
// lanes of four vectors are taken together. Beside a vector of keys, values of
// the panel before are asked for.
// CHECK-LABEL: func.func private @rope_attention
// CHECK-SAME: %[[K:[^:]*]]: memref<16x8xf32>, %[[V:[^:]*]]: memref<16x8xf32>,
// CHECK: %[[QUERIES:.*]] = memref.alloca() {alignment = 64 : i64} : memref<2x8xf32>
// CHECK: scf.for %[[KEY:.*]] = %c0 to %c8 step %c2
// CHECK: vector.load %[[K]][%[[KEY]], %c0] : memref<16x8xf32>, vector<4xf32>
// CHECK: memref.prefetch %[[V]][%[[KEY]], %c0]
// CHECK: vector.load %[[QUERIES]][%c0, %c0]
// CHECK-NEXT: vector.fma
// CHECK-NEXT: vector.load %[[QUERIES]][%c1, %c0]
// CHECK-NEXT: vector.fma
// CHECK-COUNT-6: vector.fma
// CHECK: %[[A:.*]] = vector.shuffle %{{.*}}, %{{.*}} [0, 1, 4, 5]
// CHECK: %[[B:.*]] = vector.shuffle %{{.*}}, %{{.*}} [2, 3, 6, 7]
// CHECK: %[[FIRST:.*]] = arith.addf %[[A]], %[[B]]
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 4, 5]
// CHECK: %[[SECOND:.*]] = arith.addf
// CHECK: %[[EVEN:.*]] = vector.shuffle %[[FIRST]], %[[SECOND]] [0, 2, 4, 6]
// CHECK: %[[ODD:.*]] = vector.shuffle %[[FIRST]], %[[SECOND]] [1, 3, 5, 7]
// CHECK: %[[SCORES:.*]] = arith.addf %[[EVEN]], %[[ODD]]
// CHECK: vector.extract_strided_slice %[[SCORES]] {offsets = [0], sizes = [2], strides = [1]}
// CHECK: vector.extract_strided_slice %[[SCORES]] {offsets = [2], sizes = [2], strides = [1]}
// Beside values, keys of the panel after the next are asked for.
// CHECK: vector.load %[[V]]
// CHECK: memref.prefetch %[[K]]
func.func @rows(%q: memref<2x8xf32>, %k: memref<16x8xf32>, %v: memref<16x8xf32>, %o: memref<2x8xf32>) {
  rope.attention ins(%q, %k, %v : memref<2x8xf32>, memref<16x8xf32>, memref<16x8xf32>)
    outs(%o : memref<2x8xf32>) scale 0.5 {rope.plan = #plan}
  return
}

// -----

#plan = #rope.cpu_plan<lanes = 4, rows = 1, keys = 2, channels = 2, group = 1, strips = 1, weave = -1, stream = 1>

// One row: four keys at a time, and the machine finds memory by itself. What is
// lost by rounding when panels are added up is kept. Beyond the last of a
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
// CHECK-NOT: memref.prefetch
// CHECK: return
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
