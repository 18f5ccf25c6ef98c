// RUN: rope-opt %s --one-shot-bufferize="bufferize-function-boundaries" --cse --canonicalize --split-input-file | FileCheck %s --implicit-check-not=memref.copy --implicit-check-not=memref.alloc

// A rotation in place.
// CHECK-LABEL: @in_place
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<2x?x64xf32, {{.*}}>, %[[T:[a-z0-9]+]]: memref<?x2x32xf32, {{.*}}>)
// CHECK: rope.rotate <half along [1]> ins(%[[X]], %[[T]] : {{.*}}) outs(%[[X]] : {{.*}}) {note}
// CHECK: return %[[X]]
func.func @in_place(%x: tensor<2x?x64xf32>, %t: tensor<?x2x32xf32>) -> tensor<2x?x64xf32> {
  %y = rope.rotate <half along [1]> ins(%x, %t : tensor<2x?x64xf32>, tensor<?x2x32xf32>) outs(%x : tensor<2x?x64xf32>) {note} -> tensor<2x?x64xf32>
  return %y : tensor<2x?x64xf32>
}

// -----

// In place in a loop over layers, forth and back.
// CHECK-LABEL: @loop
// CHECK: scf.for
// CHECK-NEXT: rope.rotate <interleaved along [1]> ins(%[[X:.*]], %[[T:.*]] : {{.*}}) outs(%[[X]] :
// CHECK-NEXT: rope.rerotate <interleaved along [1]> ins(%[[X]], %[[T]] : {{.*}}) outs(%[[X]] :
func.func @loop(%x: tensor<2x?x64xf32>, %t: tensor<?x2x32xf32>, %n: index) -> tensor<2x?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<2x?x64xf32> {
    %y = rope.rotate <interleaved along [1]> ins(%a, %t : tensor<2x?x64xf32>, tensor<?x2x32xf32>) outs(%a : tensor<2x?x64xf32>) -> tensor<2x?x64xf32>
    %z = rope.rerotate <interleaved along [1]> ins(%y, %t : tensor<2x?x64xf32>, tensor<?x2x32xf32>) outs(%y : tensor<2x?x64xf32>) -> tensor<2x?x64xf32>
    scf.yield %z : tensor<2x?x64xf32>
  }
  return %r : tensor<2x?x64xf32>
}

// -----

// A new key is rotated straight into its slot of the cache.
// CHECK-LABEL: @append
// CHECK-SAME: %[[CACHE:[a-z0-9]+]]: memref<4x8x4096x128xf32,
// CHECK: scf.forall (%[[B:.*]]) in (4)
// CHECK: %[[P:.*]] = memref.load
// CHECK: %[[SLOT:.*]] = memref.subview %[[CACHE]][%[[B]], 0, %[[P]], 0] [1, 8, 1, 128]
// CHECK: rope.rotate <half along []> ins({{.*}}) outs(%[[SLOT]] :
func.func @append(%kn: tensor<4x8x1x128xf32>, %kc: tensor<4x8x4096x128xf32>, %t: tensor<4x2x64xf32>, %len: tensor<4xindex>) -> tensor<4x8x4096x128xf32> {
  %k = scf.forall (%b) in (4) shared_outs(%c = %kc) -> (tensor<4x8x4096x128xf32>) {
    %p = tensor.extract %len[%b] : tensor<4xindex>
    %kb = tensor.extract_slice %kn[%b, 0, 0, 0] [1, 8, 1, 128] [1, 1, 1, 1] : tensor<4x8x1x128xf32> to tensor<8x1x128xf32>
    %tb = tensor.extract_slice %t[%b, 0, 0] [1, 2, 64] [1, 1, 1] : tensor<4x2x64xf32> to tensor<2x64xf32>
    %d = tensor.extract_slice %c[%b, 0, %p, 0] [1, 8, 1, 128] [1, 1, 1, 1] : tensor<4x8x4096x128xf32> to tensor<8x1x128xf32>
    %y = rope.rotate <half along []> ins(%kb, %tb : tensor<8x1x128xf32>, tensor<2x64xf32>) outs(%d : tensor<8x1x128xf32>) -> tensor<8x1x128xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %c[%b, 0, %p, 0] [1, 8, 1, 128] [1, 1, 1, 1] : tensor<8x1x128xf32> into tensor<4x8x4096x128xf32>
    }
  }
  return %k : tensor<4x8x4096x128xf32>
}

// -----

// The state of online attention runs through a loop in its own buffers.
// CHECK-LABEL: @online
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<8x64xf32, {{[^%]*}}>, %[[M:[a-z0-9]+]]: memref<8xf32, {{[^%]*}}>, %[[S:[a-z0-9]+]]: memref<8xf32,
// CHECK: scf.for %[[N:.*]] = %{{.*}} {
// CHECK: %[[K1:.*]] = memref.subview
// CHECK: rope.online_attention ins(%{{.*}}, %[[K1]], %[[K1]] : {{.*}}) key_pos(%[[N]] : index) outs(%[[A]], %[[M]], %[[S]] :
func.func @online(%q: tensor<8x64xf32>, %k: tensor<512x64xf32>, %a: tensor<8x64xf32>, %m: tensor<8xf32>, %s: tensor<8xf32>) -> (tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %r:3 = scf.for %n = %c0 to %c512 step %c64 iter_args(%a1 = %a, %m1 = %m, %s1 = %s) -> (tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>) {
    %k1 = tensor.extract_slice %k[%n, 0] [64, 64] [1, 1] : tensor<512x64xf32> to tensor<64x64xf32>
    %o:3 = rope.online_attention ins(%q, %k1, %k1 : tensor<8x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) key_pos(%n : index)
      outs(%a1, %m1, %s1 : tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>) scale 0.125 causal -> tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>
    scf.yield %o#0, %o#1, %o#2 : tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// An output is written only: what it held is free to be overwritten before.
// CHECK-LABEL: @written
// CHECK-SAME: (%{{[a-z0-9]+}}: memref<8x4x64xf32, {{[^%]*}}, %[[O:[a-z0-9]+]]: memref<8x4x64xf32,
// CHECK: rope.attention {{.*}} outs(%[[O]], %{{.*}} : {{.*}})
// CHECK: rope.linear_attention {{.*}} outs(%[[O]], %{{.*}} : {{.*}})
func.func @written(%q: tensor<8x4x64xf32>, %o: tensor<8x4x64xf32>, %l: tensor<8x4xf32>, %s: tensor<8x64x64xf32>) -> (tensor<8x4x64xf32>, tensor<8x4xf32>, tensor<8x64x64xf32>) {
  %r:2 = rope.attention ins(%q, %q, %q : tensor<8x4x64xf32>, tensor<8x4x64xf32>, tensor<8x4x64xf32>)
    outs(%o, %l : tensor<8x4x64xf32>, tensor<8x4xf32>) scale 0.125 -> tensor<8x4x64xf32>, tensor<8x4xf32>
  %w:2 = rope.linear_attention ins(%q, %q, %q : tensor<8x4x64xf32>, tensor<8x4x64xf32>, tensor<8x4x64xf32>)
    outs(%o, %s : tensor<8x4x64xf32>, tensor<8x64x64xf32>) feature_map relu causal -> tensor<8x4x64xf32>, tensor<8x64x64xf32>
  return %w#0, %r#1, %w#1 : tensor<8x4x64xf32>, tensor<8x4xf32>, tensor<8x64x64xf32>
}
