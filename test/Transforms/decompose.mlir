// RUN: rope-opt %s --split-input-file --rope-decompose | FileCheck %s --implicit-check-not=rope. --implicit-check-not=math.sin --implicit-check-not=math.cos

// A table of integer positions: fixed-point turns, one row of constants.

// CHECK: #[[$ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK: #[[$PAIR:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK: #[[$ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func @integer_table
// CHECK-SAME: %[[IDS:.*]]: tensor<?xi32>, %[[INIT:.*]]: tensor<?x2x2xf32>
// CHECK: %[[W:.*]] = arith.constant dense<[2935890503282001226, 29358905032820013]> : tensor<2xi64>
// CHECK: %[[COS:.*]] = tensor.extract_slice %[[INIT]][0, 0, 0] [%{{.*}}, 1, 2] [1, 1, 1]
// CHECK: %[[SIN:.*]] = tensor.extract_slice %[[INIT]][0, 1, 0] [%{{.*}}, 1, 2] [1, 1, 1]
// CHECK: %[[R:.*]]:2 = linalg.generic {indexing_maps = [#[[$ROW]], #[[$PAIR]], #[[$ALL]], #[[$ALL]]]
// CHECK-SAME: ins(%[[IDS]], %[[W]]
// CHECK-SAME: outs(%[[COS]], %[[SIN]]
// CHECK: arith.extsi %{{.*}} : i32 to i64
// CHECK: arith.muli %{{.*}} : i64
// CHECK: %[[A:.*]] = tensor.insert_slice %[[R]]#0 into %[[INIT]][0, 0, 0]
// CHECK: %[[B:.*]] = tensor.insert_slice %[[R]]#1 into %[[A]][0, 1, 0]
// CHECK: return %[[B]]
func.func @integer_table(%ids: tensor<?xi32>, %init: tensor<?x2x2xf32>) -> tensor<?x2x2xf32> {
  %t = rope.table #rope.default<1.0e4> ins(%ids : tensor<?xi32>) outs(%init : tensor<?x2x2xf32>) -> tensor<?x2x2xf32>
  return %t : tensor<?x2x2xf32>
}
