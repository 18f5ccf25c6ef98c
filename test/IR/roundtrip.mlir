// RUN: rope-opt %s | rope-opt | FileCheck %s
// RUN: rope-opt %s --mlir-print-op-generic | rope-opt | FileCheck %s
// RUN: rope-opt %s --emit-bytecode | rope-opt | FileCheck %s

!Q = tensor<?x32x?x128xf32>
!K = tensor<?x8x?x128xf32>
!T = tensor<?x?x2x64xf32>

// A table of position ids, a rotation of each, attention over grouped heads.
// CHECK-LABEL: @llama
// CHECK: rope.table #rope.default<1.000000e+04> ins(%{{.*}} : tensor<?x?xi64>) f32_angle outs(%{{.*}} : tensor<?x?x2x64xf32>) -> tensor<?x?x2x64xf32>
// CHECK: rope.rotate <half along [0, 2]> ins(%{{.*}}, %{{.*}} : tensor<?x32x?x128xf32>, tensor<?x?x2x64xf32>) outs(%{{.*}} : tensor<?x32x?x128xf32>) -> tensor<?x32x?x128xf32>
// CHECK: rope.attention ins({{.*}}) outs({{.*}}) scale 0.088388347648318447 causal -> tensor<?x32x?x128xf32>
func.func @llama(%q: !Q, %k: !K, %v: !K, %ids: tensor<?x?xi64>, %t0: !T, %q0: !Q, %k0: !K, %o0: !Q) -> !Q {
  %t = rope.table #rope.default<1.0e4> ins(%ids : tensor<?x?xi64>) f32_angle outs(%t0 : !T) -> !T
  %qr = rope.rotate <half along [0, 2]> ins(%q, %t : !Q, !T) outs(%q0 : !Q) -> !Q
  %kr = rope.rotate <half along [0, 2]> ins(%k, %t : !K, !T) outs(%k0 : !K) -> !K
  %o = rope.attention ins(%qr, %kr, %v : !Q, !K, !K) outs(%o0 : !Q) scale 0.08838834764831845 causal -> !Q
  return %o : !Q
}

// Attention with its rotations; discardable attributes pass through.
// CHECK-LABEL: @fused
// CHECK: rope.attention ins({{.*}}) rotate_query(%{{.*}} : tensor<?x?x2x64xf32>) <half along [0, 2]> rotate_key(%{{.*}} : tensor<?x?x2x64xf32>) <half along [0, 2]> outs({{.*}}) scale 0.088388347648318447 causal {note} -> tensor<?x32x?x128xf32>
func.func @fused(%q: !Q, %k: !K, %v: !K, %t: !T, %o0: !Q) -> !Q {
  %o = rope.attention ins(%q, %k, %v : !Q, !K, !K) rotate_query(%t : !T) <half along [0, 2]> rotate_key(%t : !T) <half along [0, 2]>
         outs(%o0 : !Q) scale 0.08838834764831845 causal {note} -> !Q
  return %o : !Q
}

// Trailing channels, interleaved read, half write.
// CHECK-LABEL: @mla
// CHECK: rope.rotate <interleaved to half along [1]>
// CHECK: rotate_query(%{{.*}} : tensor<?x2x32xf32>) <interleaved to half offset = 128 along [2]>
func.func @mla(%q: tensor<1x128x?x192xbf16>, %pe: tensor<1x?x64xbf16>, %k: tensor<1x128x?x192xbf16>, %v: tensor<1x128x?x128xbf16>, %t: tensor<?x2x32xf32>, %o0: tensor<1x128x?x128xbf16>) -> (tensor<1x?x64xbf16>, tensor<1x128x?x128xbf16>) {
  %r = rope.rotate <interleaved to half along [1]> ins(%pe, %t : tensor<1x?x64xbf16>, tensor<?x2x32xf32>) outs(%pe : tensor<1x?x64xbf16>) -> tensor<1x?x64xbf16>
  %o = rope.attention ins(%q, %k, %v : tensor<1x128x?x192xbf16>, tensor<1x128x?x192xbf16>, tensor<1x128x?x128xbf16>)
         rotate_query(%t : tensor<?x2x32xf32>) <interleaved to half offset = 128 along [2]>
         outs(%o0 : tensor<1x128x?x128xbf16>) scale 0.1147213867929261 causal -> tensor<1x128x?x128xbf16>
  return %r, %o : tensor<1x?x64xbf16>, tensor<1x128x?x128xbf16>
}

// Three position axes.
// CHECK-LABEL: @mrope
// CHECK: rope.table #rope.default<1.000000e+06> ins(%{{.*}} : tensor<3x?x?xi64>) axes [0, 0, 1, 1, 1, 2, 2, 2] outs
func.func @mrope(%thw: tensor<3x?x?xi64>, %e: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %t = rope.table #rope.default<1.0e6> ins(%thw : tensor<3x?x?xi64>) axes [0, 0, 1, 1, 1, 2, 2, 2] outs(%e : tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32>
  return %t : tensor<?x?x2x8xf32>
}

// Rotated values and the output turned back, with a larger share of channels.
// CHECK-LABEL: @roper
// CHECK: rotate_value(%{{.*}} : tensor<?x2x32xf32>) <half along [2]> rerotate_output(%{{.*}} : tensor<?x2x32xf32>) <half along [2]>
func.func @roper(%x: tensor<1x8x?x64xf32>, %t: tensor<?x2x16xf32>, %tv: tensor<?x2x32xf32>) -> tensor<1x8x?x64xf32> {
  %o = rope.attention ins(%x, %x, %x : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>)
         rotate_query(%t : tensor<?x2x16xf32>) <half along [2]> rotate_key(%t : tensor<?x2x16xf32>) <half along [2]>
         rotate_value(%tv : tensor<?x2x32xf32>) <half along [2]> rerotate_output(%tv : tensor<?x2x32xf32>) <half along [2]>
         outs(%x : tensor<1x8x?x64xf32>) scale 0.125 causal -> tensor<1x8x?x64xf32>
  return %o : tensor<1x8x?x64xf32>
}

// Every option at once, positions and lengths of each batch, and the lse.
// CHECK-LABEL: @options
// CHECK: mask(%{{.*}} : tensor<1x1x3x16xi1>) query_pos(%{{.*}} : tensor<4xindex>) key_pos(%{{.*}} : index) key_length(%{{.*}} : tensor<4xi32>) sink(%{{.*}} : tensor<8xf32>) outs
// CHECK-SAME: scale 1.250000e-01 causal window [7, 0] softcap 3.000000e+01 layout <output = "bm(hg)e", query_pos = "b"> -> tensor<4x3x8x64xf32>, tensor<4x8x3xf32>
func.func @options(%q: tensor<4x8x3x64xf32>, %k: tensor<4x2x16x64xf32>, %mask: tensor<1x1x3x16xi1>, %qpos: tensor<4xindex>, %kpos: index, %len: tensor<4xi32>, %sink: tensor<8xf32>, %o0: tensor<4x3x8x64xf32>, %l0: tensor<4x8x3xf32>) -> (tensor<4x3x8x64xf32>, tensor<4x8x3xf32>) {
  %o:2 = rope.attention ins(%q, %k, %k : tensor<4x8x3x64xf32>, tensor<4x2x16x64xf32>, tensor<4x2x16x64xf32>)
         mask(%mask : tensor<1x1x3x16xi1>) query_pos(%qpos : tensor<4xindex>) key_pos(%kpos : index) key_length(%len : tensor<4xi32>) sink(%sink : tensor<8xf32>)
         outs(%o0, %l0 : tensor<4x3x8x64xf32>, tensor<4x8x3xf32>) scale 0.125 causal window [7, 0] softcap 30.0
         layout <output = "bm(hg)e", query_pos = "b"> -> tensor<4x3x8x64xf32>, tensor<4x8x3xf32>
  return %o#0, %o#1 : tensor<4x3x8x64xf32>, tensor<4x8x3xf32>
}

// A block of keys of a tile of rows.
// CHECK-LABEL: @online
// CHECK: rope.online_attention ins({{.*}}) query_pos(%{{.*}} : index) key_pos(%{{.*}} : index) outs({{.*}}) scale 1.250000e-01 causal -> tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>
func.func @online(%q: tensor<8x64xf32>, %k: tensor<?x64xf32>, %m: index, %n: index, %acc: tensor<8x64xf32>, %max: tensor<8xf32>, %sum: tensor<8xf32>) -> (tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>) {
  %s:3 = rope.online_attention ins(%q, %k, %k : tensor<8x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>)
           query_pos(%m : index) key_pos(%n : index)
           outs(%acc, %max, %sum : tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>) scale 0.125 causal -> tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>
  return %s#0, %s#1, %s#2 : tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>
}

// Carried states.
// CHECK-LABEL: @linear
// CHECK: rope.linear_attention ins({{.*}}) rotate_query(%{{.*}} : tensor<512x2x32xf32>) <interleaved along [1]> rotate_key(%{{.*}} : tensor<512x2x32xf32>) <interleaved along [1]> outs({{.*}}) feature_map elu_plus_one causal normalizer_eps 9.9999999999999995E-7 ->
func.func @linear(%q: tensor<8x512x64xf32>, %t: tensor<512x2x32xf32>, %s0: tensor<8x64x64xf32>, %z0: tensor<8x64xf32>) -> (tensor<8x512x64xf32>, tensor<8x64x64xf32>, tensor<8x64xf32>) {
  %o:3 = rope.linear_attention ins(%q, %q, %q : tensor<8x512x64xf32>, tensor<8x512x64xf32>, tensor<8x512x64xf32>)
           rotate_query(%t : tensor<512x2x32xf32>) <interleaved along [1]> rotate_key(%t : tensor<512x2x32xf32>) <interleaved along [1]>
           outs(%q, %s0, %z0 : tensor<8x512x64xf32>, tensor<8x64x64xf32>, tensor<8x64xf32>)
           feature_map elu_plus_one causal normalizer_eps 1.0e-6 -> tensor<8x512x64xf32>, tensor<8x64x64xf32>, tensor<8x64xf32>
  return %o#0, %o#1, %o#2 : tensor<8x512x64xf32>, tensor<8x64x64xf32>, tensor<8x64xf32>
}

#long = #rope.longrope<theta = 1.0e4, short_factors = [1.0, 1.0], long_factors = [1.0, 8.0], trained = 4096, magnitude = 1.19>

// A cache moves to the long regime, in place.
// CHECK-LABEL: @switch
// CHECK: length(%{{.*}}) outs
// CHECK: rope.compose ins(%{{.*}}, inverse %{{.*}} : tensor<?x2x2xf32>, tensor<?x2x2xf32>) outs
func.func @switch(%ids: tensor<?xi64>, %old: index, %new: index, %cache: tensor<8x?x4xf32>, %a: tensor<?x2x2xf32>) -> tensor<8x?x4xf32> {
  %to = rope.table #long ins(%ids : tensor<?xi64>) length(%new) outs(%a : tensor<?x2x2xf32>) -> tensor<?x2x2xf32>
  %from = rope.table #long ins(%ids : tensor<?xi64>) length(%old) outs(%a : tensor<?x2x2xf32>) -> tensor<?x2x2xf32>
  %d = rope.compose ins(%to, inverse %from : tensor<?x2x2xf32>, tensor<?x2x2xf32>) outs(%a : tensor<?x2x2xf32>) -> tensor<?x2x2xf32>
  %y = rope.rotate <half along [1]> ins(%cache, %d : tensor<8x?x4xf32>, tensor<?x2x2xf32>) outs(%cache : tensor<8x?x4xf32>) -> tensor<8x?x4xf32>
  return %y : tensor<8x?x4xf32>
}

// A model's own cos and sin, an entry for each channel; a gap between halves.
// CHECK-LABEL: @opaque
// CHECK: rope.assemble ins(%{{.*}}, %{{.*}} : tensor<2x?x128xbf16>, tensor<2x?x128xbf16>) outs
// CHECK: rope.rotate <half along [0, 2] full = true>
// CHECK: rope.rerotate <half offset = 2 distance = 64 along [0, 2]>
func.func @opaque(%x: tensor<2x32x?x128xbf16>, %cos: tensor<2x?x128xbf16>, %sin: tensor<2x?x128xbf16>, %e: tensor<2x?x2x128xbf16>, %u: tensor<2x?x2x16xf64>) -> tensor<2x32x?x128xbf16> {
  %t = rope.assemble ins(%cos, %sin : tensor<2x?x128xbf16>, tensor<2x?x128xbf16>) outs(%e : tensor<2x?x2x128xbf16>) -> tensor<2x?x2x128xbf16>
  %y = rope.rotate <half along [0, 2] full = true> ins(%x, %t : tensor<2x32x?x128xbf16>, tensor<2x?x2x128xbf16>) outs(%x : tensor<2x32x?x128xbf16>) -> tensor<2x32x?x128xbf16>
  %z = rope.rerotate <half offset = 2 distance = 64 along [0, 2]> ins(%y, %u : tensor<2x32x?x128xbf16>, tensor<2x?x2x16xf64>) outs(%y : tensor<2x32x?x128xbf16>) -> tensor<2x32x?x128xbf16>
  return %z : tensor<2x32x?x128xbf16>
}

// Memrefs have no results.
// CHECK-LABEL: @memrefs
// CHECK: rope.table #rope.default<1.000000e+04> ins(%{{.*}} : index) outs(%{{.*}} : memref<8x2x4xf32>){{$}}
// CHECK: rope.rotate <interleaved along [1]> ins(%{{.*}}, %{{.*}} : memref<2x8x8xf16, strided<[?, ?, 1]>>, memref<8x2x4xf32>) outs(%{{.*}} : memref<2x8x8xf16, strided<[?, ?, 1]>>){{$}}
func.func @memrefs(%start: index, %t: memref<8x2x4xf32>, %x: memref<2x8x8xf16, strided<[?, ?, 1]>>) {
  rope.table #rope.default<1.0e4> ins(%start : index) outs(%t : memref<8x2x4xf32>)
  rope.rotate <interleaved along [1]> ins(%x, %t : memref<2x8x8xf16, strided<[?, ?, 1]>>, memref<8x2x4xf32>) outs(%x : memref<2x8x8xf16, strided<[?, ?, 1]>>)
  return
}

// Each schedule of frequencies prints what it was given, defaults left out.
// CHECK-LABEL: @schedules
// CHECK-SAME: #rope.linear<theta = 1.000000e+04, factor = 4.000000e+00>
// CHECK-SAME: #rope.ntk<theta = 1.000000e+04, factor = 4.000000e+00>
// CHECK-SAME: #rope.dynamic_ntk<theta = 1.000000e+04, factor = 2.000000e+00, trained = 2048>
// CHECK-SAME: #rope.yarn<theta = 1.000000e+04, factor = 4.000000e+01, trained = 4096>
// CHECK-SAME: #rope.yarn<theta = 1.000000e+04, factor = 4.000000e+01, trained = 4096, beta_fast = 3.200000e+01, truncate = false, mscale = 1.000000e+00, mscale_all_dim = 7.070000e-01>
// CHECK-SAME: #rope.llama3<theta = 5.000000e+05, factor = 8.000000e+00, low = 1.000000e+00, high = 4.000000e+00, trained = 8192>
// CHECK-SAME: #rope.longrope<theta = 1.000000e+04, short_factors = [1.000000e+00, 1.000000e+00], long_factors = [1.000000e+00, 8.000000e+00], trained = 4096>
// CHECK-SAME: #rope.proportional<theta = 1.000000e+06, share = 2.500000e-01>
// CHECK-SAME: #rope.proportional<theta = 1.000000e+06, share = 1.000000e+00>
// CHECK-SAME: #rope.explicit<frequencies = [1.000000e+00, 0.0033333333333333335], magnitude = 1.200000e+00>
func.func @schedules() attributes {list = [
  #rope.linear<theta = 1.0e4, factor = 4.0>,
  #rope.ntk<theta = 1.0e4, factor = 4.0>,
  #rope.dynamic_ntk<theta = 1.0e4, factor = 2.0, trained = 2048>,
  #rope.yarn<theta = 1.0e4, factor = 40.0, trained = 4096>,
  #rope.yarn<theta = 1.0e4, factor = 40.0, trained = 4096, beta_fast = 32.0, truncate = false, mscale = 1.0, mscale_all_dim = 0.707>,
  #rope.llama3<theta = 5.0e5, factor = 8.0, low = 1.0, high = 4.0, trained = 8192>,
  #rope.longrope<theta = 1.0e4, short_factors = [1.0, 1.0], long_factors = [1.0, 8.0], trained = 4096>,
  #rope.proportional<theta = 1.0e6, share = 0.25>,
  #rope.proportional<theta = 1.0e6, share = 1.0>,
  #rope.explicit<frequencies = [1.0, 0.0033333333333333335], magnitude = 1.2>]} {
  return
}
