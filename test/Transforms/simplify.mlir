// RUN: rope-opt %s --rope-simplify --split-input-file | FileCheck %s
// RUN: rope-opt %s --rope-simplify="merge-rotations=false drop-offsets=false fold-scale=false" --split-input-file | FileCheck %s --check-prefix=OFF
// RUN: rope-opt %s --rope-simplify --split-input-file --remarks-filter=rope-simplify --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: remark: [Passed] merge-rotations | Category:rope-simplify | Reason="two rotations merged into one"
// REMARK: remark: [Passed] merge-tables
// REMARK: remark: [Passed] drop-offset
// REMARK: remark: [Passed] fold-scale

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
// CHECK: %[[Z:.*]] = rope.rerotate <half to interleaved offset = 0 along [0]>
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

// Another user, other dims, other pairs, f32 angles, a full table, bf16.
// CHECK-LABEL: @merge_not
// CHECK-NOT: rope.compose
// CHECK: return
func.func @merge_not(%x: !X, %z: tensor<3x3x8xf32>, %a: !T, %b: !T, %h: tensor<3x2x4xbf16>, %p: tensor<3xi64>) -> (!X, !X, tensor<3x3x8xf32>, !X, !X, !X, !X) {
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
  return %0, %1, %3, %5, %7, %9, %11 : !X, !X, tensor<3x3x8xf32>, !X, !X, !X, !X
}

// -----

//===----------------------------------------------------------------------===//
// Products of tables
//===----------------------------------------------------------------------===//

!T = tensor<3x2x4xf32>

// Positions add, in 64 bits; a quotient subtracts. Magnitudes multiply.
// CHECK-LABEL: @positions
// CHECK-SAME: %[[P:[^:]*]]: tensor<3xi32>, %[[Q:[^:]*]]: tensor<3xi64>, %[[I:[^:]*]]: tensor<3xindex>
// CHECK: %[[W:.*]] = arith.extsi %[[P]] : tensor<3xi32> to tensor<3xi64>
// CHECK: %[[S:.*]] = arith.addi %[[W]], %[[Q]] : tensor<3xi64>
// CHECK: %[[A:.*]] = rope.table #rope.default<1.000000e+04> ins(%[[S]] : tensor<3xi64>)
// CHECK: %[[V:.*]] = arith.subi %[[I]], %[[I]]
// CHECK-NOT: rope.compose
// CHECK: return %[[A]]
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
