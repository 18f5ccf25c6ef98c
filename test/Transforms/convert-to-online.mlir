// RUN: rope-opt %s --rope-convert-to-online --split-input-file | FileCheck %s

// The state before any key, all keys, and a division.
// CHECK-LABEL: @plain
// CHECK-SAME: (%[[Q:[a-z0-9]+]]: tensor<8x?x16xbf16>, %[[K:[a-z0-9]+]]: tensor<2x?x16xbf16>, %[[T:[a-z0-9]+]]: tensor<?x2x8xf32>, %[[LEN:[a-z0-9]+]]: index, %[[O:[a-z0-9]+]]: tensor<8x?x16xbf16>)
// CHECK-DAG: %[[INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[A:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<8x?x16xf32>)
// CHECK: %[[M:.*]] = linalg.fill ins(%[[INF]] : f32) outs(%{{.*}} : tensor<8x?xf32>)
// CHECK: %[[S:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<8x?xf32>)
// CHECK: %[[R:.*]]:3 = rope.online_attention ins(%[[Q]], %[[K]], %[[K]] : {{.*}}) key_length(%[[LEN]] : index)
// CHECK-SAME: rotate_query(%[[T]] : {{.*}}) <half along [1]> outs(%[[A]], %[[M]], %[[S]] : {{.*}}) scale 2.500000e-01 causal window [7, 0] softcap 3.000000e+01 layout <lse = "(hg)m">
// CHECK: linalg.generic {{.*}} ins(%[[R]]#0, %[[R]]#1, %[[R]]#2 : {{.*}}) outs(%[[O]] : tensor<8x?x16xbf16>)
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[SUM:.*]], %[[ZERO]] : f32
// CHECK: %[[MEAN:.*]] = arith.divf %{{.*}}, %[[SUM]] : f32
// CHECK: %[[X:.*]] = arith.select %[[NONE]], %[[ZERO]], %[[MEAN]] : f32
// CHECK: arith.truncf %[[X]] : f32 to bf16
func.func @plain(%q: tensor<8x?x16xbf16>, %k: tensor<2x?x16xbf16>, %t: tensor<?x2x8xf32>, %len: index, %o: tensor<8x?x16xbf16>) -> tensor<8x?x16xbf16> {
  %r = rope.attention ins(%q, %k, %k : tensor<8x?x16xbf16>, tensor<2x?x16xbf16>, tensor<2x?x16xbf16>) key_length(%len : index)
    rotate_query(%t : tensor<?x2x8xf32>) <half along [1]> outs(%o : tensor<8x?x16xbf16>) scale 0.25 causal window [7, 0] softcap 30.0 -> tensor<8x?x16xbf16>
  return %r : tensor<8x?x16xbf16>
}

// -----

// The output is turned back before it is rounded; lse has the dims that it had.
// CHECK-LABEL: @roper
// CHECK: %[[R:.*]]:3 = rope.online_attention {{.*}} layout <output = "m(hg)e", lse = "1(hg)m">
// CHECK-SAME: tensor<4x8x16xf32>, tensor<1x8x4xf32>, tensor<1x8x4xf32>
// CHECK: %[[MEAN:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x8x16xf32>)
// CHECK: %[[BACK:.*]] = rope.rerotate <half along [0]> ins(%[[MEAN]], %{{.*}} : tensor<4x8x16xf32>, tensor<4x2x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[BACK]] : tensor<4x8x16xf32>) outs(%{{.*}} : tensor<4x8x16xf16>)
// CHECK: linalg.generic {{.*}} ins(%[[R]]#1, %[[R]]#2, %{{.*}} : tensor<1x8x4xf32>, tensor<1x8x4xf32>, tensor<8xf16>) outs(%{{.*}} : tensor<1x8x4xf32>)
// CHECK: arith.maximumf
// CHECK: math.log
func.func @roper(%q: tensor<8x4x16xf16>, %k: tensor<2x4x16xf16>, %t: tensor<4x2x8xf32>, %sink: tensor<8xf16>, %o: tensor<4x8x16xf16>, %l: tensor<1x8x4xf32>) -> (tensor<4x8x16xf16>, tensor<1x8x4xf32>) {
  %r:2 = rope.attention ins(%q, %k, %k : tensor<8x4x16xf16>, tensor<2x4x16xf16>, tensor<2x4x16xf16>) sink(%sink : tensor<8xf16>)
    rotate_value(%t : tensor<4x2x8xf32>) <half along [1]> rerotate_output(%t : tensor<4x2x8xf32>) <half along [0]>
    outs(%o, %l : tensor<4x8x16xf16>, tensor<1x8x4xf32>) scale 0.25 layout <output = "m(hg)e", lse = "1(hg)m"> -> tensor<4x8x16xf16>, tensor<1x8x4xf32>
  return %r#0, %r#1 : tensor<4x8x16xf16>, tensor<1x8x4xf32>
}

// -----

// Heads of lse and of the output in different groups; memrefs.
// CHECK-LABEL: @groups
// CHECK: rope.attention
// CHECK-LABEL: @memrefs
// CHECK: rope.attention
func.func @groups(%q: tensor<8x4x16xf32>, %k: tensor<2x4x16xf32>, %o: tensor<8x4x16xf32>, %l: tensor<2x4x4xf32>) -> (tensor<8x4x16xf32>, tensor<2x4x4xf32>) {
  %r:2 = rope.attention ins(%q, %k, %k : tensor<8x4x16xf32>, tensor<2x4x16xf32>, tensor<2x4x16xf32>)
    outs(%o, %l : tensor<8x4x16xf32>, tensor<2x4x4xf32>) scale 0.25 layout <lse = "hgm"> -> tensor<8x4x16xf32>, tensor<2x4x4xf32>
  return %r#0, %r#1 : tensor<8x4x16xf32>, tensor<2x4x4xf32>
}

func.func @memrefs(%q: memref<4x16xf32>, %o: memref<4x16xf32>) {
  rope.attention ins(%q, %q, %q : memref<4x16xf32>, memref<4x16xf32>, memref<4x16xf32>) outs(%o : memref<4x16xf32>) scale 0.25
  return
}
