// RUN: rope-opt %s --rope-simplify --split-input-file | FileCheck %s
// RUN: rope-opt %s --rope-simplify="merge-rotations=false drop-offsets=false fold-scale=false" --split-input-file | FileCheck %s --check-prefix=OFF
// RUN: rope-opt %s --rope-simplify --split-input-file --remarks-filter=rope-simplify --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: remark: [Passed] merge-rotations | Category:rope-simplify | Remark="two rotations merged into one"
// REMARK: remark: [Passed] merge-tables

//===----------------------------------------------------------------------===//
// Rotations of one value
//===----------------------------------------------------------------------===//

!X = tensor<3x8xf32>
!T = tensor<3x2x4xf32>

// Tables of any origin multiply; pairs are read by the first pairing and
// written by the second.
// CHECK-LABEL: @merge_same
// CHECK-SAME: %[[X:.*]]: tensor<3x8xf32>, %[[A:.*]]: tensor<3x2x4xf32>, %[[B:.*]]: tensor<3x2x4xf32>, %[[I:.*]]: tensor<3x8xf32>
// CHECK: %[[C:.*]] = rope.compose ins(%[[A]], %[[B]] :
// CHECK: %[[Y:.*]] = rope.rotate <interleaved along [0]> ins(%[[X]], %[[C]] : {{.*}}) outs(%[[I]]
// CHECK: %[[D:.*]] = rope.compose ins(%[[A]], %[[B]] :
// CHECK: %[[Z:.*]] = rope.rerotate <half to interleaved along [0]>
// CHECK: return %[[Y]], %[[Z]]
// OFF-LABEL: @merge_same
// OFF-NOT: rope.compose
func.func @merge_same(%x: !X, %a: !T, %b: !T, %i: !X) -> (!X, !X) {
  %e = tensor.empty() : !X
  %r = rope.rotate <interleaved to half along [0]> ins(%x, %a : !X, !T) outs(%e : !X) -> !X
  %y = rope.rotate <half to interleaved along [0]> ins(%r, %b : !X, !T) outs(%i : !X) -> !X
  %s = rope.rerotate <half along [0]> ins(%x, %a : !X, !T) outs(%e : !X) -> !X
  %z = rope.rerotate <half to interleaved along [0]> ins(%s, %b : !X, !T) outs(%i : !X) -> !X
  return %y, %z : !X, !X
}

// -----

!X = tensor<3x8xf32>
!T = tensor<3x2x4xf32>

// Opposite ones need a unit table, which is divided by.
// CHECK-LABEL: @merge_opposite
// CHECK-SAME: %[[X:.*]]: tensor<3x8xf32>, %[[A:.*]]: tensor<3x2x4xf32>, %[[P:.*]]: tensor<3xf32>
// CHECK: %[[U:.*]] = rope.table
// CHECK: %[[C:.*]] = rope.compose ins(%[[A]], inverse %[[U]]
// CHECK: %[[W:.*]] = rope.rotate <half along [0]> ins(%[[X]], %[[C]]
// CHECK: %[[D:.*]] = rope.compose ins(%[[A]], inverse %[[U]]
// CHECK: %[[Y:.*]] = rope.rerotate <half along [0]> ins(%[[X]], %[[D]]
// CHECK: %[[R:.*]] = rope.rotate <half along [0]> ins(%[[X]], %[[A]]
// CHECK: %[[Z:.*]] = rope.rerotate <half along [0]> ins(%[[R]], %{{.*}}
// CHECK: return %[[W]], %[[Y]], %[[Z]]
func.func @merge_opposite(%x: !X, %a: !T, %p: tensor<3xf32>, %b: !T) -> (!X, !X, !X) {
  %u = rope.table #rope.default<1.0e4> ins(%p : tensor<3xf32>) outs(%a : !T) -> !T
  %r = rope.rotate <half along [0]> ins(%x, %a : !X, !T) outs(%x : !X) -> !X
  %w = rope.rerotate <half along [0]> ins(%r, %u : !X, !T) outs(%x : !X) -> !X
  %s = rope.rotate <half along [0]> ins(%x, %u : !X, !T) outs(%x : !X) -> !X
  %y = rope.rerotate <half along [0]> ins(%s, %a : !X, !T) outs(%x : !X) -> !X
  %q = rope.rotate <half along [0]> ins(%x, %a : !X, !T) outs(%x : !X) -> !X
  %z = rope.rerotate <half along [0]> ins(%q, %b : !X, !T) outs(%x : !X) -> !X
  return %w, %y, %z : !X, !X, !X
}

// -----

!X = tensor<3x8xf32>
!T = tensor<3x2x4xf32>

// Another user, other dims, other pairs, f32 angles of either, a full table,
// bf16 of either.
// CHECK-LABEL: @merge_not
// CHECK-NOT: rope.compose
// CHECK: return
func.func @merge_not(%x: !X, %z: tensor<3x3x8xf32>, %a: !T, %b: !T, %h: tensor<3x2x4xbf16>, %p: tensor<3xi64>) -> (!X, !X, tensor<3x3x8xf32>, !X, !X, !X, !X, !X, !X) {
  %t = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) f32_angle outs(%a : !T) -> !T
  %0 = rope.rotate <half along [0]> ins(%x, %a : !X, !T) outs(%x : !X) -> !X
  %1 = rope.rotate <half along [0]> ins(%0, %b : !X, !T) outs(%x : !X) -> !X
  %2 = rope.rotate <half along [0]> ins(%z, %a : tensor<3x3x8xf32>, !T) outs(%z : tensor<3x3x8xf32>) -> tensor<3x3x8xf32>
  %3 = rope.rotate <half along [1]> ins(%2, %b : tensor<3x3x8xf32>, !T) outs(%z : tensor<3x3x8xf32>) -> tensor<3x3x8xf32>
  %4 = rope.rotate <half along [0]> ins(%x, %a : !X, !T) outs(%x : !X) -> !X
  %5 = rope.rotate <interleaved along [0]> ins(%4, %b : !X, !T) outs(%x : !X) -> !X
  %6 = rope.rotate <half along [0]> ins(%x, %t : !X, !T) outs(%x : !X) -> !X
  %7 = rope.rotate <half along [0]> ins(%6, %b : !X, !T) outs(%x : !X) -> !X
  %8 = rope.rotate <half along [0] full = true> ins(%x, %a : !X, !T) outs(%x : !X) -> !X
  %9 = rope.rotate <half along [0] full = true> ins(%8, %b : !X, !T) outs(%x : !X) -> !X
  %10 = rope.rotate <half along [0]> ins(%x, %a : !X, !T) outs(%x : !X) -> !X
  %11 = rope.rotate <half along [0]> ins(%10, %h : !X, tensor<3x2x4xbf16>) outs(%x : !X) -> !X
  %12 = rope.rotate <half along [0]> ins(%x, %a : !X, !T) outs(%x : !X) -> !X
  %13 = rope.rotate <half along [0]> ins(%12, %t : !X, !T) outs(%x : !X) -> !X
  %14 = rope.rotate <half along [0]> ins(%x, %h : !X, tensor<3x2x4xbf16>) outs(%x : !X) -> !X
  %15 = rope.rotate <half along [0]> ins(%14, %a : !X, !T) outs(%x : !X) -> !X
  return %0, %1, %3, %5, %7, %9, %11, %13, %15 : !X, !X, tensor<3x3x8xf32>, !X, !X, !X, !X, !X, !X
}

// -----

!X = tensor<3x12xf32>
!T = tensor<3x2x4xf32>
!W = tensor<3x2x4xf64>

// The pairs keep their place, and the product has the wider type of the two.
// CHECK-LABEL: @merge_places
// CHECK: %[[C:.*]] = rope.compose ins(%{{.*}}, %{{.*}} : tensor<3x2x4xf64>, tensor<3x2x4xf32>) outs(%{{.*}} : tensor<3x2x4xf64>)
// CHECK: rope.rotate <half offset = 1 distance = 5 along [0]> ins(%{{.*}}, %[[C]] :
func.func @merge_places(%x: !X, %a: !W, %b: !T) -> !X {
  %0 = rope.rotate <half offset = 1 distance = 5 along [0]> ins(%x, %a : !X, !W) outs(%x : !X) -> !X
  %1 = rope.rotate <half offset = 1 distance = 5 along [0]> ins(%0, %b : !X, !T) outs(%x : !X) -> !X
  return %1 : !X
}

// -----

!X = tensor<3x8xf32>
!T = tensor<3x2x4xf32>
!N = tensor<3x2x2xf32>

// Fewer pairs; one table that is full, whichever it is.
// CHECK-LABEL: @merge_widths_not
// CHECK-NOT: rope.compose
// CHECK: return
func.func @merge_widths_not(%x: !X, %a: !T, %b: !T, %n: !N) -> (!X, !X, !X) {
  %0 = rope.rotate <interleaved along [0]> ins(%x, %a : !X, !T) outs(%x : !X) -> !X
  %1 = rope.rotate <interleaved along [0]> ins(%0, %n : !X, !N) outs(%x : !X) -> !X
  %2 = rope.rotate <half along [0]> ins(%x, %a : !X, !T) outs(%x : !X) -> !X
  %3 = rope.rotate <half along [0] full = true> ins(%2, %b : !X, !T) outs(%x : !X) -> !X
  %4 = rope.rotate <half along [0] full = true> ins(%x, %a : !X, !T) outs(%x : !X) -> !X
  %5 = rope.rotate <half along [0]> ins(%4, %n : !X, !N) outs(%x : !X) -> !X
  return %1, %3, %5 : !X, !X, !X
}

// -----

//===----------------------------------------------------------------------===//
// Products of tables
//===----------------------------------------------------------------------===//

!T = tensor<3x2x4xf32>

// Positions add, in 64 bits; a quotient subtracts. Magnitudes multiply.
// CHECK-LABEL: @positions
// CHECK-SAME: %[[P:[^:]*]]: tensor<3xi32>, %[[Q:[^:]*]]: tensor<3xi64>, %[[I:[^:]*]]: tensor<3xindex>, %[[J:[^:]*]]: tensor<3xindex>
// CHECK: %[[W:.*]] = arith.extsi %[[P]] : tensor<3xi32> to tensor<3xi64>
// CHECK: %[[S:.*]] = arith.addi %[[W]], %[[Q]] : tensor<3xi64>
// CHECK: %[[A:.*]] = rope.table #rope.default<1.000000e+04> ins(%[[S]] : tensor<3xi64>)
// CHECK: %[[V:.*]] = arith.subi %[[I]], %[[J]]
// CHECK: %[[B:.*]] = rope.table #rope.linear<theta = 1.000000e+04, factor = 2.000000e+00> ins(%[[V]] : tensor<3xindex>)
// CHECK: return %[[A]], %[[B]]
// OFF-LABEL: @positions
// OFF-COUNT-2: rope.compose
func.func @positions(%p: tensor<3xi32>, %q: tensor<3xi64>, %i: tensor<3xindex>, %j: tensor<3xindex>, %t0: !T) -> (!T, !T) {
  %0 = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi32>) outs(%t0 : !T) -> !T
  %1 = rope.table #rope.default<1.0e4> ins(%q : tensor<3xi64>) outs(%t0 : !T) -> !T
  %2 = rope.compose ins(%0, %1 : !T, !T) outs(%t0 : !T) -> !T
  %3 = rope.table #rope.linear<theta = 1.0e4, factor = 2.0> ins(%i : tensor<3xindex>) outs(%t0 : !T) -> !T
  %4 = rope.table #rope.linear<theta = 1.0e4, factor = 2.0> ins(%j : tensor<3xindex>) outs(%t0 : !T) -> !T
  %5 = rope.compose ins(%3, inverse %4 : !T, !T) outs(%t0 : !T) -> !T
  return %2, %5 : !T, !T
}

// -----

!T = tensor<?x2x2xf32>

#yarn = #rope.yarn<theta = 1.0e4, factor = 4.0, trained = 4096, magnitude = 1.5>

// Two starts differ by as much in every row. Magnitudes multiply and divide.
// CHECK-LABEL: @starts
// CHECK-SAME: %[[P:[^:]*]]: index, %[[Q:[^:]*]]: index, %[[L:[^:]*]]: tensor<?xi64>, %[[M:[^:]*]]: tensor<?xi64>,
// CHECK: %[[D:.*]] = arith.subi %[[P]], %[[Q]] : index
// CHECK: %[[S:.*]] = tensor.splat %[[D]][%{{.*}}] : tensor<?xindex>
// CHECK: rope.table #rope.explicit<frequencies = [1.000000e+00, {{[0-9.e-]+}}]> ins(%[[S]] : tensor<?xindex>)
// CHECK: %[[A:.*]] = arith.addi %[[L]], %[[M]]
// CHECK: rope.table #rope.explicit<frequencies = [{{.*}}], magnitude = 2.250000e+00> ins(%[[A]] : tensor<?xi64>)
func.func @starts(%p: index, %q: index, %l: tensor<?xi64>, %m: tensor<?xi64>, %t0: !T) -> (!T, !T) {
  %0 = rope.table #yarn ins(%p : index) outs(%t0 : !T) -> !T
  %1 = rope.table #yarn ins(%q : index) outs(%t0 : !T) -> !T
  %2 = rope.compose ins(%0, inverse %1 : !T, !T) outs(%t0 : !T) -> !T
  %3 = rope.table #yarn ins(%l : tensor<?xi64>) outs(%t0 : !T) -> !T
  %4 = rope.table #yarn ins(%m : tensor<?xi64>) outs(%t0 : !T) -> !T
  %5 = rope.compose ins(%3, %4 : !T, !T) outs(%t0 : !T) -> !T
  return %2, %5 : !T, !T
}

// -----

!T = tensor<3x2x2xf32>
#long = #rope.longrope<theta = 1.0e4, short_factors = [1.0, 1.0], long_factors = [1.0, 8.0], trained = 4096, magnitude = 1.25>

// Frequencies at the same positions: a change of regime whose lengths are known.
// CHECK-LABEL: @frequencies
// CHECK-SAME: %[[P:.*]]: tensor<3xf32>
// CHECK-NEXT: %[[T:.*]] = rope.table #rope.explicit<frequencies = [0.000000e+00, -8.750000e-03]> ins(%[[P]] : tensor<3xf32>)
// CHECK-NEXT: return %[[T]]
func.func @frequencies(%p: tensor<3xf32>, %t0: !T) -> !T {
  %old = arith.constant 4096 : index
  %new = arith.constant 4097 : index
  %0 = rope.table #long ins(%p : tensor<3xf32>) length(%new) outs(%t0 : !T) -> !T
  %1 = rope.table #long ins(%p : tensor<3xf32>) length(%old) outs(%t0 : !T) -> !T
  %2 = rope.compose ins(%0, inverse %1 : !T, !T) outs(%t0 : !T) -> !T
  return %2 : !T
}

// -----

// A rotation applied twice turns by twice the frequencies.
// CHECK-LABEL: @twice
// CHECK: %[[T:.*]] = rope.table #rope.explicit<frequencies = [2.000000e+00, 2.000000e-01]> ins(%{{.*}} : index)
// CHECK: rope.rotate <half along [0]> ins(%{{.*}}, %[[T]]
func.func @twice(%x: tensor<3x4xf32>, %s: index, %t0: tensor<3x2x2xf32>) -> tensor<3x4xf32> {
  %t = rope.table #rope.default<100.0> ins(%s : index) outs(%t0 : tensor<3x2x2xf32>) -> tensor<3x2x2xf32>
  %y = rope.rotate <half along [0]> ins(%x, %t : tensor<3x4xf32>, tensor<3x2x2xf32>) outs(%x : tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = rope.rotate <half along [0]> ins(%y, %t : tensor<3x4xf32>, tensor<3x2x2xf32>) outs(%x : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %z : tensor<3x4xf32>
}

// -----

!T = tensor<3x2x4xf32>

// f32 angles; a sum of starts, whose rows step by two; float positions, which
// would be rounded; both tables in use; other schedules at other positions.
// CHECK-LABEL: @tables_not
// CHECK-COUNT-5: rope.compose
func.func @tables_not(%s: index, %r: index, %p: tensor<3xi64>, %q: tensor<3xi64>, %f: tensor<3xf32>, %g: tensor<3xf32>, %t0: !T) -> (!T, !T, !T, !T, !T, !T, !T) {
  %0 = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) f32_angle outs(%t0 : !T) -> !T
  %1 = rope.table #rope.default<1.0e4> ins(%q : tensor<3xi64>) f32_angle outs(%t0 : !T) -> !T
  %a = rope.compose ins(%0, %1 : !T, !T) outs(%t0 : !T) -> !T
  %2 = rope.table #rope.default<1.0e4> ins(%s : index) outs(%t0 : !T) -> !T
  %3 = rope.table #rope.default<1.0e4> ins(%r : index) outs(%t0 : !T) -> !T
  %b = rope.compose ins(%2, %3 : !T, !T) outs(%t0 : !T) -> !T
  %4 = rope.table #rope.default<1.0e4> ins(%f : tensor<3xf32>) outs(%t0 : !T) -> !T
  %5 = rope.table #rope.default<1.0e4> ins(%g : tensor<3xf32>) outs(%t0 : !T) -> !T
  %c = rope.compose ins(%4, %5 : !T, !T) outs(%t0 : !T) -> !T
  %6 = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) outs(%t0 : !T) -> !T
  %7 = rope.table #rope.default<1.0e4> ins(%q : tensor<3xi64>) outs(%t0 : !T) -> !T
  %d = rope.compose ins(%6, %7 : !T, !T) outs(%t0 : !T) -> !T
  %8 = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) outs(%t0 : !T) -> !T
  %9 = rope.table #rope.default<1.0e6> ins(%q : tensor<3xi64>) outs(%t0 : !T) -> !T
  %e = rope.compose ins(%8, %9 : !T, !T) outs(%t0 : !T) -> !T
  return %a, %b, %c, %d, %e, %6, %7 : !T, !T, !T, !T, !T, !T, !T
}

// -----

!T = tensor<3x2x4xf32>
#ntk = #rope.dynamic_ntk<theta = 1.0e4, factor = 2.0, trained = 2048>

// Axes and lengths are kept, and tables of others stay.
// CHECK-LABEL: @tables_axes_lengths
// CHECK-SAME: %{{[^:]*}}: tensor<2x3xi64>, %{{[^:]*}}: tensor<2x3xi64>, %{{[^:]*}}: tensor<3xi64>, %{{[^:]*}}: tensor<3xi64>, %[[L:[^:]*]]: index
// CHECK: rope.table #rope.default<1.000000e+04> ins(%{{.*}} : tensor<2x3xi64>) axes [0, 1, 0, 1] outs
// CHECK: rope.table #rope.dynamic_ntk<{{.*}}> ins(%{{.*}} : tensor<3xi64>) length(%[[L]]) outs
// CHECK: rope.table #rope.explicit<{{.*}}> ins(%{{.*}} : tensor<2x3xi64>) axes [0, 1, 0, 1] outs
// CHECK-COUNT-3: rope.compose
func.func @tables_axes_lengths(%p: tensor<2x3xi64>, %q: tensor<2x3xi64>, %r: tensor<3xi64>, %s: tensor<3xi64>, %l: index, %m: index, %t0: !T) -> (!T, !T, !T, !T, !T, !T) {
  %0 = rope.table #rope.default<1.0e4> ins(%p : tensor<2x3xi64>) axes [0, 1, 0, 1] outs(%t0 : !T) -> !T
  %1 = rope.table #rope.default<1.0e4> ins(%q : tensor<2x3xi64>) axes [0, 1, 0, 1] outs(%t0 : !T) -> !T
  %a = rope.compose ins(%0, %1 : !T, !T) outs(%t0 : !T) -> !T
  %2 = rope.table #ntk ins(%r : tensor<3xi64>) length(%l) outs(%t0 : !T) -> !T
  %3 = rope.table #ntk ins(%s : tensor<3xi64>) length(%l) outs(%t0 : !T) -> !T
  %b = rope.compose ins(%2, %3 : !T, !T) outs(%t0 : !T) -> !T
  %10 = rope.table #rope.default<1.0e4> ins(%p : tensor<2x3xi64>) axes [0, 1, 0, 1] outs(%t0 : !T) -> !T
  %11 = rope.table #rope.default<1.0e3> ins(%p : tensor<2x3xi64>) axes [0, 1, 0, 1] outs(%t0 : !T) -> !T
  %f = rope.compose ins(%10, %11 : !T, !T) outs(%t0 : !T) -> !T
  %4 = rope.table #rope.default<1.0e4> ins(%p : tensor<2x3xi64>) axes [0, 1, 0, 1] outs(%t0 : !T) -> !T
  %5 = rope.table #rope.default<1.0e4> ins(%q : tensor<2x3xi64>) axes [1, 0, 1, 0] outs(%t0 : !T) -> !T
  %c = rope.compose ins(%4, %5 : !T, !T) outs(%t0 : !T) -> !T
  %6 = rope.table #rope.default<1.0e6> ins(%p : tensor<2x3xi64>) axes [0, 1, 0, 1] outs(%t0 : !T) -> !T
  %7 = rope.table #rope.default<1.0e5> ins(%p : tensor<2x3xi64>) axes [1, 0, 1, 0] outs(%t0 : !T) -> !T
  %d = rope.compose ins(%6, %7 : !T, !T) outs(%t0 : !T) -> !T
  %8 = rope.table #ntk ins(%r : tensor<3xi64>) length(%m) outs(%t0 : !T) -> !T
  %9 = rope.table #ntk ins(%s : tensor<3xi64>) length(%l) outs(%t0 : !T) -> !T
  %e = rope.compose ins(%8, %9 : !T, !T) outs(%t0 : !T) -> !T
  return %a, %b, %f, %c, %d, %e : !T, !T, !T, !T, !T, !T
}

// -----

!T = tensor<3x2x4xf32>

// One of the tables is in use elsewhere, whichever it is.
// CHECK-LABEL: @tables_used
// CHECK-NOT: rope.compose
func.func @tables_used(%p: tensor<3xi64>, %q: tensor<3xi64>, %t0: !T) -> (!T, !T, !T, !T) {
  %0 = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) outs(%t0 : !T) -> !T
  %1 = rope.table #rope.default<1.0e4> ins(%q : tensor<3xi64>) outs(%t0 : !T) -> !T
  %a = rope.compose ins(%0, %1 : !T, !T) outs(%t0 : !T) -> !T
  %2 = rope.table #rope.default<1.0e3> ins(%p : tensor<3xi64>) outs(%t0 : !T) -> !T
  %3 = rope.table #rope.default<1.0e3> ins(%q : tensor<3xi64>) outs(%t0 : !T) -> !T
  %b = rope.compose ins(%2, %3 : !T, !T) outs(%t0 : !T) -> !T
  return %a, %0, %b, %3 : !T, !T, !T, !T
}

// -----

!T = tensor<3x2x4xf32>
!D = tensor<?x2x4xf32>
#huge = #rope.explicit<frequencies = [1.0e308, 1.0, 1.0, 1.0]>
#large = #rope.explicit<frequencies = [1.0, 1.0, 1.0, 1.0], magnitude = 1.0e200>

// Sums of frequencies or products of magnitudes that overflow; integers and
// floats; integers and indices; types of other shapes.
// CHECK-LABEL: @tables_limits
// CHECK-COUNT-7: rope.compose
func.func @tables_limits(%p: tensor<3xi64>, %q: tensor<3xi64>, %f: tensor<3xf32>, %i: tensor<3xindex>, %n: tensor<?xi64>, %t0: !T, %d0: !D) -> (!T, !T, !T, !T, !T, !T, !T) {
  %0 = rope.table #huge ins(%p : tensor<3xi64>) outs(%t0 : !T) -> !T
  %1 = rope.table #huge ins(%p : tensor<3xi64>) outs(%t0 : !T) -> !T
  %a = rope.compose ins(%0, %1 : !T, !T) outs(%t0 : !T) -> !T
  %2 = rope.table #large ins(%p : tensor<3xi64>) outs(%t0 : !T) -> !T
  %3 = rope.table #large ins(%p : tensor<3xi64>) outs(%t0 : !T) -> !T
  %b = rope.compose ins(%2, %3 : !T, !T) outs(%t0 : !T) -> !T
  %4 = rope.table #large ins(%p : tensor<3xi64>) outs(%t0 : !T) -> !T
  %5 = rope.table #large ins(%q : tensor<3xi64>) outs(%t0 : !T) -> !T
  %c = rope.compose ins(%4, %5 : !T, !T) outs(%t0 : !T) -> !T
  %6 = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) outs(%t0 : !T) -> !T
  %7 = rope.table #rope.default<1.0e4> ins(%f : tensor<3xf32>) outs(%t0 : !T) -> !T
  %d = rope.compose ins(%6, %7 : !T, !T) outs(%t0 : !T) -> !T
  %8 = rope.table #rope.default<1.0e4> ins(%f : tensor<3xf32>) outs(%t0 : !T) -> !T
  %9 = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) outs(%t0 : !T) -> !T
  %e = rope.compose ins(%8, %9 : !T, !T) outs(%t0 : !T) -> !T
  %10 = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) outs(%t0 : !T) -> !T
  %11 = rope.table #rope.default<1.0e4> ins(%i : tensor<3xindex>) outs(%t0 : !T) -> !T
  %g = rope.compose ins(%10, %11 : !T, !T) outs(%t0 : !T) -> !T
  %12 = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) outs(%t0 : !T) -> !T
  %13 = rope.table #rope.default<1.0e4> ins(%n : tensor<?xi64>) outs(%d0 : !D) -> !D
  %h = rope.compose ins(%12, %13 : !T, !D) outs(%t0 : !T) -> !T
  return %a, %b, %c, %d, %e, %g, %h : !T, !T, !T, !T, !T, !T, !T
}

// -----

// A shift of cached keys: two rotations end as one table of summed positions.
// CHECK-LABEL: @shift
// CHECK: %[[S:.*]] = arith.addi
// CHECK: %[[T:.*]] = rope.table #rope.default<1.000000e+04> ins(%[[S]] : tensor<?xi64>)
// CHECK-NEXT: %[[Y:.*]] = rope.rotate <half along [1]> ins(%{{.*}}, %[[T]] : tensor<8x?x4xf32>, tensor<?x2x2xf32>)
// CHECK-NEXT: return %[[Y]]
func.func @shift(%x: tensor<8x?x4xf32>, %p: tensor<?xi64>, %q: tensor<?xi64>, %t0: tensor<?x2x2xf32>) -> tensor<8x?x4xf32> {
  %0 = rope.table #rope.default<1.0e4> ins(%p : tensor<?xi64>) outs(%t0 : tensor<?x2x2xf32>) -> tensor<?x2x2xf32>
  %1 = rope.table #rope.default<1.0e4> ins(%q : tensor<?xi64>) outs(%t0 : tensor<?x2x2xf32>) -> tensor<?x2x2xf32>
  %2 = rope.rotate <half along [1]> ins(%x, %0 : tensor<8x?x4xf32>, tensor<?x2x2xf32>) outs(%x : tensor<8x?x4xf32>) -> tensor<8x?x4xf32>
  %3 = rope.rotate <half along [1]> ins(%2, %1 : tensor<8x?x4xf32>, tensor<?x2x2xf32>) outs(%x : tensor<8x?x4xf32>) -> tensor<8x?x4xf32>
  return %3 : tensor<8x?x4xf32>
}
