// RUN: rope-opt --rope-raise %s | FileCheck %s

// No slice of one tensor is the table: its columns stand side by side.
// CHECK-LABEL: @two
// CHECK: %[[COS:.*]] = tensor.concat dim(1) %{{.*}}, %{{.*}} : (tensor<8x1xf32>, tensor<8x1xf32>)
// CHECK: %[[SIN:.*]] = tensor.concat dim(1) %{{.*}}, %{{.*}} : (tensor<8x1xf32>, tensor<8x1xf32>)
// CHECK: %[[TABLE:.*]] = rope.assemble ins(%[[COS]], %[[SIN]]
// CHECK: rope.rotate <half along [0]> ins(%arg0, %[[TABLE]]
func.func @two(%x: tensor<8x4xf32>, %c0: tensor<8xf32>, %c1: tensor<8xf32>, %s0: tensor<8xf32>, %s1: tensor<8xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %c2 = arith.constant 2 : index
  %c1i = arith.constant 1 : index
  %y = linalg.generic {indexing_maps = [affine_map<(m, d) -> (m, d)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<8x4xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = arith.remui %j, %c2 : index
      %k2 = arith.addi %k, %c2 : index
      %one = arith.cmpi eq, %k, %c1i : index
      %ca = tensor.extract %c0[%i] : tensor<8xf32>
      %cb = tensor.extract %c1[%i] : tensor<8xf32>
      %sa = tensor.extract %s0[%i] : tensor<8xf32>
      %sb = tensor.extract %s1[%i] : tensor<8xf32>
      %c = arith.select %one, %cb, %ca : f32
      %s = arith.select %one, %sb, %sa : f32
      %u = tensor.extract %x[%i, %k] : tensor<8x4xf32>
      %v = tensor.extract %x[%i, %k2] : tensor<8x4xf32>
      %uc = arith.mulf %u, %c : f32
      %vs = arith.mulf %v, %s : f32
      %a = arith.subf %uc, %vs : f32
      %us = arith.mulf %u, %s : f32
      %vc = arith.mulf %v, %c : f32
      %b = arith.addf %us, %vc : f32
      %first = arith.cmpi ult, %j, %c2 : index
      %r = arith.select %first, %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
