// RUN: rope-opt %s --rope-normalize-linalg --rope-tile-linalg --verify-each | FileCheck %s

// Lanes that lie side by side: the first rows are multiplied by what is copied
// to the panel in the same step, and the others by the panel. Lines of steps
// that come later are fetched.
// CHECK-LABEL: func @first_rows
// CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<17x320xf32>, %[[W:[a-z0-9]*]]: tensor<320x256xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[LAST:.*]] = arith.constant 319 : index
// CHECK: scf.for %[[LANE:[a-z0-9]*]] =
// CHECK: %[[SLICE:.*]] = tensor.extract_slice %[[W]][0, %[[LANE]]]
// CHECK: %[[MEMORY:.*]] = bufferization.to_buffer %[[SLICE]] read_only
// CHECK: %[[FIRST:.*]]:2 = scf.for %[[STEP:[a-z0-9]*]] = {{.*}} iter_args(%[[PANEL:.*]] = %{{.*}}, %[[SUMS:.*]] = %{{.*}}) -> (tensor<320x64xf32>, vector<6x64xf32>)
// CHECK: %[[AHEAD:.*]] = arith.addi %[[STEP]], %[[C16]]
// CHECK: %[[THERE:.*]] = arith.minui %[[AHEAD]], %[[LAST]]
// CHECK-COUNT-4: memref.prefetch %[[MEMORY]][%[[THERE]], %{{.*}}], read
// CHECK: %[[LANES:.*]] = vector.transfer_read %[[W]][%[[STEP]], %[[LANE]]]{{.*}} vector<64xf32>
// CHECK: %[[NEXT:.*]] = vector.transfer_write %[[LANES]], %[[PANEL]][%[[STEP]], %[[C0]]]
// CHECK-NOT: vector.transfer_read {{.*}} vector<1x64xf32>
// CHECK: %[[WEIGHTS:.*]] = vector.broadcast %[[LANES]]
// CHECK: %[[MORE:.*]] = vector.contract {{.*}} %{{.*}}, %[[WEIGHTS]], %[[SUMS]]
// CHECK: scf.yield %[[NEXT]], %[[MORE]]
// CHECK: scf.for %[[STEP:[a-z0-9]*]] = {{.*}} -> (vector<6x64xf32>)
// CHECK: vector.transfer_read %[[FIRST]]#0[%[[STEP]], %[[C0]]]
// CHECK: scf.for %[[STEP:[a-z0-9]*]] = {{.*}} -> (vector<5x64xf32>)
// CHECK: vector.transfer_read %[[FIRST]]#0[%[[STEP]], %[[C0]]]
func.func @first_rows(%a: tensor<17x320xf32>, %w: tensor<320x256xf32>, %e: tensor<17x256xf32>) -> tensor<17x256xf32> {
  %r = linalg.matmul ins(%a, %w : tensor<17x320xf32>, tensor<320x256xf32>) outs(%e : tensor<17x256xf32>) -> tensor<17x256xf32>
  return %r : tensor<17x256xf32>
}

// What is copied is what is multiplied, wide.
// CHECK-LABEL: func @narrow
// CHECK: scf.for {{.*}} -> (tensor<32x64xf32>, vector<6x64xf32>)
// CHECK: %[[NARROW:.*]] = vector.transfer_read {{.*}} tensor<32x128xbf16>, vector<64xbf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[NARROW]]
// CHECK: vector.transfer_write %[[WIDE]]
// CHECK: vector.broadcast %[[WIDE]]
func.func @narrow(%a: tensor<18x32xbf16>, %w: tensor<32x128xbf16>, %e: tensor<18x128xf32>) -> tensor<18x128xf32> {
  %r = linalg.matmul ins(%a, %w : tensor<18x32xbf16>, tensor<32x128xbf16>) outs(%e : tensor<18x128xf32>) -> tensor<18x128xf32>
  return %r : tensor<18x128xf32>
}

// Sums in blocks: in the first of them alone do they start from what a fill
// would have left.
// CHECK-LABEL: func @blocks
// CHECK: scf.for %[[AT:[a-z0-9]*]] = %[[ZERO:.*]] to %{{.*}} step %{{.*}} iter_args(%{{[^,]*}}) -> (tensor<64x64xf32>)
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[AT]], %[[ZERO]]
// CHECK: %[[ARE_FIRST:.*]] = vector.broadcast %[[IS_FIRST]]
// CHECK: %[[START:.*]] = arith.select %[[ARE_FIRST]]
// CHECK: scf.for {{.*}} = %[[START]]) -> (tensor<?x64xf32>, vector<6x64xf32>)
// CHECK: vector.transfer_write
// CHECK: vector.contract
func.func @blocks(%a: tensor<64x2500xf32>, %w: tensor<2500x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%a, %w : tensor<64x2500xf32>, tensor<2500x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// A panel that is the first operand, of a number of steps that is not known.
// CHECK-LABEL: func @dynamic_steps
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<?x64xf32>
// CHECK-DAG: %[[STEPS:.*]] = tensor.dim %[[W]], %c0
// CHECK: scf.for {{.*}} -> (tensor<?x64xf32>, vector<6x64xf32>)
func.func @dynamic_steps(%w: tensor<?x64xf32>, %a: tensor<16x?xf32>, %e: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%w, %a : tensor<?x64xf32>, tensor<16x?xf32>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %t = arith.mulf %x, %y : f32
    %u = arith.addf %o, %t : f32
    linalg.yield %u : f32
  } -> tensor<16x64xf32>
  return %r : tensor<16x64xf32>
}

// The first rows go where the others do, also if nothing is there before.
// CHECK-LABEL: func @anew
// CHECK: %[[ALL:.*]] = tensor.empty() : tensor<64x64xf32>
// CHECK-NOT: tensor.empty() : tensor<6x64xf32>
// CHECK: %[[FIRST:.*]]:2 = scf.for
// CHECK: %[[BEGUN:.*]] = vector.transfer_write %[[FIRST]]#1, %[[ALL]][%c0, %c0]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[BEGUN]])
func.func @anew(%a: tensor<64x512xf32>, %w: tensor<512x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%a, %w : tensor<64x512xf32>, tensor<512x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// There may be no rows at all.
// CHECK-LABEL: func @dynamic_rows
// CHECK-NOT: -> (tensor<320x64xf32>, vector
// CHECK: return
func.func @dynamic_rows(%a: tensor<?x320xf32>, %w: tensor<320x256xf32>, %e: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %r = linalg.matmul ins(%a, %w : tensor<?x320xf32>, tensor<320x256xf32>) outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}

// Lanes of one step lie apart: squares of many steps are turned at once.
// CHECK-LABEL: func @turned
// CHECK-NOT: -> (tensor<320x64xf32>, vector
// CHECK: vector.transpose
// CHECK-NOT: -> (tensor<320x64xf32>, vector
// CHECK: return
func.func @turned(%a: tensor<17x320xf32>, %w: tensor<256x320xf32>, %e: tensor<17x256xf32>) -> tensor<17x256xf32> {
  %t = tensor.empty() : tensor<320x256xf32>
  %turned = linalg.transpose ins(%w : tensor<256x320xf32>) outs(%t : tensor<320x256xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%a, %turned : tensor<17x320xf32>, tensor<320x256xf32>) outs(%e : tensor<17x256xf32>) -> tensor<17x256xf32>
  return %r : tensor<17x256xf32>
}
