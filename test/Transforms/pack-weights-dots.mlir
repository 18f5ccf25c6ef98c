// RUN: rope-opt %s --split-input-file --rope-normalize-linalg --rope-pack-weights=dots --verify-diagnostics | FileCheck %s
// RUN: rope-opt %s --split-input-file --rope-normalize-linalg --rope-pack-weights=dots --rope-tile-linalg=dots 2>/dev/null | FileCheck %s --check-prefix=TILED
// RUN: rope-opt %s --split-input-file --rope-normalize-linalg --rope-pack-weights=dots --rope-pack-weights=dots 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: rope-opt %s --split-input-file --rope-normalize-linalg --rope-pack-weights=dots --rope-tile-linalg -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --check-prefix=OTHER < %t

// TWICE: remark: argument 1 is not packed: it is packed already

// Pairs of steps lie side by side.
// CHECK-LABEL: func.func @pairs
// CHECK-SAME: tensor<2x16x64x2xbf16> {rope.weight}
// CHECK: linalg.unpack {{.*}} outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [64, 2] {{.*}} -> tensor<32x128xbf16>
// CHECK: func.func @pack_weights_of_pairs(%{{.*}}: tensor<32x128xbf16>) -> tensor<2x16x64x2xbf16>
// CHECK: linalg.pack {{.*}} outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [64, 2]

// TILED-LABEL: func.func @pairs
// TILED-SAME: %[[W:[a-z0-9]*]]: tensor<2x16x64x2xbf16>
// TILED-NOT: linalg.{{unpack|transpose}}
// TILED: tensor.extract_slice %[[W]][%{{.*}}, 0, 0, 0] [1, 16, 64, 2] [1, 1, 1, 1]
// TILED: x86vector.avx512.dot
// TILED-NOT: linalg.transpose
// TILED: func.func @pack_weights_of_pairs

// Code that has no use for pairs puts the weight together again, and says so.
// REMARK: remark: puts a weight together in every call
// OTHER-LABEL: func.func @pairs
// OTHER-NOT: linalg.unpack
// OTHER: linalg.transpose
// OTHER: func.func @pack_weights_of_pairs
func.func @pairs(%x: tensor<64x32xbf16>, %w: tensor<32x128xbf16> {rope.weight}, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<64x32xbf16>, tensor<32x128xbf16>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}

// -----

// expected-remark @below {{argument 1 is not packed: its size is not a multiple of a panel's}}
func.func @odd(%x: tensor<64x33xbf16>, %w: tensor<33x128xbf16> {rope.weight}, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<64x33xbf16>, tensor<33x128xbf16>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}
