// RUN: rope-opt --rope-raise --split-input-file %s | FileCheck %s

// The lowest number for keys outside of two bands at once.
// CHECK-LABEL: @window
// CHECK-NOT: mask(
// CHECK: rope.attention {{.*}} causal window [2, -1]
#id = affine_map<(m, n) -> (m, n)>
func.func @window(%q: tensor<6x16xf32>, %k: tensor<6x16xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %z = arith.constant 0.0 : f32
  %low = arith.constant -3.40282347E+38 : f32
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<6x6xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<6x6xf32>) -> tensor<6x6xf32>
  %qk = linalg.matmul indexing_maps = [affine_map<(m,n,d)->(m,d)>, affine_map<(m,n,d)->(n,d)>, affine_map<(m,n,d)->(m,n)>]
      ins(%q, %k : tensor<6x16xf32>, tensor<6x16xf32>) outs(%z0 : tensor<6x6xf32>) -> tensor<6x6xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%qk : tensor<6x6xf32>) outs(%e : tensor<6x6xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = linalg.index 0 : index
      %n = linalg.index 1 : index
      %first = arith.subi %m, %c2 : index
      %after = arith.cmpi sge, %n, %first : index
      %before = arith.cmpi sle, %n, %m : index
      %keep = arith.andi %after, %before : i1
      %r = arith.select %keep, %a, %low : f32
      linalg.yield %r : f32
  } -> tensor<6x6xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<6x6xf32>) outs(%e : tensor<6x6xf32>) -> tensor<6x6xf32>
  %eo = tensor.empty() : tensor<6x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<6x4xf32>) -> tensor<6x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<6x6xf32>, tensor<6x4xf32>) outs(%o0 : tensor<6x4xf32>) -> tensor<6x4xf32>
  return %o : tensor<6x4xf32>
}

// -----

// A row whose band has no key at all sees all keys alike, for the lowest
// number hides none of them: rows 5 and later.
// CHECK-LABEL: @window_past_the_keys
// CHECK: rope.attention {{.*}} mask(
// CHECK-NOT: window
#id = affine_map<(m, n) -> (m, n)>
func.func @window_past_the_keys(%q: tensor<8x16xf32>, %k: tensor<3x16xf32>, %v: tensor<3x4xf32>) -> tensor<8x4xf32> {
  %z = arith.constant 0.0 : f32
  %low = arith.constant -3.40282347E+38 : f32
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<8x3xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<8x3xf32>) -> tensor<8x3xf32>
  %qk = linalg.matmul indexing_maps = [affine_map<(m,n,d)->(m,d)>, affine_map<(m,n,d)->(n,d)>, affine_map<(m,n,d)->(m,n)>]
      ins(%q, %k : tensor<8x16xf32>, tensor<3x16xf32>) outs(%z0 : tensor<8x3xf32>) -> tensor<8x3xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%qk : tensor<8x3xf32>) outs(%e : tensor<8x3xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = linalg.index 0 : index
      %n = linalg.index 1 : index
      %first = arith.subi %m, %c2 : index
      %after = arith.cmpi sge, %n, %first : index
      %before = arith.cmpi sle, %n, %m : index
      %keep = arith.andi %after, %before : i1
      %r = arith.select %keep, %a, %low : f32
      linalg.yield %r : f32
  } -> tensor<8x3xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<8x3xf32>) outs(%e : tensor<8x3xf32>) -> tensor<8x3xf32>
  %eo = tensor.empty() : tensor<8x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<8x4xf32>) -> tensor<8x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<8x3xf32>, tensor<3x4xf32>) outs(%o0 : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %o : tensor<8x4xf32>
}

// -----

// One band or the other is no band.
// CHECK-LABEL: @either
// CHECK: rope.attention {{.*}} mask(
// CHECK-NOT: causal
#id = affine_map<(m, n) -> (m, n)>
func.func @either(%q: tensor<6x16xf32>, %k: tensor<6x16xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %z = arith.constant 0.0 : f32
  %low = arith.constant -3.40282347E+38 : f32
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<6x6xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<6x6xf32>) -> tensor<6x6xf32>
  %qk = linalg.matmul indexing_maps = [affine_map<(m,n,d)->(m,d)>, affine_map<(m,n,d)->(n,d)>, affine_map<(m,n,d)->(m,n)>]
      ins(%q, %k : tensor<6x16xf32>, tensor<6x16xf32>) outs(%z0 : tensor<6x6xf32>) -> tensor<6x6xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%qk : tensor<6x6xf32>) outs(%e : tensor<6x6xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = linalg.index 0 : index
      %n = linalg.index 1 : index
      %first = arith.subi %m, %c2 : index
      %after = arith.cmpi sge, %n, %first : index
      %before = arith.cmpi sle, %n, %m : index
      %keep = arith.ori %after, %before : i1
      %r = arith.select %keep, %a, %low : f32
      linalg.yield %r : f32
  } -> tensor<6x6xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<6x6xf32>) outs(%e : tensor<6x6xf32>) -> tensor<6x6xf32>
  %eo = tensor.empty() : tensor<6x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<6x4xf32>) -> tensor<6x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<6x6xf32>, tensor<6x4xf32>) outs(%o0 : tensor<6x4xf32>) -> tensor<6x4xf32>
  return %o : tensor<6x4xf32>
}

// -----

// A triangle that the model holds as a constant.
// CHECK-LABEL: @triangle
// CHECK-NOT: mask(
// CHECK: rope.attention {{.*}} causal
#id = affine_map<(m, n) -> (m, n)>
func.func @triangle(%q: tensor<4x16xf32>, %k: tensor<4x16xf32>, %v: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %z = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %mask = arith.constant dense<[[true, false, false, false], [true, true, false, false], [true, true, true, false], [true, true, true, true]]> : tensor<4x4xi1>
  %e = tensor.empty() : tensor<4x4xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %qk = linalg.matmul indexing_maps = [affine_map<(m,n,d)->(m,d)>, affine_map<(m,n,d)->(n,d)>, affine_map<(m,n,d)->(m,n)>]
      ins(%q, %k : tensor<4x16xf32>, tensor<4x16xf32>) outs(%z0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%mask, %qk : tensor<4x4xi1>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
    ^bb0(%keep: i1, %a: f32, %o: f32):
      %r = arith.select %keep, %a, %inf : f32
      linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %eo = tensor.empty() : tensor<4x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<4x4xf32>) -> tensor<4x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %o : tensor<4x4xf32>
}

// -----

// The same but for one element.
// CHECK-LABEL: @almost
// CHECK: rope.attention {{.*}} mask(
// CHECK-NOT: causal
#id = affine_map<(m, n) -> (m, n)>
func.func @almost(%q: tensor<4x16xf32>, %k: tensor<4x16xf32>, %v: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %z = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %mask = arith.constant dense<[[true, false, false, false], [true, false, false, false], [true, true, true, false], [true, true, true, true]]> : tensor<4x4xi1>
  %e = tensor.empty() : tensor<4x4xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %qk = linalg.matmul indexing_maps = [affine_map<(m,n,d)->(m,d)>, affine_map<(m,n,d)->(n,d)>, affine_map<(m,n,d)->(m,n)>]
      ins(%q, %k : tensor<4x16xf32>, tensor<4x16xf32>) outs(%z0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%mask, %qk : tensor<4x4xi1>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
    ^bb0(%keep: i1, %a: f32, %o: f32):
      %r = arith.select %keep, %a, %inf : f32
      linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %eo = tensor.empty() : tensor<4x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<4x4xf32>) -> tensor<4x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %o : tensor<4x4xf32>
}

// -----

// How many rows of a constant are read is not known.
// CHECK-LABEL: @triangle_of_some_rows
// CHECK: rope.attention {{.*}} mask(
// CHECK-NOT: causal
#id = affine_map<(m, n) -> (m, n)>
func.func @triangle_of_some_rows(%q: tensor<?x16xf32>, %k: tensor<7x16xf32>, %v: tensor<7x4xf32>) -> tensor<?x4xf32> {
  %z = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %mask = arith.constant dense<[[true, false, false, false, false, false, false], [true, true, false, false, false, false, false], [true, true, true, false, false, false, false], [true, true, true, true, false, false, false], [true, true, true, true, true, false, false], [true, true, true, true, true, true, false], [true, true, true, true, true, true, true]]> : tensor<7x7xi1>
  %rows = tensor.dim %q, %c0 : tensor<?x16xf32>
  %e = tensor.empty(%rows) : tensor<?x7xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<?x7xf32>) -> tensor<?x7xf32>
  %qk = linalg.matmul indexing_maps = [affine_map<(m,n,d)->(m,d)>, affine_map<(m,n,d)->(n,d)>, affine_map<(m,n,d)->(m,n)>]
      ins(%q, %k : tensor<?x16xf32>, tensor<7x16xf32>) outs(%z0 : tensor<?x7xf32>) -> tensor<?x7xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%qk : tensor<?x7xf32>) outs(%e : tensor<?x7xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = linalg.index 0 : index
      %n = linalg.index 1 : index
      %keep = tensor.extract %mask[%m, %n] : tensor<7x7xi1>
      %r = arith.select %keep, %a, %inf : f32
      linalg.yield %r : f32
  } -> tensor<?x7xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<?x7xf32>) outs(%e : tensor<?x7xf32>) -> tensor<?x7xf32>
  %eo = tensor.empty(%rows) : tensor<?x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<?x4xf32>) -> tensor<?x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<?x7xf32>, tensor<7x4xf32>) outs(%o0 : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %o : tensor<?x4xf32>
}

// -----

// A row that sees no key of both masks sees those that the lowest number hides.
// CHECK-LABEL: @causal_beside_a_mask
// CHECK: rope.attention {{.*}} mask(
// CHECK-NOT: causal
#id = affine_map<(m, n) -> (m, n)>
#key = affine_map<(m, n) -> (n)>
func.func @causal_beside_a_mask(%q: tensor<6x16xf32>, %k: tensor<6x16xf32>, %v: tensor<6x4xf32>, %shown: tensor<6xi1>) -> tensor<6x4xf32> {
  %z = arith.constant 0.0 : f32
  %low = arith.constant -3.40282347E+38 : f32
  %inf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<6x6xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<6x6xf32>) -> tensor<6x6xf32>
  %qk = linalg.matmul indexing_maps = [affine_map<(m,n,d)->(m,d)>, affine_map<(m,n,d)->(n,d)>, affine_map<(m,n,d)->(m,n)>]
      ins(%q, %k : tensor<6x16xf32>, tensor<6x16xf32>) outs(%z0 : tensor<6x6xf32>) -> tensor<6x6xf32>
  %s = linalg.generic {indexing_maps = [#id, #key, #id], iterator_types = ["parallel", "parallel"]} ins(%qk, %shown : tensor<6x6xf32>, tensor<6xi1>) outs(%e : tensor<6x6xf32>) {
    ^bb0(%a: f32, %is_shown: i1, %o: f32):
      %m = linalg.index 0 : index
      %n = linalg.index 1 : index
      %before = arith.cmpi sle, %n, %m : index
      %c = arith.select %before, %a, %low : f32
      %r = arith.select %is_shown, %c, %inf : f32
      linalg.yield %r : f32
  } -> tensor<6x6xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<6x6xf32>) outs(%e : tensor<6x6xf32>) -> tensor<6x6xf32>
  %eo = tensor.empty() : tensor<6x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<6x4xf32>) -> tensor<6x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<6x6xf32>, tensor<6x4xf32>) outs(%o0 : tensor<6x4xf32>) -> tensor<6x4xf32>
  return %o : tensor<6x4xf32>
}

// -----

// Infinity hides them, too.
// CHECK-LABEL: @hard_causal_beside_a_mask
// CHECK: rope.attention {{.*}} mask({{.*}} causal
#id = affine_map<(m, n) -> (m, n)>
#key = affine_map<(m, n) -> (n)>
func.func @hard_causal_beside_a_mask(%q: tensor<6x16xf32>, %k: tensor<6x16xf32>, %v: tensor<6x4xf32>, %shown: tensor<6xi1>) -> tensor<6x4xf32> {
  %z = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<6x6xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<6x6xf32>) -> tensor<6x6xf32>
  %qk = linalg.matmul indexing_maps = [affine_map<(m,n,d)->(m,d)>, affine_map<(m,n,d)->(n,d)>, affine_map<(m,n,d)->(m,n)>]
      ins(%q, %k : tensor<6x16xf32>, tensor<6x16xf32>) outs(%z0 : tensor<6x6xf32>) -> tensor<6x6xf32>
  %s = linalg.generic {indexing_maps = [#id, #key, #id], iterator_types = ["parallel", "parallel"]} ins(%qk, %shown : tensor<6x6xf32>, tensor<6xi1>) outs(%e : tensor<6x6xf32>) {
    ^bb0(%a: f32, %is_shown: i1, %o: f32):
      %m = linalg.index 0 : index
      %n = linalg.index 1 : index
      %before = arith.cmpi sle, %n, %m : index
      %c = arith.select %before, %a, %inf : f32
      %r = arith.select %is_shown, %c, %inf : f32
      linalg.yield %r : f32
  } -> tensor<6x6xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<6x6xf32>) outs(%e : tensor<6x6xf32>) -> tensor<6x6xf32>
  %eo = tensor.empty() : tensor<6x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<6x4xf32>) -> tensor<6x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<6x6xf32>, tensor<6x4xf32>) outs(%o0 : tensor<6x4xf32>) -> tensor<6x4xf32>
  return %o : tensor<6x4xf32>
}

// -----

// So does a constant of infinities.
// CHECK-LABEL: @constant_causal_beside_a_mask
// CHECK: rope.attention {{.*}} mask({{.*}} causal
#id = affine_map<(m, n) -> (m, n)>
#key = affine_map<(m, n) -> (n)>
func.func @constant_causal_beside_a_mask(%q: tensor<6x16xf32>, %k: tensor<6x16xf32>, %v: tensor<6x4xf32>, %shown: tensor<6xi1>) -> tensor<6x4xf32> {
  %z = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %triangle = arith.constant dense<[[0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<6x6xf32>
  %e = tensor.empty() : tensor<6x6xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<6x6xf32>) -> tensor<6x6xf32>
  %qk = linalg.matmul indexing_maps = [affine_map<(m,n,d)->(m,d)>, affine_map<(m,n,d)->(n,d)>, affine_map<(m,n,d)->(m,n)>]
      ins(%q, %k : tensor<6x16xf32>, tensor<6x16xf32>) outs(%z0 : tensor<6x6xf32>) -> tensor<6x6xf32>
  %s = linalg.generic {indexing_maps = [#id, #key, #id], iterator_types = ["parallel", "parallel"]} ins(%qk, %shown : tensor<6x6xf32>, tensor<6xi1>) outs(%e : tensor<6x6xf32>) {
    ^bb0(%a: f32, %is_shown: i1, %o: f32):
      %m = linalg.index 0 : index
      %n = linalg.index 1 : index
      %added = tensor.extract %triangle[%m, %n] : tensor<6x6xf32>
      %c = arith.addf %a, %added : f32
      %r = arith.select %is_shown, %c, %inf : f32
      linalg.yield %r : f32
  } -> tensor<6x6xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<6x6xf32>) outs(%e : tensor<6x6xf32>) -> tensor<6x6xf32>
  %eo = tensor.empty() : tensor<6x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<6x4xf32>) -> tensor<6x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<6x6xf32>, tensor<6x4xf32>) outs(%o0 : tensor<6x4xf32>) -> tensor<6x4xf32>
  return %o : tensor<6x4xf32>
}
