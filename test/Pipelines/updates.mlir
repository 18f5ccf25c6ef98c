// Updates of one index change a cache that the caller gives away in place, and
// compute what the model's choice over the whole of it does.

// RUN: rope-opt %s --rope-cpu-pipeline=raise=true --mlir-print-ir-after=rope-plan-memory -o /dev/null 2>&1 | FileCheck %s
// RUN: rope-run %s --entry caches --random 1 --dims 5 --save %t.npz
// RUN: rope-run %s --entry caches --random 1 --dims 5 --pipeline-options=raise=true --expect %t.npz --rtol 0 | FileCheck %s --check-prefix=SAME
// RUN: rope-run %s --entry caches --random 1 --dims 0 --pipeline-options="portable raise=true"
// RUN: rope-opt %s --rope-explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN

// EXPLAIN: raised {{.*}}, 5 updates
// SAME-COUNT-5: max_abs 0.000e+00 {{.*}} ok

// CHECK-LABEL: func.func @in_place(
// CHECK-SAME: %[[CACHE:[a-z0-9]*]]: memref<2x64x8xf32>
// CHECK-NOT: memref.copy {{.*}}64x8
// CHECK: memref.subview %[[CACHE]][0, %{{.*}}, 0] [2, 1, 8]
// CHECK-NOT: memref.copy {{.*}}64x8
// CHECK-NOT: to %c64 step
// CHECK: return
// CHECK-LABEL: func.func @batch_in_place(
// CHECK-NOT: memref.alloc({{.*}} : memref<2x?x8xf32>
// CHECK-NOT: memref.copy {{.*}}2x?x8
// CHECK: return
func.func @in_place(%cache: tensor<2x64x8xf32> {bufferization.writable = true}, %new: tensor<2x8xf32>, %position: tensor<i64>) -> f32 {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<2x64x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, s, d) -> (b, s, d)>, affine_map<(b, s, d) -> (b, d)>, affine_map<(b, s, d) -> ()>, affine_map<(b, s, d) -> (b, s, d)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%cache, %new, %position : tensor<2x64x8xf32>, tensor<2x8xf32>, tensor<i64>) outs(%e : tensor<2x64x8xf32>) {
  ^bb0(%k: f32, %n: f32, %p: i64, %o: f32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i64
    %c = arith.cmpi eq, %p, %j : i64
    %s = arith.select %c, %n, %k : f32
    linalg.yield %s : f32
  } -> tensor<2x64x8xf32>
  %i = tensor.extract %position[] : tensor<i64>
  %x = arith.index_cast %i : i64 to index
  %v = tensor.extract %r[%c0, %x, %c0] : tensor<2x64x8xf32>
  return %v : f32
}

func.func @batch_in_place(%cache: tensor<2x?x8xf32> {bufferization.writable = true}, %new: tensor<2x8xf32>, %positions: tensor<2xi64>) -> f32 {
  %c0 = arith.constant 0 : index
  %r = linalg.generic {indexing_maps = [affine_map<(b, s, d) -> (b, d)>, affine_map<(b, s, d) -> (b)>, affine_map<(b, s, d) -> (b, s, d)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%new, %positions : tensor<2x8xf32>, tensor<2xi64>) outs(%cache : tensor<2x?x8xf32>) {
  ^bb0(%n: f32, %p: i64, %k: f32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i64
    %c = arith.cmpi eq, %p, %j : i64
    %s = arith.select %c, %n, %k : f32
    linalg.yield %s : f32
  } -> tensor<2x?x8xf32>
  %i = tensor.extract %positions[%c0] : tensor<2xi64>
  %x = arith.index_cast %i : i64 to index
  %v = tensor.extract %r[%c0, %x, %c0] : tensor<2x?x8xf32>
  return %v : f32
}

// At each end and beyond them; where sequences of a batch are at different
// positions, of which some are out of bounds; of dynamic extents, or none.
func.func @caches(%x: tensor<4x6x3xf32>, %y: tensor<4x40x3xf32>, %new: tensor<4x3xf32>, %each: tensor<4xi64>, %d: tensor<?x3xf32>, %at: tensor<1xi32>)
    -> (tensor<4x6x3xf32>, tensor<4x6x3xf32>, tensor<4x6x3xf32>, tensor<4x40x3xf32>, tensor<?x3xf32>) {
  %below = arith.constant -1 : index
  %above = arith.constant 6 : index
  %last = arith.constant 5 : index
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %a = func.call @set(%x, %new, %below) : (tensor<4x6x3xf32>, tensor<4x3xf32>, index) -> tensor<4x6x3xf32>
  %b = func.call @set(%x, %new, %above) : (tensor<4x6x3xf32>, tensor<4x3xf32>, index) -> tensor<4x6x3xf32>
  %c = func.call @set(%x, %new, %last) : (tensor<4x6x3xf32>, tensor<4x3xf32>, index) -> tensor<4x6x3xf32>
  %e = tensor.empty() : tensor<4x40x3xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(b, s, d) -> (b, s, d)>, affine_map<(b, s, d) -> (b, d)>, affine_map<(b, s, d) -> (b)>, affine_map<(b, s, d) -> (b, s, d)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y, %new, %each : tensor<4x40x3xf32>, tensor<4x3xf32>, tensor<4xi64>) outs(%e : tensor<4x40x3xf32>) {
  ^bb0(%k: f32, %n: f32, %p: i64, %o: f32):
    %c15 = arith.constant 15 : i64
    %far = arith.muli %p, %c15 : i64
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i64
    %t = arith.cmpi eq, %far, %j : i64
    %s = arith.select %t, %n, %k : f32
    linalg.yield %s : f32
  } -> tensor<4x40x3xf32>
  %size = tensor.dim %d, %c0 : tensor<?x3xf32>
  %g = tensor.empty(%size) : tensor<?x3xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(s, d) -> (s, d)>, affine_map<(s, d) -> (0)>, affine_map<(s, d) -> (s, d)>], iterator_types = ["parallel", "parallel"]}
      ins(%d, %at : tensor<?x3xf32>, tensor<1xi32>) outs(%g : tensor<?x3xf32>) {
  ^bb0(%k: f32, %p: i32, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    // A position in a ring, of which there is none without slots.
    %c12 = arith.constant 12 : i32
    %q = arith.addi %p, %c12 : i32
    %n = arith.index_cast %size : index to i32
    %slot = arith.remsi %q, %n : i32
    %t = arith.cmpi eq, %slot, %j : i32
    %s = arith.select %t, %one, %k : f32
    linalg.yield %s : f32
  } -> tensor<?x3xf32>
  return %a, %b, %c, %f, %h : tensor<4x6x3xf32>, tensor<4x6x3xf32>, tensor<4x6x3xf32>, tensor<4x40x3xf32>, tensor<?x3xf32>
}

func.func private @set(%x: tensor<4x6x3xf32>, %new: tensor<4x3xf32>, %position: index) -> tensor<4x6x3xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(b, s, d) -> (b, d)>, affine_map<(b, s, d) -> (b, s, d)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%new : tensor<4x3xf32>) outs(%x : tensor<4x6x3xf32>) {
  ^bb0(%n: f32, %k: f32):
    %i = linalg.index 1 : index
    %t = arith.cmpi ne, %position, %i : index
    %s = arith.select %t, %k, %n : f32
    linalg.yield %s : f32
  } -> tensor<4x6x3xf32>
  return %r : tensor<4x6x3xf32>
}
