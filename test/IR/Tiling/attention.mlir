// RUN: rope-opt %s --transform-interpreter --canonicalize --cse --split-input-file | FileCheck %s

!Q = tensor<2x8x?x16xf32>
!K = tensor<2x2x?x16xf32>

// Rows of a tile start at a later position. What a tile does not cut (the keys
// of a batch along rows, a mask that all heads share) is not sliced there.
// CHECK-LABEL: @rows
// CHECK-SAME: (%[[Q:[a-z0-9]+]]: tensor<2x8x?x16xf32>, %[[K:[a-z0-9]+]]: tensor<2x2x?x16xf32>, %[[T:[a-z0-9]+]]: tensor<?x2x8xf32>, %[[MASK:[a-z0-9]+]]: tensor<1x1x?x?xi1>,
// CHECK: scf.for %[[M:.*]] = %{{.*}} step %c32
// CHECK: %[[SIZE:.*]] = affine.min
// CHECK: %[[Q1:.*]] = tensor.extract_slice %[[Q]][0, 0, %[[M]], 0] [2, 8, %[[SIZE]], 16]
// CHECK: %[[MASK1:.*]] = tensor.extract_slice %[[MASK]][0, 0, %[[M]], 0] [1, 1, %[[SIZE]], %{{.*}}]
// CHECK: %[[T1:.*]] = tensor.extract_slice %[[T]][%[[M]], 0, 0] [%[[SIZE]], 2, 8]
// CHECK: rope.attention ins(%[[Q1]], %[[K]], %[[K]] : {{.*}}) mask(%[[MASK1]] : {{.*}}) query_pos(%[[M]] : index)
// CHECK-SAME: rotate_query(%[[T1]] : {{.*}}) <half along [2]> rotate_key(%[[T]] :
// CHECK-COUNT-2: tensor.insert_slice
func.func @rows(%q: !Q, %k: !K, %t: tensor<?x2x8xf32>, %mask: tensor<1x1x?x?xi1>, %o: !Q, %l: tensor<2x8x?xf32>) -> (!Q, tensor<2x8x?xf32>) {
  %r:2 = rope.attention ins(%q, %k, %k : !Q, !K, !K) mask(%mask : tensor<1x1x?x?xi1>)
    rotate_query(%t : tensor<?x2x8xf32>) <half along [2]> rotate_key(%t : tensor<?x2x8xf32>) <half along [2]>
    outs(%o, %l : !Q, tensor<2x8x?xf32>) scale 0.25 causal -> !Q, tensor<2x8x?xf32>
  return %r#0, %r#1 : !Q, tensor<2x8x?xf32>
}

// A start moves; with no order among rows and keys there is nothing to say.
// CHECK-LABEL: @start
// CHECK-SAME: %[[START:[a-z0-9]+]]: index
// CHECK: %[[POS:.*]] = arith.addi %[[START]], %[[M:.*]] : index
// CHECK: rope.attention {{.*}} query_pos(%[[POS]] : index) outs
// CHECK: rope.attention ins(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : {{.*}}>) outs
func.func @start(%q: !Q, %k: !K, %start: index, %o: !Q) -> (!Q, !Q) {
  %r = rope.attention ins(%q, %k, %k : !Q, !K, !K) query_pos(%start : index) outs(%o : !Q) scale 0.25 window [3, 3] -> !Q
  %s = rope.attention ins(%q, %k, %k : !Q, !K, !K) outs(%o : !Q) scale 0.25 -> !Q
  return %r, %s : !Q, !Q
}

// A start for each batch moves too, in the width of an index; a list is sliced.
// CHECK-LABEL: @starts
// CHECK-SAME: %[[STARTS:[a-z0-9]+]]: tensor<2xi8>, %[[LIST:[a-z0-9]+]]: tensor<2x?xi64>
// CHECK: scf.for %[[M:.*]] = %{{.*}} step %c32
// CHECK: %[[MOVED:.*]] = linalg.generic {{.*}} ins(%[[STARTS]] : tensor<2xi8>) outs(%{{.*}} : tensor<2xindex>)
// CHECK: %[[START:.*]] = arith.index_cast %{{.*}} : i8 to index
// CHECK: arith.addi %[[START]], %[[M]] : index
// CHECK: rope.attention {{.*}} query_pos(%[[MOVED]] : tensor<2xindex>) {{.*}} layout <query_pos = "b">
// CHECK: scf.for %[[M:.*]] = %{{.*}} step %c32
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[LIST]][0, %[[M]]] [2, %{{.*}}] [1, 1]
// CHECK: rope.attention {{.*}} query_pos(%[[PART]] : tensor<2x?xi64>)
func.func @starts(%q: !Q, %k: !K, %starts: tensor<2xi8>, %list: tensor<2x?xi64>, %o: !Q) -> (!Q, !Q) {
  %r = rope.attention ins(%q, %k, %k : !Q, !K, !K) query_pos(%starts : tensor<2xi8>) outs(%o : !Q) scale 0.25 causal layout <query_pos = "b"> -> !Q
  %s = rope.attention ins(%q, %k, %k : !Q, !K, !K) query_pos(%list : tensor<2x?xi64>) outs(%o : !Q) scale 0.25 causal -> !Q
  return %r, %s : !Q, !Q
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %all = transform.structured.match ops{["rope.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %all tile_sizes [0, 0, 0, 32] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

!Q = tensor<2x8x64x16xf32>
!K = tensor<2x2x64x16xf32>

// Two key-value heads with all four query heads of each are eight heads that
// lie together; the lengths, the sinks and the tables are cut by their dims.
// CHECK-LABEL: @groups
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]], %[[M:.*]]) in (2, 2, 4)
// CHECK-DAG: %[[HEAD:.*]] = affine.apply #{{.*}}(%[[H]])
// CHECK-DAG: %[[ROW:.*]] = affine.apply #{{.*}}(%[[M]])
// CHECK: tensor.extract_slice %{{.*}}[%[[B]], %[[HEAD]], %[[ROW]], 0] [1, 4, 16, 16]
// CHECK: tensor.extract_slice %{{.*}}[%[[B]], %[[H]], 0, 0] [1, 1, 64, 16]
// CHECK: tensor.extract_slice %{{.*}}[%[[B]]] [1] [1] : tensor<2xi32>
// CHECK: tensor.extract_slice %{{.*}}[%[[HEAD]]] [4] [1] : tensor<8xf32>
// CHECK: tensor.extract_slice %{{.*}}[%[[B]], %[[ROW]], 0, 0] [1, 16, 2, 8]
// CHECK: rope.attention {{.*}} query_pos(%[[ROW]] : index)
// CHECK-SAME: rerotate_output(%{{.*}} : tensor<1x16x2x8xf32>) <half along [0, 1]>
// CHECK: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[B]], %[[ROW]], %[[HEAD]], 0] [1, 16, 4, 16]
func.func @groups(%q: !Q, %k: !K, %len: tensor<2xi32>, %sink: tensor<8xf32>, %t: tensor<2x64x2x8xf32>, %o: tensor<2x64x8x16xf32>) -> tensor<2x64x8x16xf32> {
  %r = rope.attention ins(%q, %k, %k : !Q, !K, !K) key_length(%len : tensor<2xi32>) sink(%sink : tensor<8xf32>)
    rerotate_output(%t : tensor<2x64x2x8xf32>) <half along [0, 1]>
    outs(%o : tensor<2x64x8x16xf32>) scale 0.25 causal layout <output = "bm(hg)e"> -> tensor<2x64x8x16xf32>
  return %r : tensor<2x64x8x16xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %all = transform.structured.match ops{["rope.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_forall %all tile_sizes [1, 1, 0, 16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// One key-value head at a time may have a part of its query heads, and so may
// h and g that are dims of their own.
// CHECK-LABEL: @parts
// CHECK: scf.for %[[H:.*]] = %{{.*}} to %c2 step %c1
// CHECK: scf.for %[[G:.*]] = %{{.*}} to %c4 step %c2
// CHECK: %[[AT:.*]] = affine.apply #{{.*}}(%[[G]], %[[H]])
// CHECK: tensor.extract_slice %{{.*}}[%[[AT]], 0, 0] [2, 64, 16]
// CHECK: tensor.extract_slice %{{.*}}[%[[H]], 0, 0] [1, 64, 16]
// CHECK: rope.attention
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%[[H]], %[[G]], 0, 0] [1, 2, 64, 16]
func.func @parts(%q: tensor<8x64x16xf32>, %k: tensor<2x64x16xf32>, %o: tensor<2x4x64x16xf32>) -> tensor<2x4x64x16xf32> {
  %r = rope.attention ins(%q, %k, %k : tensor<8x64x16xf32>, tensor<2x64x16xf32>, tensor<2x64x16xf32>)
    outs(%o : tensor<2x4x64x16xf32>) scale 0.25 layout <output = "hgme"> -> tensor<2x4x64x16xf32>
  return %r : tensor<2x4x64x16xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %all = transform.structured.match ops{["rope.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.tile_using_for %all tile_sizes [0, 1, 2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Dynamic heads: the extent of g is a quotient, and still known to be whole.
// CHECK-LABEL: @dynamic
// CHECK: scf.for %[[H:.*]] = %{{.*}} step %c1
// CHECK: %[[G:.*]] = arith.divui
// CHECK: %[[AT:.*]] = arith.muli %[[H]], %[[G]]
// CHECK: tensor.extract_slice %{{.*}}[0, %[[AT]], 0, 0] [%{{.*}}, %[[G]], %{{.*}}, 16]
func.func @dynamic(%q: tensor<?x?x?x16xf32>, %k: tensor<?x?x?x16xf32>, %o: tensor<?x?x?x16xf32>) -> tensor<?x?x?x16xf32> {
  %r = rope.attention ins(%q, %k, %k : tensor<?x?x?x16xf32>, tensor<?x?x?x16xf32>, tensor<?x?x?x16xf32>)
    outs(%o : tensor<?x?x?x16xf32>) scale 0.25 -> tensor<?x?x?x16xf32>
  return %r : tensor<?x?x?x16xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %all = transform.structured.match ops{["rope.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %all tile_sizes [0, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Attention into a consumer that takes heads apart from each other, and a part
// of their channels.
// CHECK-LABEL: @fuse
// CHECK: scf.for %[[HEAD:.*]] = %{{.*}} to %c8 step %c2
// CHECK: scf.for %[[E:.*]] = %{{.*}} to %c16 step %c4
// CHECK: %[[H:.*]] = affine.apply #{{.*}}(%[[HEAD]])
// CHECK: tensor.extract_slice %{{.*}}[%[[HEAD]], 0, 0] [2, 64, 16]
// CHECK: tensor.extract_slice %{{.*}}[%[[H]], 0, 0] [1, 64, 16]
// CHECK: %[[R:.*]] = rope.attention ins(%{{.*}} : tensor<2x64x16xf32>, tensor<1x64x16xf32>, tensor<1x64x16xf32>)
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[R]][0, 0, %[[E]]] [2, 64, 4]
// CHECK: linalg.negf ins(%[[PART]]
func.func @fuse(%q: tensor<8x64x16xf32>, %k: tensor<2x64x16xf32>) -> tensor<8x64x16xf32> {
  %e = tensor.empty() : tensor<8x64x16xf32>
  %r = rope.attention ins(%q, %k, %k : tensor<8x64x16xf32>, tensor<2x64x16xf32>, tensor<2x64x16xf32>)
    outs(%e : tensor<8x64x16xf32>) scale 0.25 -> tensor<8x64x16xf32>
  %n = linalg.negf ins(%r : tensor<8x64x16xf32>) outs(%e : tensor<8x64x16xf32>) -> tensor<8x64x16xf32>
  return %n : tensor<8x64x16xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %neg = transform.structured.match ops{["linalg.negf"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.fuse %neg tile_sizes [2, 0, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
