// RUN: rope-opt %s --rope-fuse --split-input-file | FileCheck %s --check-prefixes=CHECK,STRICT
// RUN: rope-opt %s --rope-fuse=numerics=relaxed --split-input-file | FileCheck %s --check-prefixes=CHECK,RELAXED

!X = tensor<2x3x8xf32>
#qkv = #rope.layout<query = "hmd", key = "hnd", value = "hne", output = "hme">

// Of a scale 1, a factor is the new scale: a rounding goes, none comes. With
// another scale it is so for powers of two alone.
// CHECK-LABEL: @exact
// CHECK-NOT: arith.mulf
// CHECK: scale 0.30000001192092896
// CHECK-NOT: arith.mulf
// CHECK: scale 0.074999999999999997
// CHECK-NOT: arith.divf
// CHECK: scale -0.074999999999999997
// CHECK: return
func.func @exact(%x: !X) -> (!X, !X, !X) {
  %c = arith.constant dense<0.3> : !X
  %d = arith.constant dense<0.25> : !X
  %e = tensor.empty() : !X
  %q = arith.mulf %x, %c : !X
  %o = rope.attention ins(%q, %x, %x : !X, !X, !X) outs(%e : !X) scale 1.0 layout #qkv -> !X
  %k = arith.mulf %d, %o : !X
  %p = rope.attention ins(%x, %k, %x : !X, !X, !X) outs(%e : !X) scale 0.3 layout #qkv -> !X
  %f = arith.constant dense<-4.0> : !X
  %h = arith.divf %o, %f : !X
  %r = rope.attention ins(%h, %x, %x : !X, !X, !X) outs(%e : !X) scale 0.3 layout #qkv -> !X
  return %o, %p, %r : !X, !X, !X
}

// -----

!X = tensor<2x3x8xf32>
!T = tensor<3x2x4xf32>
#qkv = #rope.layout<query = "hmd", key = "hnd", value = "hne", output = "hme">

// A product that is rounded, a quotient, and a rotation that stays and rounds
// what was scaled.
// CHECK-LABEL: @rounded
// STRICT-COUNT-2: arith.mulf
// STRICT: arith.divf
// RELAXED-NOT: arith.mulf
// RELAXED-NOT: arith.divf
func.func @rounded(%x: !X) -> (!X, !X, !X) {
  %c = arith.constant dense<0.3> : !X
  %e = tensor.empty() : !X
  %q = arith.mulf %x, %c : !X
  %o = rope.attention ins(%q, %x, %x : !X, !X, !X) outs(%e : !X) scale 0.3 layout #qkv -> !X
  %s = arith.mulf %o, %c : !X
  %u = tensor.empty() : tensor<3x2x4xf32>
  %z = arith.constant 0 : index
  %r = rope.table #rope.default<1.0e4> ins(%z : index) outs(%u : tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  %sr = rope.rotate <half along [1]> ins(%s, %r : !X, tensor<3x2x4xf32>) outs(%e : !X) -> !X
  %p = rope.attention ins(%sr, %x, %x : !X, !X, !X) rotate_query(%r : tensor<3x2x4xf32>) <half along [1]> outs(%e : !X) scale 1.0 layout #qkv -> !X
  %k = arith.divf %p, %c : !X
  %a = rope.attention ins(%x, %k, %x : !X, !X, !X) outs(%e : !X) scale 1.0 layout #qkv -> !X
  return %o, %p, %a : !X, !X, !X
}

// -----

!X = tensor<2x3x8xf32>
!Y = tensor<2x3x12xf32>
!T = tensor<3x2x4xf32>
#qkv = #rope.layout<query = "hmd", key = "hnd", value = "hne", output = "hme">

// The table of the queries carries the factor 1/2, and is the keys' without it.
// Other channels of the query are not scaled by it.
// CHECK-LABEL: @magnitude
// CHECK-NEXT: %[[Z:.*]] = arith.constant 0
// CHECK-NOT: magnitude
// CHECK: %[[T:.*]] = rope.table #rope.explicit<frequencies = [{{[^>]*}}]> ins(%[[Z]]
// CHECK-NOT: rope.table
// CHECK: rotate_query(%[[T]] : {{.*}} rotate_key(%[[T]] : {{.*}} scale 1.500000e-01
// CHECK-LABEL: @some_channels
// CHECK: magnitude = 5.000000e-01
// CHECK: scale 3.000000e-01
// CHECK-LABEL: @yarn
// STRICT: magnitude = 1.2
// STRICT: scale 3.000000e-01
// RELAXED-NOT: magnitude
// RELAXED: scale 3.600000e-01
func.func @magnitude(%q: !X, %k: !X) -> !X {
  %z = arith.constant 0 : index
  %e = tensor.empty() : !X
  %t0 = tensor.empty() : !T
  %tq = rope.table #rope.explicit<frequencies = [1.0, 0.1, 0.01, 0.001], magnitude = 0.5> ins(%z : index) f32_angle outs(%t0 : !T) -> !T
  %tk = rope.table #rope.explicit<frequencies = [1.0, 0.1, 0.01, 0.001]> ins(%z : index) f32_angle outs(%t0 : !T) -> !T
  %qr = rope.rotate <half along [1]> ins(%q, %tq : !X, !T) outs(%e : !X) -> !X
  %kr = rope.rotate <half along [1]> ins(%k, %tk : !X, !T) outs(%e : !X) -> !X
  %o = rope.attention ins(%qr, %kr, %k : !X, !X, !X) outs(%e : !X) scale 0.3 layout #qkv -> !X
  return %o : !X
}
func.func @some_channels(%q: !Y, %k: !Y) -> !Y {
  %z = arith.constant 0 : index
  %e = tensor.empty() : !Y
  %t0 = tensor.empty() : !T
  %tq = rope.table #rope.explicit<frequencies = [1.0, 0.1, 0.01, 0.001], magnitude = 0.5> ins(%z : index) f32_angle outs(%t0 : !T) -> !T
  %qr = rope.rotate <half along [1]> ins(%q, %tq : !Y, !T) outs(%e : !Y) -> !Y
  %o = rope.attention ins(%qr, %k, %k : !Y, !Y, !Y) outs(%e : !Y) scale 0.3 layout #qkv -> !Y
  return %o : !Y
}
func.func @yarn(%q: !X, %k: !X) -> !X {
  %z = arith.constant 0 : index
  %e = tensor.empty() : !X
  %t0 = tensor.empty() : !T
  %tq = rope.table #rope.explicit<frequencies = [1.0, 0.1, 0.01, 0.001], magnitude = 1.2> ins(%z : index) f32_angle outs(%t0 : !T) -> !T
  %qr = rope.rotate <half along [1]> ins(%q, %tq : !X, !T) outs(%e : !X) -> !X
  %o = rope.attention ins(%qr, %k, %k : !X, !X, !X) outs(%e : !X) scale 0.3 layout #qkv -> !X
  return %o : !X
}
