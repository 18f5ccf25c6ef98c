// RUN: rope-opt --rope-raise=explain=true %s 2>&1 | FileCheck %s

// Tables repeat each frequency twice in a row, data are paired by halves.
// CHECK: remark: no rotation: the two rows of channels 0 and 8 turn by different angles
// CHECK-LABEL: @main
// CHECK-NOT: rope.

// Tables repeat each frequency twice in a row (interleaved layout) while the data are paired half with half.
// Kind: negative.  Expected: rotations 0, attentions 0, inverse rotations 0.
module {
  func.func @main(%x0: tensor<1x2x8x16xf32>) -> tensor<1x2x8x16xf32> {
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
    %v3 = arith.constant dense<[1.0, 1.0, 0.3162277638912201, 0.3162277638912201, 0.10000000149011612, 0.10000000149011612, 0.03162277489900589, 0.03162277489900589, 0.009999999776482582, 0.009999999776482582, 0.003162277629598975, 0.003162277629598975, 0.0010000000474974513, 0.0010000000474974513, 0.0003162277571391314, 0.0003162277571391314]> : tensor<16xf32>
    %v4 = tensor.empty() : tensor<8x16xf32>
    %v5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v2, %v3 : tensor<8xf32>, tensor<16xf32>) outs(%v4 : tensor<8x16xf32>) {
    ^bb0(%a0: f32, %a1: f32, %o: f32):
      %r = arith.mulf %a0, %a1 : f32
      linalg.yield %r : f32
    } -> tensor<8x16xf32>
    %v6 = tensor.empty() : tensor<8x16xf32>
    %v7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v5 : tensor<8x16xf32>) outs(%v6 : tensor<8x16xf32>) {
    ^bb0(%a0: f32, %o: f32):
      %r = math.cos %a0 : f32
      linalg.yield %r : f32
    } -> tensor<8x16xf32>
    %v8 = tensor.empty() : tensor<8x16xf32>
    %v9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v5 : tensor<8x16xf32>) outs(%v8 : tensor<8x16xf32>) {
    ^bb0(%a0: f32, %o: f32):
      %r = math.sin %a0 : f32
      linalg.yield %r : f32
    } -> tensor<8x16xf32>
    %v10 = tensor.empty() : tensor<1x2x8x16xf32>
    %v11 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x0, %v7 : tensor<1x2x8x16xf32>, tensor<8x16xf32>) outs(%v10 : tensor<1x2x8x16xf32>) {
    ^bb0(%a0: f32, %a1: f32, %o: f32):
      %r = arith.mulf %a0, %a1 : f32
      linalg.yield %r : f32
    } -> tensor<1x2x8x16xf32>
    %v12 = tensor.extract_slice %x0[0, 0, 0, 0] [1, 2, 8, 8] [1, 1, 1, 1] : tensor<1x2x8x16xf32> to tensor<1x2x8x8xf32>
    %v13 = tensor.extract_slice %x0[0, 0, 0, 8] [1, 2, 8, 8] [1, 1, 1, 1] : tensor<1x2x8x16xf32> to tensor<1x2x8x8xf32>
    %v14 = tensor.empty() : tensor<1x2x8x8xf32>
    %v15 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v13 : tensor<1x2x8x8xf32>) outs(%v14 : tensor<1x2x8x8xf32>) {
    ^bb0(%a0: f32, %o: f32):
      %r = arith.negf %a0 : f32
      linalg.yield %r : f32
    } -> tensor<1x2x8x8xf32>
    %v16 = tensor.concat dim(3) %v15, %v12 : (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) -> tensor<1x2x8x16xf32>
    %v17 = tensor.empty() : tensor<1x2x8x16xf32>
    %v18 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v16, %v9 : tensor<1x2x8x16xf32>, tensor<8x16xf32>) outs(%v17 : tensor<1x2x8x16xf32>) {
    ^bb0(%a0: f32, %a1: f32, %o: f32):
      %r = arith.mulf %a0, %a1 : f32
      linalg.yield %r : f32
    } -> tensor<1x2x8x16xf32>
    %v19 = tensor.empty() : tensor<1x2x8x16xf32>
    %v20 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v11, %v18 : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>) outs(%v19 : tensor<1x2x8x16xf32>) {
    ^bb0(%a0: f32, %a1: f32, %o: f32):
      %r = arith.addf %a0, %a1 : f32
      linalg.yield %r : f32
    } -> tensor<1x2x8x16xf32>
    return %v20 : tensor<1x2x8x16xf32>
  }
}
