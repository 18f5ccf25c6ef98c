// RUN: rope-opt --rope-raise %s | FileCheck %s

// Query head q reads key-value head q mod 2: g is outermost, so that the heads
// of the query are split.
// CHECK: tensor.expand_shape %arg0 {{.*}} into tensor<1x2x2x8x16xf32>
// CHECK: rope.attention {{.*}} layout <query = "1ghmd", key = "1hnd", value = "1hne", output = "ghme">
// CHECK-NOT: math.exp
func.func @tiled(%q: tensor<1x4x8x16xf32>, %kc: tensor<1x2x24x16xf32>, %vc: tensor<1x2x24x16xf32>) -> tensor<1x4x8x16xf32> {
  %ek = tensor.empty() : tensor<2x2x24x16xf32>
  %ck = tensor.collapse_shape %kc [[0, 1], [2], [3]] : tensor<1x2x24x16xf32> into tensor<2x24x16xf32>
  %bk = linalg.broadcast ins(%ck : tensor<2x24x16xf32>) outs(%ek : tensor<2x2x24x16xf32>) dimensions = [0]
  %dk = tensor.collapse_shape %bk [[0, 1], [2], [3]] : tensor<2x2x24x16xf32> into tensor<4x24x16xf32>
  %k = tensor.expand_shape %dk [[0, 1], [2], [3]] output_shape [1, 4, 24, 16] : tensor<4x24x16xf32> into tensor<1x4x24x16xf32>
  %ev = tensor.empty() : tensor<2x2x24x16xf32>
  %cv = tensor.collapse_shape %vc [[0, 1], [2], [3]] : tensor<1x2x24x16xf32> into tensor<2x24x16xf32>
  %bv = linalg.broadcast ins(%cv : tensor<2x24x16xf32>) outs(%ev : tensor<2x2x24x16xf32>) dimensions = [0]
  %dv = tensor.collapse_shape %bv [[0, 1], [2], [3]] : tensor<2x2x24x16xf32> into tensor<4x24x16xf32>
  %v = tensor.expand_shape %dv [[0, 1], [2], [3]] output_shape [1, 4, 24, 16] : tensor<4x24x16xf32> into tensor<1x4x24x16xf32>
  %z = arith.constant 0.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x4x8x24xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x8x24xf32>) -> tensor<1x4x8x24xf32>
  %s = linalg.generic {indexing_maps=[affine_map<(b,h,m,n,d)->(b,h,m,d)>, affine_map<(b,h,m,n,d)->(b,h,n,d)>, affine_map<(b,h,m,n,d)->(b,h,m,n)>], iterator_types=["parallel","parallel","parallel","parallel","reduction"]} ins(%q, %k : tensor<1x4x8x16xf32>, tensor<1x4x24x16xf32>) outs(%z0 : tensor<1x4x8x24xf32>) {
  ^bb0(%a: f32, %bb: f32, %o: f32):
    %m = arith.mulf %a, %bb : f32
    %p = arith.addf %o, %m : f32
    linalg.yield %p : f32
  } -> tensor<1x4x8x24xf32>
  %er = tensor.empty() : tensor<1x4x8xf32>
  %mx0 = linalg.fill ins(%ninf : f32) outs(%er : tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  %mx = linalg.generic {indexing_maps=[affine_map<(b,h,m,n)->(b,h,m,n)>, affine_map<(b,h,m,n)->(b,h,m)>], iterator_types=["parallel","parallel","parallel","reduction"]} ins(%s : tensor<1x4x8x24xf32>) outs(%mx0 : tensor<1x4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.maximumf %o, %a : f32
    linalg.yield %p : f32
  } -> tensor<1x4x8xf32>
  %ex = linalg.generic {indexing_maps=[affine_map<(b,h,m,n)->(b,h,m,n)>, affine_map<(b,h,m,n)->(b,h,m)>, affine_map<(b,h,m,n)->(b,h,m,n)>], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%s, %mx : tensor<1x4x8x24xf32>, tensor<1x4x8xf32>) outs(%e : tensor<1x4x8x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.subf %a, %b : f32
    %x = math.exp %p : f32
    linalg.yield %x : f32
  } -> tensor<1x4x8x24xf32>
  %sm0 = linalg.fill ins(%z : f32) outs(%er : tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  %sm = linalg.generic {indexing_maps=[affine_map<(b,h,m,n)->(b,h,m,n)>, affine_map<(b,h,m,n)->(b,h,m)>], iterator_types=["parallel","parallel","parallel","reduction"]} ins(%ex : tensor<1x4x8x24xf32>) outs(%sm0 : tensor<1x4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.addf %o, %a : f32
    linalg.yield %p : f32
  } -> tensor<1x4x8xf32>
  %pr = linalg.generic {indexing_maps=[affine_map<(b,h,m,n)->(b,h,m,n)>, affine_map<(b,h,m,n)->(b,h,m)>, affine_map<(b,h,m,n)->(b,h,m,n)>], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%ex, %sm : tensor<1x4x8x24xf32>, tensor<1x4x8xf32>) outs(%e : tensor<1x4x8x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %x = arith.divf %a, %b : f32
    linalg.yield %x : f32
  } -> tensor<1x4x8x24xf32>
  %eo = tensor.empty() : tensor<1x4x8x16xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  %r = linalg.generic {indexing_maps=[affine_map<(b,h,m,e,n)->(b,h,m,n)>, affine_map<(b,h,m,e,n)->(b,h,n,e)>, affine_map<(b,h,m,e,n)->(b,h,m,e)>], iterator_types=["parallel","parallel","parallel","parallel","reduction"]} ins(%pr, %v : tensor<1x4x8x24xf32>, tensor<1x4x24x16xf32>) outs(%o0 : tensor<1x4x8x16xf32>) {
  ^bb0(%a: f32, %bb: f32, %o: f32):
    %m = arith.mulf %a, %bb : f32
    %p = arith.addf %o, %m : f32
    linalg.yield %p : f32
  } -> tensor<1x4x8x16xf32>
  return %r : tensor<1x4x8x16xf32>
}
