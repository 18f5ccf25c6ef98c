// RUN: rope-opt %s --rope-normalize-linalg --rope-tile-linalg --verify-each | FileCheck %s

// While 16 steps of a tile are added up, lines of the next panel come into the
// caches: each step of the weight has four in a panel, which 15 tiles, but not
// the first one, share with 20 times each. With it come those
// steps of the next tile's rows. The last panel has none after it and touches
// its own once more, and so does the last tile.

// CHECK-LABEL: func @next_panel
// CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<96x320xf32>, %[[W:[a-z0-9]*]]: tensor<320x256xf32>
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : index
// CHECK-DAG: %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[C256:.*]] = arith.constant 256 : index
// CHECK: scf.for %[[AT:.*]] = %{{.*}} to %[[C256]] step %[[C64]]
// CHECK: %[[AFTER:.*]] = arith.addi %[[AT]], %[[C64]]
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[AFTER]], %[[C256]]
// CHECK: %[[NEXT:.*]] = arith.select %[[MORE]], %[[AFTER]], %[[AT]]
// CHECK: vector.contract
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} step %[[C6]] iter_args
// CHECK: %[[MEMORY:.*]] = bufferization.to_buffer %[[W]] read_only
// CHECK: arith.subi %[[ROW]], %[[C6]]
// CHECK: %[[ROWS:.*]] = bufferization.to_buffer %[[A]] read_only
// CHECK: %[[BELOW:.*]] = arith.addi %[[ROW]], %[[C6]]
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[BELOW]]
// CHECK: %[[FIRST:.*]] = arith.select %[[MORE]], %[[BELOW]], %[[ROW]]
// CHECK: scf.for %[[STEP:.*]] = %{{.*}} iter_args(%{{.*}}) -> (vector<6x64xf32>)
// CHECK: %[[FIVE:.*]] = arith.addi %[[FROM:.*]], %[[C5]]
// CHECK: %[[END:.*]] = arith.minui %[[FIVE]]
// CHECK-NEXT: scf.for %[[LINE:.*]] = %[[FROM]] to %[[END]] step
// CHECK-DAG: %[[STEPS:.*]] = arith.divui %[[LINE]], %[[C4]]
// CHECK-DAG: %[[IN_STEP:.*]] = arith.remui %[[LINE]], %[[C4]]
// CHECK-DAG: %[[LANES:.*]] = arith.muli %[[IN_STEP]], %[[C16]]
// CHECK-DAG: %[[COLUMN:.*]] = arith.addi %[[NEXT]], %[[LANES]]
// CHECK: memref.prefetch %[[MEMORY]][%[[STEPS]], %[[COLUMN]]], read, locality<2>
// CHECK: memref.prefetch %[[ROWS]][%[[FIRST]], %[[STEP]]], read, locality<2>
// CHECK-COUNT-5: memref.prefetch %[[ROWS]][%{{.*}}, %[[STEP]]]
// CHECK-NOT: memref.prefetch
// CHECK: scf.for {{.*}} iter_args(%{{.*}}) -> (vector<6x64xf32>)
// CHECK: vector.contract
func.func @next_panel(%a: tensor<96x320xf32>, %w: tensor<320x256xf32>, %e: tensor<96x256xf32>) -> tensor<96x256xf32> {
  %r = linalg.matmul ins(%a, %w : tensor<96x320xf32>, tensor<320x256xf32>) outs(%e : tensor<96x256xf32>) -> tensor<96x256xf32>
  return %r : tensor<96x256xf32>
}

// A weight as torch has it: a line holds 16 steps of one lane.
// CHECK-LABEL: func @steps_in_lines
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<256x320xf32>
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK: %[[NEXT:.*]] = arith.select
// CHECK: %[[MEMORY:.*]] = bufferization.to_buffer %[[W]] read_only
// CHECK: %[[END:.*]] = arith.minui
// CHECK-NEXT: scf.for %[[LINE:.*]] = %{{.*}} to %[[END]] step
// CHECK-DAG: %[[OF_LINE:.*]] = arith.divui %[[LINE]], %[[C64]]
// CHECK-DAG: %[[IN_PANEL:.*]] = arith.remui %[[LINE]], %[[C64]]
// CHECK-DAG: %[[STEP:.*]] = arith.muli %[[OF_LINE]], %[[C16]]
// CHECK-DAG: %[[LANE:.*]] = arith.addi %[[NEXT]], %[[IN_PANEL]]
// CHECK: memref.prefetch %[[MEMORY]][%[[LANE]], %[[STEP]]], read
func.func @steps_in_lines(%a: tensor<96x320xf32>, %w: tensor<256x320xf32>, %e: tensor<96x256xf32>) -> tensor<96x256xf32> {
  %t = tensor.empty() : tensor<320x256xf32>
  %turned = linalg.transpose ins(%w : tensor<256x320xf32>) outs(%t : tensor<320x256xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%a, %turned : tensor<96x320xf32>, tensor<320x256xf32>) outs(%e : tensor<96x256xf32>) -> tensor<96x256xf32>
  return %r : tensor<96x256xf32>
}

// A sum in blocks: next come further steps of the same lanes, and only after
// the last of them other lanes.
// CHECK-LABEL: func @next_block
// CHECK: scf.for %[[AT:.*]] = %{{.*}} to
// CHECK: scf.for %[[FROM:.*]] = %[[ZERO:.*]] to
// CHECK: %[[LANE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[AT]]
// CHECK: %[[AFTER:.*]] = arith.addi %[[FROM]]
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[AFTER]]
// CHECK: %[[STEP:.*]] = arith.select %[[MORE]], %[[AFTER]], %[[ZERO]]
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[STEP]], %[[ZERO]]
// CHECK: arith.select %[[LAST]], %[[LANE]], %[[AT]]
// CHECK: memref.prefetch
func.func @next_block(%a: tensor<96x4096xf32>, %w: tensor<4096x256xf32>, %e: tensor<96x256xf32>) -> tensor<96x256xf32> {
  %r = linalg.matmul ins(%a, %w : tensor<96x4096xf32>, tensor<4096x256xf32>) outs(%e : tensor<96x256xf32>) -> tensor<96x256xf32>
  return %r : tensor<96x256xf32>
}

// The cache has room for the panel of this whole sum: no blocks.
// CHECK-LABEL: func @whole_panel
// CHECK: scf.for
// CHECK: tensor.empty() : tensor<2048x64xf32>
func.func @whole_panel(%a: tensor<96x2048xf32>, %w: tensor<2048x256xf32>, %e: tensor<96x256xf32>) -> tensor<96x256xf32> {
  %r = linalg.matmul ins(%a, %w : tensor<96x2048xf32>, tensor<2048x256xf32>) outs(%e : tensor<96x256xf32>) -> tensor<96x256xf32>
  return %r : tensor<96x256xf32>
}

// Any number of rows, of steps and of lanes.
// CHECK-LABEL: func @dynamic
// CHECK: memref.prefetch
func.func @dynamic(%a: tensor<?x?xf32>, %w: tensor<?x?xf32>, %e: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// Few rows are done before memory is.
// CHECK-LABEL: func @few_rows
// CHECK-NOT: memref.prefetch
func.func @few_rows(%a: tensor<47x320xf32>, %w: tensor<256x320xf32>, %e: tensor<47x256xf32>) -> tensor<47x256xf32> {
  %t = tensor.empty() : tensor<320x256xf32>
  %turned = linalg.transpose ins(%w : tensor<256x320xf32>) outs(%t : tensor<320x256xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%a, %turned : tensor<47x320xf32>, tensor<320x256xf32>) outs(%e : tensor<47x256xf32>) -> tensor<47x256xf32>
  return %r : tensor<47x256xf32>
}

// As many as are worth it, the first of which are multiplied beforehand.
// CHECK-LABEL: func @enough_rows
// CHECK: scf.for {{.*}} -> (tensor<320x64xf32>, vector<6x64xf32>)
// CHECK-COUNT-4: memref.prefetch
// CHECK: scf.for {{.*}} iter_args
// CHECK: memref.prefetch
func.func @enough_rows(%a: tensor<48x320xf32>, %w: tensor<320x256xf32>, %e: tensor<48x256xf32>) -> tensor<48x256xf32> {
  %r = linalg.matmul ins(%a, %w : tensor<48x320xf32>, tensor<320x256xf32>) outs(%e : tensor<48x256xf32>) -> tensor<48x256xf32>
  return %r : tensor<48x256xf32>
}

// There is but one panel.
// CHECK-LABEL: func @one_panel
// CHECK-NOT: memref.prefetch
func.func @one_panel(%a: tensor<96x320xf32>, %w: tensor<64x320xf32>, %e: tensor<96x64xf32>) -> tensor<96x64xf32> {
  %t = tensor.empty() : tensor<320x64xf32>
  %turned = linalg.transpose ins(%w : tensor<64x320xf32>) outs(%t : tensor<320x64xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%a, %turned : tensor<96x320xf32>, tensor<320x64xf32>) outs(%e : tensor<96x64xf32>) -> tensor<96x64xf32>
  return %r : tensor<96x64xf32>
}

// A sum shorter than what lies between two prefetches.
// CHECK-LABEL: func @short_sum
// CHECK-NOT: memref.prefetch
func.func @short_sum(%a: tensor<96x16xf32>, %w: tensor<256x16xf32>, %e: tensor<96x256xf32>) -> tensor<96x256xf32> {
  %t = tensor.empty() : tensor<16x256xf32>
  %turned = linalg.transpose ins(%w : tensor<256x16xf32>) outs(%t : tensor<16x256xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%a, %turned : tensor<96x16xf32>, tensor<16x256xf32>) outs(%e : tensor<96x256xf32>) -> tensor<96x256xf32>
  return %r : tensor<96x256xf32>
}

// Rows that do not lie in memory row by row: of those, nothing is prefetched,
// but steps of the panel that is packed, and the next panel.
// CHECK-LABEL: func @rows_apart
// CHECK-COUNT-5: memref.prefetch
// CHECK-NOT: memref.prefetch
func.func @rows_apart(%a: tensor<320x96xf32>, %w: tensor<320x256xf32>, %e: tensor<96x256xf32>) -> tensor<96x256xf32> {
  %t = tensor.empty() : tensor<96x320xf32>
  %turned = linalg.transpose ins(%a : tensor<320x96xf32>) outs(%t : tensor<96x320xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%turned, %w : tensor<96x320xf32>, tensor<320x256xf32>) outs(%e : tensor<96x256xf32>) -> tensor<96x256xf32>
  return %r : tensor<96x256xf32>
}
