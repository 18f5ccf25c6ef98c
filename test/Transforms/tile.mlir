// RUN: rope-opt %s --rope-tile="sizes=b:1,h:1,m:32,n:64 dims=0,16" --canonicalize | FileCheck %s --check-prefixes=CHECK,FOR
// RUN: rope-opt %s --rope-tile="sizes=b:1,h:1,m:32,n:64 dims=0,16 parallel=true" --canonicalize | FileCheck %s --check-prefixes=CHECK,FORALL
// RUN: rope-opt %s --rope-tile="key-splits=4" --canonicalize | FileCheck %s --check-prefixes=CHECK,SPLIT
// RUN: rope-opt %s --rope-tile="sizes=m:32 dims=0,16 fuse=true" --canonicalize | FileCheck %s --check-prefixes=CHECK,FUSE

!Q = tensor<2x8x512x64xf32>
!K = tensor<2x2x512x64xf32>
!M = tensor<2x8x512xf32>

// Keys are cut one after the other only, and split only where a state is carried.
// CHECK-LABEL: @online
// FOR-COUNT-4: scf.for
// FOR: rope.online_attention ins(%{{.*}} : tensor<1x4x32x64xf32>, tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32>)
// FORALL: scf.forall {{.*}} to (2, 2, 512) step (1, 1, 32)
// FORALL: rope.online_attention ins(%{{.*}} : tensor<1x4x32x64xf32>, tensor<1x1x512x64xf32>, tensor<1x1x512x64xf32>)
// SPLIT: scf.forall (%{{.*}}) in (4)
// SPLIT: rope.online_attention ins(%{{.*}} : tensor<2x8x512x64xf32>, tensor<2x2x128x64xf32>, tensor<2x2x128x64xf32>)
func.func @online(%q: !Q, %k: !K, %a: !Q, %m: !M, %s: !M) -> (!Q, !M, !M) {
  %r:3 = rope.online_attention ins(%q, %k, %k : !Q, !K, !K) outs(%a, %m, %s : !Q, !M, !M) scale 0.125 causal -> !Q, !M, !M
  return %r#0, %r#1, %r#2 : !Q, !M, !M
}

// CHECK-LABEL: @attention
// FOR-COUNT-3: scf.for
// FOR: rope.attention
// FORALL: scf.forall {{.*}} to (2, 2, 512) step (1, 1, 32)
// SPLIT-NOT: scf
func.func @attention(%q: !Q, %k: !K, %o: !Q) -> !Q {
  %r = rope.attention ins(%q, %k, %k : !Q, !K, !K) outs(%o : !Q) scale 0.125 -> !Q
  return %r : !Q
}

// With producers: of the query's rotation and of its table only the tile's part.
// CHECK-LABEL: @chain
// FUSE-COUNT-1: scf.for %[[M:.*]] = %c0 to %c512 step %c32
// FUSE: %[[T:.*]] = rope.table {{.*}} ins(%[[M]] : index) outs(%{{.*}} : tensor<32x2x32xf32>)
// FUSE: %[[R:.*]] = rope.rotate <half along [2]> ins(%{{.*}}, %[[T]] : tensor<2x8x32x64xf32>, tensor<32x2x32xf32>)
// FUSE: rope.attention ins(%[[R]], %{{.*}} query_pos(%[[M]] : index)
// FUSE-NOT: rope.
// FUSE: return
func.func @chain(%q: !Q, %k: !K, %o: !Q) -> !Q {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<512x2x32xf32>
  %t = rope.table #rope.default<1.0e4> ins(%c0 : index) outs(%e : tensor<512x2x32xf32>) -> tensor<512x2x32xf32>
  %eq = tensor.empty() : !Q
  %r = rope.rotate <half along [2]> ins(%q, %t : !Q, tensor<512x2x32xf32>) outs(%eq : !Q) -> !Q
  %a = rope.attention ins(%r, %k, %k : !Q, !K, !K) outs(%o : !Q) scale 0.125 causal -> !Q
  return %a : !Q
}
