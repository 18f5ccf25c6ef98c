// A caller that writes to one result of a call does not change the other.

// RUN: rope-run %s --entry main --random 1 --print | FileCheck %s
// RUN: rope-run %s --entry main --random 1 --print --pipeline-options portable | FileCheck %s

// CHECK: result 2
// CHECK-NEXT: {{42 .*}}
// CHECK-NOT: 42
func.func private @twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %s = linalg.abs ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %v = tensor.expand_shape %s [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return %s, %v : tensor<4xf32>, tensor<2x2xf32>
}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>) {
  %i = arith.constant 0 : index
  %c = arith.constant 42.0 : f32
  %a:2 = call @twice(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>)
  %b = tensor.insert %c into %a#0[%i] : tensor<4xf32>
  %d = linalg.abs ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %b, %a#1, %d : tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>
}
