// RUN: rope-opt --rope-raise --split-input-file %s | FileCheck %s
// RUN: rope-opt --rope-explain --split-input-file %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN

// Two rotations, one of the other's result. The exchange of channels within
// the second is none, and speaks against nothing.
// EXPLAIN: remark: raised 2 rotations
// CHECK-LABEL: @twice
// CHECK: %[[ONCE:.*]] = rope.rotate <half along [0] full = true> ins(%arg0,
// CHECK: %[[TWICE:.*]] = rope.rotate <half along [0] full = true> ins(%[[ONCE]],
// CHECK: return %[[TWICE]]
func.func @twice(%x: tensor<8x4xf32>, %c: tensor<8x4xf32>, %s: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e2 = tensor.empty() : tensor<8x2xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %a0 = tensor.extract_slice %x[0, 0] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %b0 = tensor.extract_slice %x[0, 2] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %n0 = linalg.negf ins(%b0 : tensor<8x2xf32>) outs(%e2 : tensor<8x2xf32>) -> tensor<8x2xf32>
  %r0 = tensor.concat dim(1) %n0, %a0 : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x4xf32>
  %p0 = linalg.mul ins(%x, %c : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %q0 = linalg.mul ins(%r0, %s : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = linalg.add ins(%p0, %q0 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %a1 = tensor.extract_slice %y[0, 0] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %b1 = tensor.extract_slice %y[0, 2] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %n1 = linalg.negf ins(%b1 : tensor<8x2xf32>) outs(%e2 : tensor<8x2xf32>) -> tensor<8x2xf32>
  %r1 = tensor.concat dim(1) %n1, %a1 : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x4xf32>
  %p1 = linalg.mul ins(%y, %c : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %q1 = linalg.mul ins(%r1, %s : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %z = linalg.add ins(%p1, %q1 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %z : tensor<8x4xf32>
}

// -----

// The same exchange without a second rotation.
// EXPLAIN: remark: no rotation: later on, a cosine is negated
// CHECK-LABEL: @exchanged
// CHECK-NOT: rope.
func.func @exchanged(%x: tensor<8x4xf32>, %c: tensor<8x4xf32>, %s: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e2 = tensor.empty() : tensor<8x2xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %a0 = tensor.extract_slice %x[0, 0] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %b0 = tensor.extract_slice %x[0, 2] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %n0 = linalg.negf ins(%b0 : tensor<8x2xf32>) outs(%e2 : tensor<8x2xf32>) -> tensor<8x2xf32>
  %r0 = tensor.concat dim(1) %n0, %a0 : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x4xf32>
  %p0 = linalg.mul ins(%x, %c : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %q0 = linalg.mul ins(%r0, %s : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = linalg.add ins(%p0, %q0 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %a1 = tensor.extract_slice %y[0, 0] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %b1 = tensor.extract_slice %y[0, 2] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %n1 = linalg.negf ins(%b1 : tensor<8x2xf32>) outs(%e2 : tensor<8x2xf32>) -> tensor<8x2xf32>
  %r1 = tensor.concat dim(1) %n1, %a1 : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x4xf32>
  return %r1 : tensor<8x4xf32>
}
