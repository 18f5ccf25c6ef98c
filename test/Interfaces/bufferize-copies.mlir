// RUN: rope-opt %s --one-shot-bufferize="bufferize-function-boundaries" --cse --canonicalize --split-input-file | FileCheck %s

// Where channels are written to the places of others, a copy has to be made.
// CHECK-LABEL: @permuted
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<2x?x64xf32,
// CHECK: %[[COPY:.*]] = memref.alloc
// CHECK: rope.rotate <interleaved to half along [1]> ins(%[[X]], %{{.*}} : {{.*}}) outs(%[[COPY]] :
func.func @permuted(%x: tensor<2x?x64xf32>, %t: tensor<?x2x32xf32>) -> tensor<2x?x64xf32> {
  %y = rope.rotate <interleaved to half along [1]> ins(%x, %t : tensor<2x?x64xf32>, tensor<?x2x32xf32>) outs(%x : tensor<2x?x64xf32>) -> tensor<2x?x64xf32>
  return %y : tensor<2x?x64xf32>
}

// -----

// Other rows of the query are read after a row of the output is written.
// CHECK-LABEL: @attention
// CHECK-SAME: (%[[Q:[a-z0-9]+]]: memref<8x4x64xf32,
// CHECK: %[[O:.*]] = memref.alloc
// CHECK: rope.attention ins(%[[Q]], %[[Q]], %[[Q]] : {{.*}}) outs(%[[O]] :
func.func @attention(%q: tensor<8x4x64xf32>) -> tensor<8x4x64xf32> {
  %r = rope.attention ins(%q, %q, %q : tensor<8x4x64xf32>, tensor<8x4x64xf32>, tensor<8x4x64xf32>)
    outs(%q : tensor<8x4x64xf32>) scale 0.125 -> tensor<8x4x64xf32>
  return %r : tensor<8x4x64xf32>
}

// -----

// A state is read: what it was is still needed, so it moves to a copy first.
// CHECK-LABEL: @states
// CHECK-SAME: %[[S:[a-z0-9]+]]: memref<8x64x64xf32,
// CHECK: %[[COPY:.*]] = memref.alloc() {{.*}} : memref<8x64x64xf32>
// CHECK: memref.copy %[[S]], %[[COPY]]
// CHECK: rope.linear_attention {{.*}} outs(%{{.*}}, %[[COPY]] :
func.func @states(%q: tensor<8x4x64xf32>, %o: tensor<8x4x64xf32>, %s: tensor<8x64x64xf32>) -> (tensor<8x4x64xf32>, tensor<8x64x64xf32>, tensor<8x64x64xf32>) {
  %w:2 = rope.linear_attention ins(%q, %q, %q : tensor<8x4x64xf32>, tensor<8x4x64xf32>, tensor<8x4x64xf32>)
    outs(%o, %s : tensor<8x4x64xf32>, tensor<8x64x64xf32>) feature_map relu causal -> tensor<8x4x64xf32>, tensor<8x64x64xf32>
  return %w#0, %w#1, %s : tensor<8x4x64xf32>, tensor<8x64x64xf32>, tensor<8x64x64xf32>
}

// -----

// Tables, and the other ops with one init.
// CHECK-LABEL: @tables
// CHECK-DAG: rope.table #rope.default<1.000000e+04> ins(%{{.*}} : memref<?xi64, {{.*}}>) outs(
// CHECK-DAG: rope.assemble ins(
// CHECK: rope.compose ins(
// CHECK-SAME: outs(%[[COPY:.*]] : memref<?x2x4xf32>)
// CHECK: return %[[COPY]]
func.func @tables(%ids: tensor<?xi64>, %c: tensor<?x4xf32>, %a: tensor<?x2x4xf32>, %b: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  %t = rope.table #rope.default<1.0e4> ins(%ids : tensor<?xi64>) outs(%a : tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
  %u = rope.assemble ins(%c, %c : tensor<?x4xf32>, tensor<?x4xf32>) outs(%b : tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
  %v = rope.compose ins(%t, %u : tensor<?x2x4xf32>, tensor<?x2x4xf32>) outs(%t : tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
  return %v : tensor<?x2x4xf32>
}
