// What rows see: ranges of keys, and masks.

// RUN: rope-opt %s --split-input-file --rope-attention-to-vector --canonicalize --cse | FileCheck %s

#plan = #rope.cpu_plan<lanes = 4, rows = 2, keys = 2, channels = 1, group = 1, strips = 2, weave = 1>

// Row m sees keys up to m. Ranges of rows, then of strips: the intersection and
// the hull.
// CHECK-LABEL: func.func private @rope_attention
// CHECK: %[[ENDS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<4xindex>
// CHECK: %[[STRIPS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<2x4xindex>
// CHECK: %[[END:.*]] = arith.minsi %{{.*}}, %c16
// CHECK: memref.store %[[END]], %[[ENDS]]
// CHECK: memref.store %{{.*}}, %[[STRIPS]][%{{.*}}, %c0]
// CHECK: memref.store %{{.*}}, %[[STRIPS]][%{{.*}}, %c3]
// Items that no row sees are passed over.
// CHECK: scf.while
// CHECK: scf.while
// CHECK: %[[HULL:.*]] = memref.load %[[STRIPS]][%{{.*}}, %c3]
// CHECK: arith.cmpi slt, %[[HULL]], %{{.*}}
// CHECK: scf.condition
// An item that only some rows see has keys hidden after the exponentials.
// CHECK: scf.while
// CHECK: %[[INNER:.*]] = memref.load %[[STRIPS]][%{{.*}}, %c1]
// CHECK: %[[PARTIAL:.*]] = arith.cmpi slt, %[[INNER]], %{{.*}}
// CHECK: scf.if %[[PARTIAL]] {
// CHECK: memref.load %[[ENDS]]
// CHECK: %[[SEEN:.*]] = arith.cmpi sgt, %{{.*}}, %{{.*}} : vector<4xi32>
// CHECK: arith.select %[[SEEN]], %{{.*}}, %{{.*}} : vector<4xi1>, vector<4xf32>
func.func @causal(%q: memref<16x4xf32>, %o: memref<16x4xf32>) {
  rope.attention ins(%q, %q, %q : memref<16x4xf32>, memref<16x4xf32>, memref<16x4xf32>)
    outs(%o : memref<16x4xf32>) scale 0.5 causal {rope.plan = #plan}
  return
}

// -----

#plan = #rope.cpu_plan<lanes = 4, rows = 2, keys = 2, channels = 1, group = 1, strips = 2, weave = -1>

// All rows see all keys of whole panels: no items are passed over, and none is
// partial.
// CHECK-LABEL: func.func private @rope_attention
// CHECK-NOT: memref<{{.*}}xindex>
// CHECK: scf.while
// CHECK: scf.while
// CHECK-NOT: scf.while
// CHECK: scf.if %{{.*}} {
// CHECK: vector.reduction <maxnumf>
// CHECK: vector.store %{{.*}} : memref<2x4xf32>, vector<4xf32>
// CHECK-NOT: arith.select
// CHECK: scf.condition
func.func @full(%q: memref<16x4xf32>, %o: memref<16x4xf32>) {
  rope.attention ins(%q, %q, %q : memref<16x4xf32>, memref<16x4xf32>, memref<16x4xf32>)
    outs(%o : memref<16x4xf32>) scale 0.5 {rope.plan = #plan}
  return
}

// -----

#plan = #rope.cpu_plan<lanes = 4, rows = 2, keys = 2, channels = 1, group = 1, strips = 2, weave = -1>

// A boolean is a byte. The last panel reaches beyond the mask. The next one's
// part of it is asked for.
// CHECK-LABEL: func.func private @rope_attention
// CHECK-SAME: %[[MASK:[^:]*]]: memref<16x11xi1>
// CHECK: memref.prefetch %[[MASK]][%{{.*}}, %{{.*}}], read, locality<2>
// CHECK: %[[BYTES:.*]] = builtin.unrealized_conversion_cast %[[MASK]] : memref<16x11xi1> to memref<16x11xi8>
// CHECK: %[[LOADED:.*]] = vector.maskedload %[[BYTES]]
// CHECK: %[[SEEN:.*]] = arith.cmpi ne, %[[LOADED]]
// CHECK: arith.select %[[SEEN]]
func.func @boolean(%q: memref<16x4xf32>, %k: memref<11x4xf32>, %mask: memref<16x11xi1>, %o: memref<16x4xf32>) {
  rope.attention ins(%q, %k, %k : memref<16x4xf32>, memref<11x4xf32>, memref<11x4xf32>)
    mask(%mask : memref<16x11xi1>) outs(%o : memref<16x4xf32>) scale 0.5 {rope.plan = #plan}
  return
}

// -----

#plan = #rope.cpu_plan<lanes = 4, rows = 2, keys = 2, channels = 1, group = 1, strips = 2, weave = -1>

// A float mask is added in units of log2, then the reference is taken off: a
// score is lost beside a mask of −3e38, and may not be lost in the reference.
// CHECK-LABEL: func.func private @rope_attention
// CHECK-SAME: %[[MASK:[^:]*]]: memref<16x16xbf16>
// CHECK-DAG: %[[LOG2E:.*]] = arith.constant dense<1.44269502> : vector<4xf32>
// CHECK: %[[SCORE:.*]] = vector.load %{{.*}} : memref<2x2x8xf32>
// CHECK: %[[LOADED:.*]] = vector.load %[[MASK]]
// CHECK: %[[WIDE:.*]] = arith.extf %[[LOADED]] : vector<4xbf16> to vector<4xf32>
// CHECK: %[[SUM:.*]] = vector.fma %[[WIDE]], %[[LOG2E]], %[[SCORE]]
// CHECK: %[[REST:.*]] = arith.addf %[[SUM]], %{{.*}}
// A weight has a least exponent, so that one of −∞ is zero by choice.
// CHECK: %[[SEEN:.*]] = arith.cmpf une, %[[WIDE]], %{{.*}}
// CHECK: arith.select %[[SEEN]], %{{.*}}, %{{.*}} : vector<4xi1>, vector<4xf32>
func.func @additive(%q: memref<16x4xf32>, %mask: memref<16x16xbf16>, %o: memref<16x4xf32>) {
  rope.attention ins(%q, %q, %q : memref<16x4xf32>, memref<16x4xf32>, memref<16x4xf32>)
    mask(%mask : memref<16x16xbf16>) outs(%o : memref<16x4xf32>) scale 0.5 {rope.plan = #plan}
  return
}

// -----

#plan = #rope.cpu_plan<lanes = 4, rows = 2, keys = 2, channels = 1, group = 1, strips = 2, weave = -1>

// Keys at listed positions are compared one by one.
// CHECK-LABEL: func.func private @rope_attention
// CHECK: %[[POSITIONS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<16xi64>
// CHECK: memref.store %{{.*}}, %[[POSITIONS]]
// CHECK: %[[AT:.*]] = vector.load %[[POSITIONS]]{{.*}} vector<4xi64>
// CHECK: %[[SEEN:.*]] = arith.cmpi sle, %[[AT]], %{{.*}} : vector<4xi64>
// CHECK: arith.select %[[SEEN]]
func.func @positions(%q: memref<16x4xf32>, %at: memref<16xi32>, %o: memref<16x4xf32>) {
  rope.attention ins(%q, %q, %q : memref<16x4xf32>, memref<16x4xf32>, memref<16x4xf32>)
    key_pos(%at : memref<16xi32>) outs(%o : memref<16x4xf32>) scale 0.5 causal {rope.plan = #plan}
  return
}
