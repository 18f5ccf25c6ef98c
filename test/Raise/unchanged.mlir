// RUN: rope-opt %s > %t.before
// RUN: rope-opt --rope-raise %s > %t.after
// RUN: diff %t.before %t.after
// RUN: rope-opt --rope-explain %models/llama_layer_causal/model.mlir > %t.explained 2> /dev/null
// RUN: rope-opt %models/llama_layer_causal/model.mlir | diff - %t.explained

// A module with nothing to raise comes out as it went in: elementwise work in
// the body of a contraction, sums of halves, other dialects
// and memory in between.
#id = affine_map<(i, j) -> (i, j)>
module {
  memref.global "private" constant @table : memref<4xf32> = dense<0.0>
  func.func private @external(tensor<4x8xf32>) -> tensor<4x8xf32>
  func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %m: memref<4x8xf32>, %n: index) -> (tensor<4x8xf32>, f32) {
    %zero = arith.constant 0.0 : f32
    %dead = arith.constant 3.0 : f32
    %e = tensor.empty() : tensor<4x8xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    %fused = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%z : tensor<4x8xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %t = math.exp %a : f32
        %p = arith.mulf %t, %b : f32
        %s = arith.addf %o, %p : f32
        linalg.yield %s : f32
    } -> tensor<4x8xf32>
    %a = tensor.extract_slice %fused[0, 0] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
    %b = tensor.extract_slice %fused[0, 4] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
    %c = arith.addf %a, %b : tensor<4x4xf32>
    %j = tensor.concat dim(1) %c, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
    %called = func.call @external(%j) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %loaded = bufferization.to_tensor %m restrict : memref<4x8xf32> to tensor<4x8xf32>
    %sum = arith.addf %called, %loaded : tensor<4x8xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %loop = scf.for %i = %c0 to %n step %c1 iter_args(%it = %sum) -> tensor<4x8xf32> {
      %next = arith.mulf %it, %it : tensor<4x8xf32>
      scf.yield %next : tensor<4x8xf32>
    }
    %elem = tensor.extract %loop[%c0, %c1] : tensor<4x8xf32>
    return %loop, %elem : tensor<4x8xf32>, f32
  }
}
