// The score tile: sums in vectors, carried by the loop over channels.

// RUN: rope-opt %s --split-input-file --rope-attention-to-vector --canonicalize --cse | FileCheck %s

#plan = #rope.cpu_plan<lanes = 4, rows = 2, keys = 2, channels = 2, group = 1, strips = 2, weave = -1>

// Queries are scaled by scale · log2 e.
// CHECK-LABEL: func.func private @rope_attention
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<0.72134751> : vector<8xf32>
// CHECK: %[[QUERIES:.*]] = memref.alloca() {alignment = 64 : i64} : memref<4x8xf32>
// CHECK: %[[REFERENCES:.*]] = memref.alloca() {alignment = 64 : i64} : memref<4xf32>
// CHECK: %[[SCORES:.*]] = memref.alloca() {alignment = 64 : i64} : memref<2x2x8xf32>
// CHECK: %[[PANELS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<2x8x8xf32>
// CHECK: %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[SCALE]] : vector<8xf32>
// CHECK: vector.store %[[SCALED]], %[[QUERIES]]
// The sums start at minus the reference, so that they are what the exponentials
// want. Each loaded query serves all vectors of keys.
// CHECK: %[[REFERENCE:.*]] = memref.load %[[REFERENCES]][%c0]
// CHECK: vector.broadcast %[[REFERENCE]] : f32 to vector<4xf32>
// CHECK: %[[SUMS:.*]]:4 = scf.for %[[CHANNEL:.*]] = %c0 to %c8 step %c4 iter_args
// CHECK: %[[K0:.*]] = vector.load %[[PANELS]][%c0, %[[CHANNEL]], %c0]
// CHECK: %[[K1:.*]] = vector.load %[[PANELS]][%c0, %[[CHANNEL]], %c4]
// CHECK: memref.load %[[QUERIES]][%c0, %[[CHANNEL]]]
// CHECK: %[[Q:.*]] = vector.broadcast
// CHECK: vector.fma %[[Q]], %[[K0]]
// CHECK: vector.fma %[[Q]], %[[K1]]
// CHECK: memref.load %[[QUERIES]][%c1, %[[CHANNEL]]]
// CHECK-COUNT-14: vector.fma
// CHECK-NOT: memref.store
// CHECK: scf.yield
// CHECK: vector.store %[[SUMS]]#0, %[[SCORES]][%c0, %c0, %c0]
// CHECK: vector.store %[[SUMS]]#3, %[[SCORES]][%c0, %c1, %c4]
func.func @products(%q: memref<6x8xf32>, %k: memref<16x8xf32>, %o: memref<6x8xf32>) {
  rope.attention ins(%q, %k, %k : memref<6x8xf32>, memref<16x8xf32>, memref<16x8xf32>)
    outs(%o : memref<6x8xf32>) scale 0.5 {rope.plan = #plan}
  return
}

// -----

#plan = #rope.cpu_plan<lanes = 4, rows = 2, keys = 2, channels = 2, group = 1, strips = 2, weave = 2>

// Beside two channels of the next tile: the exponentials of one row of this one.
// CHECK-LABEL: func.func private @rope_attention
// CHECK: scf.while
// CHECK: scf.while
// CHECK: scf.if
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c2 step %c1 iter_args
// CHECK-COUNT-2: arith.shli
// CHECK: vector.store %{{.*}}, %{{.*}}[%[[ROW]], %c0] : memref<2x8xf32>
// CHECK: vector.store %{{.*}}, %{{.*}}[%[[ROW]], %c4] : memref<2x8xf32>
// CHECK: vector.store %{{.*}}, %{{.*}}[%[[ROW]], %c0] : memref<2x4xf32>
// CHECK: %[[CHANNEL:.*]] = arith.muli %[[ROW]], %c2
// CHECK-COUNT-8: vector.fma
// CHECK: scf.yield
// The other four channels.
// CHECK-COUNT-16: vector.fma
// CHECK: vector.store %{{.*}} : memref<2x2x8xf32>
func.func @woven(%q: memref<6x8xf32>, %k: memref<16x8xf32>, %o: memref<6x8xf32>) {
  rope.attention ins(%q, %k, %k : memref<6x8xf32>, memref<16x8xf32>, memref<16x8xf32>)
    outs(%o : memref<6x8xf32>) scale 0.5 {rope.plan = #plan}
  return
}

// -----

#plan = #rope.cpu_plan<lanes = 4, rows = 2, keys = 2, channels = 2, group = 1, strips = 2, weave = -1>

// With a softcap sums start at 0 and are multiples of it: scale / softcap.
// CHECK-LABEL: func.func private @rope_attention
// CHECK-DAG: arith.constant dense<2.500000e-01> : vector<8xf32>
// softcap · log2 e
// CHECK-DAG: %[[CAP:.*]] = arith.constant dense<2.88539{{.*}}> : vector<4xf32>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[ZEROS:.*]], %{{.*}} = %[[ZEROS]], %{{.*}} = %[[ZEROS]], %{{.*}} = %[[ZEROS]])
// CHECK: %[[TANH:.*]] = arith.divf
// CHECK: vector.fma %[[TANH]], %[[CAP]], %{{.*}}
func.func @softcap(%q: memref<6x8xf32>, %k: memref<16x8xf32>, %o: memref<6x8xf32>) {
  rope.attention ins(%q, %k, %k : memref<6x8xf32>, memref<16x8xf32>, memref<16x8xf32>)
    outs(%o : memref<6x8xf32>) scale 0.5 softcap 2.0 {rope.plan = #plan}
  return
}
