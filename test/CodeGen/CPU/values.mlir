// The value tile and the end of a row.

// RUN: rope-opt %s --split-input-file --rope-attention-to-vector --canonicalize --cse | FileCheck %s

#plan = #rope.cpu_plan<lanes = 4, rows = 2, keys = 2, channels = 2, group = 1, strips = 2, weave = -1>

// Sums start at zero, and the output is added at the end. Four channels are
// one vector each for two rows: each has four sums that take turns.
// CHECK-LABEL: func.func private @rope_attention
// CHECK-SAME: %[[V:[^:]*]]: memref<16x4xf32>, %{{.*}}: memref<6x4xf32>)
// CHECK-DAG: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK: %[[SUMS:.*]]:8 = scf.for %[[KEY:.*]] = %c0 to %c8 step %c4 iter_args(%{{.*}} = %[[ZEROS]],
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[KEY]]
// CHECK: %[[VALUE:.*]] = vector.load %[[V]][%[[AT]], %c0] : memref<16x4xf32>, vector<4xf32>
// CHECK: memref.load %{{.*}}[%c0, %[[KEY]]] : memref<2x8xf32>
// CHECK: %[[WEIGHT:.*]] = vector.broadcast
// CHECK: vector.fma %[[WEIGHT]], %[[VALUE]]
// CHECK-COUNT-7: vector.fma
// CHECK: scf.yield
// CHECK-COUNT-6: arith.addf
// CHECK: %[[OUTPUT:.*]] = vector.load
// CHECK: %[[SUM:.*]] = arith.addf %[[OUTPUT]]
// CHECK: vector.store %[[SUM]]
func.func @values(%q: memref<6x8xf32>, %k: memref<16x8xf32>, %v: memref<16x4xf32>, %o: memref<6x4xf32>) {
  rope.attention ins(%q, %k, %v : memref<6x8xf32>, memref<16x8xf32>, memref<16x4xf32>)
    outs(%o : memref<6x4xf32>) scale 0.5 {rope.plan = #plan}
  return
}

// -----

#plan = #rope.cpu_plan<lanes = 4, rows = 2, keys = 2, channels = 2, group = 3, strips = 4, weave = -1>

// Values of three strips follow one another.
// CHECK-LABEL: func.func private @rope_attention
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<6x8xf32>
// CHECK: %[[SLOTS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<3xindex>
// CHECK: memref.store %{{.*}}, %[[SLOTS]][%{{.*}}] : memref<3xindex>
// CHECK: %[[FULL:.*]] = arith.cmpi eq, %[[TAKEN:.*]], %c3
// CHECK: %[[FINISHED:.*]] = arith.ori %[[FULL]], %{{.*}}
// CHECK: scf.if %[[FINISHED]] {
// CHECK: scf.for %[[SLOT:.*]] = %c0 to %[[TAKEN]]
// CHECK: memref.load %[[SLOTS]][%[[SLOT]]]
// CHECK: arith.select %[[FINISHED]], %c0, %[[TAKEN]]
func.func @groups(%q: memref<16x8xf32>, %k: memref<16x8xf32>, %o: memref<16x8xf32>) {
  rope.attention ins(%q, %k, %k : memref<16x8xf32>, memref<16x8xf32>, memref<16x8xf32>)
    outs(%o : memref<16x8xf32>) scale 0.5 {rope.plan = #plan}
  return
}

// -----

#plan = #rope.cpu_plan<lanes = 4, rows = 2, keys = 2, channels = 2, group = 1, strips = 2, weave = -1>

// With hidden keys, if the output turns out infinite, NaN or so, the block is
// computed once more, and weights of 0 are looked at one by one.
// CHECK-LABEL: func.func private @rope_attention
// CHECK: scf.while (%[[CAREFUL:.*]] = %false, %[[ODD:.*]] = %false)
// CHECK: scf.if %[[ODD]] {
// CHECK: %[[SEEN:.*]] = arith.cmpi ne
// CHECK: scf.if %[[SEEN]] {
// CHECK: vector.fma
// CHECK: } else {
// CHECK: scf.for
// CHECK: %[[DOUBTS:.*]]:2 = scf.for %{{.*}} iter_args(%[[FAINT:.*]] = %false, %[[IS_ODD:.*]] = %false)
// CHECK: vector.reduction <maxui>
// CHECK: %[[INFINITE:.*]] = arith.cmpi uge, %{{.*}}, %c2139095040_i32
// CHECK: %[[DOUBT:.*]] = arith.ori %[[DOUBTS]]#0, %[[DOUBTS]]#1
// CHECK: %[[FIRST:.*]] = arith.xori %[[CAREFUL]], %true
// CHECK: %[[AGAIN:.*]] = arith.andi %[[DOUBT]], %[[FIRST]]
// CHECK: scf.condition(%[[AGAIN]]) {{.*}}%[[DOUBTS]]#1
func.func @hidden(%q: memref<16x8xf32>, %o: memref<16x8xf32>) {
  rope.attention ins(%q, %q, %q : memref<16x8xf32>, memref<16x8xf32>, memref<16x8xf32>)
    outs(%o : memref<16x8xf32>) scale 0.5 causal {rope.plan = #plan}
  return
}

// -----

#plan = #rope.cpu_plan<lanes = 4, rows = 2, keys = 2, channels = 2, group = 1, strips = 2, weave = -1>

// A row ends: the sink joins the sum, the output is divided, turned back and
// rounded; lse is in f64 until then.
// CHECK-LABEL: func.func private @rope_attention
// CHECK-SAME: %[[SINKS:[^:]*]]: memref<3xf32>, %[[T:[^:]*]]: memref<16x2x4xf32>, %[[O:[^:]*]]: memref<3x16x8xbf16>, %[[LSE:[^:]*]]: memref<3x16xf32>)
// CHECK: vector.reduction <add>
// CHECK: memref.load %[[SINKS]]
// CHECK: math.exp
// CHECK: %[[INVERSE:.*]] = arith.divf %{{.*}} : f32
// CHECK: vector.broadcast %{{.*}} : f32 to vector<8xf32>
// CHECK: vector.load %[[T]]
// CHECK: %[[ROUNDED:.*]] = arith.truncf %{{.*}} : vector<8xf32> to vector<8xbf16>
// CHECK: vector.store %[[ROUNDED]], %[[O]]
// CHECK: %[[LOG:.*]] = math.log %{{.*}} : f64
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %[[LOG]] : f64
// CHECK: arith.truncf %[[SUM]] : f64 to f32
// CHECK: memref.store %{{.*}}, %[[LSE]]
func.func @ends(%q: memref<3x16x8xf32>, %k: memref<3x16x8xf32>, %s: memref<3xf32>, %t: memref<16x2x4xf32>, %o: memref<3x16x8xbf16>, %lse: memref<3x16xf32>) {
  rope.attention ins(%q, %k, %k : memref<3x16x8xf32>, memref<3x16x8xf32>, memref<3x16x8xf32>)
    sink(%s : memref<3xf32>) rerotate_output(%t : memref<16x2x4xf32>) <half along [1]>
    outs(%o, %lse : memref<3x16x8xbf16>, memref<3x16xf32>) scale 0.5
    layout <query = "hmd", key = "hnd", value = "hne", output = "hme", sink = "h", lse = "hm"> {rope.plan = #plan}
  return
}

// -----

#plan = #rope.cpu_plan<lanes = 4, rows = 8, keys = 1, channels = 1, group = 1, strips = 1, weave = -1, stream = 8>

// Sums of 8 rows and 17 vectors wait in memory, and are set to zero and added to
// the output row by row.
// CHECK-LABEL: func.func private @rope_attention
// CHECK: vector.store %[[ZEROS:.*]], %[[SUMS:.*]][%[[ROW:arg.*]], %c0] : memref<8x68xf32>, vector<4xf32>
// CHECK-COUNT-16: vector.store %[[ZEROS]], %[[SUMS]][%[[ROW]], %c
// CHECK: vector.load %[[SUMS]][%c0, %c0]
// CHECK: vector.store %{{.*}}, %[[SUMS]][%c7, %c64]
// CHECK-NEXT: scf.for %[[AT:.*]] = %c0 to %c8 step %c1 {
// CHECK-COUNT-17: vector.load %[[SUMS]][%[[AT]], %c
// CHECK-NOT: vector.load %[[SUMS]]
func.func @many_sums(%q: memref<8x8xf32>, %k: memref<64x8xf32>, %v: memref<64x68xf32>, %o: memref<8x68xf32>) {
  rope.attention ins(%q, %k, %v : memref<8x8xf32>, memref<64x8xf32>, memref<64x68xf32>)
    outs(%o : memref<8x68xf32>) scale 0.5 {rope.plan = #plan}
  return
}

// -----

#plan = #rope.cpu_plan<lanes = 4, rows = 8, keys = 1, channels = 1, group = 1, strips = 1, weave = -1, stream = 8>

// One vector fewer, and all of it is written out, so that LLVM has the choice.
// CHECK-LABEL: func.func private @rope_attention
// CHECK: vector.store %{{.*}}, %[[SUMS:.*]][%c0, %c0] : memref<8x64xf32>, vector<4xf32>
// CHECK-NEXT: vector.store %{{.*}}, %[[SUMS]][%c1, %c0]
// CHECK: vector.store %{{.*}}, %[[SUMS]][%c7, %c60]
// CHECK: vector.store %{{.*}}, %[[SUMS]][%c7, %c60]
// CHECK-NOT: scf.for
// CHECK: vector.load %[[SUMS]][%c7, %c60]
func.func @some_sums(%q: memref<8x8xf32>, %k: memref<64x8xf32>, %v: memref<64x64xf32>, %o: memref<8x64xf32>) {
  rope.attention ins(%q, %k, %v : memref<8x8xf32>, memref<64x8xf32>, memref<64x64xf32>)
    outs(%o : memref<8x64xf32>) scale 0.5 {rope.plan = #plan}
  return
}
