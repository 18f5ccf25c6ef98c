// RUN: rope-opt %s --transform-interpreter --canonicalize --cse --split-input-file | FileCheck %s

!Q = tensor<8x16x64xf32>
!K = tensor<2x?x64xf32>
!M = tensor<8x16xf32>

// Keys are a reduction: the state runs through the loop. Later keys are at later
// positions, and fewer of them are left.
// CHECK-LABEL: @keys
// CHECK-SAME: (%[[Q:[a-z0-9]+]]: tensor<8x16x64xf32>, %[[K:[a-z0-9]+]]: tensor<2x?x64xf32>, %[[T:[a-z0-9]+]]: tensor<?x2x32xf32>, %[[LEN:[a-z0-9]+]]: index,
// CHECK: scf.for %[[N:.*]] = %{{.*}} step %c128 iter_args(%[[A:.*]] = %{{.*}}, %[[M:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}})
// CHECK: %[[SIZE:.*]] = affine.min
// CHECK: %[[K1:.*]] = tensor.extract_slice %[[K]][0, %[[N]], 0] [2, %[[SIZE]], 64]
// CHECK: %[[T1:.*]] = tensor.extract_slice %[[T]][%[[N]], 0, 0] [%[[SIZE]], 2, 32]
// CHECK: %[[LEFT:.*]] = arith.subi %[[LEN]], %[[N]]
// CHECK: %[[SOME:.*]] = arith.maxsi %[[LEFT]], %c0
// CHECK: %[[LEN1:.*]] = arith.minsi %[[SOME]], %[[SIZE]]
// CHECK: %[[R:.*]]:3 = rope.online_attention ins(%[[Q]], %[[K1]], %[[K1]] : {{.*}}) key_pos(%[[N]] : index) key_length(%[[LEN1]] : index)
// CHECK-SAME: rotate_key(%[[T1]] : {{.*}}) <half along [1]> rotate_value(%[[T1]] : {{.*}}) <half along [1]> outs(%[[A]], %[[M]], %[[S]] :
// CHECK: scf.yield %[[R]]#0, %[[R]]#1, %[[R]]#2
func.func @keys(%q: !Q, %k: !K, %t: tensor<?x2x32xf32>, %len: index, %a: !Q, %m: !M, %s: !M) -> (!Q, !M, !M) {
  %r:3 = rope.online_attention ins(%q, %k, %k : !Q, !K, !K) key_length(%len : index)
    rotate_key(%t : tensor<?x2x32xf32>) <half along [1]> rotate_value(%t : tensor<?x2x32xf32>) <half along [1]>
    outs(%a, %m, %s : !Q, !M, !M) scale 0.125 causal -> !Q, !M, !M
  return %r#0, %r#1, %r#2 : !Q, !M, !M
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %all = transform.structured.match ops{["rope.online_attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %all tile_sizes [0, 0, 0, 0, 128] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

!Q = tensor<8x16x64xf32>
!K = tensor<2x512x64xf32>
!M = tensor<8x16xf32>

// Keys are split over four threads, each with a state of its own, and merged
// with the state that came in. A split that saw no key has the weight 0.
// CHECK-LABEL: @split
// CHECK-SAME: %[[A0:[a-z0-9]+]]: tensor<8x16x64xf32>, %[[M0:[a-z0-9]+]]: tensor<8x16xf32>, %[[S0:[a-z0-9]+]]: tensor<8x16xf32>
// CHECK-DAG: %[[INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<4x8x16x64xf32>)
// CHECK: linalg.fill ins(%[[INF]] : f32) outs(%{{.*}} : tensor<4x8x16xf32>)
// CHECK: linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<4x8x16xf32>)
// CHECK: %[[PARTS:.*]]:3 = scf.forall (%[[I:.*]]) in (4) shared_outs(%[[A:.*]] = %{{.*}}, %[[M:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}})
// CHECK: %[[A1:.*]] = tensor.extract_slice %[[A]][%[[I]], 0, 0, 0] [1, 8, 16, 64] {{.*}} to tensor<8x16x64xf32>
// CHECK: %[[R:.*]]:3 = rope.online_attention {{.*}} key_pos(%[[N:.*]] : index) outs(%[[A1]],
// CHECK: tensor.parallel_insert_slice %[[R]]#0 into %[[A]][%[[I]], 0, 0, 0] [1, 8, 16, 64]
// CHECK: %[[MAX:.*]] = linalg.generic {{.*}} ins(%[[PARTS]]#1 : tensor<4x8x16xf32>) outs(%[[M0]] : tensor<8x16xf32>)
// CHECK: arith.maximumf
// CHECK: %[[MINE:.*]] = linalg.generic {{.*}} ins(%[[M0]], %[[MAX]] : {{.*}}) outs(%[[A0]] :
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[X:.*]], %[[INF]] : f32
// CHECK: %[[FAR:.*]] = arith.subf %[[X]], %{{.*}} : f32
// CHECK: %[[W:.*]] = math.exp %[[FAR]] : f32
// CHECK: arith.select %[[NONE]], %[[ZERO]], %[[W]] : f32
// CHECK: %[[ACC:.*]] = linalg.generic {{.*}} ins(%[[PARTS]]#0, %[[PARTS]]#1, %[[MAX]] : {{.*}}) outs(%[[MINE]] :
// CHECK: linalg.generic {{.*}} ins(%[[M0]], %[[MAX]] : {{.*}}) outs(%[[S0]] :
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[PARTS]]#2, %[[PARTS]]#1, %[[MAX]] :
// CHECK: return %[[ACC]], %[[MAX]], %[[SUM]]
func.func @split(%q: !Q, %k: !K, %a: !Q, %m: !M, %s: !M) -> (!Q, !M, !M) {
  %r:3 = rope.online_attention ins(%q, %k, %k : !Q, !K, !K) outs(%a, %m, %s : !Q, !M, !M) scale 0.125 causal -> !Q, !M, !M
  return %r#0, %r#1, %r#2 : !Q, !M, !M
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %all = transform.structured.match ops{["rope.online_attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %init:3, %part, %merge:5, %loop = transform.structured.tile_reduction_using_forall %all by num_threads = [0, 0, 0, 0, 4]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op,
                                !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

!Q = tensor<16x8x64xf32>
!K = tensor<2x512x64xf32>
!M = tensor<8x16xf32>

// One part after the other needs one slot. The accumulator may have its dims in
// another order than the maximum.
// CHECK-LABEL: @serial
// CHECK: scf.for %{{.*}} = %c0 to %c512 step %c128 iter_args(%[[A:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK: %[[A1:.*]] = tensor.extract_slice %[[A]][0, 0, 0, 0] [1, 16, 8, 64] {{.*}} to tensor<16x8x64xf32>
// CHECK: rope.online_attention {{.*}} outs(%[[A1]],
// CHECK: tensor.insert_slice %{{.*}} into %[[A]][0, 0, 0, 0] [1, 16, 8, 64]
// CHECK: linalg.generic {indexing_maps = [#[[SWAP:.*]], #[[SWAP]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel"]}
func.func @serial(%q: !Q, %k: !K, %a: !Q, %m: !M, %s: !M) -> (!Q, !M, !M) {
  %r:3 = rope.online_attention ins(%q, %k, %k : !Q, !K, !K) outs(%a, %m, %s : !Q, !M, !M) scale 0.125
    layout <query = "m(hg)d", output = "m(hg)e"> -> !Q, !M, !M
  return %r#0, %r#1, %r#2 : !Q, !M, !M
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %all = transform.structured.match ops{["rope.online_attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %init:3, %part, %merge:5, %loop = transform.structured.tile_reduction_using_for %all by tile_sizes = [0, 0, 0, 0, 128]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op,
                                !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

!Q = tensor<8x16x64xf32>
!K = tensor<2x1x64xf32>
!M = tensor<8x16xf32>

// Of one key, all parts but the first have none.
// CHECK-LABEL: @more_parts_than_keys
// CHECK-SAME: (%{{.*}}: tensor<8x16x64xf32>, %[[K:[a-z0-9]+]]: tensor<2x1x64xf32>,
// CHECK: scf.forall (%[[I:.*]]) in (4)
// CHECK: %[[SIZE:.*]] = affine.max
// CHECK: %[[K1:.*]] = tensor.extract_slice %[[K]][0, %[[I]], 0] [2, %[[SIZE]], 64]
// CHECK: rope.online_attention ins(%{{.*}}, %[[K1]], %[[K1]] :
func.func @more_parts_than_keys(%q: !Q, %k: !K, %a: !Q, %m: !M, %s: !M) -> (!Q, !M, !M) {
  %r:3 = rope.online_attention ins(%q, %k, %k : !Q, !K, !K)
    outs(%a, %m, %s : !Q, !M, !M) scale 0.125 -> !Q, !M, !M
  return %r#0, %r#1, %r#2 : !Q, !M, !M
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %all = transform.structured.match ops{["rope.online_attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %fills:3, %tiled, %merges:5, %loop = transform.structured.tile_reduction_using_forall %all by num_threads = [0, 0, 0, 0, 4] tile_sizes = [] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

!Q = tensor<1x8x4x64xf32>
!K = tensor<1x2x3x64xf32>

// More threads than batches: one of them has a batch.
// CHECK-LABEL: @more_threads_than_batches
// CHECK-SAME: (%[[Q:[a-z0-9]+]]: tensor<1x8x4x64xf32>,
// CHECK: scf.forall (%[[I:.*]]) in (4)
// CHECK: %[[SIZE:.*]] = affine.max
// CHECK: tensor.extract_slice %[[Q]][%[[I]], 0, 0, 0] [%[[SIZE]], 8, 4, 64]
func.func @more_threads_than_batches(%q: !Q, %k: !K, %o: !Q) -> !Q {
  %r = rope.attention ins(%q, %k, %k : !Q, !K, !K) outs(%o : !Q) scale 0.125 -> !Q
  return %r : !Q
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %all = transform.structured.match ops{["rope.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_forall %all num_threads [4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
