// RUN: rope-opt --rope-raise=explain --split-input-file %s 2>&1 | FileCheck %s

// Nothing says that there are as many keys as values: a single key would be
// repeated. That none is, is assumed, and checked.
// CHECK: remark: attention, assuming 1 equal extents, which are checked
// CHECK: remark: attention{{$}}
// CHECK-LABEL: @assumed
// CHECK-DAG: %[[K:.*]] = tensor.dim %arg1, %{{.*}} : tensor<2x3x?x16xf32>
// CHECK-DAG: %[[V:.*]] = tensor.dim %arg2, %{{.*}} : tensor<2x3x?x4xf32>
// CHECK: %[[EQ:.*]] = arith.cmpi eq, %[[K]], %[[V]] : index
// CHECK: cf.assert %[[EQ]]
// CHECK: rope.attention ins(%arg0, %arg1, %arg2 : {{.*}} layout <query = "bhgmd", key = "bhnd", value = "bhne", output = "bhgme">
#all = affine_map<(b, h, g, n, d) -> (b, h, g, n, d)>
func.func @assumed(%q: tensor<2x3x2x8x16xf32>, %k: tensor<2x3x?x16xf32>, %v: tensor<2x3x?x4xf32>) -> tensor<2x3x2x8x4xf32> {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %v, %c2 : tensor<2x3x?x4xf32>
  %m = tensor.dim %k, %c2 : tensor<2x3x?x16xf32>
  %ek = tensor.empty(%n) : tensor<2x3x2x?x16xf32>
  %kb = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%ek : tensor<2x3x2x?x16xf32>) {
    ^bb0(%o: f32):
      %b = linalg.index 0 : index
      %h = linalg.index 1 : index
      %i = linalg.index 3 : index
      %j = linalg.index 4 : index
      %single = arith.cmpi eq, %m, %c1 : index
      %at = arith.select %single, %c0, %i : index
      %x = tensor.extract %k[%b, %h, %at, %j] : tensor<2x3x?x16xf32>
      linalg.yield %x : f32
  } -> tensor<2x3x2x?x16xf32>
  %e = tensor.empty(%n) : tensor<2x3x2x8x?xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<2x3x2x8x?xf32>) -> tensor<2x3x2x8x?xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(b, h, g, m, n, d) -> (b, h, g, m, d)>, affine_map<(b, h, g, m, n, d) -> (b, h, g, n, d)>, affine_map<(b, h, g, m, n, d) -> (b, h, g, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %kb : tensor<2x3x2x8x16xf32>, tensor<2x3x2x?x16xf32>) outs(%z0 : tensor<2x3x2x8x?xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      %t = arith.addf %o, %r : f32
      linalg.yield %t : f32
  } -> tensor<2x3x2x8x?xf32>
  %p = linalg.softmax dimension(4) ins(%s : tensor<2x3x2x8x?xf32>) outs(%e : tensor<2x3x2x8x?xf32>) -> tensor<2x3x2x8x?xf32>
  %eo = tensor.empty() : tensor<2x3x2x8x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<2x3x2x8x4xf32>) -> tensor<2x3x2x8x4xf32>
  %o = linalg.generic {
      indexing_maps = [affine_map<(b, h, g, m, e, n) -> (b, h, g, m, n)>, affine_map<(b, h, g, m, e, n) -> (b, h, n, e)>, affine_map<(b, h, g, m, e, n) -> (b, h, g, m, e)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%p, %v : tensor<2x3x2x8x?xf32>, tensor<2x3x?x4xf32>) outs(%o0 : tensor<2x3x2x8x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      %t = arith.addf %o, %r : f32
      linalg.yield %t : f32
  } -> tensor<2x3x2x8x4xf32>
  return %o : tensor<2x3x2x8x4xf32>
}

// -----

// The model checks it itself.
// CHECK-LABEL: @checked
// CHECK-COUNT-1: cf.assert
// CHECK-NOT: cf.assert
// CHECK: rope.attention ins(%arg0, %arg1, %arg2 :
#all = affine_map<(b, h, g, n, d) -> (b, h, g, n, d)>
func.func @checked(%q: tensor<2x3x2x8x16xf32>, %k: tensor<2x3x?x16xf32>, %v: tensor<2x3x?x4xf32>) -> tensor<2x3x2x8x4xf32> {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %v, %c2 : tensor<2x3x?x4xf32>
  %m = tensor.dim %k, %c2 : tensor<2x3x?x16xf32>
  %equal = arith.cmpi eq, %m, %n : index
  cf.assert %equal, "as many keys as values"
  %ek = tensor.empty(%n) : tensor<2x3x2x?x16xf32>
  %kb = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%ek : tensor<2x3x2x?x16xf32>) {
    ^bb0(%o: f32):
      %b = linalg.index 0 : index
      %h = linalg.index 1 : index
      %i = linalg.index 3 : index
      %j = linalg.index 4 : index
      %single = arith.cmpi eq, %m, %c1 : index
      %at = arith.select %single, %c0, %i : index
      %x = tensor.extract %k[%b, %h, %at, %j] : tensor<2x3x?x16xf32>
      linalg.yield %x : f32
  } -> tensor<2x3x2x?x16xf32>
  %e = tensor.empty(%n) : tensor<2x3x2x8x?xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<2x3x2x8x?xf32>) -> tensor<2x3x2x8x?xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(b, h, g, m, n, d) -> (b, h, g, m, d)>, affine_map<(b, h, g, m, n, d) -> (b, h, g, n, d)>, affine_map<(b, h, g, m, n, d) -> (b, h, g, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %kb : tensor<2x3x2x8x16xf32>, tensor<2x3x2x?x16xf32>) outs(%z0 : tensor<2x3x2x8x?xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      %t = arith.addf %o, %r : f32
      linalg.yield %t : f32
  } -> tensor<2x3x2x8x?xf32>
  %p = linalg.softmax dimension(4) ins(%s : tensor<2x3x2x8x?xf32>) outs(%e : tensor<2x3x2x8x?xf32>) -> tensor<2x3x2x8x?xf32>
  %eo = tensor.empty() : tensor<2x3x2x8x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<2x3x2x8x4xf32>) -> tensor<2x3x2x8x4xf32>
  %o = linalg.generic {
      indexing_maps = [affine_map<(b, h, g, m, e, n) -> (b, h, g, m, n)>, affine_map<(b, h, g, m, e, n) -> (b, h, n, e)>, affine_map<(b, h, g, m, e, n) -> (b, h, g, m, e)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%p, %v : tensor<2x3x2x8x?xf32>, tensor<2x3x?x4xf32>) outs(%o0 : tensor<2x3x2x8x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      %t = arith.addf %o, %r : f32
      linalg.yield %t : f32
  } -> tensor<2x3x2x8x4xf32>
  return %o : tensor<2x3x2x8x4xf32>
}
