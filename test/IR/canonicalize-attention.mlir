// RUN: rope-opt %s --canonicalize --split-input-file | FileCheck %s

// Masks, positions, lengths, rotations and results of attention that have no
// effect.

!Q = tensor<2x4x3x8xf32>
!K = tensor<2x2x5x8xf32>

// One spelling of windows: the right side is `causal`, and -1 is no side.
// CHECK-LABEL: @windows
// CHECK: scale 1.000000e+00 ->
// CHECK: scale 1.000000e+00 causal ->
// CHECK: scale 1.000000e+00 causal window [3, -1] ->
// CHECK: scale 1.000000e+00 causal window [3, -1] ->
// CHECK: scale 1.000000e+00 window [3, 2] ->
func.func @windows(%q: !Q, %k: !K, %o: !Q) -> (!Q, !Q, !Q, !Q, !Q) {
  %a = rope.attention ins(%q, %k, %k : !Q, !K, !K) outs(%o : !Q) scale 1.0 window [-1, -1] -> !Q
  %b = rope.attention ins(%q, %k, %k : !Q, !K, !K) outs(%o : !Q) scale 1.0 causal window [-1, 5] -> !Q
  %c = rope.attention ins(%q, %k, %k : !Q, !K, !K) outs(%o : !Q) scale 1.0 causal window [3, 5] -> !Q
  %d = rope.attention ins(%q, %k, %k : !Q, !K, !K) outs(%o : !Q) scale 1.0 window [3, 0] -> !Q
  %e = rope.attention ins(%q, %k, %k : !Q, !K, !K) outs(%o : !Q) scale 1.0 window [3, 2] -> !Q
  return %a, %b, %c, %d, %e : !Q, !Q, !Q, !Q, !Q
}

// -----

!Q = tensor<2x4x3x8xf32>
!K = tensor<2x2x5x8xf32>

// Without an order positions mean nothing; a start at 0 is the default.
// CHECK-LABEL: @positions
// CHECK: rope.attention ins({{[^)]*}}) outs
// CHECK: rope.attention ins({{[^)]*}}) outs
// CHECK: rope.attention ins({{[^)]*}}) query_pos(%{{.*}} : index) outs
// CHECK: rope.attention ins({{[^)]*}}) query_pos(%{{.*}} : tensor<3xi64>) outs
func.func @positions(%q: !Q, %k: !K, %o: !Q, %i: index, %p: tensor<5xi64>) -> (!Q, !Q, !Q, !Q) {
  %c0 = arith.constant 0 : index
  %zeros = arith.constant dense<0> : tensor<3xi64>
  %a = rope.attention ins(%q, %k, %k : !Q, !K, !K) query_pos(%i : index) key_pos(%p : tensor<5xi64>) outs(%o : !Q) scale 1.0 -> !Q
  %b = rope.attention ins(%q, %k, %k : !Q, !K, !K) query_pos(%c0 : index) key_pos(%c0 : index) outs(%o : !Q) scale 1.0 causal -> !Q
  %c = rope.attention ins(%q, %k, %k : !Q, !K, !K) query_pos(%i : index) key_pos(%c0 : index) outs(%o : !Q) scale 1.0 window [4, 4] -> !Q
  %d = rope.attention ins(%q, %k, %k : !Q, !K, !K) query_pos(%zeros : tensor<3xi64>) outs(%o : !Q) scale 1.0 causal -> !Q
  return %a, %b, %c, %d : !Q, !Q, !Q, !Q
}

// -----

!Q = tensor<2x4x3x8xf32>
!K = tensor<2x2x5x8xf32>
!D = tensor<2x2x?x8xf32>

// The first row sees the last key; it does not; the keys are not counted.
// CHECK-LABEL: @causal
// CHECK: scale 1.000000e+00 ->
// CHECK: scale 1.000000e+00 causal ->
// CHECK: scale 1.000000e+00 causal ->
// CHECK: scale 1.000000e+00 causal ->
func.func @causal(%q: !Q, %k: !K, %d: !D, %o: !Q) -> (!Q, !Q, !Q, !Q) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %huge = arith.constant 9223372036854775807 : index
  %a = rope.attention ins(%q, %k, %k : !Q, !K, !K) query_pos(%c4 : index) outs(%o : !Q) scale 1.0 causal -> !Q
  %b = rope.attention ins(%q, %k, %k : !Q, !K, !K) query_pos(%c4 : index) key_pos(%c1 : index) outs(%o : !Q) scale 1.0 causal -> !Q
  %c = rope.attention ins(%q, %d, %d : !Q, !D, !D) query_pos(%c4 : index) outs(%o : !Q) scale 1.0 causal -> !Q
  %e = rope.attention ins(%q, %k, %k : !Q, !K, !K) query_pos(%huge : index) key_pos(%huge : index) outs(%o : !Q) scale 1.0 causal -> !Q
  return %a, %b, %c, %e : !Q, !Q, !Q, !Q
}

// -----

!Q = tensor<2x4x3x8xf32>
!D = tensor<2x2x?x8xf32>

// A length says nothing of keys that are not counted.
// CHECK-LABEL: @key_length_of_dynamic
// CHECK: rope.attention ins({{[^)]*}}) key_length(
func.func @key_length_of_dynamic(%q: !Q, %d: !D, %o: !Q) -> !Q {
  %c5 = arith.constant 5 : index
  %a = rope.attention ins(%q, %d, %d : !Q, !D, !D) key_length(%c5 : index) outs(%o : !Q) scale 1.0 -> !Q
  return %a : !Q
}

// -----

!Q = tensor<2x4x3x8xf32>
!K = tensor<2x2x5x8xf32>

// CHECK-LABEL: @key_length
// CHECK: rope.attention ins({{[^)]*}}) outs
// CHECK: rope.attention ins({{[^)]*}}) outs
// CHECK: rope.attention ins({{[^)]*}}) key_length(%{{.*}} : index) outs
// CHECK: rope.attention ins({{[^)]*}}) key_length(%{{.*}} : tensor<2xi32>) outs
func.func @key_length(%q: !Q, %k: !K, %o: !Q) -> (!Q, !Q, !Q, !Q) {
  %c5 = arith.constant 5 : index
  %c4 = arith.constant 4 : index
  %many = arith.constant dense<[5, 7]> : tensor<2xi32>
  %few = arith.constant dense<[5, 4]> : tensor<2xi32>
  %a = rope.attention ins(%q, %k, %k : !Q, !K, !K) key_length(%c5 : index) outs(%o : !Q) scale 1.0 -> !Q
  %b = rope.attention ins(%q, %k, %k : !Q, !K, !K) key_length(%many : tensor<2xi32>) outs(%o : !Q) scale 1.0 layout <key_length = "b"> -> !Q
  %c = rope.attention ins(%q, %k, %k : !Q, !K, !K) key_length(%c4 : index) outs(%o : !Q) scale 1.0 -> !Q
  %d = rope.attention ins(%q, %k, %k : !Q, !K, !K) key_length(%few : tensor<2xi32>) outs(%o : !Q) scale 1.0 -> !Q
  return %a, %b, %c, %d : !Q, !Q, !Q, !Q
}

// -----

!Q = tensor<2x4x3x8xf32>
!K = tensor<2x2x5x8xf32>

// CHECK-LABEL: @masks
// CHECK: rope.attention ins({{[^)]*}}) outs
// CHECK: rope.attention ins({{[^)]*}}) outs
// CHECK: rope.attention ins({{[^)]*}}) mask(%{{.*}} : tensor<3x5xi1>) outs
// CHECK: rope.attention ins({{[^)]*}}) mask(%{{.*}} : tensor<3x5xf32>) outs
func.func @masks(%q: !Q, %k: !K, %o: !Q) -> (!Q, !Q, !Q, !Q) {
  %true = arith.constant dense<true> : tensor<3x5xi1>
  %zero = arith.constant dense<-0.0> : tensor<3x5xf32>
  %false = arith.constant dense<false> : tensor<3x5xi1>
  %one = arith.constant dense<1.0> : tensor<3x5xf32>
  %a = rope.attention ins(%q, %k, %k : !Q, !K, !K) mask(%true : tensor<3x5xi1>) outs(%o : !Q) scale 1.0 -> !Q
  %b = rope.attention ins(%q, %k, %k : !Q, !K, !K) mask(%zero : tensor<3x5xf32>) outs(%o : !Q) scale 1.0 -> !Q
  %c = rope.attention ins(%q, %k, %k : !Q, !K, !K) mask(%false : tensor<3x5xi1>) outs(%o : !Q) scale 1.0 -> !Q
  %d = rope.attention ins(%q, %k, %k : !Q, !K, !K) mask(%one : tensor<3x5xf32>) outs(%o : !Q) scale 1.0 -> !Q
  return %a, %b, %c, %d : !Q, !Q, !Q, !Q
}

// -----

!Q = tensor<2x4x3x8xf32>
!K = tensor<2x2x5x8xf32>
!L = tensor<2x4x3xf32>

// An lse that nobody reads; the op keeps the rest of its attributes.
// CHECK-LABEL: @lse
// CHECK: %[[O:.*]] = rope.attention ins({{[^)]*}}) outs(%{{.*}} : tensor<2x4x3x8xf32>) scale 5.000000e-01 causal softcap 2.000000e+01 {note} -> tensor<2x4x3x8xf32>
// CHECK: %[[A:.*]]:2 = rope.attention
// CHECK: return %[[O]], %[[A]]#1
func.func @lse(%q: !Q, %k: !K, %o: !Q, %l: !L) -> (!Q, !L) {
  %a:2 = rope.attention ins(%q, %k, %k : !Q, !K, !K) outs(%o, %l : !Q, !L) scale 0.5 causal softcap 20.0 {note} -> !Q, !L
  %b:2 = rope.attention ins(%q, %k, %k : !Q, !K, !K) outs(%o, %l : !Q, !L) scale 0.5 -> !Q, !L
  return %a#0, %b#1 : !Q, !L
}

// -----

!Q = tensor<2x4x3x8xf32>
!K = tensor<2x2x5x8xf32>

// A role that its table does not turn, one that it narrows, one that is turned.
// CHECK-LABEL: @roles
// CHECK: rope.attention ins({{[^)]*}}) rotate_query(%{{.*}} : tensor<3x2x2xf32>) <half offset = 1 distance = 4 along [2]> rotate_value(%{{.*}} : tensor<5x2x4xf32>) <half along [2]> outs
func.func @roles(%q: !Q, %k: !K, %o: !Q, %p: tensor<3xi64>, %n: tensor<5xi64>, %t: tensor<3x2x4xf32>, %u: tensor<5x2x4xf32>) -> !Q {
  %zero = arith.constant dense<0> : tensor<5xi64>
  %tq = rope.table #rope.explicit<frequencies = [0.0, 1.0, 0.5, 0.0]> ins(%p : tensor<3xi64>) outs(%t : tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  %tk = rope.table #rope.default<1.0e4> ins(%zero : tensor<5xi64>) outs(%u : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  %tv = rope.table #rope.default<1.0e4> ins(%n : tensor<5xi64>) outs(%u : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  %to = rope.table #rope.explicit<frequencies = [0.0, 0.0, 0.0, 0.0]> ins(%p : tensor<3xi64>) outs(%t : tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  %a = rope.attention ins(%q, %k, %k : !Q, !K, !K)
         rotate_query(%tq : tensor<3x2x4xf32>) <half along [2]> rotate_key(%tk : tensor<5x2x4xf32>) <half along [2]>
         rotate_value(%tv : tensor<5x2x4xf32>) <half along [2]> rerotate_output(%to : tensor<3x2x4xf32>) <half along [2]>
         outs(%o : !Q) scale 1.0 -> !Q
  return %a : !Q
}

// -----

!Q = tensor<2x4x3x8xf32>
!T = tensor<3x2x4xf32>

// A table that turns nothing, in roles that permute channels.
// CHECK-LABEL: @roles_permute
// CHECK: rotate_query({{.*}}) <interleaved to half along [2]> rotate_key({{.*}}) <half to interleaved along [2]> outs
func.func @roles_permute(%q: !Q, %p: tensor<3xi64>, %t: !T) -> !Q {
  %u = rope.table #rope.explicit<frequencies = [0.0, 0.0, 0.0, 0.0]> ins(%p : tensor<3xi64>) outs(%t : !T) -> !T
  %a = rope.attention ins(%q, %q, %q : !Q, !Q, !Q) rotate_query(%u : !T) <interleaved to half along [2]> rotate_key(%u : !T) <half to interleaved along [2]> outs(%q : !Q) scale 1.0 -> !Q
  return %a : !Q
}

// -----

!X = tensor<3x8xf32>

// The online form and the linear one.
// CHECK-LABEL: @others
// CHECK: rope.online_attention ins({{[^)]*}}) key_length(%{{.*}} : index) outs({{.*}}) scale 1.000000e+00 causal ->
// CHECK: rope.linear_attention ins({{[^)]*}}) outs
func.func @others(%x: !X, %m: tensor<3xf32>, %t: tensor<2x4xf32>, %n: index) -> (!X, !X) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<i64>
  %true = arith.constant dense<true> : tensor<3x3xi1>
  %one = rope.table #rope.default<1.0e4> ins(%zero : tensor<i64>) outs(%t : tensor<2x4xf32>) -> tensor<2x4xf32>
  %a:3 = rope.online_attention ins(%x, %x, %x : !X, !X, !X) mask(%true : tensor<3x3xi1>) query_pos(%c0 : index) key_length(%n : index)
           rotate_key(%one : tensor<2x4xf32>) <half along []> outs(%x, %m, %m : !X, tensor<3xf32>, tensor<3xf32>) scale 1.0 window [-1, 0] -> !X, tensor<3xf32>, tensor<3xf32>
  %b = rope.linear_attention ins(%x, %x, %x : !X, !X, !X) rotate_query(%one : tensor<2x4xf32>) <half along []> rotate_key(%one : tensor<2x4xf32>) <half along []>
         outs(%x : !X) feature_map relu -> !X
  return %a#0, %b : !X, !X
}

// -----

!Q = tensor<2x4x3x8xf32>
!K = tensor<2x2x5x8xf32>
!T = tensor<2x2x4xf32>

// A rotation that all rows of a batch share cancels, in scores and in values.
// CHECK-LABEL: @shared
// CHECK: rope.attention ins({{[^)]*}}) outs
func.func @shared(%q: !Q, %k: !K, %o: !Q, %p: tensor<2xi64>, %t: !T) -> !Q {
  %u = rope.table #rope.default<1.0e4> ins(%p : tensor<2xi64>) f32_angle outs(%t : !T) -> !T
  %a = rope.attention ins(%q, %k, %k : !Q, !K, !K)
         rotate_query(%u : !T) <interleaved to half along [0]> rotate_key(%u : !T) <interleaved to half along [0]>
         rotate_value(%u : !T) <interleaved to half along [0]> rerotate_output(%u : !T) <half to interleaved along [0]>
         outs(%o : !Q) scale 1.0 -> !Q
  return %a : !Q
}

// -----

!Q = tensor<2x2x2x8xf32>
!T = tensor<2x2x4xf32>

// Another dim, pairs that differ, a magnitude, rows, an unknown table.
// CHECK-LABEL: @not_shared
// CHECK-COUNT-5: rotate_query
func.func @not_shared(%q: !Q, %p: tensor<2xi64>, %t: !T) -> (!Q, !Q, !Q, !Q, !Q) {
  %u = rope.table #rope.default<1.0e4> ins(%p : tensor<2xi64>) outs(%t : !T) -> !T
  %w = rope.table #rope.yarn<theta = 1.0e4, factor = 4.0, trained = 4096> ins(%p : tensor<2xi64>) outs(%t : !T) -> !T
  %a = rope.attention ins(%q, %q, %q : !Q, !Q, !Q) rotate_query(%u : !T) <half along [0]> rotate_key(%u : !T) <half along [1]> outs(%q : !Q) scale 1.0 -> !Q
  %b = rope.attention ins(%q, %q, %q : !Q, !Q, !Q) rotate_query(%u : !T) <half along [0]> rotate_key(%u : !T) <interleaved along [0]> outs(%q : !Q) scale 1.0 -> !Q
  %c = rope.attention ins(%q, %q, %q : !Q, !Q, !Q) rotate_query(%w : !T) <half along [0]> rotate_key(%w : !T) <half along [0]> outs(%q : !Q) scale 1.0 -> !Q
  %d = rope.attention ins(%q, %q, %q : !Q, !Q, !Q) rotate_query(%u : !T) <half along [2]> rotate_key(%u : !T) <half along [2]> outs(%q : !Q) scale 1.0 -> !Q
  %e = rope.attention ins(%q, %q, %q : !Q, !Q, !Q) rotate_query(%t : !T) <half along [0]> rotate_key(%t : !T) <half along [0]> outs(%q : !Q) scale 1.0 -> !Q
  return %a, %b, %c, %d, %e : !Q, !Q, !Q, !Q, !Q
}

// -----

!Q = tensor<2x4x3x8xf32>
!T = tensor<4x2x4xf32>

// Rows of a head that are turned alike, each head its own way.
// CHECK-LABEL: @shared_heads
// CHECK: rope.attention ins({{[^)]*}}) outs
func.func @shared_heads(%q: !Q, %p: tensor<4xi64>, %t: !T) -> !Q {
  %u = rope.table #rope.default<1.0e4> ins(%p : tensor<4xi64>) outs(%t : !T) -> !T
  %a = rope.attention ins(%q, %q, %q : !Q, !Q, !Q)
         rotate_query(%u : !T) <half along [1]> rotate_key(%u : !T) <half along [1]>
         rotate_value(%u : !T) <half along [1]> rerotate_output(%u : !T) <half along [1]>
         outs(%q : !Q) scale 1.0 layout <query = "bhmd", output = "bhme"> -> !Q
  return %a : !Q
}

// -----

!Q = tensor<2x2x2x8xf32>
!T = tensor<2x2x4xf32>

// Full tables need not be rotations, be it of one operand or of both.
// CHECK-LABEL: @full_not_shared
// CHECK-COUNT-3: rotate_query({{.*}} rotate_key
// CHECK-COUNT-2: rotate_value({{.*}} rerotate_output
func.func @full_not_shared(%q: !Q, %p: tensor<2xi64>, %t: !T) -> (!Q, !Q, !Q, !Q, !Q) {
  %u = rope.table #rope.default<1.0e4> ins(%p : tensor<2xi64>) outs(%t : !T) -> !T
  %a = rope.attention ins(%q, %q, %q : !Q, !Q, !Q) rotate_query(%u : !T) <half along [0] full = true> rotate_key(%u : !T) <half along [0] full = true> outs(%q : !Q) scale 1.0 -> !Q
  %b = rope.attention ins(%q, %q, %q : !Q, !Q, !Q) rotate_query(%u : !T) <half along [0] full = true> rotate_key(%u : !T) <half along [0]> outs(%q : !Q) scale 1.0 -> !Q
  %c = rope.attention ins(%q, %q, %q : !Q, !Q, !Q) rotate_query(%u : !T) <half along [0]> rotate_key(%u : !T) <half along [0] full = true> outs(%q : !Q) scale 1.0 -> !Q
  %d = rope.attention ins(%q, %q, %q : !Q, !Q, !Q) rotate_value(%u : !T) <half along [0] full = true> rerotate_output(%u : !T) <half along [0]> outs(%q : !Q) scale 1.0 -> !Q
  %e = rope.attention ins(%q, %q, %q : !Q, !Q, !Q) rotate_value(%u : !T) <half along [0]> rerotate_output(%u : !T) <half along [0] full = true> outs(%q : !Q) scale 1.0 -> !Q
  return %a, %b, %c, %d, %e : !Q, !Q, !Q, !Q, !Q
}

// -----

!Q = tensor<2x2x2x8xf32>
!T = tensor<2x2x4xf32>

// Values that come back in another order, or are not read as they were written.
// CHECK-LABEL: @values_permuted
// CHECK-COUNT-3: rotate_value({{.*}} rerotate_output
func.func @values_permuted(%q: !Q, %p: tensor<2xi64>, %t: !T) -> (!Q, !Q, !Q) {
  %u = rope.table #rope.default<1.0e4> ins(%p : tensor<2xi64>) outs(%t : !T) -> !T
  %a = rope.attention ins(%q, %q, %q : !Q, !Q, !Q) rotate_value(%u : !T) <interleaved to half along [0]> rerotate_output(%u : !T) <half along [0]> outs(%q : !Q) scale 1.0 -> !Q
  %b = rope.attention ins(%q, %q, %q : !Q, !Q, !Q) rotate_value(%u : !T) <half along [0]> rerotate_output(%u : !T) <half to interleaved along [0]> outs(%q : !Q) scale 1.0 -> !Q
  %c = rope.attention ins(%q, %q, %q : !Q, !Q, !Q) rotate_value(%u : !T) <interleaved along [0]> rerotate_output(%u : !T) <half to interleaved along [0]> outs(%q : !Q) scale 1.0 -> !Q
  return %a, %b, %c : !Q, !Q, !Q
}
