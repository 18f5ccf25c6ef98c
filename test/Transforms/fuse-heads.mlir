// RUN: rope-opt %s --rope-fuse --split-input-file | FileCheck %s

!Q = tensor<2x8x32x16xf32>
!K = tensor<2x4x32x16xf32>
!R = tensor<2x4x2x32x16xf32>
!T = tensor<32x2x8xf32>
#in = affine_map<(b, h, g, n, d) -> (b, h, n, d)>
#out = affine_map<(b, h, g, n, d) -> (b, h, g, n, d)>

// Each head of keys and values is repeated for two heads of queries. Keys are
// turned once for each of their own heads.
// CHECK-LABEL: @repeated
// CHECK-NOT: linalg.
// CHECK: rope.attention ins(%arg0, %arg1, %arg2 : tensor<2x8x32x16xf32>, tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>)
// CHECK-SAME: sink(%arg4 : tensor<8xf32>) rotate_key(%arg3 : {{.*}}) <half along [2]>
// CHECK-NOT: layout
// CHECK: return
func.func @repeated(%q: !Q, %k: !K, %v: !K, %t: !T, %sink: tensor<8xf32>) -> !Q {
  %er = tensor.empty() : !R
  %e = tensor.empty() : !Q
  %kb = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%k : !K) outs(%er : !R) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> !R
  %vb = linalg.broadcast ins(%v : !K) outs(%er : !R) dimensions = [2]
  %kc = tensor.collapse_shape %kb [[0], [1, 2], [3], [4]] : !R into !Q
  %vc = tensor.collapse_shape %vb [[0], [1, 2], [3], [4]] : !R into !Q
  %kr = rope.rotate <half along [2]> ins(%kc, %t : !Q, !T) outs(%e : !Q) -> !Q
  %o = rope.attention ins(%q, %kr, %vc : !Q, !Q, !Q) sink(%sink : tensor<8xf32>) outs(%e : !Q) scale 0.25 layout <query = "bhmd", sink = "h", output = "bhme"> -> !Q
  return %o : !Q
}

// -----

!Q = tensor<2x8x32x16xf32>
!K = tensor<2x4x32x16xf32>
!R = tensor<2x2x4x32x16xf32>

// All heads, and then all of them again: query head i reads head i mod 4, which
// is no group.
// CHECK-LABEL: @repeated_as_a_whole
// CHECK-COUNT-2: tensor.collapse_shape
// CHECK: rope.attention ins(%arg0, %{{.*}}, %{{.*}} : tensor<2x8x32x16xf32>, tensor<2x8x32x16xf32>, tensor<2x8x32x16xf32>)
func.func @repeated_as_a_whole(%q: !Q, %k: !K, %v: !K) -> !Q {
  %er = tensor.empty() : !R
  %e = tensor.empty() : !Q
  %kb = linalg.broadcast ins(%k : !K) outs(%er : !R) dimensions = [1]
  %vb = linalg.broadcast ins(%v : !K) outs(%er : !R) dimensions = [1]
  %kc = tensor.collapse_shape %kb [[0], [1, 2], [3], [4]] : !R into !Q
  %vc = tensor.collapse_shape %vb [[0], [1, 2], [3], [4]] : !R into !Q
  %o = rope.attention ins(%q, %kc, %vc : !Q, !Q, !Q) outs(%e : !Q) scale 0.25 layout <query = "bhmd", output = "bhme"> -> !Q
  return %o : !Q
}

// -----

!Q = tensor<2x8x32x16xf32>
!K = tensor<2x4x32x16xf32>
!R = tensor<2x4x2x32x16xf32>

// Keys are repeated, values are not: heads of values are none of groups.
// CHECK-LABEL: @keys_alone
// CHECK: tensor.collapse_shape
// CHECK: rope.attention ins(%arg0, %{{.*}}, %arg2 :
func.func @keys_alone(%q: !Q, %k: !K, %v: !Q) -> !Q {
  %er = tensor.empty() : !R
  %e = tensor.empty() : !Q
  %kb = linalg.broadcast ins(%k : !K) outs(%er : !R) dimensions = [2]
  %kc = tensor.collapse_shape %kb [[0], [1, 2], [3], [4]] : !R into !Q
  %o = rope.attention ins(%q, %kc, %v : !Q, !Q, !Q) outs(%e : !Q) scale 0.25 layout <query = "bhmd", output = "bhme"> -> !Q
  return %o : !Q
}

// -----

!Q = tensor<8x32x16xf32>
!K = tensor<4x32x16xf32>
!R = tensor<4x2x32x16xf32>

// A state is carried for each head.
// CHECK-LABEL: @state
// CHECK: tensor.collapse_shape
// CHECK: rope.linear_attention
func.func @state(%q: !Q, %k: !K, %s: tensor<8x16x16xf32>) -> !Q {
  %er = tensor.empty() : !R
  %e = tensor.empty() : !Q
  %kb = linalg.broadcast ins(%k : !K) outs(%er : !R) dimensions = [1]
  %kc = tensor.collapse_shape %kb [[0, 1], [2], [3]] : !R into !Q
  %o:2 = rope.linear_attention ins(%q, %kc, %kc : !Q, !Q, !Q) outs(%e, %s : !Q, tensor<8x16x16xf32>) feature_map relu
    layout <query = "hmd", output = "hme"> -> !Q, tensor<8x16x16xf32>
  return %o#0 : !Q
}
