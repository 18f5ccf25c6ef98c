// RUN: rope-opt --rope-raise --split-input-file %s | FileCheck %s

// The first elements of a longer tensor are not the tensor.

// CHECK-LABEL: @positions
// CHECK: %[[AT:.*]] = tensor.extract_slice %arg1[0] [4] [1] : tensor<6xi64> to tensor<4xi64>
// CHECK: rope.table {{.*}} ins(%[[AT]] : tensor<4xi64>)
#id = affine_map<(m, d) -> (m, d)>
#row = affine_map<(m, d) -> (m)>
func.func @positions(%x: tensor<4x4xf32>, %ids: tensor<6xi64>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %f = arith.constant dense<[1.0, 0.1]> : tensor<2xf32>
  %p = tensor.extract_slice %ids[0] [4] [1] : tensor<6xi64> to tensor<4xi64>
  %e = tensor.empty() : tensor<4x4xf32>
  %y = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4xi64>) outs(%e : tensor<4x4xf32>) {
    ^bb0(%at: i64, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %n = arith.remui %j, %c2 : index
      %nh = arith.addi %n, %c2 : index
      %w = tensor.extract %f[%n] : tensor<2xf32>
      %r = arith.sitofp %at : i64 to f32
      %t = arith.mulf %r, %w : f32
      %c = math.cos %t : f32
      %s = math.sin %t : f32
      %u = tensor.extract %x[%i, %n] : tensor<4x4xf32>
      %v = tensor.extract %x[%i, %nh] : tensor<4x4xf32>
      %uc = arith.mulf %u, %c : f32
      %vs = arith.mulf %v, %s : f32
      %a = arith.subf %uc, %vs : f32
      %us = arith.mulf %u, %s : f32
      %vc = arith.mulf %v, %c : f32
      %b = arith.addf %us, %vc : f32
      %first = arith.cmpi ult, %j, %c2 : index
      %z = arith.select %first, %a, %b : f32
      linalg.yield %z : f32
  } -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// Of a tensor of any length as well, whose slice is of the same type.
// CHECK-LABEL: @as_many_positions_as_rows
// CHECK: %[[M:.*]] = tensor.dim %arg0
// CHECK: %[[AT:.*]] = tensor.extract_slice %arg1[0] [%[[M]]] [1] : tensor<?xi64> to tensor<?xi64>
// CHECK: rope.table {{.*}} ins(%[[AT]] : tensor<?xi64>)
#id = affine_map<(m, d) -> (m, d)>
#row = affine_map<(m, d) -> (m)>
func.func @as_many_positions_as_rows(%x: tensor<?x4xf32>, %ids: tensor<?xi64>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %f = arith.constant dense<[1.0, 0.1]> : tensor<2xf32>
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %p = tensor.extract_slice %ids[0] [%m] [1] : tensor<?xi64> to tensor<?xi64>
  %e = tensor.empty(%m) : tensor<?x4xf32>
  %y = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<?xi64>) outs(%e : tensor<?x4xf32>) {
    ^bb0(%at: i64, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %n = arith.remui %j, %c2 : index
      %nh = arith.addi %n, %c2 : index
      %w = tensor.extract %f[%n] : tensor<2xf32>
      %r = arith.sitofp %at : i64 to f32
      %t = arith.mulf %r, %w : f32
      %c = math.cos %t : f32
      %s = math.sin %t : f32
      %u = tensor.extract %x[%i, %n] : tensor<?x4xf32>
      %v = tensor.extract %x[%i, %nh] : tensor<?x4xf32>
      %uc = arith.mulf %u, %c : f32
      %vs = arith.mulf %v, %s : f32
      %a = arith.subf %uc, %vs : f32
      %us = arith.mulf %u, %s : f32
      %vc = arith.mulf %v, %c : f32
      %b = arith.addf %us, %vc : f32
      %first = arith.cmpi ult, %j, %c2 : index
      %z = arith.select %first, %a, %b : f32
      linalg.yield %z : f32
  } -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// All elements are the tensor.
// CHECK-LABEL: @all_positions
// CHECK-NOT: tensor.extract_slice
// CHECK: rope.table {{.*}} ins(%arg1 : tensor<4xi64>)
#id = affine_map<(m, d) -> (m, d)>
#row = affine_map<(m, d) -> (m)>
func.func @all_positions(%x: tensor<4x4xf32>, %ids: tensor<4xi64>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %f = arith.constant dense<[1.0, 0.1]> : tensor<2xf32>
  %p = tensor.extract_slice %ids[0] [4] [1] : tensor<4xi64> to tensor<4xi64>
  %e = tensor.empty() : tensor<4x4xf32>
  %y = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4xi64>) outs(%e : tensor<4x4xf32>) {
    ^bb0(%at: i64, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %n = arith.remui %j, %c2 : index
      %nh = arith.addi %n, %c2 : index
      %w = tensor.extract %f[%n] : tensor<2xf32>
      %r = arith.sitofp %at : i64 to f32
      %t = arith.mulf %r, %w : f32
      %c = math.cos %t : f32
      %s = math.sin %t : f32
      %u = tensor.extract %x[%i, %n] : tensor<4x4xf32>
      %v = tensor.extract %x[%i, %nh] : tensor<4x4xf32>
      %uc = arith.mulf %u, %c : f32
      %vs = arith.mulf %v, %s : f32
      %a = arith.subf %uc, %vs : f32
      %us = arith.mulf %u, %s : f32
      %vc = arith.mulf %v, %c : f32
      %b = arith.addf %us, %vc : f32
      %first = arith.cmpi ult, %j, %c2 : index
      %z = arith.select %first, %a, %b : f32
      linalg.yield %z : f32
  } -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @mask
// CHECK: %[[MASK:.*]] = tensor.extract_slice %arg3[0, 0] [3, 5] [1, 1] : tensor<8x8xi1> to tensor<3x5xi1>
// CHECK: rope.attention {{.*}} mask(%[[MASK]] : tensor<3x5xi1>)
#id = affine_map<(m, n) -> (m, n)>
func.func @mask(%q: tensor<3x8xf32>, %k: tensor<5x8xf32>, %v: tensor<5x4xf32>, %mask: tensor<8x8xi1>) -> tensor<3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<3x5xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %qk = linalg.matmul indexing_maps = [affine_map<(m, n, d) -> (m, d)>, affine_map<(m, n, d) -> (n, d)>, affine_map<(m, n, d) -> (m, n)>]
      ins(%q, %k : tensor<3x8xf32>, tensor<5x8xf32>) outs(%z0 : tensor<3x5xf32>) -> tensor<3x5xf32>
  %keep = tensor.extract_slice %mask[0, 0] [3, 5] [1, 1] : tensor<8x8xi1> to tensor<3x5xi1>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%qk, %keep : tensor<3x5xf32>, tensor<3x5xi1>) outs(%e : tensor<3x5xf32>) {
    ^bb0(%a: f32, %b: i1, %o: f32):
      %r = arith.select %b, %a, %hidden : f32
      linalg.yield %r : f32
  } -> tensor<3x5xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %eo = tensor.empty() : tensor<3x4xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<3x4xf32>) -> tensor<3x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<3x5xf32>, tensor<5x4xf32>) outs(%o0 : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// -----

// CHECK-LABEL: @mask_of_any_size
// CHECK: %[[MASK:.*]] = tensor.extract_slice %arg3[0, 0] [3, 5] [1, 1] : tensor<?x?xi1> to tensor<3x5xi1>
// CHECK: rope.attention {{.*}} mask(%[[MASK]] : tensor<3x5xi1>)
#id = affine_map<(m, n) -> (m, n)>
func.func @mask_of_any_size(%q: tensor<3x8xf32>, %k: tensor<5x8xf32>, %v: tensor<5x4xf32>, %mask: tensor<?x?xi1>) -> tensor<3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<3x5xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %qk = linalg.matmul indexing_maps = [affine_map<(m, n, d) -> (m, d)>, affine_map<(m, n, d) -> (n, d)>, affine_map<(m, n, d) -> (m, n)>]
      ins(%q, %k : tensor<3x8xf32>, tensor<5x8xf32>) outs(%z0 : tensor<3x5xf32>) -> tensor<3x5xf32>
  %keep = tensor.extract_slice %mask[0, 0] [3, 5] [1, 1] : tensor<?x?xi1> to tensor<3x5xi1>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%qk, %keep : tensor<3x5xf32>, tensor<3x5xi1>) outs(%e : tensor<3x5xf32>) {
    ^bb0(%a: f32, %b: i1, %o: f32):
      %r = arith.select %b, %a, %hidden : f32
      linalg.yield %r : f32
  } -> tensor<3x5xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %eo = tensor.empty() : tensor<3x4xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<3x4xf32>) -> tensor<3x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<3x5xf32>, tensor<5x4xf32>) outs(%o0 : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// -----

// CHECK-LABEL: @positions_of_two_axes
// CHECK: tensor.extract_slice %arg1[0, 0] [1, 4] [1, 1] : tensor<2x6xi64> to tensor<4xi64>
// CHECK: tensor.extract_slice %arg1[1, 0] [1, 4] [1, 1] : tensor<2x6xi64> to tensor<4xi64>
// CHECK: rope.table {{.*}} ins(%{{.*}} : tensor<2x4xi64>) axes [0, 1]
#id = affine_map<(m, d) -> (m, d)>
func.func @positions_of_two_axes(%x: tensor<4x4xf32>, %ids: tensor<2x6xi64>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %f = arith.constant dense<[1.0, 0.1]> : tensor<2xf32>
  %p = tensor.extract_slice %ids[0, 0] [2, 4] [1, 1] : tensor<2x6xi64> to tensor<2x4xi64>
  %e = tensor.empty() : tensor<4x4xf32>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x4xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %n = arith.remui %j, %c2 : index
      %nh = arith.addi %n, %c2 : index
      %at = tensor.extract %p[%n, %i] : tensor<2x4xi64>
      %w = tensor.extract %f[%n] : tensor<2xf32>
      %r = arith.sitofp %at : i64 to f32
      %t = arith.mulf %r, %w : f32
      %c = math.cos %t : f32
      %s = math.sin %t : f32
      %u = tensor.extract %x[%i, %n] : tensor<4x4xf32>
      %v = tensor.extract %x[%i, %nh] : tensor<4x4xf32>
      %uc = arith.mulf %u, %c : f32
      %vs = arith.mulf %v, %s : f32
      %a = arith.subf %uc, %vs : f32
      %us = arith.mulf %u, %s : f32
      %vc = arith.mulf %v, %c : f32
      %b = arith.addf %us, %vc : f32
      %first = arith.cmpi ult, %j, %c2 : index
      %z = arith.select %first, %a, %b : f32
      linalg.yield %z : f32
  } -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
