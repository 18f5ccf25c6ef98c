// RUN: rope-opt %s --rope-fuse --split-input-file | FileCheck %s

!X = tensor<4x16xf32>
!T = tensor<4x2x8xf32>

// Positions that are the same numbers in different tensors: one table. Other
// positions, frequencies or angles: tables of their own.
// CHECK-LABEL: @positions
// CHECK-COUNT-4: rope.table
// CHECK-NOT: rope.table
// CHECK: %[[A:.*]] = rope.rotate <half along [0]> ins(%arg0, %[[T:.*]] :
// CHECK: %[[B:.*]] = rope.rotate <half along [0]> ins(%[[A]], %[[T]] :
func.func @positions(%x: !X, %p: tensor<4xi32>, %q: tensor<4xi64>, %t0: !T) -> !X {
  %e = tensor.empty() : !X
  %w = arith.extsi %p : tensor<4xi32> to tensor<4xi64>
  %s = tensor.expand_shape %p [[0, 1]] output_shape [1, 4] : tensor<4xi32> into tensor<1x4xi32>
  %c = tensor.collapse_shape %s [[0, 1]] : tensor<1x4xi32> into tensor<4xi32>
  %1 = rope.table #rope.default<1.0e4> ins(%w : tensor<4xi64>) outs(%t0 : !T) -> !T
  %2 = rope.table #rope.default<1.0e4> ins(%c : tensor<4xi32>) outs(%t0 : !T) -> !T
  %3 = rope.table #rope.default<1.0e4> ins(%q : tensor<4xi64>) outs(%t0 : !T) -> !T
  %4 = rope.table #rope.default<5.0e5> ins(%p : tensor<4xi32>) outs(%t0 : !T) -> !T
  %5 = rope.table #rope.default<1.0e4> ins(%p : tensor<4xi32>) f32_angle outs(%t0 : !T) -> !T
  %a = rope.rotate <half along [0]> ins(%x, %1 : !X, !T) outs(%e : !X) -> !X
  %b = rope.rotate <half along [0]> ins(%a, %2 : !X, !T) outs(%e : !X) -> !X
  %g = rope.rotate <half along [0]> ins(%b, %3 : !X, !T) outs(%e : !X) -> !X
  %h = rope.rotate <half along [0]> ins(%g, %4 : !X, !T) outs(%e : !X) -> !X
  %i = rope.rotate <half along [0]> ins(%h, %5 : !X, !T) outs(%e : !X) -> !X
  return %i : !X
}

// -----

// Tables from a start on are as long as they are, and as wide. The extents of
// the inits do not matter where positions say them.
// CHECK-LABEL: @extents
// CHECK-COUNT-4: rope.table
// CHECK-NOT: rope.table
// CHECK: return
func.func @extents(%p: tensor<?xi64>, %n: index, %m: index, %s: index) -> (tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x4xf32>) {
  %en = tensor.empty(%n) : tensor<?x2x8xf32>
  %em = tensor.empty(%m) : tensor<?x2x8xf32>
  %es = tensor.empty(%m) : tensor<?x2x4xf32>
  %1 = rope.table #rope.default<1.0e4> ins(%p : tensor<?xi64>) outs(%en : tensor<?x2x8xf32>) -> tensor<?x2x8xf32>
  %2 = rope.table #rope.default<1.0e4> ins(%p : tensor<?xi64>) outs(%em : tensor<?x2x8xf32>) -> tensor<?x2x8xf32>
  %3 = rope.table #rope.default<1.0e4> ins(%s : index) outs(%en : tensor<?x2x8xf32>) -> tensor<?x2x8xf32>
  %4 = rope.table #rope.default<1.0e4> ins(%s : index) outs(%em : tensor<?x2x8xf32>) -> tensor<?x2x8xf32>
  %5 = rope.table #rope.default<1.0e4> ins(%s : index) outs(%es : tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
  return %1, %2, %3, %4, %5 : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x4xf32>
}

// -----

!X = tensor<1x4xf32>
!T = tensor<1x2x2xf32>

// Each layer has its own constants of the same bytes; one has others.
// CHECK-LABEL: @constants
// CHECK-COUNT-2: rope.assemble
// CHECK-NOT: rope.assemble
// CHECK: return
func.func @constants(%x: !X) -> !X {
  %cos = arith.constant dense_resource<cos> : tensor<1x2xf32>
  %sin = arith.constant dense_resource<sin> : tensor<1x2xf32>
  %cos_1 = arith.constant dense_resource<cos_1> : tensor<1x2xf32>
  %sin_1 = arith.constant dense_resource<sin_1> : tensor<1x2xf32>
  %e = tensor.empty() : !X
  %t0 = tensor.empty() : !T
  %t = rope.assemble ins(%cos, %sin : tensor<1x2xf32>, tensor<1x2xf32>) outs(%t0 : !T) -> !T
  %t1 = rope.assemble ins(%cos_1, %sin : tensor<1x2xf32>, tensor<1x2xf32>) outs(%t0 : !T) -> !T
  %t2 = rope.assemble ins(%cos, %sin_1 : tensor<1x2xf32>, tensor<1x2xf32>) outs(%t0 : !T) -> !T
  %a = rope.rotate <half along [0]> ins(%x, %t : !X, !T) outs(%e : !X) -> !X
  %b = rope.rotate <half along [0]> ins(%a, %t1 : !X, !T) outs(%e : !X) -> !X
  %c = rope.rotate <half along [0]> ins(%b, %t2 : !X, !T) outs(%e : !X) -> !X
  return %c : !X
}

{-#
  dialect_resources: {
    builtin: {
      cos: "0x040000000000803F0000803F",
      sin: "0x040000000000000000000000",
      cos_1: "0x040000000000803F0000803F",
      sin_1: "0x0400000000000000AC2FD03D"
    }
  }
#-}

// -----

!X = tensor<1x16xf32>
!T = tensor<1x2x8xf32>

// In two branches neither table serves the other; one outside serves both.
// CHECK-LABEL: @branches
// CHECK: scf.if
// CHECK: rope.table
// CHECK: else
// CHECK: rope.table
// CHECK: rope.table
// CHECK: scf.if
// CHECK-NOT: rope.table
func.func @branches(%x: !X, %p: tensor<1xi64>, %c: i1) -> (!X, !X) {
  %e = tensor.empty() : !X
  %t0 = tensor.empty() : !T
  %r = scf.if %c -> !X {
    %t = rope.table #rope.default<1.0e4> ins(%p : tensor<1xi64>) outs(%t0 : !T) -> !T
    %y = rope.rotate <half along [0]> ins(%x, %t : !X, !T) outs(%e : !X) -> !X
    scf.yield %y : !X
  } else {
    %t = rope.table #rope.default<1.0e4> ins(%p : tensor<1xi64>) outs(%t0 : !T) -> !T
    %y = rope.rerotate <half along [0]> ins(%x, %t : !X, !T) outs(%e : !X) -> !X
    scf.yield %y : !X
  }
  %u = rope.table #rope.default<1.0e4> ins(%p : tensor<1xi64>) outs(%t0 : !T) -> !T
  %z = rope.rotate <half along [0]> ins(%r, %u : !X, !T) outs(%e : !X) -> !X
  %s = scf.if %c -> !X {
    %t = rope.table #rope.default<1.0e4> ins(%p : tensor<1xi64>) outs(%t0 : !T) -> !T
    %y = rope.rotate <half along [0]> ins(%x, %t : !X, !T) outs(%e : !X) -> !X
    scf.yield %y : !X
  } else {
    scf.yield %x : !X
  }
  return %z, %s : !X, !X
}
