// From scores to weights: exponentials, and the path of scores that are far
// from their reference.

// RUN: rope-opt %s --split-input-file --rope-attention-to-vector --canonicalize --cse | FileCheck %s

#plan = #rope.cpu_plan<lanes = 4, rows = 2, keys = 1, channels = 1, group = 1, strips = 2, weave = -1>

// Per vector: a clamp from below, a look at the largest, 2^x, a sum.
// CHECK-LABEL: func.func private @rope_attention
// CHECK-DAG: %[[LOWEST:.*]] = arith.constant dense<-1.200000e+02> : vector<4xf32>
// CHECK-DAG: %[[HIGHEST:.*]] = arith.constant dense<3.100000e+01> : vector<4xf32>
// CHECK-DAG: %[[SHIFT:.*]] = arith.constant dense<0x4B400000> : vector<4xf32>
// CHECK: scf.while
// CHECK: scf.while
// CHECK: %[[LARGEST:.*]] = scf.for {{.*}} iter_args(%[[SO_FAR:.*]] = %[[LOWEST]])
// CHECK: %[[SCORE:.*]] = vector.load
// CHECK: %[[LOW:.*]] = arith.cmpf ogt, %[[LOWEST]], %[[SCORE]]
// CHECK: %[[X:.*]] = arith.select %[[LOW]], %[[LOWEST]], %[[SCORE]]
// CHECK: %[[HIGH:.*]] = arith.cmpf ogt, %[[X]], %[[SO_FAR]]
// CHECK: %[[LARGER:.*]] = arith.select %[[HIGH]], %[[X]], %[[SO_FAR]]
// CHECK: %[[SHIFTED:.*]] = arith.addf %[[X]], %[[SHIFT]]
// CHECK: %[[WHOLE:.*]] = arith.subf %[[SHIFTED]], %[[SHIFT]]
// CHECK: %[[FRACTION:.*]] = arith.subf %[[X]], %[[WHOLE]]
// CHECK-COUNT-5: vector.fma
// CHECK: arith.shli
// CHECK: %[[BITS:.*]] = arith.addi
// CHECK: %[[POWER:.*]] = arith.bitcast %[[BITS]] : vector<4xi32> to vector<4xf32>
// A NaN with a payload stays one.
// CHECK: %[[WEIGHT:.*]] = vector.fma %[[X]], %{{.*}}, %[[POWER]]
// CHECK: vector.store %[[WEIGHT]]
// CHECK: scf.yield %[[LARGER]]
// One test for all rows.
// CHECK: %[[ABOVE:.*]] = arith.cmpf ogt, %[[LARGEST]], %[[HIGHEST]]
// CHECK: vector.bitcast %[[ABOVE]] : vector<4xi1> to vector<1xi4>
// In the first panel also: whether weights are next to nothing.
// CHECK: %[[CARE:.*]] = scf.if
// CHECK-COUNT-2: vector.bitcast %{{.*}} : vector<4xi1> to vector<1xi4>
// CHECK: scf.if %[[CARE]] {
// The careful path: a row finds its largest score, moves its reference,
// rescales its output and sums, and the scores of the next item if that is of
// the same strip.
// CHECK: scf.for
// CHECK: %[[MAX:.*]] = vector.reduction <maxnumf>
// CHECK: %[[STEP:.*]] = arith.select %{{.*}}, %[[MAX]], %{{.*}} : f32
// CHECK: %[[REFERENCE:.*]] = memref.load %[[REFERENCES:.*]][%[[ROW:.*]]] : memref<4xf32>
// CHECK: %[[MOVED:.*]] = arith.subf %[[REFERENCE]], %[[STEP]]
// CHECK: memref.store %[[MOVED]], %[[REFERENCES]][%[[ROW]]]
// CHECK-COUNT-2: arith.mulf
// CHECK: scf.if
// CHECK: arith.subf
// CHECK: vector.store
func.func @weights(%q: memref<6x4xf32>, %k: memref<16x4xf32>, %o: memref<6x4xf32>) {
  rope.attention ins(%q, %k, %k : memref<6x4xf32>, memref<16x4xf32>, memref<16x4xf32>)
    outs(%o : memref<6x4xf32>) scale 0.5 {rope.plan = #plan}
  return
}

// -----

#plan = #rope.cpu_plan<lanes = 16, rows = 2, keys = 1, channels = 1, group = 1, strips = 2, weave = -1, lookup = true>

// By a table of 32 entries in two registers: three multiplications.
// CHECK-LABEL: func.func private @rope_attention
// CHECK: scf.while
// CHECK: scf.while
// CHECK: %[[ENTRY:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"
// CHECK: %[[BITS:.*]] = arith.bitcast %[[ENTRY]]
// CHECK: arith.addi %[[BITS]]
// CHECK: vector.fma
// CHECK: arith.mulf
// CHECK: vector.fma
// CHECK: vector.store
func.func @table(%q: memref<6x16xf32>, %k: memref<16x16xf32>, %o: memref<6x16xf32>) {
  rope.attention ins(%q, %k, %k : memref<6x16xf32>, memref<16x16xf32>, memref<16x16xf32>)
    outs(%o : memref<6x16xf32>) scale 0.5 {rope.plan = #plan}
  return
}
