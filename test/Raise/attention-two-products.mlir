// RUN: rope-opt --rope-raise --split-input-file %s | FileCheck %s
// RUN: rope-opt --rope-explain --split-input-file %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: sed '/^.. -----/,$d' %s | rope-run - --random 1 --compare --rtol 2e-6 --pipeline-options raise

// Channels that are multiplied apart, one part of whose keys all heads share.
// CHECK-LABEL: @two
// CHECK: %[[Q:.*]] = tensor.concat dim(2) %arg0, %arg2
// CHECK: %[[SHARED:.*]] = linalg.generic {{.*}} ins(%arg3 : tensor<6x4xf32>)
// CHECK: %[[K:.*]] = tensor.concat dim(2) %arg1, %[[SHARED]]
// CHECK: rope.attention ins(%[[Q]], %[[K]], %arg4 :
func.func @two(%q0: tensor<2x6x8xf32>, %k0: tensor<2x6x8xf32>, %q1: tensor<2x6x4xf32>, %k1: tensor<6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<2x6x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x6x6xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %s0 = linalg.generic {indexing_maps = [affine_map<(h,m,n,d)->(h,m,d)>, affine_map<(h,m,n,d)->(h,n,d)>, affine_map<(h,m,n,d)->(h,m,n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q0, %k0 : tensor<2x6x8xf32>, tensor<2x6x8xf32>) outs(%z0 : tensor<2x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %r = arith.addf %o, %p : f32
      linalg.yield %r : f32
  } -> tensor<2x6x6xf32>
  %s1 = linalg.generic {indexing_maps = [affine_map<(h,m,n,d)->(h,m,d)>, affine_map<(h,m,n,d)->(n,d)>, affine_map<(h,m,n,d)->(h,m,n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q1, %k1 : tensor<2x6x4xf32>, tensor<6x4xf32>) outs(%z0 : tensor<2x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %r = arith.addf %o, %p : f32
      linalg.yield %r : f32
  } -> tensor<2x6x6xf32>
  %t1 = linalg.add ins(%s0, %s1 : tensor<2x6x6xf32>, tensor<2x6x6xf32>) outs(%e : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %p = linalg.softmax dimension(2) ins(%t1 : tensor<2x6x6xf32>) outs(%e : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %eo = tensor.empty() : tensor<2x6x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x6x6xf32>, tensor<2x6x4xf32>) outs(%o0 : tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  return %o : tensor<2x6x4xf32>
}

// -----

// EXPLAIN: remark: no attention: two products are scaled by different numbers
// CHECK-LABEL: @scaled
// CHECK-NOT: rope.attention
func.func @scaled(%q0: tensor<2x6x8xf32>, %k0: tensor<2x6x8xf32>, %q1: tensor<2x6x4xf32>, %k1: tensor<6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<2x6x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x6x6xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %s0 = linalg.generic {indexing_maps = [affine_map<(h,m,n,d)->(h,m,d)>, affine_map<(h,m,n,d)->(h,n,d)>, affine_map<(h,m,n,d)->(h,m,n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q0, %k0 : tensor<2x6x8xf32>, tensor<2x6x8xf32>) outs(%z0 : tensor<2x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %r = arith.addf %o, %p : f32
      linalg.yield %r : f32
  } -> tensor<2x6x6xf32>
  %s1 = linalg.generic {indexing_maps = [affine_map<(h,m,n,d)->(h,m,d)>, affine_map<(h,m,n,d)->(n,d)>, affine_map<(h,m,n,d)->(h,m,n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q1, %k1 : tensor<2x6x4xf32>, tensor<6x4xf32>) outs(%z0 : tensor<2x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %r = arith.addf %o, %p : f32
      linalg.yield %r : f32
  } -> tensor<2x6x6xf32>
  %half = arith.constant 0.5 : f32
  %hf = linalg.fill ins(%half : f32) outs(%e : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %scaled = linalg.mul ins(%s1, %hf : tensor<2x6x6xf32>, tensor<2x6x6xf32>) outs(%e : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %t1 = linalg.add ins(%s0, %scaled : tensor<2x6x6xf32>, tensor<2x6x6xf32>) outs(%e : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %p = linalg.softmax dimension(2) ins(%t1 : tensor<2x6x6xf32>) outs(%e : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %eo = tensor.empty() : tensor<2x6x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x6x6xf32>, tensor<2x6x4xf32>) outs(%o0 : tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  return %o : tensor<2x6x4xf32>
}

// -----

// EXPLAIN: remark: no attention: scores are a sum of more than two products
// CHECK-LABEL: @three
// CHECK-NOT: rope.attention
func.func @three(%q0: tensor<2x6x8xf32>, %k0: tensor<2x6x8xf32>, %q1: tensor<2x6x4xf32>, %k1: tensor<6x4xf32>, %q2: tensor<2x6x4xf32>, %k2: tensor<6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<2x6x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x6x6xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %s0 = linalg.generic {indexing_maps = [affine_map<(h,m,n,d)->(h,m,d)>, affine_map<(h,m,n,d)->(h,n,d)>, affine_map<(h,m,n,d)->(h,m,n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q0, %k0 : tensor<2x6x8xf32>, tensor<2x6x8xf32>) outs(%z0 : tensor<2x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %r = arith.addf %o, %p : f32
      linalg.yield %r : f32
  } -> tensor<2x6x6xf32>
  %s1 = linalg.generic {indexing_maps = [affine_map<(h,m,n,d)->(h,m,d)>, affine_map<(h,m,n,d)->(n,d)>, affine_map<(h,m,n,d)->(h,m,n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q1, %k1 : tensor<2x6x4xf32>, tensor<6x4xf32>) outs(%z0 : tensor<2x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %r = arith.addf %o, %p : f32
      linalg.yield %r : f32
  } -> tensor<2x6x6xf32>
  %t1 = linalg.add ins(%s0, %s1 : tensor<2x6x6xf32>, tensor<2x6x6xf32>) outs(%e : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %s2 = linalg.generic {indexing_maps = [affine_map<(h,m,n,d)->(h,m,d)>, affine_map<(h,m,n,d)->(n,d)>, affine_map<(h,m,n,d)->(h,m,n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q2, %k2 : tensor<2x6x4xf32>, tensor<6x4xf32>) outs(%z0 : tensor<2x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %r = arith.addf %o, %p : f32
      linalg.yield %r : f32
  } -> tensor<2x6x6xf32>
  %t2 = linalg.add ins(%t1, %s2 : tensor<2x6x6xf32>, tensor<2x6x6xf32>) outs(%e : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %p = linalg.softmax dimension(2) ins(%t2 : tensor<2x6x6xf32>) outs(%e : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %eo = tensor.empty() : tensor<2x6x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x6x6xf32>, tensor<2x6x4xf32>) outs(%o0 : tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  return %o : tensor<2x6x4xf32>
}
