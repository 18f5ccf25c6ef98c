// RUN: rope-opt %s --rope-fuse --split-input-file | FileCheck %s

!X = tensor<2x3x8xf32>
!T = tensor<3x2x4xf32>
#qkv = #rope.layout<query = "hmd", key = "hnd", value = "hne", output = "hme">

// A rotation of each operand, and the opposite one of the output: RoPER.
// CHECK-LABEL: @roper
// CHECK-SAME: %[[Q:[^:]*]]: tensor<2x3x8xf32>, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: {{[^,]*}}, %[[T:[^:]*]]: tensor<3x2x4xf32>, %[[U:[^:]*]]: tensor<3x2x4xf32>, %[[I:[^:]*]]: tensor<2x3x8xf32>
// CHECK-NEXT: %[[O:.*]] = rope.attention ins(%[[Q]], %[[K]], %[[V]] :
// CHECK-SAME: rotate_query(%[[T]] : tensor<3x2x4xf32>) <half along [1]>
// CHECK-SAME: rotate_key(%[[T]] : tensor<3x2x4xf32>) <interleaved to half along [1]>
// CHECK-SAME: rotate_value(%[[U]] : tensor<3x2x4xf32>) <half along [1]>
// CHECK-SAME: rerotate_output(%[[U]] : tensor<3x2x4xf32>) <half along [1]>
// CHECK-SAME: outs(%[[I]] :
// CHECK-NEXT: return %[[O]]
func.func @roper(%q: !X, %k: !X, %v: !X, %t: !T, %u: !T, %init: !X) -> !X {
  %e = tensor.empty() : !X
  %qr = rope.rotate <half along [1]> ins(%q, %t : !X, !T) outs(%e : !X) -> !X
  %kr = rope.rotate <interleaved to half along [1]> ins(%k, %t : !X, !T) outs(%e : !X) -> !X
  %vr = rope.rotate <half along [1]> ins(%v, %u : !X, !T) outs(%e : !X) -> !X
  %o = rope.attention ins(%qr, %kr, %vr : !X, !X, !X) outs(%e : !X) scale 0.5 layout #qkv -> !X
  %r = rope.rerotate <half along [1]> ins(%o, %u : !X, !T) outs(%init : !X) -> !X
  return %r : !X
}

// -----

!X = tensor<2x3x8xf32>
!T = tensor<3x2x4xf32>
#qkv = #rope.layout<query = "hmd", key = "hnd", value = "hne", output = "hme">

// One tensor is key and value: both roles turn it.
// CHECK-LABEL: @shared
// CHECK-NOT: rope.rotate
// CHECK: rope.attention ins(%arg0, %arg1, %arg1 :
// CHECK-SAME: rotate_key(%arg2 : {{.*}}) <half along [1]> rotate_value(%arg2 : {{.*}}) <half along [1]>
func.func @shared(%q: !X, %kv: !X, %t: !T) -> !X {
  %e = tensor.empty() : !X
  %r = rope.rotate <half along [1]> ins(%kv, %t : !X, !T) outs(%e : !X) -> !X
  %o = rope.attention ins(%q, %r, %r : !X, !X, !X) outs(%e : !X) scale 0.5 layout #qkv -> !X
  return %o : !X
}

// -----

!X = tensor<2x3x8xf32>
!T = tensor<3x2x4xf32>
#qkv = #rope.layout<query = "hmd", key = "hnd", value = "hne", output = "hme">

// The turned keys are returned as a cache: they are computed anyway. The output
// before it is turned is returned, too.
// CHECK-LABEL: @other_users
// CHECK: %[[K:.*]] = rope.rotate
// CHECK: %[[O:.*]] = rope.attention ins(%arg0, %[[K]], %arg2 :
// CHECK-NOT: rotate_key
// CHECK-NOT: rerotate_output
// CHECK: %[[R:.*]] = rope.rerotate {{.*}} ins(%[[O]],
// CHECK: return %[[K]], %[[O]], %[[R]]
func.func @other_users(%q: !X, %k: !X, %v: !X, %t: !T) -> (!X, !X, !X) {
  %e = tensor.empty() : !X
  %kr = rope.rotate <half along [1]> ins(%k, %t : !X, !T) outs(%e : !X) -> !X
  %o = rope.attention ins(%q, %kr, %v : !X, !X, !X) outs(%e : !X) scale 0.5 layout #qkv -> !X
  %r = rope.rerotate <half along [1]> ins(%o, %t : !X, !T) outs(%e : !X) -> !X
  return %kr, %o, %r : !X, !X, !X
}

// -----

!Q = tensor<2x1x8xf32>
!C = tensor<2x7x8xf32>
!K = tensor<2x8x8xf32>
!T = tensor<1x2x4xf32>
#qkv = #rope.layout<query = "hmd", key = "hnd", value = "hne", output = "hme">

// Decoding: the cache holds turned keys, which may not be turned again.
// CHECK-LABEL: @cache
// CHECK: %[[K:.*]] = rope.rotate <half along [1]> ins(%arg1,
// CHECK: %[[C:.*]] = tensor.concat dim(1) %arg2, %[[K]]
// CHECK: rope.attention ins(%arg0, %[[C]],
// CHECK-SAME: rotate_query(
// CHECK-NOT: rotate_key
// CHECK: return
func.func @cache(%q: !Q, %k: !Q, %cache: !C, %v: !K, %t: !T) -> !Q {
  %e = tensor.empty() : !Q
  %qr = rope.rotate <half along [1]> ins(%q, %t : !Q, !T) outs(%e : !Q) -> !Q
  %kr = rope.rotate <half along [1]> ins(%k, %t : !Q, !T) outs(%e : !Q) -> !Q
  %all = tensor.concat dim(1) %cache, %kr : (!C, !Q) -> !K
  %o = rope.attention ins(%qr, %all, %v : !Q, !K, !K) outs(%e : !Q) scale 0.5 layout #qkv -> !Q
  return %o : !Q
}

// -----

!X = tensor<2x3x8xf32>
!T = tensor<3x2x4xf32>
#qkv = #rope.layout<query = "hmd", key = "hnd", value = "hne", output = "hme">

// Outside of the loop keys are turned once, and in it once each time.
// CHECK-LABEL: @loop
// CHECK: %[[K:.*]] = rope.rotate
// CHECK: scf.for
// CHECK: rope.attention ins(%{{.*}}, %[[K]],
// CHECK-SAME: rotate_query(
// CHECK-NOT: rotate_key
// CHECK: scf.yield
func.func @loop(%x: !X, %k: !X, %v: !X, %t: !T, %n: index) -> !X {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : !X
  %kr = rope.rotate <half along [1]> ins(%k, %t : !X, !T) outs(%e : !X) -> !X
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%q = %x) -> (!X) {
    %qr = rope.rotate <half along [1]> ins(%q, %t : !X, !T) outs(%e : !X) -> !X
    %o = rope.attention ins(%qr, %kr, %v : !X, !X, !X) outs(%e : !X) scale 0.5 layout #qkv -> !X
    scf.yield %o : !X
  }
  return %r : !X
}

// -----

!X = tensor<2x3x8xf32>
!T = tensor<3x2x4xf32>
#qkv = #rope.layout<query = "hmd", key = "hnd", value = "hne", output = "hme">

// A role turns once; and channels that are not last have no role.
// CHECK-LABEL: @no_role
// CHECK: %[[Q:.*]] = rope.rotate
// CHECK: %[[V:.*]] = rope.rotate <half along [2]> ins(%arg2,
// CHECK: rope.attention ins(%[[Q]], %arg1, %[[V]] : {{.*}}) rotate_query(%arg3 : {{.*}}) <half along [1]> outs(
func.func @no_role(%q: !X, %k: !X, %v: tensor<8x2x3x8xf32>, %t: !T) -> tensor<2x3x8x8xf32> {
  %e = tensor.empty() : !X
  %ev = tensor.empty() : tensor<8x2x3x8xf32>
  %eo = tensor.empty() : tensor<2x3x8x8xf32>
  %qr = rope.rotate <half along [1]> ins(%q, %t : !X, !T) outs(%e : !X) -> !X
  %vr = rope.rotate <half along [2]> ins(%v, %t : tensor<8x2x3x8xf32>, !T) outs(%ev : tensor<8x2x3x8xf32>) -> tensor<8x2x3x8xf32>
  %o = rope.attention ins(%qr, %k, %vr : !X, !X, tensor<8x2x3x8xf32>) rotate_query(%t : !T) <half along [1]> outs(%eo : tensor<2x3x8x8xf32>) scale 0.5
    layout <query = "hmd", key = "hnd", value = "ehnb", output = "hmbe"> -> tensor<2x3x8x8xf32>
  return %o : tensor<2x3x8x8xf32>
}

// -----

!X = tensor<2x3x8xf32>
!L = tensor<2x3xf32>
!T = tensor<3x2x4xf32>
#qkv = #rope.layout<query = "hmd", key = "hnd", value = "hne", output = "hme", lse = "hm">

// Attention goes to where its output is turned; its lse may be used after that,
// but not before.
// CHECK-LABEL: @lse
// CHECK: rope.attention {{.*}} rerotate_output
// CHECK-NOT: rope.rerotate
// CHECK-LABEL: @lse_before
// CHECK: rope.attention
// CHECK-NOT: rerotate_output
// CHECK: rope.rerotate
func.func @lse(%x: !X, %t: !T) -> (!X, !L) {
  %e = tensor.empty() : !X
  %l = tensor.empty() : !L
  %o:2 = rope.attention ins(%x, %x, %x : !X, !X, !X) outs(%e, %l : !X, !L) scale 0.5 layout #qkv -> !X, !L
  %r = rope.rerotate <half along [1]> ins(%o#0, %t : !X, !T) outs(%e : !X) -> !X
  return %r, %o#1 : !X, !L
}
func.func @lse_before(%x: !X, %t0: !T) -> !X {
  %e = tensor.empty() : !X
  %l = tensor.empty() : !L
  %c0 = arith.constant 0 : index
  %o:2 = rope.attention ins(%x, %x, %x : !X, !X, !X) outs(%e, %l : !X, !L) scale 0.5 layout #qkv -> !X, !L
  %first = tensor.extract %o#1[%c0, %c0] : !L
  %p = arith.fptosi %first : f32 to i64
  %start = arith.index_cast %p : i64 to index
  %t = rope.table #rope.default<1.0e4> ins(%start : index) outs(%t0 : !T) -> !T
  %r = rope.rerotate <half along [1]> ins(%o#0, %t : !X, !T) outs(%e : !X) -> !X
  return %r : !X
}

// -----

!X = tensor<2x3x8xf32>
!T = tensor<3x2x4xf32>
#qkv = #rope.layout<query = "hmd", key = "hnd", value = "hne", output = "hme">

// Linear attention turns after its feature map, and not in its normaliser.
// CHECK-LABEL: @linear
// CHECK: rope.linear_attention ins(%arg0, {{.*}} rotate_query(
// CHECK: rope.rotate
// CHECK: rope.linear_attention {{.*}} feature_map relu
// CHECK: rope.rotate
// CHECK: rope.linear_attention {{.*}} normalizer_eps
func.func @linear(%x: !X, %t: !T) -> (!X, !X, !X) {
  %e = tensor.empty() : !X
  %a = rope.rotate <half along [1]> ins(%x, %t : !X, !T) outs(%e : !X) -> !X
  %0 = rope.linear_attention ins(%a, %x, %x : !X, !X, !X) outs(%e : !X) feature_map identity layout #qkv -> !X
  %b = rope.rotate <half along [1]> ins(%0, %t : !X, !T) outs(%e : !X) -> !X
  %1 = rope.linear_attention ins(%b, %x, %x : !X, !X, !X) outs(%e : !X) feature_map relu layout #qkv -> !X
  %c = rope.rotate <half along [1]> ins(%1, %t : !X, !T) outs(%e : !X) -> !X
  %2 = rope.linear_attention ins(%c, %x, %x : !X, !X, !X) outs(%e : !X) feature_map identity normalizer_eps 1.0e-6 layout #qkv -> !X
  return %0, %1, %2 : !X, !X, !X
}

// -----

!X = tensor<2x3x8xf32>
!A = tensor<2x3xf32>
!T = tensor<3x2x4xf32>
#qkv = #rope.layout<query = "hmd", key = "hnd", value = "hne", output = "hme", lse = "hm">

// The form that carries a state has the roles of the operands.
// CHECK-LABEL: @online
// CHECK-NOT: rope.rotate
// CHECK: rope.online_attention ins(%arg0, %arg0, %arg0 : {{.*}} rotate_query({{.*}} rotate_key({{.*}} rotate_value(
func.func @online(%x: !X, %t: !T, %acc: !X, %m: !A) -> !X {
  %e = tensor.empty() : !X
  %q = rope.rotate <half along [1]> ins(%x, %t : !X, !T) outs(%e : !X) -> !X
  %s:3 = rope.online_attention ins(%q, %q, %q : !X, !X, !X) outs(%acc, %m, %m : !X, !A, !A) scale 0.5 layout #qkv -> !X, !A, !A
  return %s#0 : !X
}
