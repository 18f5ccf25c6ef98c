// RUN: rope-opt --rope-raise --split-input-file %s | FileCheck %s
// RUN: rope-opt --rope-explain --split-input-file %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: sed '/^.. -----/,$d' %s | rope-run - --random 1 --compare --rtol 2e-6 --pipeline-options raise

// A softmax op over one element more than there are keys has a sink.
// CHECK-LABEL: @sink_in_softmax_op
// CHECK: rope.attention ins(%arg0, %arg1, %arg2 : {{.*}} sink(%{{.*}} : tensor<8xf32>)
func.func @sink_in_softmax_op(%q: tensor<8x16xf32>, %k: tensor<24x16xf32>, %v: tensor<24x4xf32>, %sink: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x24xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<8x24xf32>) -> tensor<8x24xf32>
  %s = linalg.matmul indexing_maps = [affine_map<(m,n,d)->(m,d)>, affine_map<(m,n,d)->(n,d)>, affine_map<(m,n,d)->(m,n)>]
      ins(%q, %k : tensor<8x16xf32>, tensor<24x16xf32>) outs(%z0 : tensor<8x24xf32>) -> tensor<8x24xf32>
  %c = tensor.concat dim(1) %s, %sink : (tensor<8x24xf32>, tensor<8x1xf32>) -> tensor<8x25xf32>
  %e1 = tensor.empty() : tensor<8x25xf32>
  %p1 = linalg.softmax dimension(1) ins(%c : tensor<8x25xf32>) outs(%e1 : tensor<8x25xf32>) -> tensor<8x25xf32>
  %p = tensor.extract_slice %p1[0, 0] [8, 24] [1, 1] : tensor<8x25xf32> to tensor<8x24xf32>
  %eo = tensor.empty() : tensor<8x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<8x4xf32>) -> tensor<8x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<8x24xf32>, tensor<24x4xf32>) outs(%o0 : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %o : tensor<8x4xf32>
}

// -----

// EXPLAIN: remark: no attention: the denominator sums over another number of keys
// CHECK-LABEL: @two_more_elements
// CHECK-NOT: rope.attention
func.func @two_more_elements(%q: tensor<8x16xf32>, %k: tensor<24x16xf32>, %v: tensor<24x4xf32>, %sink: tensor<8x2xf32>) -> tensor<8x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x24xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<8x24xf32>) -> tensor<8x24xf32>
  %s = linalg.matmul indexing_maps = [affine_map<(m,n,d)->(m,d)>, affine_map<(m,n,d)->(n,d)>, affine_map<(m,n,d)->(m,n)>]
      ins(%q, %k : tensor<8x16xf32>, tensor<24x16xf32>) outs(%z0 : tensor<8x24xf32>) -> tensor<8x24xf32>
  %c = tensor.concat dim(1) %s, %sink : (tensor<8x24xf32>, tensor<8x2xf32>) -> tensor<8x26xf32>
  %e1 = tensor.empty() : tensor<8x26xf32>
  %p1 = linalg.softmax dimension(1) ins(%c : tensor<8x26xf32>) outs(%e1 : tensor<8x26xf32>) -> tensor<8x26xf32>
  %p = tensor.extract_slice %p1[0, 0] [8, 24] [1, 1] : tensor<8x26xf32> to tensor<8x24xf32>
  %eo = tensor.empty() : tensor<8x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<8x4xf32>) -> tensor<8x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<8x24xf32>, tensor<24x4xf32>) outs(%o0 : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %o : tensor<8x4xf32>
}

// -----

// As many keys as there are when it runs.
// CHECK-LABEL: @behind_dynamic_keys
// CHECK: rope.attention ins(%arg0, %arg1, %arg2 : {{.*}} sink(%{{.*}} : tensor<8xf32>)
func.func @behind_dynamic_keys(%q: tensor<8x16xf32>, %k: tensor<?x16xf32>, %v: tensor<?x4xf32>, %sink: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %k, %c0 : tensor<?x16xf32>
  %nv = tensor.dim %v, %c0 : tensor<?x4xf32>
  %equal = arith.cmpi eq, %n, %nv : index
  cf.assert %equal, "as many keys as values"
  %e = tensor.empty(%n) : tensor<8x?xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<8x?xf32>) -> tensor<8x?xf32>
  %s = linalg.matmul indexing_maps = [affine_map<(m,n,d)->(m,d)>, affine_map<(m,n,d)->(n,d)>, affine_map<(m,n,d)->(m,n)>]
      ins(%q, %k : tensor<8x16xf32>, tensor<?x16xf32>) outs(%z0 : tensor<8x?xf32>) -> tensor<8x?xf32>
  %c = tensor.concat dim(1) %s, %sink : (tensor<8x?xf32>, tensor<8x1xf32>) -> tensor<8x?xf32>
  %more = arith.addi %n, %c1 : index
  %e1 = tensor.empty(%more) : tensor<8x?xf32>
  %p1 = linalg.softmax dimension(1) ins(%c : tensor<8x?xf32>) outs(%e1 : tensor<8x?xf32>) -> tensor<8x?xf32>
  %p = tensor.extract_slice %p1[0, 0] [8, %n] [1, 1] : tensor<8x?xf32> to tensor<8x?xf32>
  %eo = tensor.empty() : tensor<8x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<8x4xf32>) -> tensor<8x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<8x?xf32>, tensor<?x4xf32>) outs(%o0 : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %o : tensor<8x4xf32>
}
