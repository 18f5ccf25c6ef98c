// RUN: rope-opt %s --transform-interpreter --canonicalize --split-input-file | FileCheck %s

!X = tensor<2x8x?x16xf32>
!T = tensor<2x?x2x8xf32>

// The table is cut along the dims that it follows, and not along heads.
// CHECK-LABEL: @rotate
// CHECK-SAME: (%[[X:.*]]: tensor<2x8x?x16xf32>, %[[T:.*]]: tensor<2x?x2x8xf32>
// CHECK: scf.for %[[B:.*]] = %{{.*}} to %c2 step %c1
// CHECK: scf.for %[[H:.*]] = %{{.*}} to %c8 step %c4
// CHECK: scf.for %[[M:.*]] = %{{.*}} step %c32
// CHECK: %[[X1:.*]] = tensor.extract_slice %[[X]][%[[B]], %[[H]], %[[M]], 0] [1, 4, %[[S:.*]], 16]
// CHECK: %[[T1:.*]] = tensor.extract_slice %[[T]][%[[B]], %[[M]], 0, 0] [1, %[[S]], 2, 8]
// CHECK: rope.rotate <half along [0, 2]> ins(%[[X1]], %[[T1]] : tensor<1x4x?x16xf32>, tensor<1x?x2x8xf32>)
func.func @rotate(%x: !X, %t: !T, %init: !X) -> !X {
  %y = rope.rotate <half along [0, 2]> ins(%x, %t : !X, !T) outs(%init : !X) -> !X
  return %y : !X
}

// A table that all rows share stays whole.
// CHECK-LABEL: @rerotate
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<2x8xf32>
// CHECK: rope.rerotate <interleaved along []> ins(%{{.*}}, %[[T]] : tensor<1x4x?x16xf32>, tensor<2x8xf32>)
func.func @rerotate(%x: !X, %t: tensor<2x8xf32>, %init: !X) -> !X {
  %y = rope.rerotate <interleaved along []> ins(%x, %t : !X, tensor<2x8xf32>) outs(%init : !X) -> !X
  return %y : !X
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %all = transform.structured.match ops{["rope.rotate", "rope.rerotate"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:3 = transform.structured.tile_using_for %all tile_sizes [1, 4, 32] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A consumer that wants a part of the channels gets it cut out of all of them.
// CHECK-LABEL: @channels
// CHECK-SAME: (%[[X:.*]]: tensor<64x16xf32>, %[[T:.*]]: tensor<64x2x4xf32>
// CHECK: scf.for %[[M:.*]] = %{{.*}} step %c8
// CHECK: scf.for %[[K:.*]] = %{{.*}} step %c4
// CHECK: %[[X1:.*]] = tensor.extract_slice %[[X]][%[[M]], 0] [8, 16]
// CHECK: %[[T1:.*]] = tensor.extract_slice %[[T]][%[[M]], 0, 0] [8, 2, 4]
// CHECK: %[[Y:.*]] = rope.rotate <half offset = 8 along [0]> ins(%[[X1]], %[[T1]] : tensor<8x16xf32>, tensor<8x2x4xf32>)
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[Y]][0, %[[K]]] [8, 4]
// CHECK: linalg.matmul ins(%[[PART]], %{{.*}} : tensor<8x4xf32>, tensor<4x32xf32>)
func.func @channels(%x: tensor<64x16xf32>, %t: tensor<64x2x4xf32>, %w: tensor<16x32xf32>, %o: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %e = tensor.empty() : tensor<64x16xf32>
  %y = rope.rotate <half offset = 8 along [0]> ins(%x, %t : tensor<64x16xf32>, tensor<64x2x4xf32>) outs(%e : tensor<64x16xf32>) -> tensor<64x16xf32>
  %r = linalg.matmul ins(%y, %w : tensor<64x16xf32>, tensor<16x32xf32>) outs(%o : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.fuse %matmul tile_sizes [8, 0, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
