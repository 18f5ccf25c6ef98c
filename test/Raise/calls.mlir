// RUN: rope-opt --rope-raise --split-input-file %s | FileCheck %s

// The softmax is in a function of its own, which goes with its last call.
// CHECK-LABEL: @caller
// CHECK: rope.attention
// CHECK-NOT: func.func private @softmax
// CHECK: func.func private @other
func.func @caller(%q: tensor<8x16xf32>, %k: tensor<16x24xf32>, %v: tensor<24x4xf32>) -> tensor<8x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x24xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<8x24xf32>) -> tensor<8x24xf32>
  %s = linalg.matmul ins(%q, %k : tensor<8x16xf32>, tensor<16x24xf32>) outs(%z0 : tensor<8x24xf32>) -> tensor<8x24xf32>
  %p = call @softmax(%s) : (tensor<8x24xf32>) -> tensor<8x24xf32>
  %eo = tensor.empty() : tensor<8x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<8x4xf32>) -> tensor<8x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<8x24xf32>, tensor<24x4xf32>) outs(%o0 : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %o : tensor<8x4xf32>
}
func.func private @softmax(%s: tensor<8x24xf32>) -> tensor<8x24xf32> {
  %e = tensor.empty() : tensor<8x24xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<8x24xf32>) outs(%e : tensor<8x24xf32>) -> tensor<8x24xf32>
  return %p : tensor<8x24xf32>
}
func.func private @other(%s: tensor<8x24xf32>) -> tensor<8x24xf32> {
  return %s : tensor<8x24xf32>
}

// -----

// Nothing to raise: the calls stay.
// CHECK-LABEL: @nothing
// CHECK: call @negate
// CHECK: call @negate
// CHECK: func.func private @negate
func.func @nothing(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = call @negate(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %z = call @negate(%y) : (tensor<8xf32>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}
func.func private @negate(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = arith.negf %x : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// A function that calls itself ends the search.
// CHECK-LABEL: @recursive
// CHECK: call @recursive
func.func @recursive(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = call @recursive(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
