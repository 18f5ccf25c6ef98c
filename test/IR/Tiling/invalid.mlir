// RUN: not rope-opt %s --transform-interpreter --split-input-file --remarks-filter=rope-tile --remark-format=emitRemark 2>&1 | FileCheck %s

// The reason is a remark: fusion asks for tiles that an op may not have.

// A tile of two key-value heads has no piece with two query heads of each.
func.func @unaligned(%q: tensor<8x64x16xf32>, %k: tensor<2x64x16xf32>, %o: tensor<8x64x16xf32>) -> tensor<8x64x16xf32> {
  // CHECK: [[#@LINE + 1]]:{{.*}}: remark: {{.*}}Missed{{.*}} tile {{.*}} Remark="cannot be tiled: the tile of operand 0 would not be one piece; of a dim that holds two, either one of the outer or all of the inner must be taken
  %r = rope.attention ins(%q, %k, %k : tensor<8x64x16xf32>, tensor<2x64x16xf32>, tensor<2x64x16xf32>)
    outs(%o : tensor<8x64x16xf32>) scale 0.25 -> tensor<8x64x16xf32>
  return %r : tensor<8x64x16xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %all = transform.structured.match ops{["rope.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %all tile_sizes [0, 0, 2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Causal rows without states have nothing to hand on.
func.func @stateless(%x: tensor<8x64x16xf32>) -> tensor<8x64x16xf32> {
  // CHECK: [[#@LINE + 1]]:{{.*}}: remark: {{.*}}Missed{{.*}} tile {{.*}} Remark="cannot be tiled along its rows: causal rows need the states carried between tiles as inits
  %r = rope.linear_attention ins(%x, %x, %x : tensor<8x64x16xf32>, tensor<8x64x16xf32>, tensor<8x64x16xf32>)
    outs(%x : tensor<8x64x16xf32>) feature_map relu causal -> tensor<8x64x16xf32>
  return %r : tensor<8x64x16xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %all = transform.structured.match ops{["rope.linear_attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %all tile_sizes [0, 0, 0, 16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Rows that see all keys add them to the states once.
func.func @again(%x: tensor<8x64x16xf32>, %s: tensor<8x16x16xf32>) -> (tensor<8x64x16xf32>, tensor<8x16x16xf32>) {
  // CHECK: [[#@LINE + 1]]:{{.*}}: remark: {{.*}}Missed{{.*}} tile {{.*}} Remark="cannot be tiled along its rows: each tile would add all keys to the states once more
  %r:2 = rope.linear_attention ins(%x, %x, %x : tensor<8x64x16xf32>, tensor<8x64x16xf32>, tensor<8x64x16xf32>)
    outs(%x, %s : tensor<8x64x16xf32>, tensor<8x16x16xf32>) feature_map relu -> tensor<8x64x16xf32>, tensor<8x16x16xf32>
  return %r#0, %r#1 : tensor<8x64x16xf32>, tensor<8x16x16xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %all = transform.structured.match ops{["rope.linear_attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %all tile_sizes [0, 0, 0, 16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// All query heads of a key-value head add to the same state.
func.func @shared(%q: tensor<2x4x64x16xf32>, %k: tensor<2x64x16xf32>, %s: tensor<2x16x16xf32>) -> (tensor<2x4x64x16xf32>, tensor<2x16x16xf32>) {
  // CHECK: [[#@LINE + 1]]:{{.*}}: remark: {{.*}}Missed{{.*}} tile {{.*}} Remark="cannot be tiled along dim 2 of its domain: all tiles would write to the same init 1
  %r:2 = rope.linear_attention ins(%q, %k, %k : tensor<2x4x64x16xf32>, tensor<2x64x16xf32>, tensor<2x64x16xf32>)
    outs(%q, %s : tensor<2x4x64x16xf32>, tensor<2x16x16xf32>) feature_map relu causal layout <query = "hgmd", output = "hgme"> -> tensor<2x4x64x16xf32>, tensor<2x16x16xf32>
  return %r#0, %r#1 : tensor<2x4x64x16xf32>, tensor<2x16x16xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %all = transform.structured.match ops{["rope.linear_attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %all tile_sizes [0, 0, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// The state of earlier keys is not there yet.
func.func @race(%q: tensor<8x64xf32>, %k: tensor<64x64xf32>, %m: tensor<8xf32>) -> tensor<8x64xf32> {
  // CHECK: [[#@LINE + 1]]:{{.*}}: remark: {{.*}}Missed{{.*}} tile {{.*}} Remark="cannot be tiled along dim 4 of its domain by a parallel loop: each tile reads what the one before it has written
  %r:3 = rope.online_attention ins(%q, %k, %k : tensor<8x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>)
    outs(%q, %m, %m : tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>) scale 0.125 -> tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>
  return %r#0 : tensor<8x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %all = transform.structured.match ops{["rope.online_attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_forall %all tile_sizes [0, 0, 0, 0, 16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Starts of each batch in a memref cannot be changed in place.
func.func @memref(%q: memref<2x8x64x16xf32>, %starts: memref<2xindex>, %o: memref<2x8x64x16xf32>) {
  // CHECK: [[#@LINE + 1]]:{{.*}}: remark: {{.*}}Missed{{.*}} tile {{.*}} Remark="cannot be tiled: positions and lengths of each batch in a memref would have to be copied
  rope.attention ins(%q, %q, %q : memref<2x8x64x16xf32>, memref<2x8x64x16xf32>, memref<2x8x64x16xf32>)
    query_pos(%starts : memref<2xindex>) outs(%o : memref<2x8x64x16xf32>) scale 0.25 causal layout <query_pos = "b">
  return
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %all = transform.structured.match ops{["rope.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %all tile_sizes [0, 0, 0, 16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
