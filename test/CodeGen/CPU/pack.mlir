// Keys and values of a head, before any row is computed.

// RUN: rope-opt %s --split-input-file --rope-attention-to-vector --canonicalize --cse | FileCheck %s

#plan = #rope.cpu_plan<lanes = 4, rows = 2, keys = 2, channels = 2, group = 1, strips = 2, weave = -1>

// Panels of 8 keys: rows are rotated, then squares of 4 by 4 are transposed.
// Beyond the last of 11 keys there are zeros.
// CHECK-LABEL: func.func private @rope_attention
// CHECK-SAME: (%{{.*}}: memref<6x8xf32>, %[[K:[^:]*]]: memref<11x8xf32>, %{{.*}}: memref<11x8xf32>, %[[T:[^:]*]]: memref<11x2x4xf32>, %{{.*}}: memref<6x8xf32>)
// CHECK-DAG: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK-DAG: %[[ROWS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<8x8xf32>
// CHECK: %[[PANELS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<2x8x8xf32>
// Values stay where they are.
// CHECK-NOT: memref.alloc(
// CHECK: scf.for %[[PANEL:.*]] = %c0 to %c2
// CHECK: scf.for %[[I:.*]] = %c0 to %[[COUNT:[^ ]*]] step
// CHECK: %[[KEY:.*]] = arith.addi %{{.*}}, %[[I]]
// CHECK: %[[ROW:.*]] = vector.load %[[K]][%[[KEY]], %c0] : memref<11x8xf32>, vector<8xf32>
// CHECK: %[[COS:.*]] = vector.load %[[T]][%[[KEY]], %c0, %c0] : memref<11x2x4xf32>, vector<4xf32>
// CHECK: %[[SIN:.*]] = vector.load %[[T]][%[[KEY]], %c1, %c0] : memref<11x2x4xf32>, vector<4xf32>
// CHECK: %[[U:.*]] = vector.shuffle %[[ROW]], %[[ROW]] [0, 1, 2, 3]
// CHECK: %[[W:.*]] = vector.shuffle %[[ROW]], %[[ROW]] [4, 5, 6, 7]
// CHECK: %[[MINUS:.*]] = arith.negf %[[SIN]]
// CHECK: %[[UCOS:.*]] = arith.mulf %[[U]], %[[COS]]
// CHECK: %[[FIRST:.*]] = vector.fma %[[W]], %[[MINUS]], %[[UCOS]]
// CHECK: %[[WCOS:.*]] = arith.mulf %[[W]], %[[COS]]
// CHECK: %[[SECOND:.*]] = vector.fma %[[U]], %[[SIN]], %[[WCOS]]
// CHECK: %[[TURNED:.*]] = vector.shuffle %[[FIRST]], %[[SECOND]] [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK: vector.store %[[TURNED]], %[[ROWS]][%[[I]], %c0]
// CHECK: scf.for %[[I:.*]] = %[[COUNT]] to %c8
// CHECK: vector.store %[[ZEROS]], %[[ROWS]][%[[I]], %c0]
// CHECK: scf.for %[[KEY:.*]] = %c0 to %c8 step %c4
// CHECK: scf.for %[[CHANNEL:.*]] = %c0 to %c8 step %c4
// CHECK-COUNT-8: vector.shuffle {{.*}} : vector<4xf32>, vector<4xf32>
// CHECK: vector.store %{{.*}}, %[[PANELS]][%[[PANEL]], %[[CHANNEL]], %[[KEY]]]
// CHECK: memref.dealloc %[[PANELS]]
func.func @keys(%q: memref<6x8xf32>, %k: memref<11x8xf32>, %v: memref<11x8xf32>, %t: memref<11x2x4xf32>, %o: memref<6x8xf32>) {
  rope.attention ins(%q, %k, %v : memref<6x8xf32>, memref<11x8xf32>, memref<11x8xf32>)
    rotate_key(%t : memref<11x2x4xf32>) <half along [0]>
    outs(%o : memref<6x8xf32>) scale 0.5 {rope.plan = #plan}
  return
}

// -----

#plan = #rope.cpu_plan<lanes = 4, rows = 2, keys = 2, channels = 2, group = 1, strips = 2, weave = -1>

// Values of bf16 are copied as f32, and channels are padded to whole vectors.
// CHECK-LABEL: func.func private @rope_attention
// CHECK-SAME: %[[V:[^:]*]]: memref<16x6xbf16>, %{{.*}}: memref<6x6xf32>)
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<2x8x8xf32>
// CHECK: %[[VALUES:.*]] = memref.alloc() {alignment = 64 : i64} : memref<16x8xf32>
// CHECK: %[[ROW:.*]] = vector.load %[[V]][%[[KEY:.*]], %c0] : memref<16x6xbf16>, vector<6xbf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[ROW]] : vector<6xbf16> to vector<6xf32>
// CHECK: %[[PADDED:.*]] = vector.insert_strided_slice %[[WIDE]], %{{.*}} {offsets = [0], strides = [1]} : vector<6xf32> into vector<8xf32>
// CHECK: vector.store %[[PADDED]], %[[VALUES]][%[[KEY]], %c0]
func.func @values(%q: memref<6x8xf32>, %k: memref<16x8xf32>, %v: memref<16x6xbf16>, %o: memref<6x6xf32>) {
  rope.attention ins(%q, %k, %v : memref<6x8xf32>, memref<16x8xf32>, memref<16x6xbf16>)
    outs(%o : memref<6x6xf32>) scale 0.5 {rope.plan = #plan}
  return
}

// -----

#plan = #rope.cpu_plan<lanes = 4, rows = 2, keys = 2, channels = 2, group = 1, strips = 2, weave = -1>

// Pairs of neighbours from channel 2 on; the others pass through.
// CHECK-LABEL: func.func private @rope_attention
// CHECK: vector.shuffle %[[ROW:.*]], %[[ROW]] [2, 4] : vector<8xf32>, vector<8xf32>
// CHECK: vector.shuffle %[[ROW]], %[[ROW]] [3, 5] : vector<8xf32>, vector<8xf32>
// CHECK: %[[TURNED:.*]] = vector.shuffle %{{.*}}, %{{.*}} [-1, -1, 0, 2, 1, 3, -1, -1] : vector<2xf32>, vector<2xf32>
// CHECK: vector.shuffle %[[TURNED]], %[[ROW]] [8, 9, 2, 3, 4, 5, 14, 15]
func.func @neighbours(%q: memref<6x8xf32>, %k: memref<16x8xf32>, %t: memref<16x2x2xf32>, %o: memref<6x8xf32>) {
  rope.attention ins(%q, %k, %k : memref<6x8xf32>, memref<16x8xf32>, memref<16x8xf32>)
    rotate_key(%t : memref<16x2x2xf32>) <interleaved offset = 2 along [0]>
    outs(%o : memref<6x8xf32>) scale 0.5 {rope.plan = #plan}
  return
}
