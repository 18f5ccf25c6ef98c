// With `threads`, much work is cut into iterations that threads may share. What
// is done in each is what is done without it.

// RUN: rope-opt %s --split-input-file --rope-normalize-linalg --rope-tile-linalg=threads | FileCheck %s
// RUN: rope-opt %s --split-input-file --rope-normalize-linalg --rope-tile-linalg | FileCheck %s --check-prefix=ALONE "--implicit-check-not=scf.forall"

// ALONE-LABEL: func @panels

// Panels, each of which is packed; its sums start from the constant. The last
// one is no whole panel.
// CHECK-LABEL: func @panels
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<64x32xf32>, %[[W:[a-z0-9]*]]: tensor<32x330xf32>
// CHECK: %[[E:.*]] = tensor.empty() : tensor<64x330xf32>
// CHECK-NOT: linalg.fill
// CHECK: scf.forall (%[[J:.*]]) = (0) to (330) step (64) shared_outs(%[[OUT:.*]] = %[[E]]) -> (tensor<64x330xf32>)
// CHECK: %[[SIZE:.*]] = affine.min #{{.*}}()[%[[J]]]
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[OUT]][0, %[[J]]] [64, %[[SIZE]]] [1, 1]
// CHECK: %[[WHOLE:.*]] = arith.cmpi eq, %[[SIZE]], %c64
// CHECK: %[[SUMS:.*]] = scf.if %[[WHOLE]] -> (tensor<64x?xf32>) {
// CHECK: tensor.extract_slice %[[PART]][0, 0] [64, 64] [1, 1]
// CHECK: tensor.empty() : tensor<32x64xf32>
// CHECK: vector.contract {{.*}} into vector<6x64xf32>
// CHECK: } else {
// CHECK: tensor.extract_slice %[[PART]][0, 0] [64, 10] [1, 1]
// CHECK: vector.contract {{.*}} into vector<6x16xf32>
// CHECK: scf.forall.in_parallel
// CHECK-NEXT: tensor.parallel_insert_slice %[[SUMS]] into %[[OUT]][0, %[[J]]] [64, %[[SIZE]]] [1, 1]
// CHECK-NOT: scf.forall (
// CHECK: return
func.func @panels(%x: tensor<64x32xf32>, %w: tensor<32x330xf32>) -> tensor<64x330xf32> {
  %z = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<64x330xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x330xf32>) -> tensor<64x330xf32>
  %r = linalg.matmul ins(%x, %w : tensor<64x32xf32>, tensor<32x330xf32>) outs(%f : tensor<64x330xf32>) -> tensor<64x330xf32>
  return %r : tensor<64x330xf32>
}

// -----

// The panels of an epilogue, with the products that it reads, and nothing else.
// CHECK-LABEL: func @epilogue
// CHECK-NOT: vector.contract
// CHECK: scf.forall (%{{.*}}) = (0) to (%{{.*}}) step (64)
// CHECK: vector.contract
// CHECK: math.absf {{.*}}vector<64xf32>
// CHECK: } else {
// CHECK: vector.contract
// CHECK: scf.forall.in_parallel
// CHECK-NOT: vector.contract
// CHECK: return
func.func @epilogue(%x: tensor<64x32xf32>, %w: tensor<32x?xf32>, %e: tensor<64x?xf32>) -> tensor<64x?xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %w, %c1 : tensor<32x?xf32>
  %z = arith.constant 0.0 : f32
  %s = tensor.empty(%n) : tensor<64x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%s : tensor<64x?xf32>) -> tensor<64x?xf32>
  %p = linalg.matmul ins(%x, %w : tensor<64x32xf32>, tensor<32x?xf32>) outs(%f : tensor<64x?xf32>) -> tensor<64x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<64x?xf32>) outs(%e : tensor<64x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<64x?xf32>
  return %r : tensor<64x?xf32>
}

// -----

// Few panels and many rows: blocks of these.
// CHECK-LABEL: func @rows
// CHECK: scf.forall (%[[I:.*]]) = (0) to (4096) step (256)
// CHECK: scf.forall.in_parallel
// CHECK-NEXT: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[I]], 0] [256, 128] [1, 1]
func.func @rows(%x: tensor<4096x32xf32>, %w: tensor<32x128xf32>, %e: tensor<4096x128xf32>) -> tensor<4096x128xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<4096x32xf32>, tensor<32x128xf32>) outs(%e : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  return %r : tensor<4096x128xf32>
}

// -----

// No part of a few rows is left over.
// CHECK-LABEL: func @odd_rows
// CHECK: scf.forall (%{{.*}}) = (0) to (257) step (65)
func.func @odd_rows(%x: tensor<257x256xf32>, %w: tensor<256x64xf32>, %e: tensor<257x64xf32>) -> tensor<257x64xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<257x256xf32>, tensor<256x64xf32>) outs(%e : tensor<257x64xf32>) -> tensor<257x64xf32>
  return %r : tensor<257x64xf32>
}

// -----

// The sums of a row are not shared, though its other results could be.
// CHECK-LABEL: func @two_results
// CHECK: scf.forall (%{{.*}}) in (2)
// CHECK-NOT: scf.forall (
#id = affine_map<(i, j) -> (i, j)>
#first = affine_map<(i, j) -> (i)>
func.func @two_results(%x: tensor<2x65536xf32>, %e: tensor<2x65536xf32>, %s: tensor<2xf32>) -> (tensor<2x65536xf32>, tensor<2xf32>) {
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #first], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x65536xf32>) outs(%e, %s : tensor<2x65536xf32>, tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32, %t: f32):
    %0 = math.absf %a : f32
    %1 = arith.addf %t, %0 : f32
    linalg.yield %0, %1 : f32, f32
  } -> (tensor<2x65536xf32>, tensor<2xf32>)
  return %r#0, %r#1 : tensor<2x65536xf32>, tensor<2xf32>
}

// -----

// Many batches: one loop for all.
// CHECK-LABEL: func @batches
// CHECK: scf.forall (%[[A:.*]], %[[B:.*]]) in (4, 8)
// CHECK-NOT: scf.forall (
// CHECK: scf.forall.in_parallel
// CHECK-NEXT: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[A]], %[[B]], 0, 0] [1, 1, 64, 128] [1, 1, 1, 1]
func.func @batches(%x: tensor<4x8x64x32xf32>, %w: tensor<4x8x32x128xf32>, %e: tensor<4x8x64x128xf32>) -> tensor<4x8x64x128xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, i, j, k) -> (a, b, i, k)>, affine_map<(a, b, i, j, k) -> (a, b, k, j)>, affine_map<(a, b, i, j, k) -> (a, b, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8x64x32xf32>, tensor<4x8x32x128xf32>) outs(%e : tensor<4x8x64x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x8x64x128xf32>
  return %r : tensor<4x8x64x128xf32>
}

// -----

// A weight that is read row by row is read so in each block of columns.
// CHECK-LABEL: func @streams
// CHECK: scf.forall (%{{.*}}) = (0) to (8192) step (512)
// CHECK: scf.for %{{.*}} = %c0 to %c2048 step %c4
// CHECK: scf.for %{{.*}} = %c0 to %c512 step %c64
func.func @streams(%x: tensor<1x2048xf32>, %w: tensor<2048x8192xf32>, %e: tensor<1x8192xf32>) -> tensor<1x8192xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<1x2048xf32>, tensor<2048x8192xf32>) outs(%e : tensor<1x8192xf32>) -> tensor<1x8192xf32>
  return %r : tensor<1x8192xf32>
}

// -----

// One stored along the sums gives a few of them at a time.
// CHECK-LABEL: func @dots
// CHECK: scf.forall (%{{.*}}) = (0) to (8192) step (16)
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c4
func.func @dots(%x: tensor<1x2048xf32>, %w: tensor<8192x2048xf32>, %e: tensor<1x8192xf32>) -> tensor<1x8192xf32> {
  %t = tensor.empty() : tensor<2048x8192xf32>
  %v = linalg.transpose ins(%w : tensor<8192x2048xf32>) outs(%t : tensor<2048x8192xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%x, %v : tensor<1x2048xf32>, tensor<2048x8192xf32>) outs(%e : tensor<1x8192xf32>) -> tensor<1x8192xf32>
  return %r : tensor<1x8192xf32>
}

// -----

// Panels that are stored are read where they lie.
// CHECK-LABEL: func @stored
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<128x2048x64xf32>
// CHECK: scf.forall (%[[J:.*]]) = (0) to (8192) step (64)
// CHECK: %[[NUMBER:.*]] = affine.apply #{{.*}}()[%[[J]]]
// CHECK-NOT: tensor.empty
// CHECK: vector.transfer_read %[[W]][%[[NUMBER]], %{{.*}}, %c0]
// CHECK: vector.contract
func.func @stored(%x: tensor<1x2048xf32>, %w: tensor<128x2048x64xf32>, %e: tensor<1x8192xf32>) -> tensor<1x8192xf32> {
  %t = tensor.empty() : tensor<2048x8192xf32>
  %v = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [64] into %t : tensor<128x2048x64xf32> -> tensor<2048x8192xf32>
  %r = linalg.matmul ins(%x, %v : tensor<1x2048xf32>, tensor<2048x8192xf32>) outs(%e : tensor<1x8192xf32>) -> tensor<1x8192xf32>
  return %r : tensor<1x8192xf32>
}

// -----

// Ops that share rows share one loop.
// CHECK-LABEL: func @norm
// CHECK: scf.forall (%[[I:.*]]) in (512)
// CHECK-NOT: scf.forall (
// CHECK: scf.forall.in_parallel
// CHECK-NEXT: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[I]], 0] [1, 256] [1, 1]
// CHECK-NOT: scf.forall (
// CHECK: return
func.func @norm(%x: tensor<512x256xf32>) -> tensor<512x256xf32> {
  %z = arith.constant 0.0 : f32
  %v = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%z : f32) outs(%v : tensor<512xf32>) -> tensor<512xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<512x256xf32>) outs(%f : tensor<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<512xf32>
  %e = tensor.empty() : tensor<512x256xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<512x256xf32>, tensor<512xf32>) outs(%e : tensor<512x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<512x256xf32>
  return %r : tensor<512x256xf32>
}

// -----

// Sums along columns are cut into blocks of these, a transposition into whole
// squares, and a vector into long pieces.
// CHECK-LABEL: func @others
// CHECK: scf.forall (%{{.*}}) = (0) to (4096) step (1024)
// CHECK: scf.forall (%[[I:.*]]) = (0) to (4096) step (16)
// CHECK: vector.transpose {{.*}} vector<16x16xf32>
// CHECK: scf.forall.in_parallel
// CHECK-NEXT: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[I]], 0] [16, 64] [1, 1]
// CHECK: scf.forall (%{{.*}}) = (0) to (100000) step (1024)
func.func @others(%x: tensor<64x4096xf32>, %s: tensor<4096xf32>, %e: tensor<4096x64xf32>, %y: tensor<100000xf32>, %z: tensor<100000xf32>) -> (tensor<4096xf32>, tensor<4096x64xf32>, tensor<100000xf32>) {
  %columns = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<64x4096xf32>) outs(%s : tensor<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<4096xf32>
  %t = linalg.transpose ins(%x : tensor<64x4096xf32>) outs(%e : tensor<4096x64xf32>) permutation = [1, 0]
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%y : tensor<100000xf32>) outs(%z : tensor<100000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<100000xf32>
  return %columns, %t, %r : tensor<4096xf32>, tensor<4096x64xf32>, tensor<100000xf32>
}

// -----

// Little work is not worth it.
// CHECK-LABEL: func @little
// CHECK-NOT: scf.forall
// CHECK: return
func.func @little(%x: tensor<16x16xf32>, %w: tensor<16x512xf32>, %e: tensor<16x512xf32>) -> tensor<16x512xf32> {
  %p = linalg.matmul ins(%x, %w : tensor<16x16xf32>, tensor<16x512xf32>) outs(%e : tensor<16x512xf32>) -> tensor<16x512xf32>
  %r = linalg.exp ins(%p : tensor<16x512xf32>) outs(%e : tensor<16x512xf32>) -> tensor<16x512xf32>
  return %r : tensor<16x512xf32>
}

// -----

// A sum of one element is not split, and one panel is not cut.
// CHECK-LABEL: func @one
// CHECK-NOT: scf.forall
// CHECK: return
func.func @one(%x: tensor<524288xf32>, %s: tensor<f32>, %y: tensor<64x8192xf32>, %w: tensor<8192x64xf32>, %e: tensor<64x64xf32>) -> (tensor<f32>, tensor<64x64xf32>) {
  %p = linalg.matmul ins(%y, %w : tensor<64x8192xf32>, tensor<8192x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<524288xf32>) outs(%s : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  return %r, %p : tensor<f32>, tensor<64x64xf32>
}

// -----

// Work in a loop is shared, but not what one of several threads does.
// CHECK-LABEL: func @nested
// CHECK: scf.for
// CHECK: scf.forall (%{{.*}}) = (0) to (320) step (64)
// CHECK: scf.forall (%{{.*}}) in (2)
// CHECK-NOT: scf.forall (
// CHECK: return

// ALONE-LABEL: func @nested
// ALONE: scf.forall (%{{.*}}) in (2)
// ALONE: scf.forall.in_parallel
func.func @nested(%x: tensor<64x32xf32>, %w: tensor<32x320xf32>, %e: tensor<64x320xf32>, %o: tensor<2x64x320xf32>, %n: index) -> (tensor<64x320xf32>, tensor<2x64x320xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %e) -> (tensor<64x320xf32>) {
    %p = linalg.matmul ins(%x, %w : tensor<64x32xf32>, tensor<32x320xf32>) outs(%s : tensor<64x320xf32>) -> tensor<64x320xf32>
    scf.yield %p : tensor<64x320xf32>
  }
  %q = scf.forall (%i) in (2) shared_outs(%s = %o) -> (tensor<2x64x320xf32>) {
    %part = tensor.extract_slice %s[%i, 0, 0] [1, 64, 320] [1, 1, 1] : tensor<2x64x320xf32> to tensor<64x320xf32>
    %p = linalg.matmul ins(%x, %w : tensor<64x32xf32>, tensor<32x320xf32>) outs(%part : tensor<64x320xf32>) -> tensor<64x320xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %p into %s[%i, 0, 0] [1, 64, 320] [1, 1, 1] : tensor<64x320xf32> into tensor<2x64x320xf32>
    }
  }
  return %r, %q : tensor<64x320xf32>, tensor<2x64x320xf32>
}
