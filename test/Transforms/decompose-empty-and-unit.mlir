// RUN: rope-opt %s --split-input-file --rope-decompose --canonicalize | FileCheck %s --implicit-check-not=rope.

// A plane is cut out in one piece although another dim of extent 1 stands
// before it: a slice that drops a dim would be taken for one that drops the
// first such dim once the sizes are known.
// CHECK-LABEL: func @unit_batch
// CHECK: %[[PART:.*]] = tensor.extract_slice %{{.*}}[0, 0, 0, 0] [1, 3, 1, 4] [1, 1, 1, 1] : tensor<1x3x2x4xf32> to tensor<1x3x1x4xf32>
// CHECK: tensor.collapse_shape %[[PART]] {{\[}}[0], [1, 2], [3]] : tensor<1x3x1x4xf32> into tensor<1x3x4xf32>
func.func @unit_batch(%x: tensor<1x3x8xf32>, %t: tensor<1x3x2x4xf32>) -> tensor<1x3x8xf32> {
  %c3 = arith.constant 3 : index
  %tt = tensor.extract_slice %t[0, 0, 0, 0] [1, %c3, 2, 4] [1, 1, 1, 1] : tensor<1x3x2x4xf32> to tensor<1x?x2x4xf32>
  %y = rope.rotate <half along [0, 1]> ins(%x, %tt : tensor<1x3x8xf32>, tensor<1x?x2x4xf32>) outs(%x : tensor<1x3x8xf32>) -> tensor<1x3x8xf32>
  return %y : tensor<1x3x8xf32>
}

// -----

// The size of a slice is a constant, its type does not say so.
// CHECK-LABEL: func @constant_size
// CHECK: linalg.generic
func.func @constant_size(%a: tensor<?x?x?xf32>, %b: tensor<?x2x7xf32>) -> tensor<?x2x7xf32> {
  %c2 = arith.constant 2 : index
  %s = tensor.extract_slice %a[0, 1, 0] [%c2, 2, 7] [1, 1, 1] : tensor<?x?x?xf32> to tensor<?x2x7xf32>
  %c = rope.compose ins(%s, %b : tensor<?x2x7xf32>, tensor<?x2x7xf32>) outs(%b : tensor<?x2x7xf32>) -> tensor<?x2x7xf32>
  return %c : tensor<?x2x7xf32>
}

// -----

// No operand has a row, so that the only one has index 0.
// CHECK-LABEL: func @no_rows
// CHECK: linalg.generic
func.func @no_rows(%q: tensor<4xf32>, %k: tensor<?x4xf32>, %v: tensor<?x4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %r = rope.linear_attention ins(%q, %k, %v : tensor<4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) outs(%o : tensor<4xf32>) feature_map relu causal -> tensor<4xf32>
  return %r : tensor<4xf32>
}
