// RUN: rope-opt %s --rope-fuse --split-input-file | FileCheck %s

!X = tensor<4x8xf32>
!T = tensor<4x2x4xf32>
#id = affine_map<(d0) -> (d0)>

// The model asserts that it divides by no zero, of what nothing reads any more:
// 10000^(i/4) is none, so the loops go. Of the argument that is not known.
// CHECK-LABEL: @assertions
// CHECK-NOT: math.powf
// CHECK: cf.assert %{{.*}}, "unknown"
// CHECK-NOT: cf.assert %{{.*}}, "constant"
// CHECK: rope.rotate
func.func @assertions(%x: !X, %y: tensor<4xf32>, %t: !T) -> !X {
  %e = tensor.empty() : !X
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %base = arith.constant 1.0e4 : f32
  %exponents = arith.constant dense<[0.0, 0.25, 0.5, 0.75]> : tensor<4xf32>
  %w = tensor.empty() : tensor<4xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%exponents : tensor<4xf32>) outs(%w : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.powf %base, %in : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %unread = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<4xf32>) outs(%w : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.cmpf one, %in, %zero : f32
    cf.assert %0, "unknown"
    %1 = arith.divf %one, %in : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %unread1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<4xf32>) outs(%w : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.cmpf one, %in, %zero : f32
    cf.assert %0, "constant"
    %1 = arith.divf %one, %in : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %r = rope.rotate <half along [0]> ins(%x, %t : !X, !T) outs(%e : !X) -> !X
  return %r : !X
}

// -----

!X = tensor<4x8xf32>
!T = tensor<4x2x4xf32>

// What was asserted before.
// CHECK-LABEL: @repeated
// CHECK: cf.assert %arg2, "first"
// CHECK-NEXT: cf.assert %arg3, "other"
// CHECK-NOT: cf.assert
func.func @repeated(%x: !X, %t: !T, %c: i1, %d: i1) -> !X {
  %e = tensor.empty() : !X
  cf.assert %c, "first"
  cf.assert %d, "other"
  cf.assert %c, "again"
  %r = rope.rotate <half along [0]> ins(%x, %t : !X, !T) outs(%e : !X) -> !X
  return %r : !X
}

// -----

// A module without rope ops stays as it is.
// CHECK-LABEL: @nothing
// CHECK-COUNT-2: arith.addi
// CHECK: arith.constant
func.func @nothing(%a: i64) -> i64 {
  %b = arith.addi %a, %a : i64
  %c = arith.addi %a, %a : i64
  %d = arith.constant 1 : i64
  %f = arith.muli %b, %c : i64
  return %f : i64
}
