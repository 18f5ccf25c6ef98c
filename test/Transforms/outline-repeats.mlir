// RUN: rope-opt %s --split-input-file --rope-outline-repeats | FileCheck %s
// RUN: rope-opt %s --split-input-file --rope-outline-repeats="min-products=3" | FileCheck %s --check-prefix=THREE
// RUN: rope-opt %s --split-input-file --rope-outline-repeats --remarks-filter-passed="rope-outline-repeats" -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

!x = tensor<4x8xf32>
!w = tensor<8x8xf32>

// What all layers take is one argument, and constants and empty tensors are
// made in the function. It may write to what its callers have no more use for.
// CHECK-LABEL: func.func @layers(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[W0:.*]]: tensor<8x8xf32>, %[[V0:.*]]: tensor<8x8xf32>, %[[W1:.*]]: tensor<8x8xf32>, %[[V1:.*]]: tensor<8x8xf32>
// CHECK: %[[A:.*]] = call @layers_repeat(%[[X]], %[[W0]], %[[V0]])
// CHECK-NEXT: %[[B:.*]] = call @layers_repeat(%[[A]], %[[W1]], %[[V1]])
// CHECK-NEXT: return %[[B]]
// CHECK: func.func private @layers_repeat(%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x8xf32> {bufferization.writable = false}, %[[V:.*]]: tensor<8x8xf32> {bufferization.writable = false}) -> tensor<4x8xf32> attributes {no_inline}
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
  %s = math.sin %w0 : !w
  %s2 = math.sin %s : !w
  %s3 = math.sin %s2 : !w
  %s4 = math.sin %s3 : !w
  %t = math.exp %s4 : !w
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
// CHECK: func.func private @constants_repeat(%{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<8x8xf32> {bufferization.writable = false, rope.weight}, %[[FILL:.*]]: f32)
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
// CHECK: func.func private @parts_repeat(%{{.*}}: tensor<?x8xf32>, %{{.*}}: tensor<8x8xf32> {bufferization.buffer_layout = strided<[8, 1], offset: ?>, bufferization.writable = false})
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
// CHECK: func.func private @weights_repeat(%{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<8x8xf32> {bufferization.writable = false, rope.weight}, %{{.*}}: tensor<8x8xf32> {bufferization.writable = false})
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

// One value can stand for two of other runs, wherever that run is.
// CHECK-LABEL: func.func @twice(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[W0:[^:]*]]:
// CHECK: %[[A:.*]]:2 = call @twice_repeat(%[[X]], %[[W0]], %[[X]])
// CHECK: %[[B:.*]]:2 = call @twice_repeat(%[[A]]#1, %{{.*}}, %[[A]]#0)
// CHECK: call @twice_repeat(%[[B]]#1, %{{.*}}, %[[B]]#0)
func.func @twice(%x: !x, %w0: !w, %w1: !w, %w2: !w) -> !x {
  %a0 = linalg.matmul ins(%x, %w0 : !x, !w) outs(%x : !x) -> !x
  %b0 = linalg.matmul ins(%a0, %w0 : !x, !w) outs(%a0 : !x) -> !x
  %a1 = linalg.matmul ins(%b0, %w1 : !x, !w) outs(%a0 : !x) -> !x
  %b1 = linalg.matmul ins(%a1, %w1 : !x, !w) outs(%a1 : !x) -> !x
  %a2 = linalg.matmul ins(%b1, %w2 : !x, !w) outs(%a1 : !x) -> !x
  %b2 = linalg.matmul ins(%a2, %w2 : !x, !w) outs(%a2 : !x) -> !x
  return %b2 : !x
}

// -----

!x = tensor<4x8xf32>
!w = tensor<8x8xf32>

// Runs of equal ops with values that flow in two ways are two functions.
// CHECK-LABEL: func.func @kinds(
// CHECK: call @kinds_repeat(
// CHECK: call @kinds_repeat_0(
// CHECK: call @kinds_repeat(
// CHECK: call @kinds_repeat_0(
func.func @kinds(%x: !x, %w: !w, %v: !w) -> !x {
  %a0 = linalg.matmul ins(%x, %w : !x, !w) outs(%x : !x) -> !x
  %b0 = linalg.matmul ins(%a0, %v : !x, !w) outs(%x : !x) -> !x
  %a1 = linalg.matmul ins(%b0, %w : !x, !w) outs(%b0 : !x) -> !x
  %b1 = linalg.matmul ins(%b0, %v : !x, !w) outs(%a1 : !x) -> !x
  %a2 = linalg.matmul ins(%b1, %w : !x, !w) outs(%b1 : !x) -> !x
  %b2 = linalg.matmul ins(%a2, %v : !x, !w) outs(%b1 : !x) -> !x
  %a3 = linalg.matmul ins(%b2, %w : !x, !w) outs(%b2 : !x) -> !x
  %b3 = linalg.matmul ins(%b2, %v : !x, !w) outs(%a3 : !x) -> !x
  return %b3 : !x
}

// -----

!x = tensor<4x8xf32>
!w = tensor<8x8xf32>

// Between the ops of a run are no others: some stay, and some follow the call.
// CHECK-LABEL: func.func @between(
// CHECK: linalg.matmul {second}
// CHECK: call @between_repeat(
// CHECK: linalg.matmul {first}
// CHECK-COUNT-4: call @between_repeat(
// CHECK-NOT: call
// CHECK: return
func.func @between(%x: !x, %w: !w) -> (!x, !x, !x, !x, !x) {
  %a0 = linalg.matmul ins(%x, %w : !x, !w) outs(%x : !x) -> !x
  %f0 = linalg.matmul {first} ins(%a0, %w : !x, !w) outs(%x : !x) -> !x
  %s0 = linalg.matmul {second} ins(%x, %w : !x, !w) outs(%x : !x) -> !x
  %b0 = linalg.matmul ins(%a0, %w : !x, !w) outs(%a0 : !x) -> !x
  %c0 = math.tanh %b0 : !x
  %a1 = linalg.matmul ins(%c0, %w : !x, !w) outs(%c0 : !x) -> !x
  %b1 = linalg.matmul ins(%a1, %w : !x, !w) outs(%a1 : !x) -> !x
  %c1 = math.tanh %b1 : !x
  %a2 = linalg.matmul ins(%c1, %w : !x, !w) outs(%c1 : !x) -> !x
  %b2 = linalg.matmul ins(%a2, %w : !x, !w) outs(%a2 : !x) -> !x
  %c2 = math.tanh %b2 : !x
  %a3 = linalg.matmul ins(%c2, %w : !x, !w) outs(%c2 : !x) -> !x
  %b3 = linalg.matmul ins(%a3, %w : !x, !w) outs(%a3 : !x) -> !x
  %c3 = math.tanh %b3 : !x
  %a4 = linalg.matmul ins(%c3, %w : !x, !w) outs(%c3 : !x) -> !x
  %b4 = linalg.matmul ins(%a4, %w : !x, !w) outs(%a4 : !x) -> !x
  %c4 = math.tanh %b4 : !x
  %f1 = linalg.matmul {first} ins(%c4, %w : !x, !w) outs(%x : !x) -> !x
  %s1 = linalg.matmul {second} ins(%x, %w : !x, !w) outs(%x : !x) -> !x
  return %c4, %f0, %s0, %f1, %s1 : !x, !x, !x, !x, !x
}

// -----

!x = tensor<1x8xf32>
!w = tensor<8x8xf32>
!c = tensor<2x16x8xf32>

// The caches of all layers are passed whole, and each layer puts its own back.
// A slice of another tensor that begins where one of them does is none of them.
// CHECK-LABEL: func.func @caches(
// CHECK-SAME: %[[X:.*]]: tensor<1x8xf32>, %{{.*}}: tensor<8x8xf32>, %[[C:.*]]: tensor<2x16x8xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[A:.*]]:2 = call @caches_repeat(%[[C]], %[[ZERO]],
// CHECK-NEXT: %[[B:.*]]:2 = call @caches_repeat(%[[A]]#1, %[[ONE]],
// CHECK-NEXT: return %[[B]]#0, %[[B]]#1
// CHECK: func.func private @caches_repeat(%[[C:.*]]: tensor<2x16x8xf32>, %[[L:.*]]: index,
// CHECK: tensor.extract_slice %[[C]][%[[L]], 0, 0]
// CHECK: tensor.insert_slice %{{.*}} into %[[C]][%[[L]], 0, 0]
func.func @caches(%x: !x, %w: !w, %c: !c {bufferization.writable = true}) -> (!x, !c) {
  %s0 = tensor.extract_slice %c[0, 0, 0] [1, 16, 8] [1, 1, 1] : !c to tensor<16x8xf32>
  %k0 = linalg.matmul ins(%x, %w : !x, !w) outs(%x : !x) -> !x
  %t0 = tensor.insert_slice %k0 into %s0[5, 0] [1, 8] [1, 1] : !x into tensor<16x8xf32>
  %v0 = tensor.extract_slice %t0[1, 0] [8, 8] [1, 1] : tensor<16x8xf32> to !w
  %a0 = linalg.matmul ins(%k0, %v0 : !x, !w) outs(%k0 : !x) -> !x
  %c0 = tensor.insert_slice %t0 into %c[0, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into !c
  %s1 = tensor.extract_slice %c0[1, 0, 0] [1, 16, 8] [1, 1, 1] : !c to tensor<16x8xf32>
  %k1 = linalg.matmul ins(%a0, %w : !x, !w) outs(%a0 : !x) -> !x
  %t1 = tensor.insert_slice %k1 into %s1[5, 0] [1, 8] [1, 1] : !x into tensor<16x8xf32>
  %v1 = tensor.extract_slice %t1[1, 0] [8, 8] [1, 1] : tensor<16x8xf32> to !w
  %a1 = linalg.matmul ins(%k1, %v1 : !x, !w) outs(%k1 : !x) -> !x
  %c1 = tensor.insert_slice %t1 into %c0[1, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into !c
  return %a1, %c1 : !x, !c
}

// -----

!x = tensor<4x8xf32>
!w = tensor<8x8xf32>

// A copy of the columns has another distance between rows than the columns. No
// caller has a use for the second input any more, but all have for the third.
// CHECK-LABEL: func.func @columns(
// CHECK: func.func private @columns_repeat(%{{.*}}: tensor<4x8xf32> {bufferization.buffer_layout = strided<[?, 1], offset: ?>}, %{{.*}}: tensor<8x8xf32> {bufferization.writable = false}, %{{.*}}: tensor<4x8xf32> {bufferization.writable = false})
func.func @columns(%a: tensor<4x32xf32> {bufferization.writable = true}, %w: !w, %k: tensor<4x8xf32> {bufferization.writable = true}) -> (!x, !x, !x) {
  %s0 = tensor.extract_slice %a[0, 0] [4, 8] [1, 1] : tensor<4x32xf32> to !x
  %a0 = linalg.matmul ins(%s0, %w : !x, !w) outs(%k : !x) -> !x
  %b0 = linalg.matmul ins(%a0, %w : !x, !w) outs(%a0 : !x) -> !x
  %s1 = tensor.extract_slice %a[0, 8] [4, 8] [1, 1] : tensor<4x32xf32> to !x
  %a1 = linalg.matmul ins(%s1, %w : !x, !w) outs(%k : !x) -> !x
  %b1 = linalg.matmul ins(%a1, %w : !x, !w) outs(%a1 : !x) -> !x
  return %b0, %b1, %k : !x, !x, !x
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

// -----

!x = tensor<4x8xf32>
!w = tensor<8x8xf32>

// An empty tensor that nobody takes is no reason to return its size.
// CHECK-LABEL: func.func @unused(
// CHECK: %[[A:.*]] = call @unused_repeat(
// CHECK-NEXT: %[[B:.*]] = call @unused_repeat(%[[A]]
// CHECK-NEXT: return %[[B]]
func.func @unused(%x: tensor<?x8xf32>, %w: !w) -> tensor<?x8xf32> {
  %i0 = arith.constant 0 : index
  %n0 = tensor.dim %x, %i0 : tensor<?x8xf32>
  %a0 = linalg.matmul ins(%x, %w : tensor<?x8xf32>, !w) outs(%x : tensor<?x8xf32>) -> tensor<?x8xf32>
  %b0 = linalg.matmul ins(%a0, %w : tensor<?x8xf32>, !w) outs(%a0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %d0 = tensor.empty(%n0) : tensor<?x8xf32>
  %n1 = tensor.dim %b0, %i0 : tensor<?x8xf32>
  %a1 = linalg.matmul ins(%b0, %w : tensor<?x8xf32>, !w) outs(%b0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %b1 = linalg.matmul ins(%a1, %w : tensor<?x8xf32>, !w) outs(%a1 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %d1 = tensor.empty(%n1) : tensor<?x8xf32>
  return %b1 : tensor<?x8xf32>
}

// -----

!x = tensor<4x8xf32>
!w = tensor<8x8xf32>
#id = affine_map<(i, j) -> (i, j)>

// A value from outside is none that a region defines, either way round.
// CHECK-LABEL: func.func @inside(
// CHECK-NOT: call
// CHECK: return
func.func @inside(%x: !x, %w: !w, %s: f32) -> !x {
  %a0 = linalg.matmul ins(%x, %w : !x, !w) outs(%x : !x) -> !x
  %g0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%a0 : !x) {
  ^bb0(%o: f32):
    linalg.yield %s : f32
  } -> !x
  %b0 = linalg.matmul ins(%g0, %w : !x, !w) outs(%g0 : !x) -> !x
  %t = math.exp %b0 : !x
  %u = math.log %t : !x
  %a1 = linalg.matmul ins(%u, %w : !x, !w) outs(%u : !x) -> !x
  %g1 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%a1 : !x) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  } -> !x
  %b1 = linalg.matmul ins(%g1, %w : !x, !w) outs(%g1 : !x) -> !x
  return %b1 : !x
}

// -----

!x = tensor<4x8xf32>
!w = tensor<8x8xf32>
#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @outside(
// CHECK-NOT: call
// CHECK: return
func.func @outside(%x: !x, %w: !w, %s: f32) -> !x {
  %a0 = linalg.matmul ins(%x, %w : !x, !w) outs(%x : !x) -> !x
  %g0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%a0 : !x) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  } -> !x
  %b0 = linalg.matmul ins(%g0, %w : !x, !w) outs(%g0 : !x) -> !x
  %t = math.exp %b0 : !x
  %u = math.log %t : !x
  %a1 = linalg.matmul ins(%u, %w : !x, !w) outs(%u : !x) -> !x
  %g1 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%a1 : !x) {
  ^bb0(%o: f32):
    linalg.yield %s : f32
  } -> !x
  %b1 = linalg.matmul ins(%g1, %w : !x, !w) outs(%g1 : !x) -> !x
  return %b1 : !x
}

// -----

!x = tensor<4x8xf32>
!w = tensor<8x8xf32>

// What one run takes from outside, another makes itself.
// CHECK-LABEL: func.func @own(
// CHECK-NOT: call
// CHECK: return
func.func @own(%x: !x, %y: !x, %w: !w, %v: !w) -> !x {
  %a0 = linalg.matmul ins(%x, %w : !x, !w) outs(%x : !x) -> !x
  %b0 = linalg.matmul ins(%y, %v : !x, !w) outs(%a0 : !x) -> !x
  %t = math.exp %b0 : !x
  %u = math.log %t : !x
  %a1 = linalg.matmul ins(%u, %w : !x, !w) outs(%u : !x) -> !x
  %b1 = linalg.matmul ins(%a1, %v : !x, !w) outs(%a1 : !x) -> !x
  return %b1 : !x
}

// -----

!x = tensor<4x8xf32>
!w = tensor<8x8xf32>

// What stands between the ops of the first layer is made of them, and taken by
// them: a call cannot stand both before and after it.
// CHECK-LABEL: func.func @between(
// CHECK: linalg.matmul
// CHECK: math.exp
// CHECK: linalg.matmul
// CHECK: call @between_repeat(
// CHECK: call @between_repeat(
func.func @between(%x: !x, %y: !x, %w: !w, %v: !w) -> !x {
  %a0 = linalg.matmul ins(%x, %w : !x, !w) outs(%x : !x) -> !x
  %e0 = math.exp %a0 : !x
  %b0 = linalg.matmul ins(%e0, %v : !x, !w) outs(%a0 : !x) -> !x
  %c0 = math.tanh %b0 : !x
  %a1 = linalg.matmul ins(%c0, %w : !x, !w) outs(%c0 : !x) -> !x
  %b1 = linalg.matmul ins(%y, %v : !x, !w) outs(%a1 : !x) -> !x
  %c1 = math.tanh %b1 : !x
  %a2 = linalg.matmul ins(%c1, %w : !x, !w) outs(%c1 : !x) -> !x
  %b2 = linalg.matmul ins(%y, %v : !x, !w) outs(%a2 : !x) -> !x
  %c2 = math.tanh %b2 : !x
  return %c2 : !x
}

// -----

!x = tensor<4x8xf32>
!w = tensor<8x8xf32>
func.func private @effect()

// Nothing with an effect changes places with a layer.
// CHECK-LABEL: func.func @effects(
// CHECK: linalg.matmul
// CHECK: call @effect()
// CHECK: linalg.matmul
// CHECK: call @effects_repeat(
// CHECK: call @effects_repeat(
func.func @effects(%x: !x, %w: !w, %v: !w) -> !x {
  %a0 = linalg.matmul ins(%x, %w : !x, !w) outs(%x : !x) -> !x
  call @effect() : () -> ()
  %b0 = linalg.matmul ins(%a0, %v : !x, !w) outs(%a0 : !x) -> !x
  %c0 = math.tanh %b0 : !x
  %a1 = linalg.matmul ins(%c0, %w : !x, !w) outs(%c0 : !x) -> !x
  %b1 = linalg.matmul ins(%a1, %v : !x, !w) outs(%a1 : !x) -> !x
  %c1 = math.tanh %b1 : !x
  %a2 = linalg.matmul ins(%c1, %w : !x, !w) outs(%c1 : !x) -> !x
  %b2 = linalg.matmul ins(%a2, %v : !x, !w) outs(%a2 : !x) -> !x
  %c2 = math.tanh %b2 : !x
  return %c2 : !x
}

// -----

!w = tensor<8x8xf32>

// The size of an empty tensor that is taken beyond the layer is a result.
// CHECK-LABEL: func.func @sizes(
// CHECK: %[[A:.*]]:2 = call @sizes_repeat(
// CHECK: %[[E:.*]] = tensor.empty(%[[A]]#0)
// CHECK: call @sizes_repeat(%[[A]]#1
// CHECK: return %{{.*}}, %[[E]]
func.func @sizes(%x: tensor<?x8xf32>, %w: !w) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %i0 = arith.constant 0 : index
  %n0 = tensor.dim %x, %i0 : tensor<?x8xf32>
  %e0 = tensor.empty(%n0) : tensor<?x8xf32>
  %a0 = linalg.matmul ins(%x, %w : tensor<?x8xf32>, !w) outs(%e0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %b0 = linalg.matmul ins(%a0, %w : tensor<?x8xf32>, !w) outs(%e0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %n1 = tensor.dim %b0, %i0 : tensor<?x8xf32>
  %e1 = tensor.empty(%n1) : tensor<?x8xf32>
  %a1 = linalg.matmul ins(%b0, %w : tensor<?x8xf32>, !w) outs(%e1 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %b1 = linalg.matmul ins(%a1, %w : tensor<?x8xf32>, !w) outs(%e1 : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %b1, %e0 : tensor<?x8xf32>, tensor<?x8xf32>
}
