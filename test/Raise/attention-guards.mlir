// RUN: rope-opt --rope-raise --split-input-file %s | FileCheck %s
// RUN: rope-opt --rope-explain --split-input-file %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN

// Rows without a key are made 0 by a test in f64 of the scores themselves,
// negated by comparisons with false.
// CHECK-LABEL: @tests_in_f64
// CHECK: rope.attention ins(%arg0, %arg1, %arg2 : {{.*}} mask(%arg3
// CHECK-NOT: arith.select
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
func.func @tests_in_f64(%q: tensor<8x16xf32>, %k: tensor<24x16xf32>, %v: tensor<24x4xf32>, %mask: tensor<8x24xf32>) -> tensor<8x4xf32> {
  %z = arith.constant 0.0 : f32
  %false = arith.constant false
  %low = arith.constant 0xFFF0000000000000 : f64
  %e = tensor.empty() : tensor<8x24xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<8x24xf32>) -> tensor<8x24xf32>
  %qk = linalg.matmul indexing_maps = [affine_map<(m,n,d)->(m,d)>, affine_map<(m,n,d)->(n,d)>, affine_map<(m,n,d)->(m,n)>]
      ins(%q, %k : tensor<8x16xf32>, tensor<24x16xf32>) outs(%z0 : tensor<8x24xf32>) -> tensor<8x24xf32>
  %s = linalg.add ins(%qk, %mask : tensor<8x24xf32>, tensor<8x24xf32>) outs(%e : tensor<8x24xf32>) -> tensor<8x24xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<8x24xf32>) outs(%e : tensor<8x24xf32>) -> tensor<8x24xf32>
  %e1 = tensor.empty() : tensor<8x24xi1>
  %hidden = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<8x24xf32>) outs(%e1 : tensor<8x24xi1>) {
    ^bb0(%a: f32, %o: i1):
      %wide = arith.extf %a : f32 to f64
      %r = arith.cmpf oeq, %wide, %low : f64
      linalg.yield %r : i1
  } -> tensor<8x24xi1>
  %shown = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%hidden : tensor<8x24xi1>) outs(%e1 : tensor<8x24xi1>) {
    ^bb0(%a: i1, %o: i1):
      %r = arith.cmpi eq, %a, %false : i1
      linalg.yield %r : i1
  } -> tensor<8x24xi1>
  %er = tensor.empty() : tensor<8xi1>
  %f0 = linalg.fill ins(%false : i1) outs(%er : tensor<8xi1>) -> tensor<8xi1>
  %any = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%shown : tensor<8x24xi1>) outs(%f0 : tensor<8xi1>) {
    ^bb0(%a: i1, %o: i1):
      %r = arith.ori %a, %o : i1
      linalg.yield %r : i1
  } -> tensor<8xi1>
  %g = linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%any, %p : tensor<8xi1>, tensor<8x24xf32>) outs(%e : tensor<8x24xf32>) {
    ^bb0(%a: i1, %b: f32, %o: f32):
      %none = arith.cmpi eq, %a, %false : i1
      %r = arith.select %none, %z, %b : f32
      linalg.yield %r : f32
  } -> tensor<8x24xf32>
  %eo = tensor.empty() : tensor<8x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<8x4xf32>) -> tensor<8x4xf32>
  %o = linalg.matmul ins(%g, %v : tensor<8x24xf32>, tensor<24x4xf32>) outs(%o0 : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %o : tensor<8x4xf32>
}

// -----

// 0 in place of numbers that are none.
// CHECK-LABEL: @tests_for_nan
// CHECK: rope.attention ins(%arg0, %arg1, %arg2
// CHECK-NOT: arith.select
#id = affine_map<(m, n) -> (m, n)>
func.func @tests_for_nan(%q: tensor<8x16xf32>, %k: tensor<24x16xf32>, %v: tensor<24x4xf32>) -> tensor<8x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x24xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<8x24xf32>) -> tensor<8x24xf32>
  %s = linalg.matmul indexing_maps = [affine_map<(m,n,d)->(m,d)>, affine_map<(m,n,d)->(n,d)>, affine_map<(m,n,d)->(m,n)>]
      ins(%q, %k : tensor<8x16xf32>, tensor<24x16xf32>) outs(%z0 : tensor<8x24xf32>) -> tensor<8x24xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<8x24xf32>) outs(%e : tensor<8x24xf32>) -> tensor<8x24xf32>
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8x24xf32>) outs(%e : tensor<8x24xf32>) {
    ^bb0(%a: f32, %o: f32):
      %is = arith.cmpf uno, %a, %a : f32
      %r = arith.select %is, %z, %a : f32
      linalg.yield %r : f32
  } -> tensor<8x24xf32>
  %eo = tensor.empty() : tensor<8x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<8x4xf32>) -> tensor<8x4xf32>
  %o = linalg.matmul ins(%g, %v : tensor<8x24xf32>, tensor<24x4xf32>) outs(%o0 : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %o : tensor<8x4xf32>
}

// -----

// 0 in place of all other numbers.
// EXPLAIN: remark: no attention: a choice that is no guard of empty rows
// CHECK-LABEL: @tests_for_numbers
// CHECK-NOT: rope.attention
#id = affine_map<(m, n) -> (m, n)>
func.func @tests_for_numbers(%q: tensor<8x16xf32>, %k: tensor<24x16xf32>, %v: tensor<24x4xf32>) -> tensor<8x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x24xf32>
  %z0 = linalg.fill ins(%z : f32) outs(%e : tensor<8x24xf32>) -> tensor<8x24xf32>
  %s = linalg.matmul indexing_maps = [affine_map<(m,n,d)->(m,d)>, affine_map<(m,n,d)->(n,d)>, affine_map<(m,n,d)->(m,n)>]
      ins(%q, %k : tensor<8x16xf32>, tensor<24x16xf32>) outs(%z0 : tensor<8x24xf32>) -> tensor<8x24xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<8x24xf32>) outs(%e : tensor<8x24xf32>) -> tensor<8x24xf32>
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8x24xf32>) outs(%e : tensor<8x24xf32>) {
    ^bb0(%a: f32, %o: f32):
      %is = arith.cmpf oeq, %a, %a : f32
      %r = arith.select %is, %z, %a : f32
      linalg.yield %r : f32
  } -> tensor<8x24xf32>
  %eo = tensor.empty() : tensor<8x4xf32>
  %o0 = linalg.fill ins(%z : f32) outs(%eo : tensor<8x4xf32>) -> tensor<8x4xf32>
  %o = linalg.matmul ins(%g, %v : tensor<8x24xf32>, tensor<24x4xf32>) outs(%o0 : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %o : tensor<8x4xf32>
}
