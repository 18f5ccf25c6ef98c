// RUN: rope-opt %s --rope-fuse --split-input-file | FileCheck %s --check-prefixes=CHECK,STRICT
// RUN: rope-opt %s --rope-fuse=numerics=relaxed --split-input-file | FileCheck %s --check-prefixes=CHECK,RELAXED
// RUN: rope-opt %s --rope-fuse --split-input-file --remarks-filter=rope-fuse --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!W = tensor<2x3x8xf32>
!N = tensor<2x3x8xbf16>
!T = tensor<3x2x4xf32>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#qkv = #rope.layout<query = "hmd", key = "hnd", value = "hne", output = "hme">

// A rotation in f32 between casts is one of bf16, which computes in f32; and then
// one of attention. The output is rounded to bf16 at once.
// CHECK-LABEL: @island
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<2x3x8xbf16>
// CHECK-NEXT: %[[O:.*]] = rope.attention ins(%arg0, %arg0, %arg0 : tensor<2x3x8xbf16>, tensor<2x3x8xbf16>, tensor<2x3x8xbf16>) rotate_query(%arg1
// CHECK-SAME: outs(%[[E]] : tensor<2x3x8xbf16>)
// CHECK-NEXT: return %[[O]]
// REMARK-DAG: remark: [Passed] fuse-cast | Category:rope-fuse | Remark="casts around a rotation are part of it, which rounds once"
// REMARK-DAG: remark: [Passed] fuse-rotation | Category:rope-fuse | Remark="rotation of query is done by attention, without its rounding to bf16"
// REMARK-DAG: remark: [Passed] fuse-cast | Category:rope-fuse | Remark="output written as bf16, without the rounding to f32"
func.func @island(%x: !N, %t: !T) -> !N {
  %w0 = tensor.empty() : !W
  %n0 = tensor.empty() : !N
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : !N) outs(%w0 : !W) {
  ^bb0(%in: bf16, %out: f32):
    %y = arith.extf %in : bf16 to f32
    linalg.yield %y : f32
  } -> !W
  %r = rope.rotate <half along [1]> ins(%w, %t : !W, !T) outs(%w0 : !W) -> !W
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%r : !W) outs(%n0 : !N) {
  ^bb0(%in: f32, %out: bf16):
    %y = arith.truncf %in : f32 to bf16
    linalg.yield %y : bf16
  } -> !N
  %o = rope.attention ins(%n, %x, %x : !N, !N, !N) outs(%w0 : !W) scale 0.5 layout #qkv -> !W
  %on = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%o : !W) outs(%n0 : !N) {
  ^bb0(%in: f32, %out: bf16):
    %y = arith.truncf %in : f32 to bf16
    linalg.yield %y : bf16
  } -> !N
  return %on : !N
}

// -----

!W = tensor<2x3x8xf32>
!N = tensor<2x3x8xf16>
#qkv = #rope.layout<query = "hmd", key = "hnd", value = "hne", output = "hme">

// An operand that was widened is read as it was. One that was narrowed is not:
// its rounding stays, and it is half as wide.
// CHECK-LABEL: @operands
// CHECK: %[[V:.*]] = arith.truncf %arg1
// CHECK: rope.attention ins(%arg0, %arg0, %[[V]] : tensor<2x3x8xf16>, tensor<2x3x8xf16>, tensor<2x3x8xf16>)
func.func @operands(%x: !N, %y: !W) -> !W {
  %e = tensor.empty() : !W
  %q = arith.extf %x : !N to !W
  %v = arith.truncf %y : !W to !N
  %o = rope.attention ins(%q, %q, %v : !W, !W, !N) outs(%e : !W) scale 0.5 layout #qkv -> !W
  return %o : !W
}

// -----

!W = tensor<2x3x8xf64>
!N = tensor<2x3x8xf32>
#qkv = #rope.layout<query = "hmd", key = "hnd", value = "hne", output = "hme">

// The last operand in f64 keeps scores and sums in f64.
// CHECK-LABEL: @scores_in_f64
// STRICT: %[[V:.*]] = arith.extf
// STRICT: rope.attention ins(%arg0, %arg0, %[[V]] : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf64>)
// RELAXED: rope.attention ins(%arg0, %arg0, %arg0 :
func.func @scores_in_f64(%x: !N) -> !N {
  %e = tensor.empty() : !N
  %w = arith.extf %x : !N to !W
  %o = rope.attention ins(%w, %w, %w : !W, !W, !W) outs(%e : !N) scale 0.5 layout #qkv -> !N
  return %o : !N
}

// -----

!W = tensor<2x3x8xf64>
!N = tensor<2x3x8xf32>
!T = tensor<3x2x4xf32>

// Rotations of f64 compute in f64: that is no rounding less.
// CHECK-LABEL: @rotation_in_f64
// CHECK: arith.extf
// CHECK: rope.rotate {{.*}} tensor<2x3x8xf64>
// CHECK: arith.truncf
func.func @rotation_in_f64(%x: !N, %t: !T) -> !N {
  %e = tensor.empty() : !W
  %w = arith.extf %x : !N to !W
  %r = rope.rotate <half along [1]> ins(%w, %t : !W, !T) outs(%e : !W) -> !W
  %n = arith.truncf %r : !W to !N
  return %n : !N
}
