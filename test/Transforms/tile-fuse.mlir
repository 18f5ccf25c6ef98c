// RUN: rope-opt %s --rope-tile="dims=1,16 fuse=true" --verify-diagnostics | FileCheck %s

// What cannot be fused stays outside of the loops, without an error.
// CHECK-LABEL: @stays
// CHECK: %[[Y:.*]] = rope.linear_attention
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[Y]]
// CHECK: rope.rotate {{.*}} ins(%[[PART]],
func.func @stays(%x: tensor<8x64x16xf32>, %t: tensor<64x2x8xf32>) -> tensor<8x64x16xf32> {
  %y = rope.linear_attention ins(%x, %x, %x : tensor<8x64x16xf32>, tensor<8x64x16xf32>, tensor<8x64x16xf32>)
    outs(%x : tensor<8x64x16xf32>) feature_map relu causal -> tensor<8x64x16xf32>
  %r = rope.rotate <half along [1]> ins(%y, %t : tensor<8x64x16xf32>, tensor<64x2x8xf32>) outs(%x : tensor<8x64x16xf32>) -> tensor<8x64x16xf32>
  return %r : tensor<8x64x16xf32>
}

// What can be is computed tile by tile.
// CHECK-LABEL: @moves
// CHECK-NOT: rope.attention
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[Y:.*]] = rope.attention
// CHECK: rope.rerotate {{.*}} ins(%[[Y]],
func.func @moves(%x: tensor<8x64x16xf32>, %t: tensor<64x2x8xf32>) -> tensor<8x64x16xf32> {
  %y = rope.attention ins(%x, %x, %x : tensor<8x64x16xf32>, tensor<8x64x16xf32>, tensor<8x64x16xf32>)
    outs(%x : tensor<8x64x16xf32>) scale 0.25 causal -> tensor<8x64x16xf32>
  %r = rope.rerotate <half along [1]> ins(%y, %t : tensor<8x64x16xf32>, tensor<64x2x8xf32>) outs(%x : tensor<8x64x16xf32>) -> tensor<8x64x16xf32>
  return %r : tensor<8x64x16xf32>
}
