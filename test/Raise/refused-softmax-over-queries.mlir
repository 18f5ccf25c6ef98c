// RUN: rope-opt --rope-raise=explain=true %s 2>&1 | FileCheck %s

// The softmax runs over the queries.
// CHECK: remark: no rotation: math.exp is not linear in its operands
// CHECK: remark: no rotation: channel 0 has 8 terms
// CHECK-LABEL: @main
// CHECK-NOT: rope.

// The softmax runs over the queries, not over the keys: this is not attention.
// Kind: negative.  Expected: rotations 0, attentions 0, inverse rotations 0.
module {
  func.func @main(%x0: tensor<4x8x16xf32>, %x1: tensor<4x8x16xf32>, %x2: tensor<4x8x16xf32>) -> tensor<4x8x16xf32> {
    %v1 = arith.constant 0.0 : f32
    %v2 = arith.constant 0xFF800000 : f32
    %v3 = tensor.empty() : tensor<4x8x8xf32>
    %v4 = linalg.fill ins(%v1 : f32) outs(%v3 : tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
    %v5 = linalg.generic {indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, j, d)>, affine_map<(b, i, j, d) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x0, %x1 : tensor<4x8x16xf32>, tensor<4x8x16xf32>) outs(%v4 : tensor<4x8x8xf32>) {
    ^bb0(%a0: f32, %a1: f32, %o: f32):
      %m = arith.mulf %a0, %a1 : f32
      %r = arith.addf %o, %m : f32
      linalg.yield %r : f32
    } -> tensor<4x8x8xf32>
    %v6 = tensor.empty() : tensor<4x8x8xf32>
    %v7 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v5 : tensor<4x8x8xf32>) outs(%v6 : tensor<4x8x8xf32>) {
    ^bb0(%a0: f32, %o: f32):
      %c = arith.constant 0.25 : f32
      %r = arith.mulf %a0, %c : f32
      linalg.yield %r : f32
    } -> tensor<4x8x8xf32>
    %v8 = tensor.empty() : tensor<4x8xf32>
    %v9 = linalg.fill ins(%v2 : f32) outs(%v8 : tensor<4x8xf32>) -> tensor<4x8xf32>
    %v10 = linalg.reduce ins(%v7 : tensor<4x8x8xf32>) outs(%v9 : tensor<4x8xf32>) dimensions = [1]
      (%a: f32, %b: f32) {
        %r = arith.maximumf %a, %b : f32
        linalg.yield %r : f32
      }
    %v11 = tensor.empty() : tensor<4x8x8xf32>
    %v12 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v7, %v10 : tensor<4x8x8xf32>, tensor<4x8xf32>) outs(%v11 : tensor<4x8x8xf32>) {
    ^bb0(%a0: f32, %a1: f32, %o: f32):
      %d = arith.subf %a0, %a1 : f32
      %r = math.exp %d : f32
      linalg.yield %r : f32
    } -> tensor<4x8x8xf32>
    %v13 = tensor.empty() : tensor<4x8xf32>
    %v14 = linalg.fill ins(%v1 : f32) outs(%v13 : tensor<4x8xf32>) -> tensor<4x8xf32>
    %v15 = linalg.reduce ins(%v12 : tensor<4x8x8xf32>) outs(%v14 : tensor<4x8xf32>) dimensions = [1]
      (%a: f32, %b: f32) {
        %r = arith.addf %a, %b : f32
        linalg.yield %r : f32
      }
    %v16 = tensor.empty() : tensor<4x8x8xf32>
    %v17 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v12, %v15 : tensor<4x8x8xf32>, tensor<4x8xf32>) outs(%v16 : tensor<4x8x8xf32>) {
    ^bb0(%a0: f32, %a1: f32, %o: f32):
      %r = arith.divf %a0, %a1 : f32
      linalg.yield %r : f32
    } -> tensor<4x8x8xf32>
    %v18 = tensor.empty() : tensor<4x8x16xf32>
    %v19 = linalg.fill ins(%v1 : f32) outs(%v18 : tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
    %v20 = linalg.generic {indexing_maps = [affine_map<(b, i, j, d) -> (b, i, j)>, affine_map<(b, i, j, d) -> (b, j, d)>, affine_map<(b, i, j, d) -> (b, i, d)>], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%v17, %x2 : tensor<4x8x8xf32>, tensor<4x8x16xf32>) outs(%v19 : tensor<4x8x16xf32>) {
    ^bb0(%a0: f32, %a1: f32, %o: f32):
      %m = arith.mulf %a0, %a1 : f32
      %r = arith.addf %o, %m : f32
      linalg.yield %r : f32
    } -> tensor<4x8x16xf32>
    return %v20 : tensor<4x8x16xf32>
  }
}
