// RUN: rope-opt %s --rope-simplify --split-input-file | FileCheck %s
// RUN: rope-opt %s --rope-simplify --split-input-file --remarks-filter=rope-simplify --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: remark: [Passed] drop-offset | Category:rope-simplify | Remark="an offset common to two rotations dropped"
// REMARK: remark: [Passed] fold-scale | Category:rope-simplify | Remark="a factor of query or key folded into the scale"

// Offsets common to two rotations of attention, and scales.

!X = tensor<2x3x8xf32>
!T = tensor<3x2x4xf32>

// One start for both: positions from 0, and one table for all.
// CHECK-LABEL: @same_start
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: rope.table #rope.yarn<{{.*}}> ins(%[[C0]] : index)
// CHECK: rope.table #rope.yarn<{{.*}}> ins(%[[C0]] : index)
// CHECK: rope.attention ins({{[^)]*}}) query_pos(%{{.*}} : index) key_pos
func.func @same_start(%x: !X, %s: index, %t0: !T) -> !X {
  %t = rope.table #rope.yarn<theta = 1.0e4, factor = 4.0, trained = 4096> ins(%s : index) outs(%t0 : !T) -> !T
  %o = rope.attention ins(%x, %x, %x : !X, !X, !X) query_pos(%s : index) key_pos(%s : index) rotate_query(%t : !T) <half along [1]> rotate_key(%t : !T) <half along [1]>
         outs(%x : !X) scale 1.0 causal -> !X
  return %o : !X
}

// -----

!X = tensor<2x3x8xf32>
!T = tensor<3x2x4xf32>

// Values with the output (RoPER), the pairs being written by the one and read
// by the other; and a summand of both starts.
// CHECK-LABEL: @roper
// CHECK-SAME: %[[A:[^:]*]]: index, %[[B:[^:]*]]: index, %[[C:[^:]*]]: index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[Q:.*]] = rope.table #rope.default<1.000000e+04> ins(%[[B]] : index)
// CHECK-DAG: %[[K:.*]] = rope.table #rope.default<1.000000e+04> ins(%[[C]] : index)
// CHECK-DAG: %[[V:.*]] = rope.table #rope.default<1.000000e+04> ins(%[[B]] : index)
// CHECK-DAG: %[[O:.*]] = rope.table #rope.default<1.000000e+04> ins(%[[C0]] : index)
// CHECK: rotate_query(%[[Q]] : {{.*}}) <half along [1]> rotate_key(%[[K]] : {{.*}}) <interleaved to half along [1]> rotate_value(%[[V]] : {{.*}}) <half to interleaved along [1]> rerotate_output(%[[O]] : {{.*}}) <interleaved to half along [1]>
func.func @roper(%x: !X, %a: index, %b: index, %c: index, %t0: !T) -> !X {
  %ab = arith.addi %a, %b : index
  %ca = arith.addi %c, %a : index
  %tq = rope.table #rope.default<1.0e4> ins(%ab : index) outs(%t0 : !T) -> !T
  %tk = rope.table #rope.default<1.0e4> ins(%ca : index) outs(%t0 : !T) -> !T
  %to = rope.table #rope.default<1.0e4> ins(%a : index) outs(%t0 : !T) -> !T
  %o = rope.attention ins(%x, %x, %x : !X, !X, !X) rotate_query(%tq : !T) <half along [1]> rotate_key(%tk : !T) <interleaved to half along [1]>
         rotate_value(%tq : !T) <half to interleaved along [1]> rerotate_output(%to : !T) <interleaved to half along [1]>
         outs(%x : !X) scale 1.0 -> !X
  return %o : !X
}

// -----

!X = tensor<3x8xf32>
!T = tensor<3x2x4xf32>
!M = tensor<3xf32>

// Constant starts lose the smaller. The values of the online form keep theirs:
// the output is turned back elsewhere.
// CHECK-LABEL: @online
// CHECK-DAG: %[[C7:.*]] = arith.constant 7 : index
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[V:.*]] = rope.table {{.*}} ins(%[[C7]] : index)
// CHECK-DAG: %[[Q:.*]] = rope.table {{.*}} ins(%[[C5]] : index)
// CHECK-DAG: %[[K:.*]] = rope.table {{.*}} ins(%[[C0]] : index)
// CHECK: rotate_query(%[[Q]] : {{.*}}) <half along [0]> rotate_key(%[[K]] : {{.*}}) <half along [0]> rotate_value(%[[V]] : {{.*}}) <half along [0]>
func.func @online(%x: !X, %m: !M, %t0: !T) -> (!X, !M, !M) {
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %tq = rope.table #rope.default<1.0e4> ins(%c7 : index) outs(%t0 : !T) -> !T
  %tk = rope.table #rope.default<1.0e4> ins(%c2 : index) outs(%t0 : !T) -> !T
  %o:3 = rope.online_attention ins(%x, %x, %x : !X, !X, !X) rotate_query(%tq : !T) <half along [0]> rotate_key(%tk : !T) <half along [0]> rotate_value(%tq : !T) <half along [0]>
         outs(%x, %m, %m : !X, !M, !M) scale 1.0 -> !X, !M, !M
  return %o#0, %o#1, %o#2 : !X, !M, !M
}

// -----

!X = tensor<2x3x8xf32>
!T = tensor<3x2x4xf32>

// f32 angles, another user (a cache), other pairs, other frequencies, listed
// positions, a full table, an offset that is not common.
// CHECK-LABEL: @offset_not
// CHECK-SAME: %[[S:[^:]*]]: index, %[[R:[^:]*]]: index
// CHECK-NOT: arith.constant 0 : index
// CHECK-COUNT-7: rope.attention
func.func @offset_not(%x: !X, %s: index, %r: index, %p: tensor<3xi64>, %t0: !T) -> (!X, !X, !X, !X, !X, !X, !X, !X) {
  %f = rope.table #rope.default<1.0e4> ins(%s : index) f32_angle outs(%t0 : !T) -> !T
  %0 = rope.attention ins(%x, %x, %x : !X, !X, !X) rotate_query(%f : !T) <half along [1]> rotate_key(%f : !T) <half along [1]> outs(%x : !X) scale 1.0 -> !X
  %g = rope.table #rope.default<1.0e5> ins(%s : index) outs(%t0 : !T) -> !T
  %cache = rope.rotate <half along [1]> ins(%x, %g : !X, !T) outs(%x : !X) -> !X
  %1 = rope.attention ins(%x, %x, %x : !X, !X, !X) rotate_query(%g : !T) <half along [1]> rotate_key(%g : !T) <half along [1]> outs(%x : !X) scale 1.0 -> !X
  %h = rope.table #rope.default<1.0e6> ins(%s : index) outs(%t0 : !T) -> !T
  %2 = rope.attention ins(%x, %x, %x : !X, !X, !X) rotate_query(%h : !T) <half along [1]> rotate_key(%h : !T) <half to interleaved along [1]> outs(%x : !X) scale 1.0 -> !X
  %i = rope.table #rope.default<1.0e7> ins(%s : index) outs(%t0 : !T) -> !T
  %3 = rope.attention ins(%x, %x, %x : !X, !X, !X) rotate_query(%i : !T) <half along [1]> rotate_key(%h : !T) <half along [1]> outs(%x : !X) scale 1.0 -> !X
  %j = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) outs(%t0 : !T) -> !T
  %4 = rope.attention ins(%x, %x, %x : !X, !X, !X) rotate_query(%j : !T) <half along [1]> rotate_key(%j : !T) <half along [1]> outs(%x : !X) scale 1.0 -> !X
  %5 = rope.attention ins(%x, %x, %x : !X, !X, !X) rotate_query(%h : !T) <half along [1] full = true> rotate_key(%h : !T) <half along [1] full = true> outs(%x : !X) scale 1.0 -> !X
  %k = rope.table #rope.default<1.0e6> ins(%r : index) outs(%t0 : !T) -> !T
  %6 = rope.attention ins(%x, %x, %x : !X, !X, !X) rotate_query(%h : !T) <half along [1]> rotate_key(%k : !T) <half along [1]> outs(%x : !X) scale 1.0 -> !X
  return %0, %1, %2, %3, %4, %5, %6, %cache : !X, !X, !X, !X, !X, !X, !X, !X
}

// -----

!X = tensor<2x3x8xf32>
!T = tensor<3x2x4xf32>
!N = tensor<3x2x2xf32>
#ntk = #rope.dynamic_ntk<theta = 1.0e4, factor = 2.0, trained = 2048>

// The length is kept; tables of two lengths, of two widths, and a full table of
// either stay.
// CHECK-LABEL: @offset_tables
// CHECK-SAME: %[[S:[^:]*]]: index, %[[L:[^:]*]]: index
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: rope.table #rope.dynamic_ntk<{{.*}}> ins(%[[C0]] : index) length(%[[L]])
// CHECK: rope.table #rope.dynamic_ntk<{{.*}}> ins(%[[C0]] : index) length(%[[L]])
// CHECK: rope.attention
// CHECK-NOT: ins(%[[C0]]
func.func @offset_tables(%x: !X, %s: index, %l: index, %m: index, %t0: !T, %n0: !N) -> (!X, !X, !X, !X, !X) {
  %a = rope.table #ntk ins(%s : index) length(%l) outs(%t0 : !T) -> !T
  %0 = rope.attention ins(%x, %x, %x : !X, !X, !X) rotate_query(%a : !T) <half along [1]> rotate_key(%a : !T) <half along [1]> outs(%x : !X) scale 1.0 -> !X
  %b = rope.table #ntk ins(%s : index) length(%m) outs(%t0 : !T) -> !T
  %c = rope.table #ntk ins(%s : index) length(%l) outs(%t0 : !T) -> !T
  %1 = rope.attention ins(%x, %x, %x : !X, !X, !X) rotate_query(%b : !T) <half along [1]> rotate_key(%c : !T) <half along [1]> outs(%x : !X) scale 1.0 -> !X
  %d = rope.table #rope.default<1.0e4> ins(%s : index) outs(%t0 : !T) -> !T
  %e = rope.table #rope.default<1.0e4> ins(%s : index) outs(%n0 : !N) -> !N
  %2 = rope.attention ins(%x, %x, %x : !X, !X, !X) rotate_query(%d : !T) <interleaved along [1]> rotate_key(%e : !N) <interleaved along [1]> outs(%x : !X) scale 1.0 -> !X
  %3 = rope.attention ins(%x, %x, %x : !X, !X, !X) rotate_query(%d : !T) <half along [1]> rotate_key(%d : !T) <half along [1] full = true> outs(%x : !X) scale 1.0 -> !X
  %4 = rope.attention ins(%x, %x, %x : !X, !X, !X) rotate_query(%d : !T) <half along [1] full = true> rotate_key(%d : !T) <half along [1]> outs(%x : !X) scale 1.0 -> !X
  return %0, %1, %2, %3, %4 : !X, !X, !X, !X, !X
}

// -----

!X = tensor<2x3x8xf32>
!T = tensor<3x2x4xf32>

// The new table stands where the old one stood.
// CHECK-LABEL: @offset_outside_loop
// CHECK: rope.table {{.*}} ins(%c0 : index)
// CHECK: scf.for
// CHECK-NOT: rope.table
func.func @offset_outside_loop(%x: !X, %s: index, %n: index, %t0: !T) -> !X {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = rope.table #rope.default<1.0e4> ins(%s : index) outs(%t0 : !T) -> !T
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %x) -> !X {
    %y = rope.attention ins(%o, %x, %x : !X, !X, !X) rotate_query(%t : !T) <half along [1]> rotate_key(%t : !T) <half along [1]> outs(%x : !X) scale 1.0 -> !X
    scf.yield %y : !X
  }
  return %r : !X
}

// -----

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

!X = tensor<2x3x8xf32>
!T = tensor<3x2x4xf32>
#id = affine_map<(a, b, c) -> (a, b, c)>

// Factors of both, by each spelling, from before a transpose and a rotation.
// CHECK-LABEL: @scale
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x3x8xf32>, %[[Y:[^:]*]]: tensor<3x2x8xf32>
// CHECK: %[[R:.*]] = rope.rotate <half along [0]> ins(%[[Y]],
// CHECK: %[[Q:.*]] = linalg.transpose ins(%[[R]]
// CHECK: rope.attention ins(%[[Q]], %[[X]], %[[X]] : {{.*}}) outs(%{{.*}}) scale 3.000000e+00 softcap
func.func @scale(%x: !X, %y: tensor<3x2x8xf32>, %t: !T, %i: !X, %j: tensor<3x2x8xf32>) -> !X {
  %half = arith.constant dense<0.5> : tensor<3x2x8xf32>
  %quarter = arith.constant dense<0.25> : tensor<2x3x8xf32>
  %three = arith.constant 3.0 : f32
  %a = arith.mulf %half, %y : tensor<3x2x8xf32>
  %b = linalg.transpose ins(%a : tensor<3x2x8xf32>) outs(%i : !X) permutation = [1, 0, 2]
  %c = rope.rotate <half along [1]> ins(%b, %t : !X, !T) outs(%i : !X) -> !X
  %d = arith.divf %x, %quarter : !X
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%d : !X) outs(%i : !X) {
    ^bb0(%in: f32, %out: f32):
      %m = arith.mulf %in, %three : f32
      linalg.yield %m : f32
  } -> !X
  %o = rope.attention ins(%c, %e, %x : !X, !X, !X) outs(%i : !X) scale 0.5 softcap 20.0 -> !X
  return %o : !X
}

// -----

!X = tensor<2x3x8xf32>

// Another user; not one factor; zero; values; linear attention, whose feature
// map is not linear.
// CHECK-LABEL: @scale_not
// CHECK-COUNT-4: arith.mulf
// CHECK-COUNT-3: scale 1.000000e+00
// CHECK: rope.linear_attention
func.func @scale_not(%x: !X, %i: !X) -> (!X, !X, !X, !X, !X) {
  %two = arith.constant dense<2.0> : !X
  %zero = arith.constant dense<0.0> : !X
  %various = arith.constant dense<[[[1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]],
                                  [[1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]]]> : !X
  %a = arith.mulf %x, %two : !X
  %b = arith.mulf %x, %zero : !X
  %c = arith.mulf %x, %various : !X
  %d = arith.mulf %i, %two : !X
  %0 = rope.attention ins(%a, %x, %a : !X, !X, !X) outs(%i : !X) scale 1.0 -> !X
  %1 = rope.attention ins(%b, %x, %x : !X, !X, !X) outs(%i : !X) scale 1.0 -> !X
  %2 = rope.attention ins(%c, %x, %x : !X, !X, !X) outs(%i : !X) scale 1.0 -> !X
  %3 = rope.linear_attention ins(%d, %x, %x : !X, !X, !X) outs(%i : !X) feature_map elu_plus_one -> !X
  return %0, %1, %2, %3, %a : !X, !X, !X, !X, !X
}

// -----

!X = tensor<2x3x8xf32>
!T = tensor<3x2x4xf32>

// Through each op that is linear: a factor before it is one of the scale.
// CHECK-LABEL: @scale_through
// CHECK-NOT: arith.mulf
// CHECK: rope.rerotate
// CHECK: rope.attention {{.*}} scale 6.000000e+00
// CHECK: rope.attention {{.*}} scale 2.000000e+00
func.func @scale_through(%x: tensor<6x8xf32>, %y: tensor<2x1x3x8xf32>, %z: tensor<3x8xf32>, %d: tensor<?x3x8xf32>, %t: !T, %i: !X) -> (!X, !X) {
  %two = arith.constant dense<2.0> : tensor<6x8xf32>
  %a = arith.mulf %x, %two : tensor<6x8xf32>
  %b = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 3, 8] : tensor<6x8xf32> into !X
  %c = rope.rerotate <half along [1]> ins(%b, %t : !X, !T) outs(%i : !X) -> !X
  %three = arith.constant dense<3.0> : tensor<2x1x3x8xf32>
  %e = arith.mulf %y, %three : tensor<2x1x3x8xf32>
  %f = tensor.collapse_shape %e [[0, 1], [2], [3]] : tensor<2x1x3x8xf32> into !X
  %0 = rope.attention ins(%c, %f, %i : !X, !X, !X) outs(%i : !X) scale 1.0 -> !X
  %four = arith.constant dense<4.0> : tensor<3x8xf32>
  %g = arith.mulf %z, %four : tensor<3x8xf32>
  %h = linalg.broadcast ins(%g : tensor<3x8xf32>) outs(%i : !X) dimensions = [0]
  %halves = arith.constant dense<0.5> : !X
  %k = arith.mulf %i, %halves : !X
  %l = tensor.cast %k : !X to tensor<?x3x8xf32>
  %1 = rope.attention ins(%h, %l, %d : !X, tensor<?x3x8xf32>, tensor<?x3x8xf32>) outs(%i : !X) scale 1.0 -> !X
  return %0, %1 : !X, !X
}

// -----

!X = tensor<3x3x8xf32>
#id = affine_map<(a, b, c) -> (a, b, c)>
#swap = affine_map<(a, b, c) -> (b, a, c)>

// Generics that are not one product of their only input: they transpose, scale
// what they write to, have an output more, scale another value, or change the
// type.
// CHECK-LABEL: @generic_not
// CHECK-COUNT-6: linalg.generic
// CHECK-COUNT-6: scale 1.000000e+00
func.func @generic_not(%x: !X, %y: !X, %d: tensor<?x3x8xf32>, %i: !X) -> (!X, !X, !X, !X, !X, !X, !X) {
  %two = arith.constant 2.0 : f32
  %a = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : !X) outs(%i : !X) {
    ^bb0(%in: f32, %out: f32):
      %m = arith.mulf %in, %two : f32
      linalg.yield %m : f32
  } -> !X
  %b = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel"]} outs(%y : !X) {
    ^bb0(%out: f32):
      %m = arith.mulf %out, %two : f32
      linalg.yield %m : f32
  } -> !X
  %c:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : !X) outs(%i, %i : !X, !X) {
    ^bb0(%in: f32, %out: f32, %other: f32):
      %m = arith.mulf %in, %two : f32
      linalg.yield %m, %in : f32, f32
  } -> (!X, !X)
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : !X) outs(%y : !X) {
    ^bb0(%in: f32, %out: f32):
      %m = arith.mulf %out, %two : f32
      linalg.yield %m : f32
  } -> !X
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%d : tensor<?x3x8xf32>) outs(%i : !X) {
    ^bb0(%in: f32, %out: f32):
      %m = arith.mulf %in, %two : f32
      linalg.yield %m : f32
  } -> !X
  %g:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : !X) outs(%i, %i : !X, !X) {
    ^bb0(%in: f32, %out: f32, %other: f32):
      %m = arith.mulf %in, %two : f32
      linalg.yield %m, %in : f32, f32
  } -> (!X, !X)
  %0 = rope.attention ins(%a, %x, %x : !X, !X, !X) outs(%i : !X) scale 1.0 -> !X
  %1 = rope.attention ins(%b, %x, %x : !X, !X, !X) outs(%i : !X) scale 1.0 -> !X
  %2 = rope.attention ins(%c#0, %x, %x : !X, !X, !X) outs(%i : !X) scale 1.0 -> !X
  %3 = rope.attention ins(%e, %x, %x : !X, !X, !X) outs(%i : !X) scale 1.0 -> !X
  %4 = rope.attention ins(%f, %x, %x : !X, !X, !X) outs(%i : !X) scale 1.0 -> !X
  %5 = rope.attention ins(%g#1, %x, %x : !X, !X, !X) outs(%i : !X) scale 1.0 -> !X
  return %0, %1, %2, %3, %4, %5, %c#1 : !X, !X, !X, !X, !X, !X, !X
}

// -----

!X = tensor<2x3x8xf64>

// A factor that is not normal, though the product is; the reverse.
// CHECK-LABEL: @scale_not_normal
// CHECK-COUNT-2: arith.mulf
// CHECK: scale 1.000000e+10
// CHECK: scale {{[0-9.]+}}E-201
func.func @scale_not_normal(%x: !X, %i: !X) -> (!X, !X) {
  %subnormal = arith.constant dense<1.0e-310> : !X
  %small = arith.constant dense<1.0e-150> : !X
  %a = arith.mulf %x, %subnormal : !X
  %b = arith.mulf %x, %small : !X
  %0 = rope.attention ins(%a, %x, %x : !X, !X, !X) outs(%i : !X) scale 1.0e10 -> !X
  %1 = rope.attention ins(%b, %x, %x : !X, !X, !X) outs(%i : !X) scale 1.0e-200 -> !X
  return %0, %1 : !X, !X
}
