// RUN: rope-opt --rope-raise %s | FileCheck %s

// One op of half the width with two results, put together by inserts.
// CHECK-LABEL: @main
// CHECK: rope.rotate <half along [2]>

// One generic of half width with two results, put together by inserts; signs inside the bodies.
// Kind: lookalike.  Expected: rotations 1, attentions 0, inverse rotations 0.
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
    %v3 = arith.constant dense<[1.0, 0.3162277638912201, 0.10000000149011612, 0.03162277489900589, 0.009999999776482582, 0.003162277629598975, 0.0010000000474974513, 0.0003162277571391314]> : tensor<8xf32>
    %v4 = tensor.empty() : tensor<8x8xf32>
    %v5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v2, %v3 : tensor<8xf32>, tensor<8xf32>) outs(%v4 : tensor<8x8xf32>) {
    ^bb0(%a0: f32, %a1: f32, %o: f32):
      %r = arith.mulf %a0, %a1 : f32
      linalg.yield %r : f32
    } -> tensor<8x8xf32>
    %v6 = tensor.extract_slice %x0[0, 0, 0, 0] [1, 2, 8, 8] [1, 1, 1, 1] : tensor<1x2x8x16xf32> to tensor<1x2x8x8xf32>
    %v7 = tensor.extract_slice %x0[0, 0, 0, 8] [1, 2, 8, 8] [1, 1, 1, 1] : tensor<1x2x8x16xf32> to tensor<1x2x8x8xf32>
    %v8 = tensor.empty() : tensor<1x2x8x8xf32>
    %v9 = tensor.empty() : tensor<1x2x8x8xf32>
    %v10:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v6, %v7, %v5 : tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>, tensor<8x8xf32>) outs(%v8, %v9 : tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) {
    ^bb0(%a: f32, %b: f32, %t: f32, %o0: f32, %o1: f32):
      %c = math.cos %t : f32
      %s = math.sin %t : f32
      %0 = arith.mulf %a, %c : f32
      %1 = arith.mulf %b, %s : f32
      %2 = arith.subf %0, %1 : f32
      %3 = arith.mulf %b, %c : f32
      %4 = math.fma %a, %s, %3 : f32
      linalg.yield %2, %4 : f32, f32
    } -> (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>)
    %v11 = tensor.empty() : tensor<1x2x8x16xf32>
    %v12 = tensor.insert_slice %v10#0 into %v11[0, 0, 0, 0] [1, 2, 8, 8] [1, 1, 1, 1] : tensor<1x2x8x8xf32> into tensor<1x2x8x16xf32>
    %v13 = tensor.insert_slice %v10#1 into %v12[0, 0, 0, 8] [1, 2, 8, 8] [1, 1, 1, 1] : tensor<1x2x8x8xf32> into tensor<1x2x8x16xf32>
    return %v13 : tensor<1x2x8x16xf32>
  }
}
