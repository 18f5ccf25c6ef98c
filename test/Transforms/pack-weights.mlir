// RUN: rope-opt %s --split-input-file --rope-normalize-linalg --rope-pack-weights --verify-diagnostics | FileCheck %s
// RUN: rope-opt %s --split-input-file --rope-normalize-linalg --rope-pack-weights --rope-tile-linalg 2>/dev/null | FileCheck %s --check-prefix=TILED
// RUN: rope-opt %s --split-input-file --rope-normalize-linalg --rope-pack-weights --rope-cpu-pipeline 2>/dev/null | FileCheck %s --check-prefix=LLVM
// RUN: rope-opt %s --split-input-file --rope-normalize-linalg --rope-pack-weights --rope-cpu-pipeline --mlir-print-ir-after=rope-tile-linalg -o /dev/null 2>&1 | FileCheck %s --check-prefix=PIPELINE

// A weight [N, K], as torch has it, and one [K, N].
// CHECK-LABEL: func.func @both
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<4x512x64xf32> {rope.weight}, %[[V:[a-z0-9]*]]: tensor<2x512x64xf32> {rope.weight})
// CHECK-DAG: %[[FROM_V:.*]] = linalg.unpack %[[V]] outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [64] {{.*}} -> tensor<512x128xf32>
// CHECK-DAG: %[[FROM_W:.*]] = linalg.unpack %[[W]] outer_dims_perm = [0, 1] inner_dims_pos = [0] inner_tiles = [64] {{.*}} -> tensor<256x512xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[FROM_W]] :
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[FROM_V]] :
// CHECK: func.func @pack_weights_of_both(%[[A:.*]]: tensor<256x512xf32>, %[[B:.*]]: tensor<512x128xf32>) -> (tensor<4x512x64xf32>, tensor<2x512x64xf32>)
// CHECK: %[[PACKED:.*]] = linalg.pack %[[A]] outer_dims_perm = [0, 1] inner_dims_pos = [0] inner_tiles = [64]
// CHECK: %[[PACKED_B:.*]] = linalg.pack %[[B]] outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [64]
// CHECK: return %[[PACKED]], %[[PACKED_B]]

// Nothing is copied on the way to a product.
// TILED-LABEL: func.func @both
// TILED-SAME: %[[W:[a-z0-9]*]]: tensor<4x512x64xf32>
// TILED-NOT: linalg.unpack
// TILED: scf.for
// TILED-NOT: vector.transpose
// TILED: vector.transfer_read %[[W]][%{{.*}}, %{{.*}}, %{{.*}}], {{.*}} : tensor<4x512x64xf32>, vector<1x64xf32>
// TILED: vector.contract
// TILED: func.func @pack_weights_of_both

// The pipeline has not put it together again before it comes to tiles.
// PIPELINE-LABEL: func.func @both
// PIPELINE-SAME: %[[W:[a-z0-9]*]]: tensor<4x512x64xf32>
// PIPELINE-NOT: vector.transpose
// PIPELINE-NOT: linalg.transpose
// PIPELINE: vector.transfer_read %[[W]][{{.*}} : tensor<4x512x64xf32>, vector<1x64xf32>
// PIPELINE-NEXT: vector.contract
// PIPELINE: func.func @pack_weights_of_both

// LLVM: llvm.func @both
// LLVM-NOT: rope.weight
// LLVM: llvm.func @pack_weights_of_both
func.func @both(%x: tensor<100x512xf32>, %w: tensor<256x512xf32> {rope.weight}, %v: tensor<512x128xf32> {rope.weight}) -> (tensor<100x256xf32>, tensor<100x128xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x256xf32>
  %t = linalg.transpose ins(%w : tensor<256x512xf32>) outs(%e : tensor<512x256xf32>) permutation = [1, 0]
  %o = tensor.empty() : tensor<100x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%o : tensor<100x256xf32>) -> tensor<100x256xf32>
  %r = linalg.matmul ins(%x, %t : tensor<100x512xf32>, tensor<512x256xf32>) outs(%f : tensor<100x256xf32>) -> tensor<100x256xf32>
  %o2 = tensor.empty() : tensor<100x128xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%o2 : tensor<100x128xf32>) -> tensor<100x128xf32>
  %r2 = linalg.matmul ins(%x, %v : tensor<100x512xf32>, tensor<512x128xf32>) outs(%f2 : tensor<100x128xf32>) -> tensor<100x128xf32>
  return %r, %r2 : tensor<100x256xf32>, tensor<100x128xf32>
}

// -----

// A batch of one is a view. Who calls by the C interface packs by it, too.
// CHECK-LABEL: func.func @batch
// CHECK-SAME: tensor<2x32x64xf32> {rope.weight}
// CHECK: func.func @pack_weights_of_batch(%[[A:.*]]: tensor<1x32x128xf32>){{.*}} attributes {llvm.emit_c_interface}
func.func @batch(%x: tensor<1x20x32xf32>, %w: tensor<1x32x128xf32> {rope.weight}, %c: tensor<1x20x128xf32>) -> tensor<1x20x128xf32> attributes {llvm.emit_c_interface} {
  %r = linalg.batch_matmul ins(%x, %w : tensor<1x20x32xf32>, tensor<1x32x128xf32>) outs(%c : tensor<1x20x128xf32>) -> tensor<1x20x128xf32>
  return %r : tensor<1x20x128xf32>
}

// -----

// Without the attribute an argument may differ from call to call.
// CHECK-LABEL: func.func @undeclared
// CHECK-SAME: %{{.*}}: tensor<32x128xf32>,
// CHECK-NOT: linalg.unpack
// CHECK-NOT: pack_weights
func.func @undeclared(%x: tensor<20x32xf32>, %w: tensor<32x128xf32>, %c: tensor<20x128xf32>) -> tensor<20x128xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<20x32xf32>, tensor<32x128xf32>) outs(%c : tensor<20x128xf32>) -> tensor<20x128xf32>
  return %r : tensor<20x128xf32>
}

// -----

// CHECK-LABEL: func.func @odd
// CHECK-NOT: linalg.unpack
// LLVM: llvm.func @odd
// expected-remark @below {{argument 1 is not packed: its size is not a multiple of a panel's}}
func.func @odd(%x: tensor<20x32xf32>, %w: tensor<32x100xf32> {rope.weight}, %c: tensor<20x100xf32>) -> tensor<20x100xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<20x32xf32>, tensor<32x100xf32>) outs(%c : tensor<20x100xf32>) -> tensor<20x100xf32>
  return %r : tensor<20x100xf32>
}

// -----

// CHECK-LABEL: func.func @dynamic
// expected-remark @below {{argument 1 is not packed: it is no matrix of static size}}
func.func @dynamic(%x: tensor<20x32xf32>, %w: tensor<32x?xf32> {rope.weight}, %c: tensor<20x?xf32>) -> tensor<20x?xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<20x32xf32>, tensor<32x?xf32>) outs(%c : tensor<20x?xf32>) -> tensor<20x?xf32>
  return %r : tensor<20x?xf32>
}

// -----

// CHECK-LABEL: func.func @returned
// expected-remark @below {{argument 1 is not packed: it is not only a factor of products}}
func.func @returned(%x: tensor<20x32xf32>, %w: tensor<32x128xf32> {rope.weight}, %c: tensor<20x128xf32>) -> (tensor<20x128xf32>, tensor<32x128xf32>) {
  %r = linalg.matmul ins(%x, %w : tensor<20x32xf32>, tensor<32x128xf32>) outs(%c : tensor<20x128xf32>) -> tensor<20x128xf32>
  return %r, %w : tensor<20x128xf32>, tensor<32x128xf32>
}

// -----

// Lanes of one product are steps of the other.
// CHECK-LABEL: func.func @both_ways
// expected-remark @below {{argument 1 is not packed: its products want it stored in different ways}}
func.func @both_ways(%x: tensor<20x128xf32>, %w: tensor<128x128xf32> {rope.weight}, %c: tensor<20x128xf32>) -> (tensor<20x128xf32>, tensor<20x128xf32>) {
  %e = tensor.empty() : tensor<128x128xf32>
  %t = linalg.transpose ins(%w : tensor<128x128xf32>) outs(%e : tensor<128x128xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%x, %w : tensor<20x128xf32>, tensor<128x128xf32>) outs(%c : tensor<20x128xf32>) -> tensor<20x128xf32>
  %s = linalg.matmul ins(%x, %t : tensor<20x128xf32>, tensor<128x128xf32>) outs(%c : tensor<20x128xf32>) -> tensor<20x128xf32>
  return %r, %s : tensor<20x128xf32>, tensor<20x128xf32>
}

// -----

// Sums of another type than the weight.
// CHECK-LABEL: func.func @narrow
// expected-remark @below {{argument 1 is not packed: it is narrower than its sums, and not bf16 that `dots` multiplies}}
func.func @narrow(%x: tensor<20x32xbf16>, %w: tensor<32x128xbf16> {rope.weight}, %c: tensor<20x128xf32>) -> tensor<20x128xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<20x32xbf16>, tensor<32x128xbf16>) outs(%c : tensor<20x128xf32>) -> tensor<20x128xf32>
  return %r : tensor<20x128xf32>
}

// -----

// A view whose place depends on something may be another one elsewhere.
// expected-remark @below {{argument 1 is not packed: it is no matrix of static size}}
func.func @moving_view(%x: tensor<20x32xf32>, %w: tensor<1x32x128xf32> {rope.weight}, %c: tensor<20x128xf32>, %at: index) -> tensor<20x128xf32> {
  %v = tensor.extract_slice %w[%at, 0, 0] [1, 32, 128] [1, 1, 1] : tensor<1x32x128xf32> to tensor<32x128xf32>
  %r = linalg.matmul ins(%x, %v : tensor<20x32xf32>, tensor<32x128xf32>) outs(%c : tensor<20x128xf32>) -> tensor<20x128xf32>
  return %r : tensor<20x128xf32>
}

// -----

// expected-remark @below {{argument 1 is not packed: its function is called in the module}}
func.func @called(%x: tensor<20x32xf32>, %w: tensor<32x128xf32> {rope.weight}, %c: tensor<20x128xf32>) -> tensor<20x128xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<20x32xf32>, tensor<32x128xf32>) outs(%c : tensor<20x128xf32>) -> tensor<20x128xf32>
  return %r : tensor<20x128xf32>
}
func.func @caller(%x: tensor<20x32xf32>, %w: tensor<32x128xf32>, %c: tensor<20x128xf32>) -> tensor<20x128xf32> {
  %r = call @called(%x, %w, %c) : (tensor<20x32xf32>, tensor<32x128xf32>, tensor<20x128xf32>) -> tensor<20x128xf32>
  return %r : tensor<20x128xf32>
}

// -----

// expected-remark @below {{argument 1 is not packed: its function is private}}
func.func private @hidden(%x: tensor<20x32xf32>, %w: tensor<32x128xf32> {rope.weight}, %c: tensor<20x128xf32>) -> tensor<20x128xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<20x32xf32>, tensor<32x128xf32>) outs(%c : tensor<20x128xf32>) -> tensor<20x128xf32>
  return %r : tensor<20x128xf32>
}

// -----

// expected-remark @below {{argument 1 is not packed: packed, it has the same type, and callers would not notice}}
func.func @same(%x: tensor<20x64xf32>, %w: tensor<1x64x64xf32> {rope.weight}, %c: tensor<20x64xf32>) -> tensor<20x64xf32> {
  %m = tensor.collapse_shape %w [[0, 1], [2]] : tensor<1x64x64xf32> into tensor<64x64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %t = linalg.transpose ins(%m : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%x, %t : tensor<20x64xf32>, tensor<64x64xf32>) outs(%c : tensor<20x64xf32>) -> tensor<20x64xf32>
  return %r : tensor<20x64xf32>
}
