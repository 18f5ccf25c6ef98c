// RUN: rope-opt %s --rope-fuse --split-input-file --remarks-filter=rope-fuse --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s

// Why rotations stay.

!X = tensor<2x3x8xf32>
!T = tensor<3x2x4xf32>
#qkv = #rope.layout<query = "hmd", key = "hnd", value = "hne", output = "hme">

// CHECK: remark: [Passed] share-table | Category:rope-fuse | Remark="table serves what had 1 others that are equal"
// CHECK: remark: [Passed] fuse-rotation | Category:rope-fuse | Remark="rotation of query is done by attention"
// CHECK: remark: [Missed] fuse-rotation | Category:rope-fuse | Remark="rotation of key is not done by attention: the rotated rows have another user, for which they are computed anyway"
// CHECK: remark: [Missed] fuse-rotation | Category:rope-fuse | Remark="rotation of value is not done by attention: 'tensor.concat' joins the rows to others, such as a cache, that it does not turn"
// CHECK: remark: [Missed] fuse-rotation | Category:rope-fuse | Remark="rotation of output is not done by attention: the output has another user before it is turned"
func.func @stay(%x: !X, %p: tensor<3xi32>, %half: tensor<2x1x8xf32>, %rest: tensor<2x2x8xf32>, %t1: tensor<1x2x4xf32>) -> (!X, !X, !X) {
  %e = tensor.empty() : !X
  %eh = tensor.empty() : tensor<2x1x8xf32>
  %t0 = tensor.empty() : !T
  %p64 = arith.extsi %p : tensor<3xi32> to tensor<3xi64>
  %t = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi32>) outs(%t0 : !T) -> !T
  %u = rope.table #rope.default<1.0e4> ins(%p64 : tensor<3xi64>) outs(%t0 : !T) -> !T
  %q = rope.rotate <half along [1]> ins(%x, %t : !X, !T) outs(%e : !X) -> !X
  %k = rope.rotate <interleaved along [1]> ins(%x, %u : !X, !T) outs(%e : !X) -> !X
  %v = rope.rotate <half along [1]> ins(%half, %t1 : tensor<2x1x8xf32>, tensor<1x2x4xf32>) outs(%eh : tensor<2x1x8xf32>) -> tensor<2x1x8xf32>
  %all = tensor.concat dim(1) %rest, %v : (tensor<2x2x8xf32>, tensor<2x1x8xf32>) -> !X
  %o = rope.attention ins(%q, %k, %all : !X, !X, !X) outs(%e : !X) scale 0.5 layout #qkv -> !X
  %r = rope.rerotate <half along [1]> ins(%o, %t : !X, !T) outs(%e : !X) -> !X
  return %k, %o, %r : !X, !X, !X
}

// -----

!X = tensor<2x3x8xf32>
!T = tensor<3x2x4xf32>
#qkv = #rope.layout<query = "hmd", key = "hnd", value = "hne", output = "hme">

// CHECK: remark: [Missed] fuse-rotation | Category:rope-fuse | Remark="rotation of query is not done by attention: the operand is turned by attention as well"
// CHECK: remark: [Missed] fuse-rotation | Category:rope-fuse | Remark="rotation of key is not done by attention: 'math.absf' stands between the two"
func.func @more(%x: !X, %t: !T) -> !X {
  %e = tensor.empty() : !X
  %q = rope.rotate <half along [1]> ins(%x, %t : !X, !T) outs(%e : !X) -> !X
  %k = rope.rotate <interleaved along [1]> ins(%x, %t : !X, !T) outs(%e : !X) -> !X
  %a = math.absf %k : !X
  %o = rope.attention ins(%q, %a, %x : !X, !X, !X) rotate_query(%t : !T) <half along [1]> outs(%e : !X) scale 0.5 layout #qkv -> !X
  return %o : !X
}
