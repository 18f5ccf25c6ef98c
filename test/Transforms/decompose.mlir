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

// -----

// Narrower tables are computed in f32 and rounded once; the magnitude enters
// before that.

// CHECK-LABEL: func @magnitude
// CHECK: linalg.generic
// CHECK: %[[A:.*]] = arith.constant 1.250000e+00 : f32
// CHECK: %[[COS:.*]] = arith.mulf %{{.*}}, %[[A]] : f32
// CHECK: arith.truncf %[[COS]] : f32 to bf16
func.func @magnitude(%start: index, %init: tensor<?x2x2xbf16>) -> tensor<?x2x2xbf16> {
  %t = rope.table #rope.explicit<frequencies = [1.0, 0.5], magnitude = 1.25> ins(%start : index) outs(%init : tensor<?x2x2xbf16>) -> tensor<?x2x2xbf16>
  return %t : tensor<?x2x2xbf16>
}

// -----

// An index is the position of row 0.

// CHECK-LABEL: func @start
// CHECK-SAME: %[[START:[^:]*]]: index
// CHECK: linalg.generic
// CHECK: %[[ROW:.*]] = linalg.index 0
// CHECK: %[[P:.*]] = arith.addi %[[START]], %[[ROW]] : index
// CHECK: arith.index_cast %[[P]] : index to i64
func.func @start(%start: index, %init: tensor<4x2x2xf32>) -> tensor<4x2x2xf32> {
  %t = rope.table #rope.default<1.0e4> ins(%start : index) outs(%init : tensor<4x2x2xf32>) -> tensor<4x2x2xf32>
  return %t : tensor<4x2x2xf32>
}

// -----

// Fractions, and f64 tables: a product in f64 with what it was rounded by.

// CHECK-LABEL: func @fractions
// CHECK: linalg.generic
// CHECK: ^bb0(%[[P:[^:]*]]: f32, %[[HIGH:[^:]*]]: f64, %[[LOW:[^:]*]]: f64, %{{.*}}: f32, %{{.*}}: f32):
// CHECK: %[[WIDE:.*]] = arith.extf %[[P]] : f32 to f64
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[WIDE]], %[[HIGH]] : f64
// CHECK: %[[MINUS:.*]] = arith.negf %[[PRODUCT]]
// CHECK: %[[ERROR:.*]] = math.fma %[[WIDE]], %[[HIGH]], %[[MINUS]]
// CHECK: math.fma %[[WIDE]], %[[LOW]], %[[ERROR]]
func.func @fractions(%p: tensor<?xf32>, %init: tensor<?x2x2xf32>) -> tensor<?x2x2xf32> {
  %t = rope.table #rope.default<1.0e4> ins(%p : tensor<?xf32>) outs(%init : tensor<?x2x2xf32>) -> tensor<?x2x2xf32>
  return %t : tensor<?x2x2xf32>
}

// -----

// The angle as models compute it: one product of f32, reduced in f64.

// CHECK-LABEL: func @f32_angle
// CHECK: arith.constant dense<[1.000000e+00, 0.00999999977]> : tensor<2xf32>
// CHECK: %[[P:.*]] = arith.sitofp %{{.*}} : i64 to f32
// CHECK: %[[ANGLE:.*]] = arith.mulf %[[P]], %{{.*}} : f32
// CHECK: arith.extf %[[ANGLE]] : f32 to f64
func.func @f32_angle(%ids: tensor<?xi64>, %init: tensor<?x2x2xf32>) -> tensor<?x2x2xf32> {
  %t = rope.table #rope.default<1.0e4> ins(%ids : tensor<?xi64>) f32_angle outs(%init : tensor<?x2x2xf32>) -> tensor<?x2x2xf32>
  return %t : tensor<?x2x2xf32>
}

// CHECK-LABEL: func @f32_quotient
// CHECK: arith.constant dense<[1.000000e+00, 1.000000e+02]> : tensor<2xf32>
// CHECK: %[[P:.*]] = arith.sitofp %{{.*}} : i64 to f32
// CHECK: %[[ANGLE:.*]] = arith.divf %[[P]], %{{.*}} : f32
// CHECK: arith.extf %[[ANGLE]] : f32 to f64
func.func @f32_quotient(%ids: tensor<?xi64>, %init: tensor<?x2x2xf32>) -> tensor<?x2x2xf32> {
  %t = rope.table #rope.default<1.0e4> ins(%ids : tensor<?xi64>) f32_quotient outs(%init : tensor<?x2x2xf32>) -> tensor<?x2x2xf32>
  return %t : tensor<?x2x2xf32>
}

// -----

// Frequencies of a length known at run time are computed once for each pair,
// those of a constant length are constants.

// CHECK-LABEL: func @length
// CHECK: arith.subf
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f64
// CHECK: %[[RATIO:.*]] = arith.maximumf %{{.*}}, %[[ONE]] : f64
// CHECK: math.powf %[[RATIO]],
// CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<2xf64>) outs(%{{.*}} : tensor<2xi64>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[W]] : tensor<?xi64>, tensor<2xi64>)
func.func @length(%ids: tensor<?xi64>, %length: index, %init: tensor<?x2x2xf32>) -> tensor<?x2x2xf32> {
  %t = rope.table #rope.dynamic_ntk<theta = 1.0e4, factor = 2.0, trained = 2048> ins(%ids : tensor<?xi64>) length(%length) outs(%init : tensor<?x2x2xf32>) -> tensor<?x2x2xf32>
  return %t : tensor<?x2x2xf32>
}

// CHECK-LABEL: func @constant_length
// CHECK-NOT: math.powf
// CHECK: arith.constant dense<{{.*}}> : tensor<2xi64>
// CHECK-COUNT-1: linalg.generic
// CHECK: return
func.func @constant_length(%ids: tensor<?xi64>, %init: tensor<?x2x2xf32>) -> tensor<?x2x2xf32> {
  %length = arith.constant 4096 : index
  %t = rope.table #rope.dynamic_ntk<theta = 1.0e4, factor = 2.0, trained = 2048> ins(%ids : tensor<?xi64>) length(%length) outs(%init : tensor<?x2x2xf32>) -> tensor<?x2x2xf32>
  return %t : tensor<?x2x2xf32>
}

// -----

// Each axis in use is a slice of the positions, chosen for each pair.

// CHECK-LABEL: func @axes
// CHECK-SAME: %[[P:[^:]*]]: tensor<3x?xi64>
// CHECK: %[[T:.*]] = tensor.extract_slice %[[P]][0, 0] [1, %{{.*}}] [1, 1]
// CHECK: %[[W:.*]] = tensor.extract_slice %[[P]][2, 0] [1, %{{.*}}] [1, 1]
// CHECK: %[[AXES:.*]] = arith.constant dense<[0, 1, 0]> : tensor<3xi32>
// CHECK: linalg.generic {{.*}} ins(%[[T]], %[[W]], %[[AXES]], %{{.*}} :
// CHECK: arith.select
func.func @axes(%p: tensor<3x?xi64>, %init: tensor<?x2x3xf32>) -> tensor<?x2x3xf32> {
  %t = rope.table #rope.default<1.0e4> ins(%p : tensor<3x?xi64>) axes [0, 2, 0] outs(%init : tensor<?x2x3xf32>) -> tensor<?x2x3xf32>
  return %t : tensor<?x2x3xf32>
}

// -----

// Two slices of channels; rows of the table are broadcast by maps.

// CHECK-DAG: #[[$X:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[$T:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-LABEL: func @half
// CHECK-SAME: %[[IN:[^:]*]]: tensor<2x8x?x64xf32>, %[[TABLE:[^:]*]]: tensor<2x?x2x32xf32>, %[[INIT:[^:]*]]: tensor
// CHECK-DAG: %[[U:.*]] = tensor.extract_slice %[[IN]][0, 0, 0, 0] [2, 8, %{{.*}}, 32] [1, 1, 1, 1]
// CHECK-DAG: %[[V:.*]] = tensor.extract_slice %[[IN]][0, 0, 0, 32] [2, 8, %{{.*}}, 32] [1, 1, 1, 1]
// CHECK-DAG: %[[C:.*]] = tensor.extract_slice %[[TABLE]][0, 0, 0, 0] [2, %{{.*}}, 1, 32]
// CHECK-DAG: %[[S:.*]] = tensor.extract_slice %[[TABLE]][0, 0, 1, 0] [2, %{{.*}}, 1, 32]
// CHECK: %[[R:.*]]:2 = linalg.generic {indexing_maps = [#[[$X]], #[[$X]], #[[$T]], #[[$T]], #[[$X]], #[[$X]]]
// CHECK-SAME: ins(%[[U]], %[[V]], %[[C]], %[[S]] :
// CHECK: ^bb0(%[[u:[^:]*]]: f32, %[[v:[^:]*]]: f32, %[[c:[^:]*]]: f32, %[[s:[^:]*]]: f32,
// CHECK: %[[UC:.*]] = arith.mulf %[[u]], %[[c]] fastmath<contract>
// CHECK: %[[VS:.*]] = arith.mulf %[[v]], %[[s]] fastmath<contract>
// CHECK: arith.subf %[[UC]], %[[VS]] fastmath<contract>
// CHECK: %[[VC:.*]] = arith.mulf %[[v]], %[[c]]
// CHECK: %[[US:.*]] = arith.mulf %[[u]], %[[s]]
// CHECK: arith.addf %[[VC]], %[[US]]
// CHECK: %[[Y:.*]] = tensor.insert_slice %[[R]]#0 into %[[INIT]][0, 0, 0, 0]
// CHECK: tensor.insert_slice %[[R]]#1 into %[[Y]][0, 0, 0, 32]
func.func @half(%x: tensor<2x8x?x64xf32>, %t: tensor<2x?x2x32xf32>, %init: tensor<2x8x?x64xf32>) -> tensor<2x8x?x64xf32> {
  %y = rope.rotate <half along [0, 2]> ins(%x, %t : tensor<2x8x?x64xf32>, tensor<2x?x2x32xf32>) outs(%init : tensor<2x8x?x64xf32>) -> tensor<2x8x?x64xf32>
  return %y : tensor<2x8x?x64xf32>
}

// -----

// The opposite turn, read as neighbours and written as halves; channels in no
// pair are copied; f32 between bf16.

// CHECK-LABEL: func @opposite
// CHECK-SAME: %[[IN:[^:]*]]: tensor<4x12xbf16>, %[[TABLE:[^:]*]]: tensor<4x2x4xf32>, %[[INIT:[^:]*]]: tensor
// CHECK-DAG: tensor.extract_slice %[[IN]][0, 2] [4, 4] [1, 2]
// CHECK-DAG: tensor.extract_slice %[[IN]][0, 3] [4, 4] [1, 2]
// CHECK: %[[R:.*]]:2 = linalg.generic
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.addf
// CHECK: arith.subf
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: %[[FIRST:.*]] = tensor.extract_slice %[[IN]][0, 0] [4, 2] [1, 1]
// CHECK: %[[A:.*]] = tensor.insert_slice %[[FIRST]] into %[[INIT]][0, 0] [4, 2] [1, 1]
// CHECK: %[[LAST:.*]] = tensor.extract_slice %[[IN]][0, 10] [4, 2] [1, 1]
// CHECK: %[[B:.*]] = tensor.insert_slice %[[LAST]] into %[[A]][0, 10] [4, 2] [1, 1]
// CHECK: %[[C:.*]] = tensor.insert_slice %[[R]]#0 into %[[B]][0, 2] [4, 4] [1, 1]
// CHECK: tensor.insert_slice %[[R]]#1 into %[[C]][0, 6] [4, 4] [1, 1]
func.func @opposite(%x: tensor<4x12xbf16>, %t: tensor<4x2x4xf32>, %init: tensor<4x12xbf16>) -> tensor<4x12xbf16> {
  %y = rope.rerotate <interleaved to half offset = 2 along [0]> ins(%x, %t : tensor<4x12xbf16>, tensor<4x2x4xf32>) outs(%init : tensor<4x12xbf16>) -> tensor<4x12xbf16>
  return %y : tensor<4x12xbf16>
}

// -----

// An entry for each channel; in place, so nothing is copied.

// CHECK-LABEL: func @full
// CHECK-SAME: %[[IN:[^:]*]]: tensor<4x10xf32>, %[[TABLE:[^:]*]]: tensor<4x2x8xf32>
// CHECK-DAG: tensor.extract_slice %[[TABLE]][0, 0, 0] [4, 1, 4] [1, 1, 1]
// CHECK-DAG: tensor.extract_slice %[[TABLE]][0, 1, 0] [4, 1, 4] [1, 1, 1]
// CHECK-DAG: tensor.extract_slice %[[TABLE]][0, 0, 4] [4, 1, 4] [1, 1, 1]
// CHECK-DAG: tensor.extract_slice %[[TABLE]][0, 1, 4] [4, 1, 4] [1, 1, 1]
// CHECK: linalg.generic
// CHECK-COUNT-2: tensor.insert_slice
// CHECK-NOT: tensor.insert_slice
// CHECK: return
func.func @full(%x: tensor<4x10xf32>, %t: tensor<4x2x8xf32>) -> tensor<4x10xf32> {
  %y = rope.rotate <half along [0] full = true> ins(%x, %t : tensor<4x10xf32>, tensor<4x2x8xf32>) outs(%x : tensor<4x10xf32>) -> tensor<4x10xf32>
  return %y : tensor<4x10xf32>
}

// -----

// CHECK-LABEL: func @assemble
// CHECK-SAME: %[[COS:[^:]*]]: tensor<?x4xf64>, %[[SIN:[^:]*]]: tensor<?x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[COS]], %[[SIN]] :
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: linalg.yield
func.func @assemble(%cos: tensor<?x4xf64>, %sin: tensor<?x4xf32>, %init: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  %t = rope.assemble ins(%cos, %sin : tensor<?x4xf64>, tensor<?x4xf32>) outs(%init : tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
  return %t : tensor<?x2x4xf32>
}

// CHECK-LABEL: func @compose
// CHECK: linalg.generic
// CHECK-NOT: arith.divf
// CHECK: linalg.yield
func.func @compose(%a: tensor<8x2x4xf32>, %b: tensor<8x2x4xf32>) -> tensor<8x2x4xf32> {
  %t = rope.compose ins(%a, %b : tensor<8x2x4xf32>, tensor<8x2x4xf32>) outs(%a : tensor<8x2x4xf32>) -> tensor<8x2x4xf32>
  return %t : tensor<8x2x4xf32>
}

// CHECK-LABEL: func @quotient
// CHECK: linalg.generic
// CHECK-COUNT-2: arith.divf %{{.*}} : f64
// CHECK: linalg.yield
func.func @quotient(%a: tensor<8x2x4xf32>, %b: tensor<8x2x4xf32>) -> tensor<8x2x4xf32> {
  %t = rope.compose ins(%a, inverse %b : tensor<8x2x4xf32>, tensor<8x2x4xf32>) outs(%a : tensor<8x2x4xf32>) -> tensor<8x2x4xf32>
  return %t : tensor<8x2x4xf32>
}

// -----

// Nothing to compute.

// CHECK-LABEL: func @empty
// CHECK-SAME: %[[INIT:[^:]*]]: tensor<0x4xf32>)
// CHECK-NEXT: return %[[INIT]]
func.func @empty(%x: tensor<?x4xf32>, %t: tensor<0x2x2xf32>, %init: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %y = rope.rotate <half along [0]> ins(%x, %t : tensor<?x4xf32>, tensor<0x2x2xf32>) outs(%init : tensor<0x4xf32>) -> tensor<0x4xf32>
  return %y : tensor<0x4xf32>
}
