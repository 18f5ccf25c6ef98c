// RUN: rope-opt --rope-raise %s | FileCheck %s

// The product is what the rotation was computed from before. Once nothing else
// uses it, it is dead, though blocks hand it round. So are blocks that nothing
// reaches, which hand round what is computed of itself.
// CHECK-LABEL: @loop
// CHECK-NOT: arith.mulf
// CHECK: rope.rotate
// CHECK: ^bb1(%{{[^:,]*}}: index):
// CHECK-NOT: arith.mulf
// CHECK: return
// CHECK-NEXT: }
func.func @loop(%x0: tensor<1x2x8x16xf32>, %n: index) -> tensor<1x2x8x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
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
  cf.br ^bb1(%c0, %v12 : index, tensor<1x2x8x16xf32>)
^bb1(%at: index, %carried: tensor<1x2x8x16xf32>):
  %next = arith.addi %at, %c1 : index
  %more = arith.cmpi slt, %next, %n : index
  cf.cond_br %more, ^bb1(%next, %carried : index, tensor<1x2x8x16xf32>), ^bb2
^bb2:
  return %v21 : tensor<1x2x8x16xf32>
^bb3(%z: f32):
  %u = arith.addf %w, %z : f32
  %w = arith.mulf %u, %u : f32
  %again = arith.cmpi slt, %c0, %n : index
  cf.cond_br %again, ^bb3(%u : f32), ^bb4(%w : f32)
^bb4(%y: f32):
  cf.br ^bb3(%y : f32)
}
