// RUN: rope-opt --rope-raise --split-input-file %s | FileCheck %s

// The rows of a constant are those of a grid, behind one that does not turn.
// CHECK-LABEL: @grid
// CHECK: %[[AT:.*]] = arith.constant dense<{{\[\[}}0, 0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 0, 1, 2, 0, 1, 2, 0, 1, 2]]> : tensor<2x10xi64>
// CHECK: rope.table #rope.explicit<frequencies = [5.000000e-01, 0.05000000074505806, 5.000000e-01, 0.05000000074505806]> ins(%[[AT]] : tensor<2x10xi64>) axes [0, 0, 1, 1] f32_angle
// CHECK: rope.rotate <half along [0]>
#id = affine_map<(m, d) -> (m, d)>
func.func @grid(%x: tensor<10x8xf32>) -> tensor<10x8xf32> {
  %cos = arith.constant dense<[[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.8775825500488281, 0.9987502694129944], [1.0, 1.0, 0.5403022766113281, 0.9950041770935059], [0.8775825500488281, 0.9987502694129944, 1.0, 1.0], [0.8775825500488281, 0.9987502694129944, 0.8775825500488281, 0.9987502694129944], [0.8775825500488281, 0.9987502694129944, 0.5403022766113281, 0.9950041770935059], [0.5403022766113281, 0.9950041770935059, 1.0, 1.0], [0.5403022766113281, 0.9950041770935059, 0.8775825500488281, 0.9987502694129944], [0.5403022766113281, 0.9950041770935059, 0.5403022766113281, 0.9950041770935059]]> : tensor<10x4xf32>
  %sin = arith.constant dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.4794255495071411, 0.04997916892170906], [0.0, 0.0, 0.8414709568023682, 0.0998334214091301], [0.4794255495071411, 0.04997916892170906, 0.0, 0.0], [0.4794255495071411, 0.04997916892170906, 0.4794255495071411, 0.04997916892170906], [0.4794255495071411, 0.04997916892170906, 0.8414709568023682, 0.0998334214091301], [0.8414709568023682, 0.0998334214091301, 0.0, 0.0], [0.8414709568023682, 0.0998334214091301, 0.4794255495071411, 0.04997916892170906], [0.8414709568023682, 0.0998334214091301, 0.8414709568023682, 0.0998334214091301]]> : tensor<10x4xf32>
  %half = arith.constant 4 : index
  %e = tensor.empty() : tensor<10x8xf32>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<10x8xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = arith.remui %j, %half : index
      %kh = arith.addi %k, %half : index
      %c = tensor.extract %cos[%i, %k] : tensor<10x4xf32>
      %s = tensor.extract %sin[%i, %k] : tensor<10x4xf32>
      %u = tensor.extract %x[%i, %k] : tensor<10x8xf32>
      %v = tensor.extract %x[%i, %kh] : tensor<10x8xf32>
      %uc = arith.mulf %u, %c : f32
      %vs = arith.mulf %v, %s : f32
      %a = arith.subf %uc, %vs : f32
      %us = arith.mulf %u, %s : f32
      %vc = arith.mulf %v, %c : f32
      %b = arith.addf %us, %vc : f32
      %first = arith.cmpi ult, %j, %half : index
      %r = arith.select %first, %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<10x8xf32>
  return %y : tensor<10x8xf32>
}

// -----

// The phases of the first row are those of consecutive positions from 4, but
// the rows are not.
// CHECK-LABEL: @grid_from_one
// CHECK-DAG: %[[AT:.*]] = arith.constant dense<{{\[\[}}1, 1, 1, 2, 2, 2, 3, 3, 3], [1, 2, 3, 1, 2, 3, 1, 2, 3]]> : tensor<2x9xi64>
// CHECK: rope.table #rope.explicit<{{.*}}> ins(%[[AT]] : tensor<2x9xi64>) axes [0, 0, 1, 1]
// CHECK: rope.rotate <half along [0]>
#id = affine_map<(m, d) -> (m, d)>
func.func @grid_from_one(%x: tensor<9x8xf32>) -> tensor<9x8xf32> {
  %cos = arith.constant dense<[[0.8775825500488281, 0.9987502694129944, 0.8775825500488281, 0.9987502694129944], [0.8775825500488281, 0.9987502694129944, 0.5403022766113281, 0.9950041770935059], [0.8775825500488281, 0.9987502694129944, 0.07073719799518585, 0.9887710809707642], [0.5403022766113281, 0.9950041770935059, 0.8775825500488281, 0.9987502694129944], [0.5403022766113281, 0.9950041770935059, 0.5403022766113281, 0.9950041770935059], [0.5403022766113281, 0.9950041770935059, 0.07073719799518585, 0.9887710809707642], [0.07073719799518585, 0.9887710809707642, 0.8775825500488281, 0.9987502694129944], [0.07073719799518585, 0.9887710809707642, 0.5403022766113281, 0.9950041770935059], [0.07073719799518585, 0.9887710809707642, 0.07073719799518585, 0.9887710809707642]]> : tensor<9x4xf32>
  %sin = arith.constant dense<[[0.4794255495071411, 0.04997916892170906, 0.4794255495071411, 0.04997916892170906], [0.4794255495071411, 0.04997916892170906, 0.8414709568023682, 0.0998334214091301], [0.4794255495071411, 0.04997916892170906, 0.9974949955940247, 0.14943814277648926], [0.8414709568023682, 0.0998334214091301, 0.4794255495071411, 0.04997916892170906], [0.8414709568023682, 0.0998334214091301, 0.8414709568023682, 0.0998334214091301], [0.8414709568023682, 0.0998334214091301, 0.9974949955940247, 0.14943814277648926], [0.9974949955940247, 0.14943814277648926, 0.4794255495071411, 0.04997916892170906], [0.9974949955940247, 0.14943814277648926, 0.8414709568023682, 0.0998334214091301], [0.9974949955940247, 0.14943814277648926, 0.9974949955940247, 0.14943814277648926]]> : tensor<9x4xf32>
  %half = arith.constant 4 : index
  %e = tensor.empty() : tensor<9x8xf32>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<9x8xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = arith.remui %j, %half : index
      %kh = arith.addi %k, %half : index
      %c = tensor.extract %cos[%i, %k] : tensor<9x4xf32>
      %s = tensor.extract %sin[%i, %k] : tensor<9x4xf32>
      %u = tensor.extract %x[%i, %k] : tensor<9x8xf32>
      %v = tensor.extract %x[%i, %kh] : tensor<9x8xf32>
      %uc = arith.mulf %u, %c : f32
      %vs = arith.mulf %v, %s : f32
      %a = arith.subf %uc, %vs : f32
      %us = arith.mulf %u, %s : f32
      %vc = arith.mulf %v, %c : f32
      %b = arith.addf %us, %vc : f32
      %first = arith.cmpi ult, %j, %half : index
      %r = arith.select %first, %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<9x8xf32>
  return %y : tensor<9x8xf32>
}

// -----

// The same but for one pair of a row: its positions are those of no other pair.
// CHECK-LABEL: @grid_with_an_odd_pair
// CHECK-NOT: rope.table
// CHECK: rope.assemble
#id = affine_map<(m, d) -> (m, d)>
func.func @grid_with_an_odd_pair(%x: tensor<10x8xf32>) -> tensor<10x8xf32> {
  %cos = arith.constant dense<[[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.8775825500488281, 0.9987502694129944], [1.0, 1.0, 0.5403022766113281, 0.9950041770935059], [0.8775825500488281, 0.9975510239601135, 1.0, 1.0], [0.8775825500488281, 0.9987502694129944, 0.8775825500488281, 0.9987502694129944], [0.8775825500488281, 0.9987502694129944, 0.5403022766113281, 0.9950041770935059], [0.5403022766113281, 0.9950041770935059, 1.0, 1.0], [0.5403022766113281, 0.9950041770935059, 0.8775825500488281, 0.9987502694129944], [0.5403022766113281, 0.9950041770935059, 0.5403022766113281, 0.9950041770935059]]> : tensor<10x4xf32>
  %sin = arith.constant dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.4794255495071411, 0.04997916892170906], [0.0, 0.0, 0.8414709568023682, 0.0998334214091301], [0.4794255495071411, 0.06994284689426422, 0.0, 0.0], [0.4794255495071411, 0.04997916892170906, 0.4794255495071411, 0.04997916892170906], [0.4794255495071411, 0.04997916892170906, 0.8414709568023682, 0.0998334214091301], [0.8414709568023682, 0.0998334214091301, 0.0, 0.0], [0.8414709568023682, 0.0998334214091301, 0.4794255495071411, 0.04997916892170906], [0.8414709568023682, 0.0998334214091301, 0.8414709568023682, 0.0998334214091301]]> : tensor<10x4xf32>
  %half = arith.constant 4 : index
  %e = tensor.empty() : tensor<10x8xf32>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<10x8xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = arith.remui %j, %half : index
      %kh = arith.addi %k, %half : index
      %c = tensor.extract %cos[%i, %k] : tensor<10x4xf32>
      %s = tensor.extract %sin[%i, %k] : tensor<10x4xf32>
      %u = tensor.extract %x[%i, %k] : tensor<10x8xf32>
      %v = tensor.extract %x[%i, %kh] : tensor<10x8xf32>
      %uc = arith.mulf %u, %c : f32
      %vs = arith.mulf %v, %s : f32
      %a = arith.subf %uc, %vs : f32
      %us = arith.mulf %u, %s : f32
      %vc = arith.mulf %v, %c : f32
      %b = arith.addf %us, %vc : f32
      %first = arith.cmpi ult, %j, %half : index
      %r = arith.select %first, %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<10x8xf32>
  return %y : tensor<10x8xf32>
}

// -----

// A constant holds the angles of a grid, whose rows are chosen by ids.
// CHECK-LABEL: @angles_of_a_grid
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK: arith.floordivsi
// CHECK: %[[X:.*]] = linalg.generic
// CHECK: rope.table #rope.explicit<{{.*}}> ins(%{{.*}} : tensor<2x5xi64>) axes [0, 0, 1, 1] f32_angle
// CHECK-NOT: math.cos
#id = affine_map<(m, d) -> (m, d)>
func.func @angles_of_a_grid(%x: tensor<5x8xf32>, %ids: tensor<5xi64>) -> tensor<5x8xf32> {
  %angles = arith.constant dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.5, 0.05000000074505806], [0.0, 0.0, 1.0, 0.10000000149011612], [0.5, 0.05000000074505806, 0.0, 0.0], [0.5, 0.05000000074505806, 0.5, 0.05000000074505806], [0.5, 0.05000000074505806, 1.0, 0.10000000149011612], [1.0, 0.10000000149011612, 0.0, 0.0], [1.0, 0.10000000149011612, 0.5, 0.05000000074505806], [1.0, 0.10000000149011612, 1.0, 0.10000000149011612]]> : tensor<9x4xf32>
  %half = arith.constant 4 : index
  %e = tensor.empty() : tensor<5x8xf32>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<5x8xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = arith.remui %j, %half : index
      %kh = arith.addi %k, %half : index
      %id = tensor.extract %ids[%i] : tensor<5xi64>
      %row = arith.index_cast %id : i64 to index
      %t = tensor.extract %angles[%row, %k] : tensor<9x4xf32>
      %c = math.cos %t : f32
      %s = math.sin %t : f32
      %u = tensor.extract %x[%i, %k] : tensor<5x8xf32>
      %v = tensor.extract %x[%i, %kh] : tensor<5x8xf32>
      %uc = arith.mulf %u, %c : f32
      %vs = arith.mulf %v, %s : f32
      %a = arith.subf %uc, %vs : f32
      %us = arith.mulf %u, %s : f32
      %vc = arith.mulf %v, %c : f32
      %b = arith.addf %us, %vc : f32
      %first = arith.cmpi ult, %j, %half : index
      %r = arith.select %first, %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}

// -----

// Angles of no grid.
// CHECK-LABEL: @angles_of_no_grid
// CHECK-NOT: rope.table
// CHECK: rope.assemble
#id = affine_map<(m, d) -> (m, d)>
func.func @angles_of_no_grid(%x: tensor<5x8xf32>, %ids: tensor<5xi64>) -> tensor<5x8xf32> {
  %angles = arith.constant dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.5, 0.05000000074505806], [0.0, 0.0, 1.0, 0.10000000149011612], [0.5, 0.05000000074505806, 0.0, 0.0], [0.5, 0.05000000074505806, 0.5, 0.05000000074505806], [0.5, 0.05000000074505806, 1.0, 0.10000000149011612], [1.0, 0.10000000149011612, 0.0, 0.0], [1.0, 0.10000000149011612, 0.5, 0.05000000074505806], [0.8999999761581421, 0.10000000149011612, 1.0, 0.10000000149011612]]> : tensor<9x4xf32>
  %half = arith.constant 4 : index
  %e = tensor.empty() : tensor<5x8xf32>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<5x8xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = arith.remui %j, %half : index
      %kh = arith.addi %k, %half : index
      %id = tensor.extract %ids[%i] : tensor<5xi64>
      %row = arith.index_cast %id : i64 to index
      %t = tensor.extract %angles[%row, %k] : tensor<9x4xf32>
      %c = math.cos %t : f32
      %s = math.sin %t : f32
      %u = tensor.extract %x[%i, %k] : tensor<5x8xf32>
      %v = tensor.extract %x[%i, %kh] : tensor<5x8xf32>
      %uc = arith.mulf %u, %c : f32
      %vs = arith.mulf %v, %s : f32
      %a = arith.subf %uc, %vs : f32
      %us = arith.mulf %u, %s : f32
      %vc = arith.mulf %v, %c : f32
      %b = arith.addf %us, %vc : f32
      %first = arith.cmpi ult, %j, %half : index
      %r = arith.select %first, %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}

// -----

// Positions that are no integers, in f64. Nothing multiplies those of the first
// pair.
// CHECK-LABEL: @float_positions
// CHECK: rope.table #rope.default<1.000000e+02> ins(%{{.*}} : tensor<5xf64>) {{ *}}outs
// CHECK-NOT: math.cos
#id = affine_map<(m, d) -> (m, d)>
func.func @float_positions(%x: tensor<5x4xf32>, %at: tensor<5xf32>) -> tensor<5x4xf32> {
  %f = arith.constant dense<[1.0, 0.1]> : tensor<2xf64>
  %half = arith.constant 2 : index
  %e = tensor.empty() : tensor<5x4xf32>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<5x4xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = arith.remui %j, %half : index
      %kh = arith.addi %k, %half : index
      %p = tensor.extract %at[%i] : tensor<5xf32>
      %wide = arith.extf %p : f32 to f64
      %w = tensor.extract %f[%k] : tensor<2xf64>
      %t = arith.mulf %wide, %w : f64
      %cw = math.cos %t : f64
      %sw = math.sin %t : f64
      %c = arith.truncf %cw : f64 to f32
      %s = arith.truncf %sw : f64 to f32
      %u = tensor.extract %x[%i, %k] : tensor<5x4xf32>
      %v = tensor.extract %x[%i, %kh] : tensor<5x4xf32>
      %uc = arith.mulf %u, %c : f32
      %vs = arith.mulf %v, %s : f32
      %a = arith.subf %uc, %vs : f32
      %us = arith.mulf %u, %s : f32
      %vc = arith.mulf %v, %c : f32
      %b = arith.addf %us, %vc : f32
      %first = arith.cmpi ult, %j, %half : index
      %r = arith.select %first, %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// -----

// Angles of the model's own: multiples of no common position.
// CHECK-LABEL: @own_angles
// CHECK-NOT: rope.table
// CHECK: rope.assemble
#id = affine_map<(m, d) -> (m, d)>
func.func @own_angles(%x: tensor<5x4xf32>, %at: tensor<5x2xf32>) -> tensor<5x4xf32> {
  %f = arith.constant dense<[1.0, 0.1]> : tensor<2xf32>
  %half = arith.constant 2 : index
  %e = tensor.empty() : tensor<5x4xf32>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<5x4xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = arith.remui %j, %half : index
      %kh = arith.addi %k, %half : index
      %t = tensor.extract %at[%i, %k] : tensor<5x2xf32>
      %c = math.cos %t : f32
      %s = math.sin %t : f32
      %u = tensor.extract %x[%i, %k] : tensor<5x4xf32>
      %v = tensor.extract %x[%i, %kh] : tensor<5x4xf32>
      %uc = arith.mulf %u, %c : f32
      %vs = arith.mulf %v, %s : f32
      %a = arith.subf %uc, %vs : f32
      %us = arith.mulf %u, %s : f32
      %vc = arith.mulf %v, %c : f32
      %b = arith.addf %us, %vc : f32
      %first = arith.cmpi ult, %j, %half : index
      %r = arith.select %first, %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}
