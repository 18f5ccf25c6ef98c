// RUN: rope-opt %s --transform-interpreter --canonicalize --cse --split-input-file | FileCheck %s

!X = tensor<8x512x64xf32>
!S = tensor<8x64x64xf32>
!Z = tensor<8x64xf32>

// Causal rows in chunks: each has the keys of its own rows, and the states.
// CHECK-LABEL: @chunks
// CHECK-SAME: (%[[Q:[a-z0-9]+]]: tensor<8x512x64xf32>, %[[K:[a-z0-9]+]]: tensor<8x512x64xf32>,
// CHECK: scf.for %[[H:.*]] = %{{.*}} to %c8 step %c1 iter_args
// CHECK: scf.for %[[M:.*]] = %{{.*}} to %c512 step %c128 iter_args(%[[O:.*]] = %{{.*}}, %[[KV:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}})
// CHECK-DAG: %[[Q1:.*]] = tensor.extract_slice %[[Q]][%[[H]], %[[M]], 0] [1, 128, 64]
// CHECK-DAG: %[[K1:.*]] = tensor.extract_slice %[[K]][%[[H]], %[[M]], 0] [1, 128, 64]
// CHECK-DAG: %[[T1:.*]] = tensor.extract_slice %{{.*}}[%[[M]], 0, 0] [128, 2, 32]
// CHECK-DAG: %[[KV1:.*]] = tensor.extract_slice %[[KV]][%[[H]], 0, 0] [1, 64, 64]
// CHECK-DAG: %[[SUM1:.*]] = tensor.extract_slice %[[SUM]][%[[H]], 0] [1, 64]
// CHECK: %[[R:.*]]:3 = rope.linear_attention ins(%[[Q1]], %[[K1]], %[[K1]] : {{.*}}) rotate_query(%[[T1]] : {{.*}}) <interleaved along [1]> rotate_key(%[[T1]] : {{.*}}) <interleaved along [1]> outs(%{{.*}}, %[[KV1]], %[[SUM1]] :
// CHECK: tensor.insert_slice %[[R]]#0 into %[[O]][%[[H]], %[[M]], 0] [1, 128, 64]
// CHECK: tensor.insert_slice %[[R]]#1 into %[[KV]][%[[H]], 0, 0] [1, 64, 64]
// CHECK: tensor.insert_slice %[[R]]#2 into %[[SUM]][%[[H]], 0] [1, 64]
func.func @chunks(%q: !X, %k: !X, %t: tensor<512x2x32xf32>, %o: !X, %s: !S, %z: !Z) -> (!X, !S, !Z) {
  %r:3 = rope.linear_attention ins(%q, %k, %k : !X, !X, !X)
    rotate_query(%t : tensor<512x2x32xf32>) <interleaved along [1]> rotate_key(%t : tensor<512x2x32xf32>) <interleaved along [1]>
    outs(%o, %s, %z : !X, !S, !Z) feature_map elu_plus_one causal normalizer_eps 1.0e-6 -> !X, !S, !Z
  return %r#0, %r#1, %r#2 : !X, !S, !Z
}

// Rows that see all keys do not depend on each other.
// CHECK-LABEL: @rows
// CHECK-SAME: (%[[Q:[a-z0-9]+]]: tensor<8x512x64xf32>, %[[K:[a-z0-9]+]]: tensor<8x512x64xf32>,
// CHECK-DAG: tensor.extract_slice %[[Q]][%{{.*}}, %[[M:.*]], 0] [1, 128, 64]
// CHECK-DAG: tensor.extract_slice %[[K]][%{{.*}}, 0, 0] [1, 512, 64]
func.func @rows(%q: !X, %k: !X, %o: !X) -> !X {
  %r = rope.linear_attention ins(%q, %k, %k : !X, !X, !X) outs(%o : !X) feature_map relu -> !X
  return %r : !X
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %all = transform.structured.match ops{["rope.linear_attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.tile_using_for %all tile_sizes [0, 1, 0, 128] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
