// RUN: rope-opt %s --rope-tile="sizes=h:1,m:64" --canonicalize | FileCheck %s --check-prefixes=CHECK,MANY
// RUN: rope-opt %s --rope-tile="sizes=h:1,m:256" --canonicalize | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: rope-opt %s --rope-tile="sizes=h:1,m:64 fuse=true" --canonicalize | FileCheck %s --check-prefixes=CHECK,FUSE
// RUN: rope-opt %s --rope-tile="sizes=h:1,m:64,n:64" --canonicalize | FileCheck %s --check-prefixes=CHECK,BLOCKS
// RUN: rope-opt %s --rope-tile="key-splits=4" --canonicalize | FileCheck %s --check-prefixes=CHECK,SPLIT

// Rotations are not done again for each tile: what many tiles read is turned in
// front of the loops, once for each key-value head, in the type of scores.

!Q = tensor<8x512x64xbf16>
!K = tensor<2x512x64xbf16>
!T = tensor<512x2x32xf32>
!M = tensor<8x512xf32>
!O = tensor<8x512x64xf32>

// CHECK-LABEL: @prefill
// MANY: %[[K:.*]] = arith.extf %arg1
// MANY: %[[KR:.*]] = rope.rotate <half along [1]> ins(%[[K]], %arg3 : tensor<2x512x64xf32>, tensor<512x2x32xf32>)
// MANY: %[[VR:.*]] = rope.rotate
// MANY-NOT: rope.rotate
// MANY: scf.for
// MANY-NOT: rope.rotate
// MANY: rope.attention ins({{.*}} : tensor<4x64x64xbf16>, tensor<1x512x64xf32>, tensor<1x512x64xf32>)
// MANY-SAME: rotate_query(
// MANY-NOT: rotate_
// MANY-SAME: rerotate_output(
// TWO-NOT: rope.rotate
// TWO: rope.attention {{.*}} rotate_query({{.*}} rotate_key({{.*}} rotate_value({{.*}} rerotate_output(
// FUSE-COUNT-2: rope.rotate
// FUSE: scf.for
// FUSE-NOT: rope.rotate
// FUSE: rope.attention
// FUSE: return
func.func @prefill(%q: !Q, %k: !K, %v: !K, %t: !T, %o: !Q) -> !Q {
  %r = rope.attention ins(%q, %k, %v : !Q, !K, !K) rotate_query(%t : !T) <half along [1]> rotate_key(%t : !T) <half along [1]> rotate_value(%t : !T) <half along [1]> rerotate_output(%t : !T) <half along [1]> outs(%o : !Q) scale 0.125 causal -> !Q
  return %r : !Q
}

// One row: each key is read once.
// CHECK-LABEL: @decode
// CHECK-NOT: rope.rotate
// CHECK: rope.attention {{.*}} rotate_key(
func.func @decode(%q: tensor<8x1x64xbf16>, %k: !K, %t: !T, %o: tensor<8x1x64xbf16>) -> tensor<8x1x64xbf16> {
  %r = rope.attention ins(%q, %k, %k : tensor<8x1x64xbf16>, !K, !K) rotate_key(%t : !T) <half along [1]> outs(%o : tensor<8x1x64xbf16>) scale 0.125 -> tensor<8x1x64xbf16>
  return %r : tensor<8x1x64xbf16>
}

// Queries meet many blocks of keys.
// CHECK-LABEL: @online
// BLOCKS-COUNT-2: rope.rotate
// BLOCKS-COUNT-3: scf.for
// BLOCKS-NOT: rope.rotate
// BLOCKS: rope.online_attention
// SPLIT: rope.rotate
// SPLIT: scf.forall
// SPLIT-NOT: rotate_query
// SPLIT: rotate_key
func.func @online(%q: !Q, %k: !K, %t: !T, %a: !O, %m: !M) -> !O {
  %r:3 = rope.online_attention ins(%q, %k, %k : !Q, !K, !K) rotate_query(%t : !T) <half along [1]> rotate_key(%t : !T) <half along [1]> outs(%a, %m, %m : !O, !M, !M) scale 0.125 -> !O, !M, !M
  return %r#0 : !O
}

// Producers: the turned keys stay in front, and the table, which each head reads.
// CHECK-LABEL: @producers
// FUSE: %[[T:.*]] = rope.table
// FUSE: %[[KR:.*]] = rope.rotate
// FUSE: scf.for
// FUSE-NOT: rope.table
// FUSE: rope.rotate
// FUSE-NOT: rope.table
// FUSE: rope.attention
func.func @producers(%q: !O, %k: tensor<4x512x64xf32>, %o: !O) -> !O {
  %c0 = arith.constant 0 : index
  %t0 = tensor.empty() : !T
  %t = rope.table #rope.default<1.0e4> ins(%c0 : index) outs(%t0 : !T) -> !T
  %ek = tensor.empty() : tensor<4x512x64xf32>
  %eq = tensor.empty() : !O
  %qr = rope.rotate <half along [1]> ins(%q, %t : !O, !T) outs(%eq : !O) -> !O
  %kr = rope.rotate <half along [1]> ins(%k, %t : tensor<4x512x64xf32>, !T) outs(%ek : tensor<4x512x64xf32>) -> tensor<4x512x64xf32>
  %r = rope.attention ins(%qr, %kr, %k : !O, tensor<4x512x64xf32>, tensor<4x512x64xf32>) outs(%o : !O) scale 0.125 -> !O
  return %r : !O
}
