// RUN: rope-opt %s --rope-tile="sizes=g:1,m:16" --split-input-file --verify-diagnostics

// Tiles that are asked for, and that an op does not have, are one error each.

func.func @pieces(%q: tensor<8x64x16xf32>, %k: tensor<2x64x16xf32>, %o: tensor<8x64x16xf32>) -> tensor<8x64x16xf32> {
  // expected-error @+1 {{cannot be tiled: the tile of operand 0 would not be one piece; of a dim that holds two, either one of the outer or all of the inner must be taken}}
  %r = rope.attention ins(%q, %k, %k : tensor<8x64x16xf32>, tensor<2x64x16xf32>, tensor<2x64x16xf32>)
    outs(%o : tensor<8x64x16xf32>) scale 0.25 -> tensor<8x64x16xf32>
  return %r : tensor<8x64x16xf32>
}

// -----

func.func @stateless(%x: tensor<8x64x16xf32>) -> tensor<8x64x16xf32> {
  // expected-error @+1 {{cannot be tiled along its rows: causal rows need the states carried between tiles as inits}}
  %r = rope.linear_attention ins(%x, %x, %x : tensor<8x64x16xf32>, tensor<8x64x16xf32>, tensor<8x64x16xf32>)
    outs(%x : tensor<8x64x16xf32>) feature_map relu causal -> tensor<8x64x16xf32>
  return %r : tensor<8x64x16xf32>
}

// -----

func.func @again(%x: tensor<8x64x16xf32>, %s: tensor<8x16x16xf32>) -> (tensor<8x64x16xf32>, tensor<8x16x16xf32>) {
  // expected-error @+1 {{cannot be tiled along its rows: each tile would add all keys to the states once more}}
  %r:2 = rope.linear_attention ins(%x, %x, %x : tensor<8x64x16xf32>, tensor<8x64x16xf32>, tensor<8x64x16xf32>)
    outs(%x, %s : tensor<8x64x16xf32>, tensor<8x16x16xf32>) feature_map relu -> tensor<8x64x16xf32>, tensor<8x16x16xf32>
  return %r#0, %r#1 : tensor<8x64x16xf32>, tensor<8x16x16xf32>
}

// -----

func.func @shared(%q: tensor<2x4x64x16xf32>, %k: tensor<2x64x16xf32>, %s: tensor<2x16x16xf32>) -> (tensor<2x4x64x16xf32>, tensor<2x16x16xf32>) {
  // expected-error @+1 {{cannot be tiled along dim 2 of its domain: all tiles would write to the same init 1}}
  %r:2 = rope.linear_attention ins(%q, %k, %k : tensor<2x4x64x16xf32>, tensor<2x64x16xf32>, tensor<2x64x16xf32>)
    outs(%q, %s : tensor<2x4x64x16xf32>, tensor<2x16x16xf32>) feature_map relu causal layout <query = "hgmd", output = "hgme"> -> tensor<2x4x64x16xf32>, tensor<2x16x16xf32>
  return %r#0, %r#1 : tensor<2x4x64x16xf32>, tensor<2x16x16xf32>
}

// -----

func.func @memref(%q: memref<2x8x64x16xf32>, %starts: memref<2xindex>, %o: memref<2x8x64x16xf32>) {
  // expected-error @+1 {{cannot be tiled: positions and lengths of each batch in a memref would have to be copied}}
  rope.attention ins(%q, %q, %q : memref<2x8x64x16xf32>, memref<2x8x64x16xf32>, memref<2x8x64x16xf32>)
    query_pos(%starts : memref<2xindex>) outs(%o : memref<2x8x64x16xf32>) scale 0.25 causal layout <query_pos = "b">
  return
}

// -----

// Nothing is cut by a size that a dim has, so that nothing stands in the way.
func.func @whole(%x: tensor<8x16x16xf32>, %starts: memref<2xindex>, %m: memref<2x8x16x4xf32>) -> tensor<8x16x16xf32> {
  rope.attention ins(%m, %m, %m : memref<2x8x16x4xf32>, memref<2x8x16x4xf32>, memref<2x8x16x4xf32>)
    query_pos(%starts : memref<2xindex>) outs(%m : memref<2x8x16x4xf32>) scale 0.25 causal layout <query_pos = "b">
  %r = rope.linear_attention ins(%x, %x, %x : tensor<8x16x16xf32>, tensor<8x16x16xf32>, tensor<8x16x16xf32>)
    outs(%x : tensor<8x16x16xf32>) feature_map relu causal -> tensor<8x16x16xf32>
  return %r : tensor<8x16x16xf32>
}
