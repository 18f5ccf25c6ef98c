// RUN: rope-opt %s --split-input-file --rope-outline-repeats | FileCheck %s
// RUN: rope-opt %s --split-input-file --rope-outline-repeats="min-products=3" | FileCheck %s --check-prefix=THREE
// RUN: rope-opt %s --split-input-file --rope-outline-repeats --remarks-filter-passed="rope-outline-repeats" -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

!x = tensor<4x8xf32>
!w = tensor<8x8xf32>

// What all layers take is one argument, and constants and empty tensors are
// made in the function.
// CHECK-LABEL: func.func @layers(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[W0:.*]]: tensor<8x8xf32>, %[[V0:.*]]: tensor<8x8xf32>, %[[W1:.*]]: tensor<8x8xf32>, %[[V1:.*]]: tensor<8x8xf32>
// CHECK: %[[A:.*]] = call @layers_repeat(%[[X]], %[[W0]], %[[V0]])
// CHECK-NEXT: %[[B:.*]] = call @layers_repeat(%[[A]], %[[W1]], %[[V1]])
// CHECK-NEXT: return %[[B]]
// CHECK: func.func private @layers_repeat(%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x8xf32>, %[[V:.*]]: tensor<8x8xf32>) -> tensor<4x8xf32> attributes {no_inline}
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: %[[F:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[E]]
// CHECK: %[[A:.*]] = linalg.matmul ins(%[[X]], %[[W]] : {{.*}}) outs(%[[F]]
// CHECK: %[[B:.*]] = linalg.matmul ins(%[[A]], %[[V]] : {{.*}}) outs(%[[F]]
// CHECK: return %[[B]]

// REMARK: outline-repeats.mlir:[[#@LINE+8]]:{{.*}}"function layers_repeat of 2 ops is called 2 times

// THREE-LABEL: func.func @layers(
// THREE-COUNT-4: linalg.matmul
func.func @layers(%x: !x, %w0: !w, %v0: !w, %w1: !w, %v1: !w) -> !x {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !x
  %f = linalg.fill ins(%zero : f32) outs(%e : !x) -> !x
  %a = linalg.matmul ins(%x, %w0 : !x, !w) outs(%f : !x) -> !x
  %b = linalg.matmul ins(%a, %v0 : !x, !w) outs(%f : !x) -> !x
  %c = linalg.matmul ins(%b, %w1 : !x, !w) outs(%f : !x) -> !x
  %d = linalg.matmul ins(%c, %v1 : !x, !w) outs(%f : !x) -> !x
  return %d : !x
}

// -----

!x = tensor<4x8xf32>
!w = tensor<8x8xf32>

// What is computed in the first layer and serves all stays outside; so does
// what takes a layer's values but is none of its own.
// CHECK-LABEL: func.func @shared(
// CHECK: %[[T:.*]] = math.exp
// CHECK: %[[A:.*]]:2 = call @shared_repeat(%{{.*}}, %{{.*}}, %[[T]])
// CHECK: %[[L:.*]] = math.log %[[A]]#0
// CHECK: %[[B:.*]]:2 = call @shared_repeat(%[[A]]#1, %{{.*}}, %[[T]])
// CHECK: %[[C:.*]]:2 = call @shared_repeat(%[[B]]#1, %{{.*}}, %[[T]])
// CHECK: return %[[C]]#1, %[[L]]
// CHECK: func.func private @shared_repeat(
// CHECK-COUNT-2: linalg.matmul
// CHECK-NOT: linalg.matmul
// CHECK: return
func.func @shared(%x: !x, %w0: !w, %w1: !w, %w2: !w) -> (!x, !x) {
  %a0 = linalg.matmul ins(%x, %w0 : !x, !w) outs(%x : !x) -> !x
  %t = math.exp %w0 : !w
  %l = math.log %a0 : !x
  %b0 = linalg.matmul ins(%a0, %t : !x, !w) outs(%a0 : !x) -> !x
  %c0 = math.tanh %b0 : !x
  %a1 = linalg.matmul ins(%c0, %w1 : !x, !w) outs(%c0 : !x) -> !x
  %b1 = linalg.matmul ins(%a1, %t : !x, !w) outs(%a1 : !x) -> !x
  %c1 = math.tanh %b1 : !x
  %a2 = linalg.matmul ins(%c1, %w2 : !x, !w) outs(%c1 : !x) -> !x
  %b2 = linalg.matmul ins(%a2, %t : !x, !w) outs(%a2 : !x) -> !x
  %c2 = math.tanh %b2 : !x
  return %c2, %l : !x, !x
}

// -----

!x = tensor<4x8xf32>
!w = tensor<8x8xf32>

// Values that flow in another way: the third run takes its own input twice.
// CHECK-LABEL: func.func @flow(
// CHECK-COUNT-2: call @flow_repeat
// CHECK: linalg.matmul
// CHECK: linalg.matmul
// CHECK: return
func.func @flow(%x: !x, %w0: !w, %w1: !w, %w2: !w) -> !x {
  %a0 = linalg.matmul ins(%x, %w0 : !x, !w) outs(%x : !x) -> !x
  %b0 = linalg.matmul ins(%a0, %w0 : !x, !w) outs(%x : !x) -> !x
  %a1 = linalg.matmul ins(%b0, %w1 : !x, !w) outs(%b0 : !x) -> !x
  %b1 = linalg.matmul ins(%a1, %w1 : !x, !w) outs(%b0 : !x) -> !x
  %a2 = linalg.matmul ins(%b1, %w2 : !x, !w) outs(%b1 : !x) -> !x
  %b2 = linalg.matmul ins(%b1, %w2 : !x, !w) outs(%a2 : !x) -> !x
  return %b2 : !x
}

// -----

!x = tensor<4x8xf32>
!w = tensor<8x8xf32>

// Constants that differ are arguments, and so is what is filled with others.
// CHECK-LABEL: func.func @constants(
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.0
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2.0
// CHECK-DAG: %[[W0:.*]] = arith.constant dense<3.0
// CHECK-DAG: %[[W1:.*]] = arith.constant dense<4.0
// CHECK: call @constants_repeat(%{{.*}}, %[[W0]], %[[ONE]])
// CHECK: call @constants_repeat(%{{.*}}, %[[W1]], %[[TWO]])
// CHECK: func.func private @constants_repeat(%{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<8x8xf32> {rope.weight}, %[[FILL:.*]]: f32)
// CHECK: linalg.fill ins(%[[FILL]]
func.func @constants(%x: !x) -> !x {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %w0 = arith.constant dense<3.0> : !w
  %w1 = arith.constant dense<4.0> : !w
  %e = tensor.empty() : !x
  %f0 = linalg.fill ins(%one : f32) outs(%e : !x) -> !x
  %f1 = linalg.fill ins(%two : f32) outs(%e : !x) -> !x
  %a0 = linalg.matmul ins(%x, %w0 : !x, !w) outs(%f0 : !x) -> !x
  %b0 = linalg.matmul ins(%a0, %w0 : !x, !w) outs(%f0 : !x) -> !x
  %a1 = linalg.matmul ins(%b0, %w1 : !x, !w) outs(%f1 : !x) -> !x
  %b1 = linalg.matmul ins(%a1, %w1 : !x, !w) outs(%f1 : !x) -> !x
  return %b1 : !x
}

// -----

!x = tensor<4x8xf32>
!w = tensor<8x8xf32>

// Parts of arguments are passed as they lie in memory. What makes sizes of
// empty tensors goes with the run, and nothing of theirs stays behind.
// CHECK-LABEL: func.func @parts(
// CHECK: %[[W0:.*]] = tensor.extract_slice %{{.*}}[0, 0, 0]
// CHECK: %[[A:.*]] = call @parts_repeat(%{{.*}}, %[[W0]])
// CHECK: %[[W1:.*]] = tensor.extract_slice %{{.*}}[1, 0, 0]
// CHECK-NOT: tensor.empty
// CHECK: call @parts_repeat(%[[A]], %[[W1]])
// CHECK: func.func private @parts_repeat(%{{.*}}: tensor<?x8xf32>, %{{.*}}: tensor<8x8xf32> {bufferization.buffer_layout = strided<[8, 1], offset: ?>})
// CHECK: %[[N:.*]] = tensor.dim
// CHECK: tensor.empty(%[[N]])
func.func @parts(%x: tensor<?x8xf32>, %w: tensor<2x8x8xf32>) -> tensor<?x8xf32> {
  %i0 = arith.constant 0 : index
  %w0 = tensor.extract_slice %w[0, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<2x8x8xf32> to !w
  %n0 = tensor.dim %x, %i0 : tensor<?x8xf32>
  %e0 = tensor.empty(%n0) : tensor<?x8xf32>
  %a0 = linalg.matmul ins(%x, %w0 : tensor<?x8xf32>, !w) outs(%e0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %b0 = linalg.matmul ins(%a0, %w0 : tensor<?x8xf32>, !w) outs(%e0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %w1 = tensor.extract_slice %w[1, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<2x8x8xf32> to !w
  %n1 = tensor.dim %b0, %i0 : tensor<?x8xf32>
  %e1 = tensor.empty(%n1) : tensor<?x8xf32>
  %a1 = linalg.matmul ins(%b0, %w1 : tensor<?x8xf32>, !w) outs(%e1 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %b1 = linalg.matmul ins(%a1, %w1 : tensor<?x8xf32>, !w) outs(%e1 : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %b1 : tensor<?x8xf32>
}

// -----

!x = tensor<4x8xf32>
!w = tensor<8x8xf32>

// A weight that stays is one in the function.
// CHECK-LABEL: func.func @weights(
// CHECK: func.func private @weights_repeat(%{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<8x8xf32> {rope.weight}, %{{.*}}: tensor<8x8xf32>)
func.func @weights(%x: !x, %w0: !w {rope.weight}, %v0: !w {rope.weight}, %w1: !w {rope.weight}, %v1: !w) -> !x {
  %a0 = linalg.matmul ins(%x, %w0 : !x, !w) outs(%x : !x) -> !x
  %b0 = linalg.matmul ins(%a0, %v0 : !x, !w) outs(%a0 : !x) -> !x
  %a1 = linalg.matmul ins(%b0, %w1 : !x, !w) outs(%b0 : !x) -> !x
  %b1 = linalg.matmul ins(%a1, %v1 : !x, !w) outs(%a1 : !x) -> !x
  return %b1 : !x
}

// -----

!x = tensor<4x8xf32>
!w = tensor<8x8xf32>

// Attributes, bodies and types make a difference.
// CHECK-LABEL: func.func @different(
// CHECK-NOT: call
// CHECK: return
func.func @different(%x: !x, %w: !w) -> !x {
  %a0 = linalg.matmul ins(%x, %w : !x, !w) outs(%x : !x) -> !x
  %b0 = linalg.matmul ins(%a0, %w : !x, !w) outs(%a0 : !x) -> !x
  %t = math.exp %b0 : !x
  %a1 = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%t, %w : !x, !w) outs(%t : !x) -> !x
  %b1 = linalg.matmul ins(%a1, %w : !x, !w) outs(%a1 : !x) -> !x
  return %b1 : !x
}

// -----

!x = tensor<4x8xf32>
!w = tensor<8x8xf32>

// No memory that a run allocates leaves it.
// CHECK-LABEL: func.func @memory(
// CHECK-NOT: call
// CHECK: return
func.func @memory(%x: memref<8x8xf32>) -> (memref<8x8xf32>, memref<8x8xf32>) {
  %a = memref.alloc() : memref<8x8xf32>
  linalg.matmul ins(%x, %x : memref<8x8xf32>, memref<8x8xf32>) outs(%a : memref<8x8xf32>)
  linalg.matmul ins(%a, %x : memref<8x8xf32>, memref<8x8xf32>) outs(%a : memref<8x8xf32>)
  %b = memref.alloc() : memref<8x8xf32>
  linalg.matmul ins(%x, %x : memref<8x8xf32>, memref<8x8xf32>) outs(%b : memref<8x8xf32>)
  linalg.matmul ins(%b, %x : memref<8x8xf32>, memref<8x8xf32>) outs(%b : memref<8x8xf32>)
  return %a, %b : memref<8x8xf32>, memref<8x8xf32>
}
