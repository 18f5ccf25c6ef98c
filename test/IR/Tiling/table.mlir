// RUN: rope-opt %s --transform-interpreter --canonicalize --split-input-file | FileCheck %s

// A tile of consecutive positions starts at the position of its first row.
// CHECK-LABEL: @start
// CHECK-SAME: (%[[START:.*]]: index, %[[INIT:.*]]: tensor<100x2x4xf32>)
// CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%[[ARG:.*]] = %[[INIT]])
// CHECK: %[[SIZE:.*]] = affine.min #{{.*}}(%[[I]])
// CHECK: %[[SLICE:.*]] = tensor.extract_slice %[[ARG]][%[[I]], 0, 0] [%[[SIZE]], 2, 4] [1, 1, 1]
// CHECK: %[[POS:.*]] = arith.addi %[[START]], %[[I]] : index
// CHECK: %[[T:.*]] = rope.table #rope.default<1.000000e+04> ins(%[[POS]] : index) outs(%[[SLICE]] : tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
// CHECK: tensor.insert_slice %[[T]] into %[[ARG]][%[[I]], 0, 0] [%[[SIZE]], 2, 4] [1, 1, 1]
func.func @start(%start: index, %init: tensor<100x2x4xf32>) -> tensor<100x2x4xf32> {
  %t = rope.table #rope.default<1.0e4> ins(%start : index) outs(%init : tensor<100x2x4xf32>) -> tensor<100x2x4xf32>
  return %t : tensor<100x2x4xf32>
}

// Listed positions are sliced, all axes of them.
// CHECK-LABEL: @axes
// CHECK-SAME: (%[[POS:.*]]: tensor<3x?x?xi64>, %[[LEN:.*]]: index,
// CHECK: %[[IDS:.*]] = tensor.extract_slice %[[POS]][0, %[[I:.*]], 0] [3, %[[SIZE:.*]], %{{.*}}] [1, 1, 1]
// CHECK: rope.table {{.*}} ins(%[[IDS]] : tensor<3x?x?xi64>) length(%[[LEN]]) axes [0, 2]
// CHECK-SAME: -> tensor<?x?x2x2xf32>
func.func @axes(%pos: tensor<3x?x?xi64>, %len: index, %init: tensor<?x?x2x2xf32>) -> tensor<?x?x2x2xf32> {
  %t = rope.table #rope.dynamic_ntk<theta = 1.0e4, factor = 2.0, trained = 2048> ins(%pos : tensor<3x?x?xi64>) length(%len) axes [0, 2] outs(%init : tensor<?x?x2x2xf32>) -> tensor<?x?x2x2xf32>
  return %t : tensor<?x?x2x2xf32>
}

// CHECK-LABEL: @assemble
// CHECK: tensor.extract_slice %{{.*}}[%[[I:.*]], 0] [%[[SIZE:.*]], 4] [1, 1]
// CHECK: tensor.extract_slice %{{.*}}[%[[I]], 0] [%[[SIZE]], 4] [1, 1]
// CHECK: rope.assemble ins(%{{.*}}, %{{.*}} : tensor<?x4xf32>, tensor<?x4xf32>) outs(%{{.*}} : tensor<?x2x4xf32>)
func.func @assemble(%cos: tensor<?x4xf32>, %sin: tensor<?x4xf32>, %init: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  %t = rope.assemble ins(%cos, %sin : tensor<?x4xf32>, tensor<?x4xf32>) outs(%init : tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
  return %t : tensor<?x2x4xf32>
}

// CHECK-LABEL: @compose
// CHECK: scf.for
// CHECK: rope.compose ins(%{{.*}}, inverse %{{.*}} : tensor<8x2x4xf32>, tensor<8x2x4xf32>) outs(%{{.*}} : tensor<8x2x4xf32>)
func.func @compose(%a: tensor<64x2x4xf32>, %b: tensor<64x2x4xf32>, %init: tensor<64x2x4xf32>) -> tensor<64x2x4xf32> {
  %t = rope.compose ins(%a, inverse %b : tensor<64x2x4xf32>, tensor<64x2x4xf32>) outs(%init : tensor<64x2x4xf32>) -> tensor<64x2x4xf32>
  return %t : tensor<64x2x4xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %tables = transform.structured.match ops{["rope.table", "rope.assemble", "rope.compose"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %tables tile_sizes [8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// In parallel; and on buffers, where there is nothing to put together.
// CHECK-LABEL: @parallel
// CHECK: scf.forall (%[[I:.*]]) in (8)
// CHECK: %[[AT:.*]] = affine.apply #{{.*}}(%[[I]])
// CHECK: rope.table {{.*}} ins(%[[AT]] : index) outs(%{{.*}} : tensor<8x2x4xf32>)
// CHECK: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[AT]], 0, 0] [8, 2, 4] [1, 1, 1]
func.func @parallel(%init: tensor<64x2x4xf32>) -> tensor<64x2x4xf32> {
  %zero = arith.constant 0 : index
  %t = rope.table #rope.default<1.0e4> ins(%zero : index) outs(%init : tensor<64x2x4xf32>) -> tensor<64x2x4xf32>
  return %t : tensor<64x2x4xf32>
}

// CHECK-LABEL: @buffers
// CHECK: scf.forall
// CHECK: %[[IDS:.*]] = memref.subview %{{.*}}[%[[AT:.*]]] [8] [1] : memref<64xi32>
// CHECK: %[[INIT:.*]] = memref.subview %{{.*}}[%[[AT]], 0, 0] [8, 2, 4] [1, 1, 1]
// CHECK: rope.table {{.*}} ins(%[[IDS]] : {{.*}}) outs(%[[INIT]] : {{.*}}){{$}}
func.func @buffers(%ids: memref<64xi32>, %init: memref<64x2x4xf32>) {
  rope.table #rope.default<1.0e4> ins(%ids : memref<64xi32>) outs(%init : memref<64x2x4xf32>)
  return
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %tables = transform.structured.match ops{["rope.table"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_forall %tables tile_sizes [8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
