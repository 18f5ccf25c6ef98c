// Weights that are stored in panels.

// RUN: rope-opt %s --rope-normalize-linalg --rope-pack-weights=dots --rope-tile-linalg=dots --verify-each | FileCheck %s
// RUN: rope-opt %s --rope-normalize-linalg --rope-pack-weights=dots --rope-tile-linalg="dots threads" --verify-each | FileCheck %s --check-prefix=THREADS

#id = affine_map<(i, j) -> (i, j)>

// Lines of the next panel come while one is used, and rows of the next tile: a
// step of a panel has four lines. The last panel touches its own.
// CHECK-LABEL: func @next(
// CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<96x320xf32>, %[[W:[a-z0-9]*]]: tensor<4x320x64xf32>
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK: scf.for %[[AT:.*]] = %{{.*}} step %c64
// CHECK: %[[PANEL:.*]] = affine.apply {{.*}}%[[AT]]
// CHECK: %[[AFTER:.*]] = arith.addi %[[PANEL]], %[[C1]]
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[AFTER]], %[[C4]]
// CHECK: %[[NEXT:.*]] = arith.select %[[MORE]], %[[AFTER]], %[[PANEL]]
// CHECK: %[[MEMORY:.*]] = bufferization.to_buffer %[[W]] read_only
// CHECK: %[[ROWS:.*]] = bufferization.to_buffer %[[A]] read_only
// CHECK: %[[END:.*]] = arith.minui
// CHECK-NEXT: scf.for %[[LINE:.*]] = %{{.*}} to %[[END]] step
// CHECK-DAG: %[[STEP:.*]] = arith.divui %[[LINE]], %[[C4]]
// CHECK-DAG: %[[IN_STEP:.*]] = arith.remui %[[LINE]], %[[C4]]
// CHECK-DAG: %[[LANE:.*]] = arith.muli %[[IN_STEP]], %[[C16]]
// CHECK: memref.prefetch %[[MEMORY]][%[[NEXT]], %[[STEP]], %[[LANE]]], read, locality<2>
// CHECK-COUNT-6: memref.prefetch %[[ROWS]][
// CHECK-NOT: memref.prefetch
// CHECK: vector.contract
func.func @next(%a: tensor<96x320xf32>, %w: tensor<320x256xf32> {rope.weight}, %e: tensor<96x256xf32>) -> tensor<96x256xf32> {
  %r = linalg.matmul ins(%a, %w : tensor<96x320xf32>, tensor<320x256xf32>) outs(%e : tensor<96x256xf32>) -> tensor<96x256xf32>
  return %r : tensor<96x256xf32>
}

// A line of pairs has both steps of 16 lanes.
// CHECK-LABEL: func @pairs(
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<4x160x64x2xbf16>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK: %[[MEMORY:.*]] = bufferization.to_buffer %[[W]] read_only
// CHECK: %[[END:.*]] = arith.minui
// CHECK-NEXT: scf.for %[[LINE:.*]] = %{{.*}} to %[[END]] step
// CHECK-DAG: %[[PAIR:.*]] = arith.divui %[[LINE]], %[[C4]]
// CHECK-DAG: %[[IN_PAIR:.*]] = arith.remui %[[LINE]], %[[C4]]
// CHECK-DAG: %[[LANE:.*]] = arith.muli %[[IN_PAIR]], %[[C16]]
// CHECK: memref.prefetch %[[MEMORY]][%{{.*}}, %[[PAIR]], %[[LANE]], %[[C0]]], read, locality<2>
func.func @pairs(%a: tensor<96x320xbf16>, %w: tensor<320x256xbf16> {rope.weight}, %e: tensor<96x256xf32>) -> tensor<96x256xf32> {
  %r = linalg.matmul ins(%a, %w : tensor<96x320xbf16>, tensor<320x256xbf16>) outs(%e : tensor<96x256xf32>) -> tensor<96x256xf32>
  return %r : tensor<96x256xf32>
}

// A long sum in blocks: after the last of a panel comes the next panel.
// CHECK-LABEL: func @blocks(
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<4x4096x64xf32>
// CHECK: scf.for %[[AT:.*]] = %{{.*}} to
// CHECK: scf.for %[[FROM:.*]] = %[[ZERO:.*]] to
// CHECK: %[[NEXT:.*]] = arith.select
// CHECK: %[[AFTER:.*]] = arith.addi %[[FROM]]
// CHECK: %[[STEP:.*]] = arith.select %{{.*}}, %[[AFTER]], %[[ZERO]]
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[STEP]], %[[ZERO]]
// CHECK: %[[NUMBER:.*]] = arith.select %[[LAST]], %[[NEXT]]
// CHECK: %[[MEMORY:.*]] = bufferization.to_buffer %[[W]] read_only
// CHECK: memref.prefetch %[[MEMORY]][%[[NUMBER]],
func.func @blocks(%a: tensor<96x4096xf32>, %w: tensor<4096x256xf32> {rope.weight}, %e: tensor<96x256xf32>) -> tensor<96x256xf32> {
  %r = linalg.matmul ins(%a, %w : tensor<96x4096xf32>, tensor<4096x256xf32>) outs(%e : tensor<96x256xf32>) -> tensor<96x256xf32>
  return %r : tensor<96x256xf32>
}

// CHECK-LABEL: func @one_panel(
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @one_panel(%a: tensor<96x320xf32>, %w: tensor<320x64xf32> {rope.weight}, %e: tensor<96x64xf32>) -> tensor<96x64xf32> {
  %r = linalg.matmul ins(%a, %w : tensor<96x320xf32>, tensor<320x64xf32>) outs(%e : tensor<96x64xf32>) -> tensor<96x64xf32>
  return %r : tensor<96x64xf32>
}

// Results that are only rounded go to memory tile by tile.
// CHECK-LABEL: func @rounded(
// CHECK: tensor.empty() : tensor<96x256xbf16>
// CHECK: scf.for {{.*}} step %c64
// CHECK: scf.for {{.*}} step %c6
// CHECK: tensor.empty() : tensor<6x64xf32>
// CHECK: memref.prefetch
// CHECK: scf.for
// CHECK: x86vector.avx512.dot
// CHECK: arith.truncf {{.*}} to vector<64xbf16>
// CHECK: return
// THREADS-LABEL: func @rounded(
// THREADS: scf.forall
// THREADS: scf.for {{.*}} step %c6
// THREADS: tensor.empty() : tensor<6x64xf32>
// THREADS: x86vector.avx512.dot
// THREADS: arith.truncf {{.*}} to vector<64xbf16>
// THREADS: return
func.func @rounded(%a: tensor<96x320xbf16>, %w: tensor<320x256xbf16> {rope.weight}) -> tensor<96x256xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x256xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<96x256xf32>) -> tensor<96x256xf32>
  %p = linalg.matmul ins(%a, %w : tensor<96x320xbf16>, tensor<320x256xbf16>) outs(%z : tensor<96x256xf32>) -> tensor<96x256xf32>
  %f = tensor.empty() : tensor<96x256xbf16>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<96x256xf32>) outs(%f : tensor<96x256xbf16>) {
  ^bb0(%x: f32, %o: bf16):
    %0 = arith.truncf %x : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<96x256xbf16>
  return %r : tensor<96x256xbf16>
}

// Any number of rows, with what is left of them after the last tile.
// CHECK-LABEL: func @rows_left(
// CHECK: scf.for {{.*}} step %c64
// CHECK: scf.for {{.*}} step %c6
// CHECK: tensor.empty() : tensor<6x64xf32>
// CHECK: arith.addf {{.*}} : vector<64xf32>
// CHECK: tensor.empty() : tensor<10x64xf32>
// CHECK: arith.addf {{.*}} : vector<64xf32>
// CHECK-LABEL: func @rounded_dynamic(
// CHECK: scf.for {{.*}} step %c6
// CHECK: tensor.empty() : tensor<6x64xf32>
// CHECK: memref.prefetch
// CHECK: arith.truncf {{.*}} to vector<64xbf16>
func.func @rows_left(%a: tensor<100x320xf32>, %w: tensor<320x256xf32> {rope.weight}, %c: f32) -> tensor<100x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100x256xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<100x256xf32>) -> tensor<100x256xf32>
  %p = linalg.matmul ins(%a, %w : tensor<100x320xf32>, tensor<320x256xf32>) outs(%z : tensor<100x256xf32>) -> tensor<100x256xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<100x256xf32>) outs(%e : tensor<100x256xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %x, %c : f32
    linalg.yield %0 : f32
  } -> tensor<100x256xf32>
  return %r : tensor<100x256xf32>
}

func.func @rounded_dynamic(%a: tensor<?x320xbf16>, %w: tensor<320x256xbf16> {rope.weight}) -> tensor<?x256xbf16> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x320xbf16>
  %e = tensor.empty(%m) : tensor<?x256xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
  %p = linalg.matmul ins(%a, %w : tensor<?x320xbf16>, tensor<320x256xbf16>) outs(%z : tensor<?x256xf32>) -> tensor<?x256xf32>
  %f = tensor.empty(%m) : tensor<?x256xbf16>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<?x256xf32>) outs(%f : tensor<?x256xbf16>) {
  ^bb0(%x: f32, %o: bf16):
    %0 = arith.truncf %x : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<?x256xbf16>
  return %r : tensor<?x256xbf16>
}

// What reads something else as well waits for memory.
// CHECK-LABEL: func @residual(
// CHECK: tensor.empty() : tensor<96x64xf32>
// CHECK: arith.addf {{.*}} : vector<64xf32>
func.func @residual(%a: tensor<96x320xf32>, %w: tensor<320x256xf32> {rope.weight}, %b: tensor<96x256xf32>) -> tensor<96x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x256xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<96x256xf32>) -> tensor<96x256xf32>
  %p = linalg.matmul ins(%a, %w : tensor<96x320xf32>, tensor<320x256xf32>) outs(%z : tensor<96x256xf32>) -> tensor<96x256xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %b : tensor<96x256xf32>, tensor<96x256xf32>) outs(%e : tensor<96x256xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<96x256xf32>
  return %r : tensor<96x256xf32>
}

// Exponentials of few rows would wait for each other.
// CHECK-LABEL: func @exponential(
// CHECK: tensor.empty() : tensor<96x64xf32>
// CHECK: math.exp
func.func @exponential(%a: tensor<96x320xf32>, %w: tensor<320x256xf32> {rope.weight}) -> tensor<96x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x256xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<96x256xf32>) -> tensor<96x256xf32>
  %p = linalg.matmul ins(%a, %w : tensor<96x320xf32>, tensor<320x256xf32>) outs(%z : tensor<96x256xf32>) -> tensor<96x256xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<96x256xf32>) outs(%e : tensor<96x256xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = math.exp %x : f32
    linalg.yield %0 : f32
  } -> tensor<96x256xf32>
  return %r : tensor<96x256xf32>
}

// A sum that takes several blocks, for each of which tiles would read a panel
// anew, and a weight that is packed in the call.
// CHECK-LABEL: func @long(
// CHECK: tensor.empty() : tensor<96x64xf32>
// CHECK: arith.truncf
// CHECK-LABEL: func @packed(
// CHECK: tensor.empty() : tensor<96x64xf32>
// CHECK: arith.truncf
func.func @long(%a: tensor<96x8192xbf16>, %w: tensor<8192x256xbf16> {rope.weight}) -> tensor<96x256xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x256xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<96x256xf32>) -> tensor<96x256xf32>
  %p = linalg.matmul ins(%a, %w : tensor<96x8192xbf16>, tensor<8192x256xbf16>) outs(%z : tensor<96x256xf32>) -> tensor<96x256xf32>
  %f = tensor.empty() : tensor<96x256xbf16>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<96x256xf32>) outs(%f : tensor<96x256xbf16>) {
  ^bb0(%x: f32, %o: bf16):
    %0 = arith.truncf %x : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<96x256xbf16>
  return %r : tensor<96x256xbf16>
}

func.func @packed(%a: tensor<96x320xbf16>, %w: tensor<320x256xbf16>) -> tensor<96x256xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x256xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<96x256xf32>) -> tensor<96x256xf32>
  %p = linalg.matmul ins(%a, %w : tensor<96x320xbf16>, tensor<320x256xbf16>) outs(%z : tensor<96x256xf32>) -> tensor<96x256xf32>
  %f = tensor.empty() : tensor<96x256xbf16>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<96x256xf32>) outs(%f : tensor<96x256xbf16>) {
  ^bb0(%x: f32, %o: bf16):
    %0 = arith.truncf %x : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<96x256xbf16>
  return %r : tensor<96x256xbf16>
}
