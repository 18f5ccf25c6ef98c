// RUN: rope-opt %s --canonicalize --split-input-file | FileCheck %s

// Rotations go above what moves or repeats whole rows; slices above rotations.

!T = tensor<?x2x4xf32>

// The table follows where its dim came from; the init stays with the result.
// CHECK-LABEL: @transpose
// CHECK-SAME: %[[X:.*]]: tensor<2x?x3x8xf32>, %[[T:.*]]: tensor<?x2x4xf32>, %[[I:.*]]: tensor<2x3x?x8xf32>,
// CHECK: %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<2x?x3x8xf32>
// CHECK: %[[R:.*]] = rope.rotate <half along [1]> ins(%[[X]], %[[T]] : tensor<2x?x3x8xf32>, tensor<?x2x4xf32>) outs(%[[E]] : tensor<2x?x3x8xf32>)
// CHECK: %[[Y:.*]] = linalg.transpose ins(%[[R]] : tensor<2x?x3x8xf32>) outs(%[[I]] : tensor<2x3x?x8xf32>) permutation = [0, 2, 1, 3]
// CHECK: return %[[Y]]
func.func @transpose(%x: tensor<2x?x3x8xf32>, %t: !T, %i: tensor<2x3x?x8xf32>, %j: tensor<2x3x?x8xf32>) -> tensor<2x3x?x8xf32> {
  %y = linalg.transpose ins(%x : tensor<2x?x3x8xf32>) outs(%j : tensor<2x3x?x8xf32>) permutation = [0, 2, 1, 3]
  %r = rope.rotate <half along [2]> ins(%y, %t : tensor<2x3x?x8xf32>, !T) outs(%i : tensor<2x3x?x8xf32>) -> tensor<2x3x?x8xf32>
  return %r : tensor<2x3x?x8xf32>
}

// -----

// In place: the transpose writes where it wrote. A plan stays.
// CHECK-LABEL: @transpose_in_place
// CHECK-SAME: %[[X:.*]]: tensor<4x3x8xf32>, %[[T:.*]]: tensor<4x2x4xf32>, %[[I:.*]]: tensor<3x4x8xf32>
// CHECK: %[[R:.*]] = rope.rerotate <half along [0]> ins(%[[X]], %[[T]] {{.*}} {rope.plan = #rope.cpu_plan<>}
// CHECK: linalg.transpose ins(%[[R]] : tensor<4x3x8xf32>) outs(%[[I]] : tensor<3x4x8xf32>)
func.func @transpose_in_place(%x: tensor<4x3x8xf32>, %t: tensor<4x2x4xf32>, %i: tensor<3x4x8xf32>) -> tensor<3x4x8xf32> {
  %y = linalg.transpose ins(%x : tensor<4x3x8xf32>) outs(%i : tensor<3x4x8xf32>) permutation = [1, 0, 2]
  %r = rope.rerotate <half along [1]> ins(%y, %t : tensor<3x4x8xf32>, tensor<4x2x4xf32>) outs(%y : tensor<3x4x8xf32>) {rope.plan = #rope.cpu_plan<>} -> tensor<3x4x8xf32>
  return %r : tensor<3x4x8xf32>
}

// -----

// Channels that move, another user, another block.
// CHECK-LABEL: @transpose_stays
// CHECK: linalg.transpose
// CHECK: rope.rotate <half along [0]>
// CHECK: linalg.transpose
// CHECK: rope.rotate <half along [0, 1]>
// CHECK: scf.for
// CHECK: rope.rotate <half along []>
func.func @transpose_stays(%x: tensor<8x4x3xf32>, %z: tensor<4x3x8xf32>, %t: tensor<4x2x4xf32>, %u: tensor<3x4x2x4xf32>, %v: tensor<2x4xf32>, %i: tensor<4x3x8xf32>, %j: tensor<3x4x8xf32>, %n: index) -> (tensor<4x3x8xf32>, tensor<3x4x8xf32>, tensor<3x4x8xf32>, tensor<3x4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = linalg.transpose ins(%x : tensor<8x4x3xf32>) outs(%i : tensor<4x3x8xf32>) permutation = [1, 2, 0]
  %ra = rope.rotate <half along [0]> ins(%a, %t : tensor<4x3x8xf32>, tensor<4x2x4xf32>) outs(%i : tensor<4x3x8xf32>) -> tensor<4x3x8xf32>
  %b = linalg.transpose ins(%z : tensor<4x3x8xf32>) outs(%j : tensor<3x4x8xf32>) permutation = [1, 0, 2]
  %rb = rope.rotate <half along [0, 1]> ins(%b, %u : tensor<3x4x8xf32>, tensor<3x4x2x4xf32>) outs(%j : tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
  %rc = scf.for %k = %c0 to %n step %c1 iter_args(%s = %j) -> tensor<3x4x8xf32> {
    %r = rope.rotate <half along []> ins(%b, %v : tensor<3x4x8xf32>, tensor<2x4xf32>) outs(%s : tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
    scf.yield %r : tensor<3x4x8xf32>
  }
  return %ra, %rb, %rc, %b : tensor<4x3x8xf32>, tensor<3x4x8xf32>, tensor<3x4x8xf32>, tensor<3x4x8xf32>
}

// -----

// One key head is turned, not each of its copies.
// CHECK-LABEL: @broadcast
// CHECK-SAME: %[[X:.*]]: tensor<2x?x64xbf16>
// CHECK: %[[R:.*]] = rope.rotate <interleaved along [1]> ins(%[[X]], %{{.*}} : tensor<2x?x64xbf16>, tensor<?x2x32xf32>)
// CHECK: linalg.broadcast ins(%[[R]] : tensor<2x?x64xbf16>) outs(%{{.*}} : tensor<2x16x?x64xbf16>) dimensions = [1]
func.func @broadcast(%x: tensor<2x?x64xbf16>, %t: tensor<?x2x32xf32>, %i: tensor<2x16x?x64xbf16>) -> tensor<2x16x?x64xbf16> {
  %y = linalg.broadcast ins(%x : tensor<2x?x64xbf16>) outs(%i : tensor<2x16x?x64xbf16>) dimensions = [1]
  %r = rope.rotate <interleaved along [2]> ins(%y, %t : tensor<2x16x?x64xbf16>, tensor<?x2x32xf32>) outs(%i : tensor<2x16x?x64xbf16>) -> tensor<2x16x?x64xbf16>
  return %r : tensor<2x16x?x64xbf16>
}

// -----

// A table that differs along the copies.
// CHECK-LABEL: @broadcast_stays
// CHECK: linalg.broadcast
// CHECK: rope.rotate <half along [1]>
func.func @broadcast_stays(%x: tensor<2x8xf32>, %t: tensor<16x2x4xf32>, %i: tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  %y = linalg.broadcast ins(%x : tensor<2x8xf32>) outs(%i : tensor<2x16x8xf32>) dimensions = [1]
  %r = rope.rotate <half along [1]> ins(%y, %t : tensor<2x16x8xf32>, tensor<16x2x4xf32>) outs(%i : tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
  return %r : tensor<2x16x8xf32>
}

// -----

#in = affine_map<(b, h, g, s, d) -> (b, h, 0, s, d)>
#out = affine_map<(b, h, g, s, d) -> (b, h, g, s, d)>

// The repeat of grouped heads as importers spell it: expand, copy, collapse.
// CHECK-LABEL: @repeat_heads
// CHECK-SAME: %[[X:.*]]: tensor<1x2x5x8xf32>
// CHECK: %[[R:.*]] = rope.rotate <half along [2]> ins(%[[X]], %{{.*}} : tensor<1x2x5x8xf32>, tensor<5x2x4xf32>)
// CHECK: %[[S:.*]] = tensor.expand_shape %[[R]] {{\[\[}}0], [1, 2], [3], [4]]
// CHECK: %[[G:.*]] = linalg.generic {{.*}} ins(%[[S]] : tensor<1x2x1x5x8xf32>)
// CHECK: %[[Y:.*]] = tensor.collapse_shape %[[G]] {{\[\[}}0], [1, 2], [3], [4]]
// CHECK: return %[[Y]]
func.func @repeat_heads(%x: tensor<1x2x5x8xf32>, %t: tensor<5x2x4xf32>) -> tensor<1x8x5x8xf32> {
  %e = tensor.empty() : tensor<1x2x4x5x8xf32>
  %i = tensor.empty() : tensor<1x8x5x8xf32>
  %s = tensor.expand_shape %x [[0], [1, 2], [3], [4]] output_shape [1, 2, 1, 5, 8] : tensor<1x2x5x8xf32> into tensor<1x2x1x5x8xf32>
  %g = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<1x2x1x5x8xf32>) outs(%e : tensor<1x2x4x5x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
  } -> tensor<1x2x4x5x8xf32>
  %c = tensor.collapse_shape %g [[0], [1, 2], [3], [4]] : tensor<1x2x4x5x8xf32> into tensor<1x8x5x8xf32>
  %r = rope.rotate <half along [2]> ins(%c, %t : tensor<1x8x5x8xf32>, tensor<5x2x4xf32>) outs(%i : tensor<1x8x5x8xf32>) -> tensor<1x8x5x8xf32>
  return %r : tensor<1x8x5x8xf32>
}

// -----

// Channels that are split off; a dim of the table that is merged with another;
// an init that is written in place.
// CHECK-LABEL: @reshape_stays
// CHECK: tensor.expand_shape
// CHECK-NEXT: rope.rotate <half along [0]>
// CHECK: tensor.collapse_shape
// CHECK-NEXT: rope.rotate <half along [0]>
// CHECK: tensor.collapse_shape
// CHECK-NEXT: rope.rotate <half along []>
func.func @reshape_stays(%x: tensor<5x16xf32>, %z: tensor<3x5x8xf32>, %t: tensor<5x2x4xf32>, %u: tensor<15x2x4xf32>, %v: tensor<2x4xf32>, %cache: tensor<15x8xf32>) -> (tensor<5x2x8xf32>, tensor<15x8xf32>, tensor<15x8xf32>) {
  %i = tensor.empty() : tensor<5x2x8xf32>
  %j = tensor.empty() : tensor<15x8xf32>
  %a = tensor.expand_shape %x [[0], [1, 2]] output_shape [5, 2, 8] : tensor<5x16xf32> into tensor<5x2x8xf32>
  %ra = rope.rotate <half along [0]> ins(%a, %t : tensor<5x2x8xf32>, tensor<5x2x4xf32>) outs(%i : tensor<5x2x8xf32>) -> tensor<5x2x8xf32>
  %b = tensor.collapse_shape %z [[0, 1], [2]] : tensor<3x5x8xf32> into tensor<15x8xf32>
  %rb = rope.rotate <half along [0]> ins(%b, %u : tensor<15x8xf32>, tensor<15x2x4xf32>) outs(%j : tensor<15x8xf32>) -> tensor<15x8xf32>
  %c = tensor.collapse_shape %z [[0, 1], [2]] : tensor<3x5x8xf32> into tensor<15x8xf32>
  %rc = rope.rotate <half along []> ins(%c, %v : tensor<15x8xf32>, tensor<2x4xf32>) outs(%cache : tensor<15x8xf32>) -> tensor<15x8xf32>
  return %ra, %rb, %rc : tensor<5x2x8xf32>, tensor<15x8xf32>, tensor<15x8xf32>
}

// -----

// A dim of extent 1 comes or goes beside the dim of the table.
// CHECK-LABEL: @unit_dims
// CHECK: rope.rotate <half along [0]> ins(%{{.*}} : tensor<?x8xf32>, tensor<?x2x4xf32>)
// CHECK: tensor.expand_shape
// CHECK: rope.rotate <half along [1]> ins(%{{.*}} : tensor<1x?x1x8xf32>, tensor<?x2x4xf32>)
// CHECK: tensor.collapse_shape
func.func @unit_dims(%x: tensor<?x8xf32>, %z: tensor<1x?x1x8xf32>, %t: tensor<?x2x4xf32>, %n: index) -> (tensor<1x?x8xf32>, tensor<?x8xf32>) {
  %i = tensor.empty(%n) : tensor<1x?x8xf32>
  %j = tensor.empty(%n) : tensor<?x8xf32>
  %a = tensor.expand_shape %x [[0, 1], [2]] output_shape [1, %n, 8] : tensor<?x8xf32> into tensor<1x?x8xf32>
  %ra = rope.rotate <half along [1]> ins(%a, %t : tensor<1x?x8xf32>, tensor<?x2x4xf32>) outs(%i : tensor<1x?x8xf32>) -> tensor<1x?x8xf32>
  %b = tensor.collapse_shape %z [[0, 1], [2, 3]] : tensor<1x?x1x8xf32> into tensor<?x8xf32>
  %rb = rope.rotate <half along [0]> ins(%b, %t : tensor<?x8xf32>, tensor<?x2x4xf32>) outs(%j : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %ra, %rb : tensor<1x?x8xf32>, tensor<?x8xf32>
}

// -----

// A scalar has no rows to turn.
// CHECK-LABEL: @fill_stays
// CHECK: linalg.fill
// CHECK: rope.rotate
func.func @fill_stays(%s: f32, %t: tensor<5x2x4xf32>, %i: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %x = linalg.fill ins(%s : f32) outs(%i : tensor<5x8xf32>) -> tensor<5x8xf32>
  %r = rope.rotate <half along [0]> ins(%x, %t : tensor<5x8xf32>, tensor<5x2x4xf32>) outs(%i : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

// -----

!X = tensor<4x16x12xf32>

// Rows, rows of the table, and channels around the pairs are cut first.
// CHECK-LABEL: @slice
// CHECK-SAME: %[[X:.*]]: tensor<4x16x12xf32>, %[[T:.*]]: tensor<16x2x4xf32>, %[[P:.*]]: index
// CHECK-DAG: %[[TS:.*]] = tensor.extract_slice %[[T]][%[[P]], 0, 0] [3, 2, 4] [2, 1, 1]
// CHECK-DAG: %[[XS:.*]] = tensor.extract_slice %[[X]][1, %[[P]], 2] [2, 3, 9] [1, 2, 1]
// CHECK: %[[R:.*]] = rope.rotate <half offset = 1 along [1]> ins(%[[XS]], %[[TS]] : tensor<2x3x9xf32>, tensor<3x2x4xf32>) {{.*}} {rope.plan = #rope.cpu_plan<>}
// CHECK: return %[[R]]
func.func @slice(%x: !X, %t: tensor<16x2x4xf32>, %p: index) -> tensor<2x3x9xf32> {
  %i = tensor.empty() : !X
  %r = rope.rotate <half offset = 3 along [1]> ins(%x, %t : !X, tensor<16x2x4xf32>) outs(%i : !X) {rope.plan = #rope.cpu_plan<>} -> !X
  %s = tensor.extract_slice %r[1, %p, 2] [2, 3, 9] [1, 2, 1] : !X to tensor<2x3x9xf32>
  return %s : tensor<2x3x9xf32>
}

// -----

// A slice of what shares the table leaves the table alone.
// CHECK-LABEL: @slice_of_batch
// CHECK-SAME: %[[X:.*]]: tensor<4x5x12xf32>, %[[T:.*]]: tensor<?x2x4xf32>
// CHECK-NOT: extract_slice %[[T]]
// CHECK: %[[XS:.*]] = tensor.extract_slice %[[X]]
// CHECK: rope.rotate <half along [1]> ins(%[[XS]], %[[T]] : tensor<2x5x12xf32>
func.func @slice_of_batch(%x: tensor<4x5x12xf32>, %t: tensor<?x2x4xf32>) -> tensor<2x5x12xf32> {
  %r = rope.rotate <half along [1]> ins(%x, %t : tensor<4x5x12xf32>, tensor<?x2x4xf32>) outs(%x : tensor<4x5x12xf32>) -> tensor<4x5x12xf32>
  %s = tensor.extract_slice %r[1, 0, 0] [2, 5, 12] [1, 1, 1] : tensor<4x5x12xf32> to tensor<2x5x12xf32>
  return %s : tensor<2x5x12xf32>
}

// -----

!X = tensor<4x16x12xf32>

// Cut pairs, another user, a slice in a loop.
// CHECK-LABEL: @slice_stays
// CHECK: rope.rotate
// CHECK: tensor.extract_slice
// CHECK: rope.rotate
// CHECK: tensor.extract_slice
// CHECK: rope.rotate
// CHECK: scf.for
// CHECK-NOT: rope
func.func @slice_stays(%x: !X, %t: tensor<16x2x4xf32>, %n: index) -> (tensor<4x16x8xf32>, tensor<1x16x12xf32>, !X, !X) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tensor.empty() : !X
  %a = rope.rotate <half offset = 3 along [1]> ins(%x, %t : !X, tensor<16x2x4xf32>) outs(%i : !X) -> !X
  %s = tensor.extract_slice %a[0, 0, 4] [4, 16, 8] [1, 1, 1] : !X to tensor<4x16x8xf32>
  %b = rope.rotate <half along [1]> ins(%x, %t : !X, tensor<16x2x4xf32>) outs(%i : !X) -> !X
  %u = tensor.extract_slice %b[0, 0, 0] [1, 16, 12] [1, 1, 1] : !X to tensor<1x16x12xf32>
  %c = rope.rotate <interleaved along [1]> ins(%x, %t : !X, tensor<16x2x4xf32>) outs(%i : !X) -> !X
  %d = scf.for %k = %c0 to %n step %c1 iter_args(%y = %x) -> !X {
    %v = tensor.extract_slice %c[%k, 0, 0] [1, 16, 12] [1, 1, 1] : !X to tensor<1x16x12xf32>
    %w = tensor.insert_slice %v into %y[%k, 0, 0] [1, 16, 12] [1, 1, 1] : tensor<1x16x12xf32> into !X
    scf.yield %w : !X
  }
  return %s, %u, %b, %d : tensor<4x16x8xf32>, tensor<1x16x12xf32>, !X, !X
}

// -----

!X = tensor<4x16x20xf32>
!T = tensor<16x2x4xf32>

// Every second channel; all channels of the pairs but the last one; all but
// the first; channels from or up to where only the run time knows; a dim that
// goes.
// CHECK-LABEL: @slice_channels_stays
// CHECK: %[[A:.*]] = rope.rotate
// CHECK: tensor.extract_slice %[[A]][
// CHECK: %[[B:.*]] = rope.rotate
// CHECK: tensor.extract_slice %[[B]][
// CHECK: %[[C:.*]] = rope.rotate
// CHECK: tensor.extract_slice %[[C]][
// CHECK: %[[D:.*]] = rope.rotate
// CHECK: tensor.extract_slice %[[D]][
// CHECK: %[[E:.*]] = rope.rotate
// CHECK: tensor.extract_slice %[[E]][
// CHECK: %[[F:.*]] = rope.rotate
// CHECK: tensor.extract_slice %[[F]][
func.func @slice_channels_stays(%x: !X, %t: !T, %n: index) -> (tensor<4x16x10xf32>, tensor<4x16x10xf32>, tensor<4x16x10xf32>, tensor<4x16x16xf32>, tensor<4x16x?xf32>, tensor<16x20xf32>) {
  %i = tensor.empty() : !X
  %a = rope.rotate <half along [1]> ins(%x, %t : !X, !T) outs(%i : !X) -> !X
  %s = tensor.extract_slice %a[0, 0, 0] [4, 16, 10] [1, 1, 2] : !X to tensor<4x16x10xf32>
  %b = rope.rotate <half offset = 3 along [1]> ins(%x, %t : !X, !T) outs(%i : !X) -> !X
  %u = tensor.extract_slice %b[0, 0, 0] [4, 16, 10] [1, 1, 1] : !X to tensor<4x16x10xf32>
  %c = rope.rotate <half offset = 3 along [1]> ins(%x, %t : !X, !T) outs(%i : !X) -> !X
  %v = tensor.extract_slice %c[0, 0, 4] [4, 16, 10] [1, 1, 1] : !X to tensor<4x16x10xf32>
  %d = rope.rotate <half offset = 3 along [1]> ins(%x, %t : !X, !T) outs(%i : !X) -> !X
  %w = tensor.extract_slice %d[0, 0, %n] [4, 16, 16] [1, 1, 1] : !X to tensor<4x16x16xf32>
  %e = rope.rotate <half along [1]> ins(%x, %t : !X, !T) outs(%i : !X) -> !X
  %y = tensor.extract_slice %e[0, 0, 0] [4, 16, %n] [1, 1, 1] : !X to tensor<4x16x?xf32>
  %f = rope.rotate <half along [1]> ins(%x, %t : !X, !T) outs(%i : !X) -> !X
  %z = tensor.extract_slice %f[0, 0, 0] [1, 16, 20] [1, 1, 1] : !X to tensor<16x20xf32>
  return %s, %u, %v, %w, %y, %z : tensor<4x16x10xf32>, tensor<4x16x10xf32>, tensor<4x16x10xf32>, tensor<4x16x16xf32>, tensor<4x16x?xf32>, tensor<16x20xf32>
}

// -----

!X = tensor<4x16x20xf32>

// The rest of the rotary comes along.
// CHECK-LABEL: @slice_rotary
// CHECK: rope.rotate <half offset = 1 distance = 9 along [1]>
// CHECK: rope.rotate <half offset = 1 along [1] full = true>
func.func @slice_rotary(%x: !X, %t: tensor<16x2x4xf32>) -> (tensor<4x16x18xf32>, tensor<4x16x18xf32>) {
  %i = tensor.empty() : !X
  %a = rope.rotate <half offset = 3 distance = 9 along [1]> ins(%x, %t : !X, tensor<16x2x4xf32>) outs(%i : !X) -> !X
  %s = tensor.extract_slice %a[0, 0, 2] [4, 16, 18] [1, 1, 1] : !X to tensor<4x16x18xf32>
  %b = rope.rotate <half offset = 3 along [1] full = true> ins(%x, %t : !X, tensor<16x2x4xf32>) outs(%i : !X) -> !X
  %u = tensor.extract_slice %b[0, 0, 2] [4, 16, 18] [1, 1, 1] : !X to tensor<4x16x18xf32>
  return %s, %u : tensor<4x16x18xf32>, tensor<4x16x18xf32>
}
