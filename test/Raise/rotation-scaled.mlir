// RUN: rope-opt --rope-raise=explain=true --split-input-file %s 2>&1 | FileCheck %s

// Moved and scaled by a positive number, a rotation is still the one that was
// found, and is not taken for an attempt at another.
// CHECK-NOT: no rotation
// CHECK: remark: raised 1 rotation,
// CHECK: remark: no rotation: a cosine is negated
// CHECK: remark: no rotation: later on, a cosine is negated
// CHECK-LABEL: @scaled
// CHECK: rope.rotate
// CHECK-NOT: rope.rotate
func.func @scaled(%x0: tensor<1x2x8x16xf32>) -> tensor<1x4x8x16xf32> {
  %v1 = tensor.empty() : tensor<8xf32>
  %v2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%v1 : tensor<8xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %c = arith.constant 0 : i64
    %k = arith.addi %j, %c : i64
    %r = arith.sitofp %k : i64 to f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %v3 = arith.constant dense<[1.0, 0.3162277638912201, 0.10000000149011612, 0.03162277489900589, 0.009999999776482582, 0.003162277629598975, 0.0010000000474974513, 0.0003162277571391314]> : tensor<8xf32>
  %v4 = tensor.empty() : tensor<8x8xf32>
  %v5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v2, %v3 : tensor<8xf32>, tensor<8xf32>) outs(%v4 : tensor<8x8xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %r = arith.mulf %a0, %a1 : f32
    linalg.yield %r : f32
  } -> tensor<8x8xf32>
  %v6 = tensor.concat dim(1) %v5, %v5 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x16xf32>
  %v7 = tensor.empty() : tensor<8x16xf32>
  %v8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v6 : tensor<8x16xf32>) outs(%v7 : tensor<8x16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %r = math.cos %a0 : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  %v9 = tensor.empty() : tensor<8x16xf32>
  %v10 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v6 : tensor<8x16xf32>) outs(%v9 : tensor<8x16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %r = math.sin %a0 : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  %v11 = tensor.empty() : tensor<1x2x8x16xf32>
  %v12 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x0, %v8 : tensor<1x2x8x16xf32>, tensor<8x16xf32>) outs(%v11 : tensor<1x2x8x16xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %r = arith.mulf %a0, %a1 : f32
    linalg.yield %r : f32
  } -> tensor<1x2x8x16xf32>
  %v13 = tensor.extract_slice %x0[0, 0, 0, 0] [1, 2, 8, 8] [1, 1, 1, 1] : tensor<1x2x8x16xf32> to tensor<1x2x8x8xf32>
  %v14 = tensor.extract_slice %x0[0, 0, 0, 8] [1, 2, 8, 8] [1, 1, 1, 1] : tensor<1x2x8x16xf32> to tensor<1x2x8x8xf32>
  %v15 = tensor.empty() : tensor<1x2x8x8xf32>
  %v16 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v14 : tensor<1x2x8x8xf32>) outs(%v15 : tensor<1x2x8x8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %r = arith.negf %a0 : f32
    linalg.yield %r : f32
  } -> tensor<1x2x8x8xf32>
  %v17 = tensor.concat dim(3) %v16, %v13 : (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) -> tensor<1x2x8x16xf32>
  %v18 = tensor.empty() : tensor<1x2x8x16xf32>
  %v19 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v17, %v10 : tensor<1x2x8x16xf32>, tensor<8x16xf32>) outs(%v18 : tensor<1x2x8x16xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %r = arith.mulf %a0, %a1 : f32
    linalg.yield %r : f32
  } -> tensor<1x2x8x16xf32>
  %v20 = tensor.empty() : tensor<1x2x8x16xf32>
  %v21 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v12, %v19 : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>) outs(%v20 : tensor<1x2x8x16xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %r = arith.addf %a0, %a1 : f32
    linalg.yield %r : f32
  } -> tensor<1x2x8x16xf32>
  %v22 = tensor.empty() : tensor<1x2x2x8x16xf32>
  %v23 = linalg.broadcast ins(%v21 : tensor<1x2x8x16xf32>) outs(%v22 : tensor<1x2x2x8x16xf32>) dimensions = [2]
  %v24 = tensor.collapse_shape %v23 [[0], [1, 2], [3], [4]] : tensor<1x2x2x8x16xf32> into tensor<1x4x8x16xf32>
  %v25i = tensor.empty() : tensor<1x4x8x16xf32>
  %v25 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v24 : tensor<1x4x8x16xf32>) outs(%v25i : tensor<1x4x8x16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = arith.constant 0.5 : f32
    %r = arith.mulf %a0, %k : f32
    linalg.yield %r : f32
  } -> tensor<1x4x8x16xf32>
  return %v25 : tensor<1x4x8x16xf32>
}

// -----

// By a negative number it is turned by another half of a circle, which is no
// rotary embedding.
// CHECK-LABEL: @negated
// CHECK-NOT: rope.rotate
func.func @negated(%x0: tensor<1x2x8x16xf32>) -> tensor<1x2x8x16xf32> {
  %v1 = tensor.empty() : tensor<8xf32>
  %v2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%v1 : tensor<8xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %c = arith.constant 0 : i64
    %k = arith.addi %j, %c : i64
    %r = arith.sitofp %k : i64 to f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %v3 = arith.constant dense<[1.0, 0.3162277638912201, 0.10000000149011612, 0.03162277489900589, 0.009999999776482582, 0.003162277629598975, 0.0010000000474974513, 0.0003162277571391314]> : tensor<8xf32>
  %v4 = tensor.empty() : tensor<8x8xf32>
  %v5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v2, %v3 : tensor<8xf32>, tensor<8xf32>) outs(%v4 : tensor<8x8xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %r = arith.mulf %a0, %a1 : f32
    linalg.yield %r : f32
  } -> tensor<8x8xf32>
  %v6 = tensor.concat dim(1) %v5, %v5 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x16xf32>
  %v7 = tensor.empty() : tensor<8x16xf32>
  %v8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v6 : tensor<8x16xf32>) outs(%v7 : tensor<8x16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %r = math.cos %a0 : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  %v9 = tensor.empty() : tensor<8x16xf32>
  %v10 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v6 : tensor<8x16xf32>) outs(%v9 : tensor<8x16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %r = math.sin %a0 : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  %v11 = tensor.empty() : tensor<1x2x8x16xf32>
  %v12 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x0, %v8 : tensor<1x2x8x16xf32>, tensor<8x16xf32>) outs(%v11 : tensor<1x2x8x16xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %r = arith.mulf %a0, %a1 : f32
    linalg.yield %r : f32
  } -> tensor<1x2x8x16xf32>
  %v13 = tensor.extract_slice %x0[0, 0, 0, 0] [1, 2, 8, 8] [1, 1, 1, 1] : tensor<1x2x8x16xf32> to tensor<1x2x8x8xf32>
  %v14 = tensor.extract_slice %x0[0, 0, 0, 8] [1, 2, 8, 8] [1, 1, 1, 1] : tensor<1x2x8x16xf32> to tensor<1x2x8x8xf32>
  %v15 = tensor.empty() : tensor<1x2x8x8xf32>
  %v16 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v14 : tensor<1x2x8x8xf32>) outs(%v15 : tensor<1x2x8x8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %r = arith.negf %a0 : f32
    linalg.yield %r : f32
  } -> tensor<1x2x8x8xf32>
  %v17 = tensor.concat dim(3) %v16, %v13 : (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) -> tensor<1x2x8x16xf32>
  %v18 = tensor.empty() : tensor<1x2x8x16xf32>
  %v19 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v17, %v10 : tensor<1x2x8x16xf32>, tensor<8x16xf32>) outs(%v18 : tensor<1x2x8x16xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %r = arith.mulf %a0, %a1 : f32
    linalg.yield %r : f32
  } -> tensor<1x2x8x16xf32>
  %v20 = tensor.empty() : tensor<1x2x8x16xf32>
  %v21 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v12, %v19 : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>) outs(%v20 : tensor<1x2x8x16xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %r = arith.addf %a0, %a1 : f32
    linalg.yield %r : f32
  } -> tensor<1x2x8x16xf32>
  %v22i = tensor.empty() : tensor<1x2x8x16xf32>
  %v22 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v21 : tensor<1x2x8x16xf32>) outs(%v22i : tensor<1x2x8x16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = arith.constant -0.5 : f32
    %r = arith.mulf %a0, %k : f32
    linalg.yield %r : f32
  } -> tensor<1x2x8x16xf32>
  return %v22 : tensor<1x2x8x16xf32>
}
