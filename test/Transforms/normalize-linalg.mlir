// RUN: rope-opt %s --split-input-file --rope-normalize-linalg | FileCheck %s

#all = affine_map<(b, i, j) -> (b, i, j)>
#sum = affine_map<(b, i, j) -> (b, i)>

// The arg max beside a max is not read and goes; so does the unit dim. The
// scale runs inside its reader.
// CHECK-LABEL: func @reduction
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
// CHECK-SAME: outs(%{{.*}} : tensor<8xf32>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[M:.*]]: f32):
// CHECK-NEXT: %[[S:.*]] = arith.mulf %[[X]]
// CHECK-NEXT: arith.maximumf %[[S]], %[[M]]
// CHECK-NOT: linalg.generic
func.func @reduction(%x: tensor<1x8x16xf32>) -> tensor<1x8xf32> {
  %half = arith.constant 0.5 : f32
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<1x8x16xf32>
  %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x8x16xf32>) outs(%e : tensor<1x8x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %half : f32
    linalg.yield %0 : f32
  } -> tensor<1x8x16xf32>
  %e0 = tensor.empty() : tensor<1x8xf32>
  %e1 = tensor.empty() : tensor<1x8xi64>
  %f0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<1x8xf32>) -> tensor<1x8xf32>
  %f1 = linalg.fill ins(%zero : i64) outs(%e1 : tensor<1x8xi64>) -> tensor<1x8xi64>
  %r:2 = linalg.generic {indexing_maps = [#all, #sum, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : tensor<1x8x16xf32>) outs(%f0, %f1 : tensor<1x8xf32>, tensor<1x8xi64>) {
  ^bb0(%a: f32, %m: f32, %i: i64):
    %at = linalg.index 2 : index
    %n = arith.index_cast %at : index to i64
    %0 = arith.maximumf %a, %m : f32
    %1 = arith.cmpf ogt, %a, %m : f32
    %2 = arith.select %1, %n, %i : i64
    linalg.yield %0, %2 : f32, i64
  } -> (tensor<1x8xf32>, tensor<1x8xi64>)
  return %r#0 : tensor<1x8xf32>
}

// -----

// An exponential with two readers is computed once.
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: func @shared
// CHECK-COUNT-1: math.exp
// CHECK-NOT: math.exp
func.func @shared(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = tensor.empty() : tensor<8xf32>
  %1 = linalg.exp ins(%x : tensor<8xf32>) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  %2 = linalg.abs ins(%1 : tensor<8xf32>) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  %3 = linalg.negf ins(%1 : tensor<8xf32>) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  return %2, %3 : tensor<8xf32>, tensor<8xf32>
}

// -----

// An exponential of a row is not moved into a reader that repeats the row.
// CHECK-LABEL: func @broadcast
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK: arith.mulf
func.func @broadcast(%x: tensor<8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = tensor.empty() : tensor<8xf32>
  %1 = tensor.empty() : tensor<4x8xf32>
  %2 = linalg.exp ins(%x : tensor<8xf32>) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%2, %y : tensor<8xf32>, tensor<4x8xf32>) outs(%1 : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// The product reads the weight as it is stored.
// CHECK: #[[$W:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func @transposed
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[$W]], #{{.*}}]
// CHECK-SAME: ins(%arg0, %arg1 :
func.func @transposed(%a: tensor<4x8xf32>, %w: tensor<6x8xf32>, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<8x6xf32>
  %t = linalg.transpose ins(%w : tensor<6x8xf32>) outs(%e : tensor<8x6xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%a, %t : tensor<4x8xf32>, tensor<8x6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// -----

// 16-bit sums are f32 sums, rounded once; what they start from is widened.
// CHECK-LABEL: func @narrow
// CHECK: %[[C:.*]] = linalg.generic {{.*}} ins(%arg2 : tensor<4x6xf16>) outs(%{{.*}} : tensor<4x6xf32>)
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<4x8xf16>, tensor<8x6xf16>) outs(%[[C]] : tensor<4x6xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[R]] : tensor<4x6xf32>) outs(%{{.*}} : tensor<4x6xf16>)
func.func @narrow(%a: tensor<4x8xf16>, %b: tensor<8x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x6xf16>) outs(%c : tensor<4x6xf16>) -> tensor<4x6xf16>
  return %r : tensor<4x6xf16>
}

// -----

// Each product starts from a fill of its own, in a tensor of its own.
// CHECK-LABEL: func @unshared
// CHECK-COUNT-2: tensor.empty
// CHECK-COUNT-2: linalg.fill
func.func @unshared(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %g = linalg.abs ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x6xf32>) outs(%f : tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = linalg.matmul ins(%g, %b : tensor<4x8xf32>, tensor<8x6xf32>) outs(%f : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0, %1 : tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

#both = affine_map<(i, j) -> (i, j)>

// Ops on buffers keep their unit dims: without them static and dynamic types of
// one dim would be reshaped forth and back for ever.
// CHECK-LABEL: func @buffers
// CHECK: linalg.generic
// CHECK-SAME: memref<1x3xf32>, memref<?x3xf64>
func.func @buffers(%a: memref<1x3xf32>, %b: memref<?x3xf64>, %o: memref<1x3xf32, strided<[6, 1]>>) {
  linalg.generic {indexing_maps = [#both, #both, #both], iterator_types = ["parallel", "parallel"]}
    ins(%a, %b : memref<1x3xf32>, memref<?x3xf64>) outs(%o : memref<1x3xf32, strided<[6, 1]>>) {
  ^bb0(%x: f32, %y: f64, %z: f32):
    %0 = arith.truncf %y : f64 to f32
    %1 = arith.addf %x, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
