// RUN: rope-opt --rope-raise --cse %s | FileCheck %s

// Query and key are known to be as long as the positions, so that their tables
// are one.
// CHECK-LABEL: @as_long_as_the_positions
// CHECK: %[[TABLE:.*]] = rope.table
// CHECK-NOT: rope.table
// CHECK: rope.rotate {{.*}} ins(%arg0, %[[TABLE]]
// CHECK-NOT: rope.table
// CHECK: rope.rotate {{.*}} ins(%arg1, %[[TABLE]]
#id = affine_map<(m, d) -> (m, d)>
#row = affine_map<(m, d) -> (m)>
func.func @as_long_as_the_positions(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>, %ids: tensor<?xi64>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %f = arith.constant dense<[1.0, 0.1]> : tensor<2xf32>
  %mq = tensor.dim %q, %c0 : tensor<?x4xf32>
  %mk = tensor.dim %k, %c0 : tensor<?x4xf32>
  %mi = tensor.dim %ids, %c0 : tensor<?xi64>
  %equal = arith.cmpi eq, %mq, %mi : index
  cf.assert %equal, "as many rows as positions"
  %equal1 = arith.cmpi eq, %mk, %mi : index
  cf.assert %equal1, "as many rows as positions"
  %eq = tensor.empty(%mq) : tensor<?x4xf32>
  %y = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<?xi64>) outs(%eq : tensor<?x4xf32>) {
    ^bb0(%id: i64, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %n = arith.remui %j, %c2 : index
      %nh = arith.addi %n, %c2 : index
      %w = tensor.extract %f[%n] : tensor<2xf32>
      %p = arith.sitofp %id : i64 to f32
      %t = arith.mulf %p, %w : f32
      %c = math.cos %t : f32
      %s = math.sin %t : f32
      %u = tensor.extract %q[%i, %n] : tensor<?x4xf32>
      %v = tensor.extract %q[%i, %nh] : tensor<?x4xf32>
      %uc = arith.mulf %u, %c : f32
      %vs = arith.mulf %v, %s : f32
      %a = arith.subf %uc, %vs : f32
      %us = arith.mulf %u, %s : f32
      %vc = arith.mulf %v, %c : f32
      %b = arith.addf %us, %vc : f32
      %first = arith.cmpi ult, %j, %c2 : index
      %r = arith.select %first, %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<?x4xf32>
  %ek = tensor.empty(%mk) : tensor<?x4xf32>
  %z = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<?xi64>) outs(%ek : tensor<?x4xf32>) {
    ^bb0(%id: i64, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %n = arith.remui %j, %c2 : index
      %nh = arith.addi %n, %c2 : index
      %w = tensor.extract %f[%n] : tensor<2xf32>
      %p = arith.sitofp %id : i64 to f32
      %t = arith.mulf %p, %w : f32
      %c = math.cos %t : f32
      %s = math.sin %t : f32
      %u = tensor.extract %k[%i, %n] : tensor<?x4xf32>
      %v = tensor.extract %k[%i, %nh] : tensor<?x4xf32>
      %uc = arith.mulf %u, %c : f32
      %vs = arith.mulf %v, %s : f32
      %a = arith.subf %uc, %vs : f32
      %us = arith.mulf %u, %s : f32
      %vc = arith.mulf %v, %c : f32
      %b = arith.addf %us, %vc : f32
      %first = arith.cmpi ult, %j, %c2 : index
      %r = arith.select %first, %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<?x4xf32>
  return %y, %z : tensor<?x4xf32>, tensor<?x4xf32>
}
