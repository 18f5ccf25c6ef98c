// RUN: rope-opt --rope-raise %s | FileCheck %s

// Query, key and value are slices of one tensor, which is no operand of
// attention: it has them all.
// CHECK-LABEL: @packed
// CHECK-DAG: %[[Q:.*]] = tensor.extract_slice %arg0[0, 0, 0, 0]
// CHECK-DAG: %[[K:.*]] = tensor.extract_slice %arg0[0, 1, 0, 0]
// CHECK-DAG: %[[V:.*]] = tensor.extract_slice %arg0[0, 2, 0, 0]
// CHECK: rope.attention ins(%[[Q]], %[[K]], %[[V]] :
// CHECK-SAME: layout <query = "hmd", key = "hnd", value = "hne", output = "hme">
func.func @packed(%qkv: tensor<2x3x8x16xf32>) -> tensor<2x8x16xf32> {
  %z = arith.constant 0.0 : f32
  %q = tensor.extract_slice %qkv[0, 0, 0, 0] [2, 1, 8, 16] [1, 1, 1, 1] : tensor<2x3x8x16xf32> to tensor<2x8x16xf32>
  %k = tensor.extract_slice %qkv[0, 1, 0, 0] [2, 1, 8, 16] [1, 1, 1, 1] : tensor<2x3x8x16xf32> to tensor<2x8x16xf32>
  %v = tensor.extract_slice %qkv[0, 2, 0, 0] [2, 1, 8, 16] [1, 1, 1, 1] : tensor<2x3x8x16xf32> to tensor<2x8x16xf32>
  %e = tensor.empty() : tensor<2x8x8xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b,m,n,d)->(b,m,d)>, affine_map<(b,m,n,d)->(b,n,d)>, affine_map<(b,m,n,d)->(b,m,n)>]
      ins(%q, %k : tensor<2x8x16xf32>, tensor<2x8x16xf32>) outs(%z0 : tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x8x8xf32>) outs(%e : tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %eo = tensor.empty() : tensor<2x8x16xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x8x8xf32>, tensor<2x8x16xf32>) outs(%o0 : tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
  return %o : tensor<2x8x16xf32>
}
