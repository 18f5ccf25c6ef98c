// RUN: rope-opt %s --canonicalize --split-input-file | FileCheck %s

// Tables and rotations; see canonicalize-motion.mlir and
// canonicalize-attention.mlir for the rest.

!T = tensor<1x2x4xf32>

// A single row at position 0 turns nothing.
// CHECK-LABEL: @position_zero
// CHECK-SAME: %[[X:.*]]: tensor<2x1x8xf32>
// CHECK-NEXT: return %[[X]]
func.func @position_zero(%x: tensor<2x1x8xf32>, %t0: !T) -> tensor<2x1x8xf32> {
  %c0 = arith.constant 0 : index
  %t = rope.table #rope.default<1.0e4> ins(%c0 : index) f32_angle outs(%t0 : !T) -> !T
  %y = rope.rotate <half along [1]> ins(%x, %t : tensor<2x1x8xf32>, !T) outs(%x : tensor<2x1x8xf32>) -> tensor<2x1x8xf32>
  return %y : tensor<2x1x8xf32>
}

// -----

// A second row from 0 is at position 1.
// CHECK-LABEL: @position_one
// CHECK: rope.rotate
func.func @position_one(%x: tensor<2x2x8xf32>, %t0: tensor<2x2x4xf32>) -> tensor<2x2x8xf32> {
  %c0 = arith.constant 0 : index
  %t = rope.table #rope.default<1.0e4> ins(%c0 : index) outs(%t0 : tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
  %y = rope.rotate <half along [1]> ins(%x, %t : tensor<2x2x8xf32>, tensor<2x2x4xf32>) outs(%x : tensor<2x2x8xf32>) -> tensor<2x2x8xf32>
  return %y : tensor<2x2x8xf32>
}

// -----

// Listed positions that are all 0; integers and floats.
// CHECK-LABEL: @listed_zeros
// CHECK-SAME: %[[X:.*]]: tensor<3x8xf32>
// CHECK-NEXT: return %[[X]], %[[X]]
func.func @listed_zeros(%x: tensor<3x8xf32>, %t0: tensor<3x2x4xf32>) -> (tensor<3x8xf32>, tensor<3x8xf32>) {
  %i = arith.constant dense<0> : tensor<3xi64>
  %f = arith.constant dense<0.0> : tensor<3xf32>
  %ti = rope.table #rope.default<1.0e4> ins(%i : tensor<3xi64>) outs(%t0 : tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  %tf = rope.table #rope.default<1.0e4> ins(%f : tensor<3xf32>) outs(%t0 : tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  %y = rope.rotate <half along [0]> ins(%x, %ti : tensor<3x8xf32>, tensor<3x2x4xf32>) outs(%x : tensor<3x8xf32>) -> tensor<3x8xf32>
  %z = rope.rerotate <half along [0]> ins(%x, %tf : tensor<3x8xf32>, tensor<3x2x4xf32>) outs(%x : tensor<3x8xf32>) -> tensor<3x8xf32>
  return %y, %z : tensor<3x8xf32>, tensor<3x8xf32>
}

// -----

!T = tensor<1x2x4xf32>

// A magnitude multiplies, also at position 0.
// CHECK-LABEL: @magnitude
// CHECK: rope.rotate
func.func @magnitude(%x: tensor<2x1x8xf32>, %t0: !T) -> tensor<2x1x8xf32> {
  %c0 = arith.constant 0 : index
  %t = rope.table #rope.yarn<theta = 1.0e4, factor = 4.0, trained = 4096> ins(%c0 : index) outs(%t0 : !T) -> !T
  %y = rope.rotate <half along [1]> ins(%x, %t : tensor<2x1x8xf32>, !T) outs(%x : tensor<2x1x8xf32>) -> tensor<2x1x8xf32>
  return %y : tensor<2x1x8xf32>
}

// -----

!T = tensor<1x2x4xf32>

// The identity that permutes channels is not nothing; with one pair it is.
// CHECK-LABEL: @permutes
// CHECK-SAME: %[[X:.*]]: tensor<2x1x8xf32>, %[[Z:.*]]: tensor<2x1x2xf32>
// CHECK: %[[Y:.*]] = rope.rotate <interleaved to half along [1]> ins(%[[X]]
// CHECK: return %[[Y]], %[[Z]]
func.func @permutes(%x: tensor<2x1x8xf32>, %z: tensor<2x1x2xf32>, %t0: !T, %t1: tensor<1x2x1xf32>) -> (tensor<2x1x8xf32>, tensor<2x1x2xf32>) {
  %c0 = arith.constant 0 : index
  %t = rope.table #rope.default<1.0e4> ins(%c0 : index) outs(%t0 : !T) -> !T
  %u = rope.table #rope.default<1.0e4> ins(%c0 : index) outs(%t1 : tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
  %y = rope.rotate <interleaved to half along [1]> ins(%x, %t : tensor<2x1x8xf32>, !T) outs(%x : tensor<2x1x8xf32>) -> tensor<2x1x8xf32>
  %w = rope.rotate <interleaved to half along [1]> ins(%z, %u : tensor<2x1x2xf32>, tensor<1x2x1xf32>) outs(%z : tensor<2x1x2xf32>) -> tensor<2x1x2xf32>
  return %y, %w : tensor<2x1x8xf32>, tensor<2x1x2xf32>
}

// -----

!X = tensor<2x?x8xf32>

// No pair of so small a share turns. Static and dynamic types are cast.
// CHECK-LABEL: @no_pair_turns
// CHECK-SAME: %[[X:.*]]: tensor<2x?x8xf32>
// CHECK-NEXT: %[[C:.*]] = tensor.cast %[[X]] : tensor<2x?x8xf32> to tensor<2x3x8xf32>
// CHECK-NEXT: return %[[C]]
func.func @no_pair_turns(%x: !X, %p: tensor<3xi64>, %t0: tensor<3x2x4xf32>, %i: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %t = rope.table #rope.proportional<theta = 1.0e4, share = 0.2> ins(%p : tensor<3xi64>) outs(%t0 : tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  %y = rope.rotate <half along [1]> ins(%x, %t : !X, tensor<3x2x4xf32>) outs(%i : tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// -----

// Memrefs are written, whatever the table.
// CHECK-LABEL: @memref
// CHECK: rope.rotate
func.func @memref(%x: memref<3x8xf32>, %y: memref<3x8xf32>, %t: memref<3x2x4xf32>) {
  rope.rotate <half along [0]> ins(%x, %t : memref<3x8xf32>, memref<3x2x4xf32>) outs(%y : memref<3x8xf32>)
  return
}

// -----

//===----------------------------------------------------------------------===//
// Opposite rotations
//===----------------------------------------------------------------------===//

!Y = tensor<3x8xf32>
!U = tensor<3x2x4xf32>

// Either order; f32 angles are angles as well. The first rotation stays for
// its other user.
// CHECK-LABEL: @opposite
// CHECK-SAME: %[[X:.*]]: tensor<3x8xf32>
// CHECK: %[[R:.*]] = rope.rotate
// CHECK-NOT: rope.re
// CHECK: return %[[X]], %[[R]], %[[X]]
func.func @opposite(%x: !Y, %p: tensor<3xi64>, %t0: !U) -> (!Y, !Y, !Y) {
  %t = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) f32_angle outs(%t0 : !U) -> !U
  %r = rope.rotate <half along [0]> ins(%x, %t : !Y, !U) outs(%x : !Y) -> !Y
  %y = rope.rerotate <half along [0]> ins(%r, %t : !Y, !U) outs(%x : !Y) -> !Y
  %s = rope.rerotate <interleaved along [0]> ins(%x, %t : !Y, !U) outs(%x : !Y) -> !Y
  %z = rope.rotate <interleaved along [0]> ins(%s, %t : !Y, !U) outs(%x : !Y) -> !Y
  return %y, %r, %z : !Y, !Y, !Y
}

// -----

!Y = tensor<3x8xf32>
!U = tensor<3x2x4xf32>

// Channels that are permuted come back.
// CHECK-LABEL: @opposite_back
// CHECK-SAME: %[[X:.*]]: tensor<3x8xf32>
// CHECK-NOT: rope.rotate
// CHECK: return %[[X]]
func.func @opposite_back(%x: !Y, %p: tensor<3xi64>, %t0: !U) -> !Y {
  %t = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) outs(%t0 : !U) -> !U
  %r = rope.rotate <interleaved to half along [0]> ins(%x, %t : !Y, !U) outs(%x : !Y) -> !Y
  %y = rope.rerotate <half to interleaved along [0]> ins(%r, %t : !Y, !U) outs(%x : !Y) -> !Y
  return %y : !Y
}

// -----

!Y = tensor<3x8xf32>
!U = tensor<3x2x4xf32>
!V = tensor<3x2x2xf32>

// None of these is x: another pairing, another offset, another direction, a
// magnitude, an unknown table, a full one.
// CHECK-LABEL: @not_opposite
func.func @not_opposite(%x: !Y, %p: tensor<3xi64>, %t0: !U, %v0: !V) -> (!Y, !Y, !Y, !Y, !Y, !Y) {
  %t = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) outs(%t0 : !U) -> !U
  %v = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) outs(%v0 : !V) -> !V
  %m = rope.table #rope.yarn<theta = 1.0e4, factor = 4.0, trained = 4096> ins(%p : tensor<3xi64>) outs(%t0 : !U) -> !U
  %r = rope.rotate <half along [0]> ins(%x, %t : !Y, !U) outs(%x : !Y) -> !Y
  %a = rope.rerotate <interleaved along [0]> ins(%r, %t : !Y, !U) outs(%x : !Y) -> !Y
  %rv = rope.rotate <half along [0]> ins(%x, %v : !Y, !V) outs(%x : !Y) -> !Y
  %b = rope.rerotate <half offset = 1 along [0]> ins(%rv, %v : !Y, !V) outs(%x : !Y) -> !Y
  %c = rope.rotate <half along [0]> ins(%r, %t : !Y, !U) outs(%x : !Y) -> !Y
  %rm = rope.rotate <half along [0]> ins(%x, %m : !Y, !U) outs(%x : !Y) -> !Y
  %d = rope.rerotate <half along [0]> ins(%rm, %m : !Y, !U) outs(%x : !Y) -> !Y
  %ru = rope.rotate <half along [0]> ins(%x, %t0 : !Y, !U) outs(%x : !Y) -> !Y
  %e = rope.rerotate <half along [0]> ins(%ru, %t0 : !Y, !U) outs(%x : !Y) -> !Y
  %rf = rope.rotate <half along [0] full = true> ins(%x, %t : !Y, !U) outs(%x : !Y) -> !Y
  %f = rope.rerotate <half along [0] full = true> ins(%rf, %t : !Y, !U) outs(%x : !Y) -> !Y
  // CHECK: %[[A:.*]] = rope.rerotate <interleaved along [0]>
  // CHECK: %[[B:.*]] = rope.rerotate <half offset = 1 along [0]>
  // CHECK: %[[C:.*]] = rope.rotate <half along [0]>
  // CHECK: %[[D:.*]] = rope.rerotate <half along [0]>
  // CHECK: %[[E:.*]] = rope.rerotate <half along [0]>
  // CHECK: %[[F:.*]] = rope.rerotate <half along [0] full = true>
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]], %[[F]]
  return %a, %b, %c, %d, %e, %f : !Y, !Y, !Y, !Y, !Y, !Y
}

// -----

!Z = tensor<3x3x8xf32>
!Y = tensor<3x8xf32>
!U = tensor<3x2x4xf32>

// The same table along another dim of the same extent; channels that stay
// permuted; channels that are not read as they were written; another table;
// one table that is full, whichever it is.
// CHECK-LABEL: @not_opposite_either
// CHECK: %[[A:.*]] = rope.rerotate <half along [1]>
// CHECK: %[[B:.*]] = rope.rerotate <half along [0]>
// CHECK: %[[C:.*]] = rope.rerotate <half to interleaved along [0]>
// CHECK: %[[D:.*]] = rope.rerotate <half along [0]>
// CHECK: %[[E:.*]] = rope.rerotate <half along [0]>
// CHECK: %[[F:.*]] = rope.rerotate <half along [0] full = true>
// CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]], %[[F]]
func.func @not_opposite_either(%z: !Z, %x: !Y, %p: tensor<3xi64>, %q: tensor<3xi64>, %t0: !U) -> (!Z, !Y, !Y, !Y, !Y, !Y) {
  %t = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) outs(%t0 : !U) -> !U
  %u = rope.table #rope.default<1.0e4> ins(%q : tensor<3xi64>) outs(%t0 : !U) -> !U
  %ra = rope.rotate <half along [0]> ins(%z, %t : !Z, !U) outs(%z : !Z) -> !Z
  %a = rope.rerotate <half along [1]> ins(%ra, %t : !Z, !U) outs(%z : !Z) -> !Z
  %rb = rope.rotate <interleaved to half along [0]> ins(%x, %t : !Y, !U) outs(%x : !Y) -> !Y
  %b = rope.rerotate <half along [0]> ins(%rb, %t : !Y, !U) outs(%x : !Y) -> !Y
  %rc = rope.rotate <interleaved along [0]> ins(%x, %t : !Y, !U) outs(%x : !Y) -> !Y
  %c = rope.rerotate <half to interleaved along [0]> ins(%rc, %t : !Y, !U) outs(%x : !Y) -> !Y
  %rd = rope.rotate <half along [0]> ins(%x, %t : !Y, !U) outs(%x : !Y) -> !Y
  %d = rope.rerotate <half along [0]> ins(%rd, %u : !Y, !U) outs(%x : !Y) -> !Y
  %re = rope.rotate <half along [0] full = true> ins(%x, %t : !Y, !U) outs(%x : !Y) -> !Y
  %e = rope.rerotate <half along [0]> ins(%re, %t : !Y, !U) outs(%x : !Y) -> !Y
  %rf = rope.rotate <half along [0]> ins(%x, %t : !Y, !U) outs(%x : !Y) -> !Y
  %f = rope.rerotate <half along [0] full = true> ins(%rf, %t : !Y, !U) outs(%x : !Y) -> !Y
  return %a, %b, %c, %d, %e, %f : !Z, !Y, !Y, !Y, !Y, !Y
}

// -----

!Y = tensor<3x8xf32>
!U = tensor<3x2x4xf32>
!V = tensor<5x2x6xf32>

// Parts of a unit table, casts of one, and products of two are unit.
// CHECK-LABEL: @opposite_by_part
// CHECK-SAME: %[[X:.*]]: tensor<3x8xf32>
// CHECK-NOT: rope.rotate
// CHECK: return %[[X]], %[[X]]
func.func @opposite_by_part(%x: !Y, %p: tensor<5xi64>, %q: tensor<?xi64>, %i: index, %j: index, %v0: !V, %d0: tensor<?x2x4xf32>) -> (!Y, !Y) {
  %v = rope.table #rope.default<1.0e4> ins(%p : tensor<5xi64>) outs(%v0 : !V) -> !V
  %s = tensor.extract_slice %v[%i, 0, %j] [3, 2, 4] [1, 1, 1] : !V to !U
  %r = rope.rotate <half along [0]> ins(%x, %s : !Y, !U) outs(%x : !Y) -> !Y
  %y = rope.rerotate <half along [0]> ins(%r, %s : !Y, !U) outs(%x : !Y) -> !Y
  %d = rope.table #rope.default<1.0e4> ins(%q : tensor<?xi64>) outs(%d0 : tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
  %c = tensor.cast %d : tensor<?x2x4xf32> to !U
  %m = rope.compose ins(%c, %s : !U, !U) outs(%s : !U) -> !U
  %t = rope.rotate <half along [0]> ins(%x, %m : !Y, !U) outs(%x : !Y) -> !Y
  %z = rope.rerotate <half along [0]> ins(%t, %m : !Y, !U) outs(%x : !Y) -> !Y
  return %y, %z : !Y, !Y
}

// -----

!Y = tensor<3x8xf32>
!Z = tensor<3x4xf32>
!U = tensor<3x2x4xf32>
!R = tensor<3x2x2x4xf32>

// Slices that take the planes for rows, the rows for planes, or the planes in
// another order; a product with an unknown table.
// CHECK-LABEL: @not_opposite_by_part
// CHECK-COUNT-4: rope.rerotate
func.func @not_opposite_by_part(%x: !Y, %w: !Z, %p: tensor<3x2xi64>, %q: tensor<3xi64>, %i: index, %r0: !R, %t0: !U) -> (!Y, !Z, !Y, !Y) {
  %t = rope.table #rope.default<1.0e4> ins(%p : tensor<3x2xi64>) outs(%r0 : !R) -> !R
  %sa = tensor.extract_slice %t[0, 0, 0, 0] [3, 2, 1, 4] [1, 1, 1, 1] : !R to !U
  %ra = rope.rotate <half along [0]> ins(%x, %sa : !Y, !U) outs(%x : !Y) -> !Y
  %a = rope.rerotate <half along [0]> ins(%ra, %sa : !Y, !U) outs(%x : !Y) -> !Y
  %sb = tensor.extract_slice %t[0, 0, 0, 0] [3, 2, 2, 1] [1, 1, 1, 1] : !R to tensor<3x2x2xf32>
  %rb = rope.rotate <half along [0]> ins(%w, %sb : !Z, tensor<3x2x2xf32>) outs(%w : !Z) -> !Z
  %b = rope.rerotate <half along [0]> ins(%rb, %sb : !Z, tensor<3x2x2xf32>) outs(%w : !Z) -> !Z
  %u = rope.table #rope.default<1.0e4> ins(%q : tensor<3xi64>) outs(%t0 : !U) -> !U
  %sc = tensor.extract_slice %u[0, %i, 0] [3, 2, 4] [1, %i, 1] : !U to !U
  %rc = rope.rotate <half along [0]> ins(%x, %sc : !Y, !U) outs(%x : !Y) -> !Y
  %c = rope.rerotate <half along [0]> ins(%rc, %sc : !Y, !U) outs(%x : !Y) -> !Y
  %m = rope.compose ins(%t0, %u : !U, !U) outs(%t0 : !U) -> !U
  %rd = rope.rotate <half along [0]> ins(%x, %m : !Y, !U) outs(%x : !Y) -> !Y
  %d = rope.rerotate <half along [0]> ins(%rd, %m : !Y, !U) outs(%x : !Y) -> !Y
  return %a, %b, %c, %d : !Y, !Z, !Y, !Y
}

// -----

!Y = tensor<3x8xf32>
!U = tensor<3x2x4xf32>

// A product of products of products: its factors are not all looked at.
// CHECK-LABEL: @many_factors
// CHECK: rope.rerotate
func.func @many_factors(%x: !Y, %p: tensor<3xi64>, %t0: !U) -> !Y {
  %0 = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) outs(%t0 : !U) -> !U
  %1 = rope.compose ins(%0, %0 : !U, !U) outs(%t0 : !U) -> !U
  %2 = rope.compose ins(%1, %1 : !U, !U) outs(%t0 : !U) -> !U
  %3 = rope.compose ins(%2, %2 : !U, !U) outs(%t0 : !U) -> !U
  %4 = rope.compose ins(%3, %3 : !U, !U) outs(%t0 : !U) -> !U
  %5 = rope.compose ins(%4, %4 : !U, !U) outs(%t0 : !U) -> !U
  %6 = rope.compose ins(%5, %5 : !U, !U) outs(%t0 : !U) -> !U
  %7 = rope.compose ins(%6, %6 : !U, !U) outs(%t0 : !U) -> !U
  %8 = rope.compose ins(%7, %7 : !U, !U) outs(%t0 : !U) -> !U
  %9 = rope.compose ins(%8, %8 : !U, !U) outs(%t0 : !U) -> !U
  %10 = rope.compose ins(%9, %9 : !U, !U) outs(%t0 : !U) -> !U
  %11 = rope.compose ins(%10, %10 : !U, !U) outs(%t0 : !U) -> !U
  %12 = rope.compose ins(%11, %11 : !U, !U) outs(%t0 : !U) -> !U
  %13 = rope.compose ins(%12, %12 : !U, !U) outs(%t0 : !U) -> !U
  %14 = rope.compose ins(%13, %13 : !U, !U) outs(%t0 : !U) -> !U
  %15 = rope.compose ins(%14, %14 : !U, !U) outs(%t0 : !U) -> !U
  %16 = rope.compose ins(%15, %15 : !U, !U) outs(%t0 : !U) -> !U
  %17 = rope.compose ins(%16, %16 : !U, !U) outs(%t0 : !U) -> !U
  %18 = rope.compose ins(%17, %17 : !U, !U) outs(%t0 : !U) -> !U
  %19 = rope.compose ins(%18, %18 : !U, !U) outs(%t0 : !U) -> !U
  %20 = rope.compose ins(%19, %19 : !U, !U) outs(%t0 : !U) -> !U
  %21 = rope.compose ins(%20, %20 : !U, !U) outs(%t0 : !U) -> !U
  %22 = rope.compose ins(%21, %21 : !U, !U) outs(%t0 : !U) -> !U
  %23 = rope.compose ins(%22, %22 : !U, !U) outs(%t0 : !U) -> !U
  %24 = rope.compose ins(%23, %23 : !U, !U) outs(%t0 : !U) -> !U
  %25 = rope.compose ins(%24, %24 : !U, !U) outs(%t0 : !U) -> !U
  %26 = rope.compose ins(%25, %25 : !U, !U) outs(%t0 : !U) -> !U
  %27 = rope.compose ins(%26, %26 : !U, !U) outs(%t0 : !U) -> !U
  %28 = rope.compose ins(%27, %27 : !U, !U) outs(%t0 : !U) -> !U
  %29 = rope.compose ins(%28, %28 : !U, !U) outs(%t0 : !U) -> !U
  %30 = rope.compose ins(%29, %29 : !U, !U) outs(%t0 : !U) -> !U
  %31 = rope.compose ins(%30, %30 : !U, !U) outs(%t0 : !U) -> !U
  %32 = rope.compose ins(%31, %31 : !U, !U) outs(%t0 : !U) -> !U
  %33 = rope.compose ins(%32, %32 : !U, !U) outs(%t0 : !U) -> !U
  %34 = rope.compose ins(%33, %33 : !U, !U) outs(%t0 : !U) -> !U
  %35 = rope.compose ins(%34, %34 : !U, !U) outs(%t0 : !U) -> !U
  %36 = rope.compose ins(%35, %35 : !U, !U) outs(%t0 : !U) -> !U
  %37 = rope.compose ins(%36, %36 : !U, !U) outs(%t0 : !U) -> !U
  %38 = rope.compose ins(%37, %37 : !U, !U) outs(%t0 : !U) -> !U
  %39 = rope.compose ins(%38, %38 : !U, !U) outs(%t0 : !U) -> !U
  %40 = rope.compose ins(%39, %39 : !U, !U) outs(%t0 : !U) -> !U
  %r = rope.rotate <half along [0]> ins(%x, %40 : !Y, !U) outs(%x : !Y) -> !Y
  %y = rope.rerotate <half along [0]> ins(%r, %40 : !Y, !U) outs(%x : !Y) -> !Y
  return %y : !Y
}

// -----

//===----------------------------------------------------------------------===//
// Pairs that do not turn
//===----------------------------------------------------------------------===//

!Y = tensor<?x8xf32>
!U = tensor<?x2x4xf32>

// Half pairs keep their distance.
// CHECK-LABEL: @narrow_half
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[P:.*]]: tensor<?xi64>
// CHECK: %[[T:.*]] = rope.table #rope.explicit<frequencies = [1.000000e+00, 1.000000e-01]> ins(%[[P]] : tensor<?xi64>) f32_angle outs(%{{.*}} : tensor<?x2x2xf32>)
// CHECK: rope.rotate <half distance = 4 along [0]> ins(%[[X]], %[[T]] : tensor<?x8xf32>, tensor<?x2x2xf32>)
func.func @narrow_half(%x: !Y, %p: tensor<?xi64>, %t0: !U) -> !Y {
  %t = rope.table #rope.proportional<theta = 1.0e4, share = 0.5> ins(%p : tensor<?xi64>) f32_angle outs(%t0 : !U) -> !U
  %y = rope.rotate <half along [0]> ins(%x, %t : !Y, !U) outs(%x : !Y) -> !Y
  return %y : !Y
}

// -----

!Y = tensor<3x13xf32>
!U = tensor<3x2x5xf32>

// Both ends; a zero between stays. Axes are cut alike.
// CHECK-LABEL: @narrow_interleaved
// CHECK: %[[T:.*]] = rope.table #rope.explicit<frequencies = [5.000000e-01, 0.000000e+00, 2.500000e-01]>
// CHECK-SAME: axes [1, 0, 1] outs
// CHECK: rope.rerotate <interleaved offset = 5 along [0]> ins(%{{.*}}, %[[T]] : tensor<3x13xf32>, tensor<3x2x3xf32>)
func.func @narrow_interleaved(%x: !Y, %p: tensor<2x3xf32>, %t0: !U) -> !Y {
  %t = rope.table #rope.explicit<frequencies = [0.0, 0.5, 0.0, 0.25, 0.0]> ins(%p : tensor<2x3xf32>) axes [0, 1, 0, 1, 1] outs(%t0 : !U) -> !U
  %y = rope.rerotate <interleaved offset = 3 along [0]> ins(%x, %t : !Y, !U) outs(%x : !Y) -> !Y
  return %y : !Y
}

// -----

!Y = tensor<3x8xf32>
!U = tensor<3x2x4xf32>

// A magnitude multiplies them, and permuted channels move.
// CHECK-LABEL: @not_narrow
// CHECK: rope.rotate <half along [0]>
// CHECK: rope.rotate <half to interleaved along [0]>
// CHECK: rope.rotate <half along [0] full = true>
func.func @not_narrow(%x: !Y, %p: tensor<3xi64>, %t0: !U) -> !Y {
  %t = rope.table #rope.explicit<frequencies = [1.0, 0.5, 0.0, 0.0], magnitude = 2.0> ins(%p : tensor<3xi64>) outs(%t0 : !U) -> !U
  %u = rope.table #rope.explicit<frequencies = [1.0, 0.5, 0.0, 0.0]> ins(%p : tensor<3xi64>) outs(%t0 : !U) -> !U
  %a = rope.rotate <half along [0]> ins(%x, %t : !Y, !U) outs(%x : !Y) -> !Y
  %b = rope.rotate <half to interleaved along [0]> ins(%a, %u : !Y, !U) outs(%x : !Y) -> !Y
  %c = rope.rotate <half along [0] full = true> ins(%b, %u : !Y, !U) outs(%x : !Y) -> !Y
  return %c : !Y
}

// -----

// CHECK-LABEL: @default_distance
// CHECK: rope.rotate <half along [0]>
func.func @default_distance(%x: tensor<3x8xf32>, %t: tensor<3x2x4xf32>) -> tensor<3x8xf32> {
  %y = rope.rotate <half distance = 4 along [0]> ins(%x, %t : tensor<3x8xf32>, tensor<3x2x4xf32>) outs(%x : tensor<3x8xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

#long = #rope.longrope<theta = 1.0e4, short_factors = [1.0, 1.0], long_factors = [1.0, 8.0], trained = 4096, magnitude = 1.19>
#flat = #rope.dynamic_ntk<theta = 1.0e4, factor = 1.0e17, trained = 4096>

// Up to the trained length the base is scaled by 1, however large the factor.
// CHECK-LABEL: @short_length
// CHECK-COUNT-2: rope.table #rope.explicit<frequencies = [1.000000e+00, 1.000000e-02]>
func.func @short_length(%p: tensor<3xi64>, %t0: tensor<3x2x2xf32>) -> (tensor<3x2x2xf32>, tensor<3x2x2xf32>) {
  %c1 = arith.constant 1 : index
  %c4096 = arith.constant 4096 : index
  %a = rope.table #flat ins(%p : tensor<3xi64>) length(%c1) outs(%t0 : tensor<3x2x2xf32>) -> tensor<3x2x2xf32>
  %b = rope.table #flat ins(%p : tensor<3xi64>) length(%c4096) outs(%t0 : tensor<3x2x2xf32>) -> tensor<3x2x2xf32>
  return %a, %b : tensor<3x2x2xf32>, tensor<3x2x2xf32>
}

// -----

#long = #rope.longrope<theta = 1.0e4, short_factors = [1.0, 1.0], long_factors = [1.0, 8.0], trained = 4096, magnitude = 1.19>

// The list of the length; one of a length known at run time stays.
// CHECK-LABEL: @constant_length
// CHECK-SAME: %[[L:[^,]*]]: index,
// CHECK-DAG: rope.table #rope.explicit<frequencies = [1.000000e+00, 1.000000e-02], magnitude = 1.190000e+00> ins(%{{.*}} : tensor<3xi64>) outs
// CHECK-DAG: rope.table #rope.explicit<frequencies = [1.000000e+00, 1.250000e-03], magnitude = 1.190000e+00> ins(%{{.*}} : tensor<3xi64>) outs
// CHECK-DAG: rope.table #rope.explicit<frequencies = [1.000000e+00, 0.0033333333333333335]> ins(%{{.*}} : tensor<3xi64>) outs
// CHECK-DAG: rope.table #rope.longrope{{.*}} length(%[[L]])
func.func @constant_length(%l: index, %p: tensor<3xi64>, %t0: tensor<3x2x2xf32>) -> (tensor<3x2x2xf32>, tensor<3x2x2xf32>, tensor<3x2x2xf32>, tensor<3x2x2xf32>) {
  %c4096 = arith.constant 4096 : index
  %c4097 = arith.constant 4097 : index
  %a = rope.table #long ins(%p : tensor<3xi64>) length(%c4096) outs(%t0 : tensor<3x2x2xf32>) -> tensor<3x2x2xf32>
  %b = rope.table #long ins(%p : tensor<3xi64>) length(%c4097) outs(%t0 : tensor<3x2x2xf32>) -> tensor<3x2x2xf32>
  %c = rope.table #rope.dynamic_ntk<theta = 1.0e4, factor = 2.0, trained = 2048> ins(%p : tensor<3xi64>) length(%c4096) outs(%t0 : tensor<3x2x2xf32>) -> tensor<3x2x2xf32>
  %d = rope.table #long ins(%p : tensor<3xi64>) length(%l) outs(%t0 : tensor<3x2x2xf32>) -> tensor<3x2x2xf32>
  return %a, %b, %c, %d : tensor<3x2x2xf32>, tensor<3x2x2xf32>, tensor<3x2x2xf32>, tensor<3x2x2xf32>
}

// -----

!T = tensor<3x2x4xf32>

// t/t is the identity, so that the rotation by it goes; t·1 and t/1 are t.
// CHECK-LABEL: @compose_identity
// CHECK-SAME: %[[X:[^:]*]]: tensor<3x8xf32>, %[[Q:[^:]*]]: tensor<3x2x4xf32>
// CHECK-NOT: rope
// CHECK: return %[[X]], %[[Q]], %[[Q]], %[[Q]]
func.func @compose_identity(%x: tensor<3x8xf32>, %q: !T, %p: tensor<3xi64>) -> (tensor<3x8xf32>, !T, !T, !T) {
  %t = rope.table #rope.yarn<theta = 1.0e4, factor = 4.0, trained = 4096> ins(%p : tensor<3xi64>) outs(%q : !T) -> !T
  %one = rope.compose ins(%t, inverse %t : !T, !T) outs(%q : !T) -> !T
  %y = rope.rotate <half along [0]> ins(%x, %one : tensor<3x8xf32>, !T) outs(%x : tensor<3x8xf32>) -> tensor<3x8xf32>
  %a = rope.compose ins(%q, %one : !T, !T) outs(%q : !T) -> !T
  %b = rope.compose ins(%q, inverse %one : !T, !T) outs(%q : !T) -> !T
  %c = rope.compose ins(%one, %q : !T, !T) outs(%q : !T) -> !T
  return %y, %a, %b, %c : tensor<3x8xf32>, !T, !T, !T
}

// -----

!T = tensor<3x2x4xf32>

// An unknown table may have zeros; 1/t is not t; bf16 rounds; t·t is not 1.
// CHECK-LABEL: @compose_other
// CHECK-COUNT-4: rope.compose
func.func @compose_other(%q: !T, %h: tensor<3x2x4xbf16>, %p: tensor<3xi64>) -> (!T, !T, tensor<3x2x4xbf16>, !T) {
  %t = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) outs(%q : !T) -> !T
  %z = arith.constant dense<0> : tensor<3xi64>
  %one = rope.table #rope.default<1.0e4> ins(%z : tensor<3xi64>) outs(%q : !T) -> !T
  %a = rope.compose ins(%q, inverse %q : !T, !T) outs(%q : !T) -> !T
  %b = rope.compose ins(%one, inverse %q : !T, !T) outs(%q : !T) -> !T
  %c = rope.compose ins(%q, %one : !T, !T) outs(%h : tensor<3x2x4xbf16>) -> tensor<3x2x4xbf16>
  %d = rope.compose ins(%t, %t : !T, !T) outs(%q : !T) -> !T
  return %a, %b, %c, %d : !T, !T, tensor<3x2x4xbf16>, !T
}

// -----

!T = tensor<3x2x4xf32>

// The identity of a table of several axes has the same axes.
// CHECK-LABEL: @compose_axes
// CHECK: rope.table #rope.explicit<frequencies = [0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]> ins(%{{.*}} : tensor<2x3xi64>) axes [0, 1, 1, 0] outs
func.func @compose_axes(%q: !T, %p: tensor<2x3xi64>) -> !T {
  %t = rope.table #rope.default<1.0e4> ins(%p : tensor<2x3xi64>) axes [0, 1, 1, 0] outs(%q : !T) -> !T
  %one = rope.compose ins(%t, inverse %t : !T, !T) outs(%q : !T) -> !T
  return %one : !T
}

// -----

!T = tensor<3x2x5000xf32>
#ntk = #rope.dynamic_ntk<theta = 1.0e4, factor = 2.0, trained = 2048>

// No list of very many frequencies.
// CHECK-LABEL: @not_listed
// CHECK-NOT: #rope.explicit
// CHECK: return
func.func @not_listed(%x: tensor<3x10000xf32>, %q: !T, %p: tensor<3xi64>) -> (!T, !T, tensor<3x10000xf32>) {
  %c2048 = arith.constant 2048 : index
  %a = rope.table #ntk ins(%p : tensor<3xi64>) length(%c2048) outs(%q : !T) -> !T
  %b = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) outs(%q : !T) -> !T
  %c = rope.compose ins(%b, inverse %b : !T, !T) outs(%q : !T) -> !T
  %d = rope.table #rope.proportional<theta = 1.0e4, share = 0.5> ins(%p : tensor<3xi64>) outs(%q : !T) -> !T
  %e = rope.rotate <half along [0]> ins(%x, %d : tensor<3x10000xf32>, !T) outs(%x : tensor<3x10000xf32>) -> tensor<3x10000xf32>
  return %a, %c, %e : !T, !T, tensor<3x10000xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

// Casts to less static types fold, by upstream's pattern for tensors and by
// the op's folder for memrefs. A cast that adds what the op needs stays.
// CHECK-LABEL: @casts
// CHECK: rope.rotate <half along [0]> ins(%{{.*}}, %{{.*}} : tensor<3x8xf32>, tensor<3x2x4xf32>) outs(%{{.*}} : tensor<3x8xf32>) -> tensor<3x8xf32>
// CHECK: rope.rotate <half along [0]> ins(%{{.*}}, %{{.*}} : memref<3x8xf32>, memref<3x2x4xf32>) outs(%{{.*}} : memref<3x8xf32>)
// CHECK: memref.cast %{{.*}} : memref<?x?xf32> to memref<?x8xf32>
// CHECK: rope.rotate
func.func @casts(%x: tensor<3x8xf32>, %t: tensor<3x2x4xf32>, %m: memref<3x8xf32>, %u: memref<3x2x4xf32>, %n: memref<?x?xf32>) -> tensor<?x8xf32> {
  %xc = tensor.cast %x : tensor<3x8xf32> to tensor<?x8xf32>
  %y = rope.rotate <half along [0]> ins(%xc, %t : tensor<?x8xf32>, tensor<3x2x4xf32>) outs(%xc : tensor<?x8xf32>) -> tensor<?x8xf32>
  %mc = memref.cast %m : memref<3x8xf32> to memref<?x8xf32>
  %uc = memref.cast %u : memref<3x2x4xf32> to memref<?x2x4xf32>
  rope.rotate <half along [0]> ins(%mc, %uc : memref<?x8xf32>, memref<?x2x4xf32>) outs(%mc : memref<?x8xf32>)
  %nc = memref.cast %n : memref<?x?xf32> to memref<?x8xf32>
  rope.rotate <half along [0]> ins(%nc, %u : memref<?x8xf32>, memref<3x2x4xf32>) outs(%nc : memref<?x8xf32>)
  return %y : tensor<?x8xf32>
}
