// RUN: rope-opt --rope-raise %s | FileCheck %s

// An unsigned difference of row and key is large where the key is later: those
// keys are hidden too, so that a window without them would be wrong.
// CHECK-LABEL: @banded
// CHECK: rope.attention
// CHECK-SAME: mask(
// CHECK-NOT: window [2, -1]
#q = affine_map<(m, n, d) -> (m, d)>
#k = affine_map<(m, n, d) -> (n, d)>
#s = affine_map<(m, n, d) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#pv0 = affine_map<(m, e, n) -> (m, n)>
#pv1 = affine_map<(m, e, n) -> (n, e)>
#pv2 = affine_map<(m, e, n) -> (m, e)>
func.func @banded(%q: tensor<6x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %width = arith.constant 3 : index
  %e0 = tensor.empty() : tensor<6x6xf32>
  %e1 = tensor.empty() : tensor<6x8xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<6x6xf32>) -> tensor<6x6xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<6x8xf32>) -> tensor<6x8xf32>
  %scores = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<6x8xf32>, tensor<6x8xf32>) outs(%i0 : tensor<6x6xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %c, %p : f32
    linalg.yield %t : f32
  } -> tensor<6x6xf32>
  %masked = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%scores : tensor<6x6xf32>) outs(%e0 : tensor<6x6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = linalg.index 0 : index
    %n = linalg.index 1 : index
    %d = arith.subi %m, %n : index
    %near = arith.cmpi ult, %d, %width : index
    %r = arith.select %near, %a, %hidden : f32
    linalg.yield %r : f32
  } -> tensor<6x6xf32>
  %weights = linalg.softmax dimension(1) ins(%masked : tensor<6x6xf32>) outs(%e0 : tensor<6x6xf32>) -> tensor<6x6xf32>
  %o = linalg.generic {indexing_maps = [#pv0, #pv1, #pv2], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%weights, %v : tensor<6x6xf32>, tensor<6x8xf32>) outs(%i1 : tensor<6x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %c, %p : f32
    linalg.yield %t : f32
  } -> tensor<6x8xf32>
  return %o : tensor<6x8xf32>
}
