// RUN: rope-opt --rope-raise %s | FileCheck %s

// The rows of a cache beyond the slice are no keys.
// CHECK-LABEL: @att
// CHECK: %[[K:.+]] = tensor.extract_slice %arg1
// CHECK: %[[V:.+]] = tensor.extract_slice %arg2
// CHECK: rope.attention ins(%arg0, %[[K]], %[[V]] :
func.func @att(%q: tensor<1x2x8x16xf32>, %kc: tensor<1x2x32x16xf32>, %vc: tensor<1x2x32x16xf32>) -> tensor<1x2x8x16xf32> {
  %k = tensor.extract_slice %kc[0,0,0,0][1,2,24,16][1,1,1,1] : tensor<1x2x32x16xf32> to tensor<1x2x24x16xf32>
  %v = tensor.extract_slice %vc[0,0,0,0][1,2,24,16][1,1,1,1] : tensor<1x2x32x16xf32> to tensor<1x2x24x16xf32>
  %z = arith.constant 0.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x2x8x24xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<1x2x8x24xf32>) -> tensor<1x2x8x24xf32>
  %s = linalg.generic {indexing_maps=[affine_map<(b,h,m,n,d)->(b,h,m,d)>, affine_map<(b,h,m,n,d)->(b,h,n,d)>, affine_map<(b,h,m,n,d)->(b,h,m,n)>], iterator_types=["parallel","parallel","parallel","parallel","reduction"]} ins(%q, %k : tensor<1x2x8x16xf32>, tensor<1x2x24x16xf32>) outs(%z0 : tensor<1x2x8x24xf32>) {
  ^bb0(%a: f32, %bb: f32, %o: f32):
    %m = arith.mulf %a, %bb : f32
    %p = arith.addf %o, %m : f32
    linalg.yield %p : f32
  } -> tensor<1x2x8x24xf32>
  %er = tensor.empty() : tensor<1x2x8xf32>
  %mx0 = linalg.fill ins(%ninf : f32) outs(%er : tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %mx = linalg.generic {indexing_maps=[affine_map<(b,h,m,n)->(b,h,m,n)>, affine_map<(b,h,m,n)->(b,h,m)>], iterator_types=["parallel","parallel","parallel","reduction"]} ins(%s : tensor<1x2x8x24xf32>) outs(%mx0 : tensor<1x2x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.maximumf %o, %a : f32
    linalg.yield %p : f32
  } -> tensor<1x2x8xf32>
  %ex = linalg.generic {indexing_maps=[affine_map<(b,h,m,n)->(b,h,m,n)>, affine_map<(b,h,m,n)->(b,h,m)>, affine_map<(b,h,m,n)->(b,h,m,n)>], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%s, %mx : tensor<1x2x8x24xf32>, tensor<1x2x8xf32>) outs(%e : tensor<1x2x8x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.subf %a, %b : f32
    %x = math.exp %p : f32
    linalg.yield %x : f32
  } -> tensor<1x2x8x24xf32>
  %sm0 = linalg.fill ins(%z : f32) outs(%er : tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %sm = linalg.generic {indexing_maps=[affine_map<(b,h,m,n)->(b,h,m,n)>, affine_map<(b,h,m,n)->(b,h,m)>], iterator_types=["parallel","parallel","parallel","reduction"]} ins(%ex : tensor<1x2x8x24xf32>) outs(%sm0 : tensor<1x2x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.addf %o, %a : f32
    linalg.yield %p : f32
  } -> tensor<1x2x8xf32>
  %pr = linalg.generic {indexing_maps=[affine_map<(b,h,m,n)->(b,h,m,n)>, affine_map<(b,h,m,n)->(b,h,m)>, affine_map<(b,h,m,n)->(b,h,m,n)>], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%ex, %sm : tensor<1x2x8x24xf32>, tensor<1x2x8xf32>) outs(%e : tensor<1x2x8x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %x = arith.divf %a, %b : f32
    linalg.yield %x : f32
  } -> tensor<1x2x8x24xf32>
  %eo = tensor.empty() : tensor<1x2x8x16xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<1x2x8x16xf32>) -> tensor<1x2x8x16xf32>
  %r = linalg.generic {indexing_maps=[affine_map<(b,h,m,e,n)->(b,h,m,n)>, affine_map<(b,h,m,e,n)->(b,h,n,e)>, affine_map<(b,h,m,e,n)->(b,h,m,e)>], iterator_types=["parallel","parallel","parallel","parallel","reduction"]} ins(%pr, %v : tensor<1x2x8x24xf32>, tensor<1x2x24x16xf32>) outs(%o0 : tensor<1x2x8x16xf32>) {
  ^bb0(%a: f32, %bb: f32, %o: f32):
    %m = arith.mulf %a, %bb : f32
    %p = arith.addf %o, %m : f32
    linalg.yield %p : f32
  } -> tensor<1x2x8x16xf32>
  return %r : tensor<1x2x8x16xf32>
}
