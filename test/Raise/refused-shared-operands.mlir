// RUN: rope-opt --rope-raise %s | FileCheck %s

// Read element by element the sum has 2^40 operands; as a graph it has 41.
// CHECK-LABEL: @f
// CHECK-COUNT-40: arith.mulf
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps=[affine_map<(d0,d1)->(d0,d1)>,affine_map<(d0,d1)->(d0,d1)>],iterator_types=["parallel","parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %o: f32):
    %v1 = arith.mulf %in, %in : f32
    %v2 = arith.mulf %v1, %v1 : f32
    %v3 = arith.mulf %v2, %v2 : f32
    %v4 = arith.mulf %v3, %v3 : f32
    %v5 = arith.mulf %v4, %v4 : f32
    %v6 = arith.mulf %v5, %v5 : f32
    %v7 = arith.mulf %v6, %v6 : f32
    %v8 = arith.mulf %v7, %v7 : f32
    %v9 = arith.mulf %v8, %v8 : f32
    %v10 = arith.mulf %v9, %v9 : f32
    %v11 = arith.mulf %v10, %v10 : f32
    %v12 = arith.mulf %v11, %v11 : f32
    %v13 = arith.mulf %v12, %v12 : f32
    %v14 = arith.mulf %v13, %v13 : f32
    %v15 = arith.mulf %v14, %v14 : f32
    %v16 = arith.mulf %v15, %v15 : f32
    %v17 = arith.mulf %v16, %v16 : f32
    %v18 = arith.mulf %v17, %v17 : f32
    %v19 = arith.mulf %v18, %v18 : f32
    %v20 = arith.mulf %v19, %v19 : f32
    %v21 = arith.mulf %v20, %v20 : f32
    %v22 = arith.mulf %v21, %v21 : f32
    %v23 = arith.mulf %v22, %v22 : f32
    %v24 = arith.mulf %v23, %v23 : f32
    %v25 = arith.mulf %v24, %v24 : f32
    %v26 = arith.mulf %v25, %v25 : f32
    %v27 = arith.mulf %v26, %v26 : f32
    %v28 = arith.mulf %v27, %v27 : f32
    %v29 = arith.mulf %v28, %v28 : f32
    %v30 = arith.mulf %v29, %v29 : f32
    %v31 = arith.mulf %v30, %v30 : f32
    %v32 = arith.mulf %v31, %v31 : f32
    %v33 = arith.mulf %v32, %v32 : f32
    %v34 = arith.mulf %v33, %v33 : f32
    %v35 = arith.mulf %v34, %v34 : f32
    %v36 = arith.mulf %v35, %v35 : f32
    %v37 = arith.mulf %v36, %v36 : f32
    %v38 = arith.mulf %v37, %v37 : f32
    %v39 = arith.mulf %v38, %v38 : f32
    %v40 = arith.mulf %v39, %v39 : f32
    %s = arith.addf %in, %v40 : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
