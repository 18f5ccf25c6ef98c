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
// permuted; channels that are not read as they were written.
// CHECK-LABEL: @not_opposite_rows
// CHECK: %[[A:.*]] = rope.rerotate <half along [1]>
// CHECK: %[[B:.*]] = rope.rerotate <half along [0]>
// CHECK: %[[C:.*]] = rope.rerotate <half to interleaved along [0]>
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @not_opposite_rows(%z: !Z, %x: !Y, %p: tensor<3xi64>, %t0: !U) -> (!Z, !Y, !Y) {
  %t = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) outs(%t0 : !U) -> !U
  %ra = rope.rotate <half along [0]> ins(%z, %t : !Z, !U) outs(%z : !Z) -> !Z
  %a = rope.rerotate <half along [1]> ins(%ra, %t : !Z, !U) outs(%z : !Z) -> !Z
  %rb = rope.rotate <interleaved to half along [0]> ins(%x, %t : !Y, !U) outs(%x : !Y) -> !Y
  %b = rope.rerotate <half along [0]> ins(%rb, %t : !Y, !U) outs(%x : !Y) -> !Y
  %rc = rope.rotate <interleaved along [0]> ins(%x, %t : !Y, !U) outs(%x : !Y) -> !Y
  %c = rope.rerotate <half to interleaved along [0]> ins(%rc, %t : !Y, !U) outs(%x : !Y) -> !Y
  return %a, %b, %c : !Z, !Y, !Y
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
