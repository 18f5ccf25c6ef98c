// RUN: rope-opt %s --rope-fuse --split-input-file | FileCheck %s

!X = tensor<2x4x32x16xf32>
#m = affine_map<(m, n) -> (m, n)>

// Key n ≤ row m, computed; as a truth, and as 0 and −∞.
// CHECK-LABEL: @causal
// CHECK-NOT: linalg.generic
// CHECK: rope.attention ins(%arg0, %arg0, %arg0 : {{[^)]*}}) outs({{.*}} causal ->
// CHECK-LABEL: @causal_numbers
// CHECK-NOT: linalg.generic
// CHECK: rope.attention ins(%arg0, %arg0, %arg0 : {{[^)]*}}) outs({{.*}} causal ->
func.func @causal(%x: !X) -> !X {
  %e = tensor.empty() : !X
  %em = tensor.empty() : tensor<32x32xi1>
  %mask = linalg.generic {indexing_maps = [#m], iterator_types = ["parallel", "parallel"]} outs(%em : tensor<32x32xi1>) {
  ^bb0(%out: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %y = arith.cmpi sge, %i, %j : index
    linalg.yield %y : i1
  } -> tensor<32x32xi1>
  %o = rope.attention ins(%x, %x, %x : !X, !X, !X) mask(%mask : tensor<32x32xi1>) outs(%e : !X) scale 0.25 -> !X
  return %o : !X
}
func.func @causal_numbers(%x: !X) -> !X {
  %e = tensor.empty() : !X
  %em = tensor.empty() : tensor<32x32xf32>
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %mask = linalg.generic {indexing_maps = [#m], iterator_types = ["parallel", "parallel"]} outs(%em : tensor<32x32xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %y = arith.cmpi sge, %i, %j : index
    %z = arith.select %y, %zero, %hidden : f32
    linalg.yield %z : f32
  } -> tensor<32x32xf32>
  %o = rope.attention ins(%x, %x, %x : !X, !X, !X) mask(%mask : tensor<32x32xf32>) outs(%e : !X) scale 0.25 -> !X
  return %o : !X
}

// -----

!X = tensor<2x4x32x16xf32>
#m = affine_map<(m, n) -> (m, n)>

// A number that hides is no −∞: a row that it hides all of has a mean.
// CHECK-LABEL: @finite
// CHECK: linalg.generic
// CHECK: rope.attention {{.*}} mask(
// CHECK-NOT: causal
// CHECK: return
func.func @finite(%x: !X) -> !X {
  %e = tensor.empty() : !X
  %em = tensor.empty() : tensor<32x32xf32>
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant -1.0e9 : f32
  %mask = linalg.generic {indexing_maps = [#m], iterator_types = ["parallel", "parallel"]} outs(%em : tensor<32x32xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %y = arith.cmpi sge, %i, %j : index
    %z = arith.select %y, %zero, %hidden : f32
    linalg.yield %z : f32
  } -> tensor<32x32xf32>
  %o = rope.attention ins(%x, %x, %x : !X, !X, !X) mask(%mask : tensor<32x32xf32>) outs(%e : !X) scale 0.25 -> !X
  return %o : !X
}

// -----

!X = tensor<2x4x32x16xf32>
#m = affine_map<(b, m, n) -> (b, m, n)>
#b = affine_map<(b, m, n) -> (b)>

// A start for each batch, a window of three keys behind it, a length for each
// batch, and what is left of the mask.
// CHECK-LABEL: @positions
// CHECK: %[[L:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2xi64>)
// CHECK: tensor.extract %arg2
// CHECK: rope.attention ins(%arg0, %arg0, %arg0 : {{[^)]*}}) mask(%arg3 : tensor<2x32x32xi1>) query_pos(%arg1 : tensor<2xi64>) key_length(%[[L]] : tensor<2xi64>)
// CHECK-SAME: causal window [3, -1] layout <mask = "bmn", query_pos = "b">
func.func @positions(%x: !X, %start: tensor<2xi64>, %length: tensor<2xi64>, %k: tensor<2x32x32xi1>) -> !X {
  %e = tensor.empty() : !X
  %em = tensor.empty() : tensor<2x32x32xi1>
  %c3 = arith.constant 3 : i64
  %c5 = arith.constant 5 : i64
  %mask = linalg.generic {indexing_maps = [#b, #b, #m, #m], iterator_types = ["parallel", "parallel", "parallel"]} ins(%start, %length, %k : tensor<2xi64>, tensor<2xi64>, tensor<2x32x32xi1>) outs(%em : tensor<2x32x32xi1>) {
  ^bb0(%s: i64, %l: i64, %keep: i1, %out: i1):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %m = arith.index_cast %i : index to i64
    %n = arith.index_cast %j : index to i64
    %p = arith.addi %m, %s : i64
    %y = arith.cmpi sle, %n, %p : i64
    %d = arith.subi %p, %n : i64
    %w = arith.cmpi sle, %d, %c3 : i64
    %l5 = arith.subi %l, %c5 : i64
    %z = arith.cmpi slt, %n, %l5 : i64
    %0 = arith.andi %y, %w : i1
    %1 = arith.andi %0, %z : i1
    %2 = arith.andi %1, %keep : i1
    linalg.yield %2 : i1
  } -> tensor<2x32x32xi1>
  %o = rope.attention ins(%x, %x, %x : !X, !X, !X) mask(%mask : tensor<2x32x32xi1>) outs(%e : !X) scale 0.25 layout <mask = "bmn"> -> !X
  return %o : !X
}

// -----

!X = tensor<2x4x32x16xf32>
#m = affine_map<(m, n) -> (m, n)>
#v = affine_map<(m, n) -> (m)>

// Positions that attention has are of another mask; a start for each row is no
// start; and an unsigned comparison hides what is negative.
// CHECK-LABEL: @other_positions
// CHECK: rope.attention {{.*}} mask(%{{.*}} : tensor<32x32xi1>) query_pos(%arg1 : index)
// CHECK-LABEL: @rows
// CHECK: rope.attention {{.*}} mask(%{{.*}} : tensor<32x32xi1>) outs
// CHECK-NOT: causal
// CHECK-LABEL: @unsigned
// CHECK: rope.attention {{.*}} mask(%{{.*}} : tensor<32x32xi1>) outs
// CHECK-NOT: window
// CHECK: return
func.func @other_positions(%x: !X, %s: index) -> !X {
  %e = tensor.empty() : !X
  %em = tensor.empty() : tensor<32x32xi1>
  %mask = linalg.generic {indexing_maps = [#m], iterator_types = ["parallel", "parallel"]} outs(%em : tensor<32x32xi1>) {
  ^bb0(%out: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %y = arith.cmpi sge, %i, %j : index
    linalg.yield %y : i1
  } -> tensor<32x32xi1>
  %o = rope.attention ins(%x, %x, %x : !X, !X, !X) mask(%mask : tensor<32x32xi1>) query_pos(%s : index) outs(%e : !X) scale 0.25 window [4, -1] -> !X
  return %o : !X
}
func.func @rows(%x: !X, %p: tensor<32xi64>) -> !X {
  %e = tensor.empty() : !X
  %em = tensor.empty() : tensor<32x32xi1>
  %mask = linalg.generic {indexing_maps = [#v, #m], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<32xi64>) outs(%em : tensor<32x32xi1>) {
  ^bb0(%in: i64, %out: i1):
    %j = linalg.index 1 : index
    %n = arith.index_cast %j : index to i64
    %y = arith.cmpi sle, %n, %in : i64
    linalg.yield %y : i1
  } -> tensor<32x32xi1>
  %o = rope.attention ins(%x, %x, %x : !X, !X, !X) mask(%mask : tensor<32x32xi1>) outs(%e : !X) scale 0.25 -> !X
  return %o : !X
}
func.func @unsigned(%x: !X) -> !X {
  %e = tensor.empty() : !X
  %em = tensor.empty() : tensor<32x32xi1>
  %c4 = arith.constant 4 : index
  %mask = linalg.generic {indexing_maps = [#m], iterator_types = ["parallel", "parallel"]} outs(%em : tensor<32x32xi1>) {
  ^bb0(%out: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %d = arith.subi %i, %j : index
    %y = arith.cmpi ult, %d, %c4 : index
    linalg.yield %y : i1
  } -> tensor<32x32xi1>
  %o = rope.attention ins(%x, %x, %x : !X, !X, !X) mask(%mask : tensor<32x32xi1>) outs(%e : !X) scale 0.25 -> !X
  return %o : !X
}

// -----

!Q = tensor<2x4x1x16xf32>
!K = tensor<2x4x32x16xf32>

// Decoding into slots: the row sees the slots up to its own.
// CHECK-LABEL: @slots
// CHECK: %[[L:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<i64>)
// CHECK: rope.attention ins(%arg0, %arg1, %arg1 : {{[^)]*}}) key_length(%[[L]] : tensor<i64>) outs
func.func @slots(%q: !Q, %k: !K, %slot: tensor<i64>) -> !Q {
  %e = tensor.empty() : !Q
  %em = tensor.empty() : tensor<1x1x1x32xi1>
  %mask = linalg.generic {indexing_maps = [affine_map<(a, b, c, n) -> ()>, affine_map<(a, b, c, n) -> (a, b, c, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%slot : tensor<i64>) outs(%em : tensor<1x1x1x32xi1>) {
  ^bb0(%in: i64, %out: i1):
    %j = linalg.index 3 : index
    %n = arith.index_cast %j : index to i64
    %y = arith.cmpi sle, %n, %in : i64
    linalg.yield %y : i1
  } -> tensor<1x1x1x32xi1>
  %o = rope.attention ins(%q, %k, %k : !Q, !K, !K) mask(%mask : tensor<1x1x1x32xi1>) outs(%e : !Q) scale 0.25 -> !Q
  return %o : !Q
}
