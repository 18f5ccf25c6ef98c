// RUN: rope-opt %s --split-input-file --verify-diagnostics

// Each constraint of rotate and rerotate, named after it; and malformed text.

func.func @rotate_c1_dynamic(%x: tensor<2x?x8xf32>, %t: tensor<?x2x?xf32>, %i: tensor<2x?x8xf32>) {
  // expected-error @+1 {{table of input must have a static, positive width}}
  rope.rotate <half along [1]> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x2x?xf32>) outs(%i : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @rotate_c1_zero(%x: tensor<2x?x8xf32>, %t: tensor<?x2x0xf32>, %i: tensor<2x?x8xf32>) {
  // expected-error @+1 {{table of input must have a static, positive width}}
  rope.rotate <half along [1]> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x2x0xf32>) outs(%i : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @rotate_c1_odd(%x: tensor<2x?x8xf32>, %t: tensor<?x2x3xf32>, %i: tensor<2x?x8xf32>) {
  // expected-error @+1 {{full table of input must have an even width, got 3}}
  rope.rotate <half along [1] full = true> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x2x3xf32>) outs(%i : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @rotate_c2_pairs(%x: tensor<2x?x8xf32>, %t: tensor<?x2x5xf32>, %i: tensor<2x?x8xf32>) {
  // expected-error @+1 {{input has 8 channels, too few for 5 pairs at offset 0}}
  rope.rotate <half along [1]> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x2x5xf32>) outs(%i : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @rotate_c2_interleaved(%x: tensor<2x?x8xf32>, %t: tensor<?x2x4xf32>, %i: tensor<2x?x8xf32>) {
  // expected-error @+1 {{input has 8 channels, too few for 4 pairs at offset 1}}
  rope.rotate <interleaved offset = 1 along [1]> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x2x4xf32>) outs(%i : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @rotate_c2_full(%x: tensor<2x?x8xf32>, %t: tensor<?x2x10xf32>, %i: tensor<2x?x8xf32>) {
  // expected-error @+1 {{input has 8 channels, too few for 5 pairs at offset 0}}
  rope.rotate <half along [1] full = true> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x2x10xf32>) outs(%i : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

// The sum of offset and pairs overflows.
func.func @rotate_c2_offset_overflow(%x: tensor<2x?x8xf32>, %t: tensor<?x2x4xf32>) {
  // expected-error @+1 {{input has 8 channels, too few for 4 pairs at offset 9223372036854775807}}
  rope.rotate <half offset = 9223372036854775807 along [1]> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x2x4xf32>) outs(%x : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @rotate_c2_distance_overflow(%x: tensor<2x?x8xf32>, %t: tensor<?x2x4xf32>) {
  // expected-error @+1 {{input has 8 channels, too few for 4 pairs at offset 0}}
  rope.rotate <half distance = 9223372036854775807 along [1]> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x2x4xf32>) outs(%x : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @rotate_c2_overlap(%x: tensor<2x?x8xf32>, %t: tensor<?x2x3xf32>, %i: tensor<2x?x8xf32>) {
  // expected-error @+1 {{distance 2 of input puts a channel into two of its 3 pairs}}
  rope.rotate <half distance = 2 along [1]> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x2x3xf32>) outs(%i : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @rotate_c2_dynamic(%x: tensor<2x?x?xf32>, %t: tensor<?x2x4xf32>, %i: tensor<2x?x?xf32>) {
  // expected-error @+1 {{input must have a static last dim}}
  rope.rotate <half along [1]> ins(%x, %t : tensor<2x?x?xf32>, tensor<?x2x4xf32>) outs(%i : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  return
}

// -----

func.func @rotate_c2_rank0(%x: tensor<f32>, %t: tensor<2x4xf32>, %i: tensor<f32>) {
  // expected-error @+1 {{input has 0 channels, too few for 4 pairs at offset 0}}
  rope.rotate <half along []> ins(%x, %t : tensor<f32>, tensor<2x4xf32>) outs(%i : tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @rotate_c3(%x: tensor<2x?x8xf32>, %t: tensor<?x2x3xf32>, %i: tensor<2x?x8xf32>) {
  // expected-error @+1 {{input is read with distance 4 and written to other channels}}
  rope.rotate <half to interleaved distance = 4 along [1]> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x2x3xf32>) outs(%i : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @rotate_c3_written_distance(%x: tensor<2x?x8xf32>, %t: tensor<?x2x3xf32>, %i: tensor<2x?x8xf32>) {
  // expected-error @+1 {{input is read with distance 4 and written to other channels}}
  rope.rotate <interleaved to half distance = 4 along [1]> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x2x3xf32>) outs(%i : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @rotate_c4_count(%x: tensor<2x?x8xf32>, %t: tensor<?x2x4xf32>, %i: tensor<2x?x8xf32>) {
  // expected-error @+1 {{table of input has 1 leading dims, but along lists 2}}
  rope.rotate <half along [0, 1]> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x2x4xf32>) outs(%i : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @rotate_c4_last(%x: tensor<2x?x8xf32>, %t: tensor<?x2x4xf32>, %i: tensor<2x?x8xf32>) {
  // expected-error @+1 {{along names dim 2 of input, which has 2 dims before its channels}}
  rope.rotate <half along [2]> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x2x4xf32>) outs(%i : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @rotate_c4_range(%x: tensor<2x?x8xf32>, %t: tensor<?x2x4xf32>, %i: tensor<2x?x8xf32>) {
  // expected-error @+1 {{along names dim 9223372036854775807 of input, which has 2 dims before its channels}}
  rope.rotate <half along [9223372036854775807]> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x2x4xf32>) outs(%i : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @rotate_c5_extents(%x: tensor<2x?x8xf32>, %t: tensor<3x2x4xf32>, %i: tensor<2x?x8xf32>) {
  // expected-error @+1 {{dim 0 of the table of input has extent 3, but dim 0 of input has 2}}
  rope.rotate <half along [0]> ins(%x, %t : tensor<2x?x8xf32>, tensor<3x2x4xf32>) outs(%i : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @rotate_c6_shape(%x: tensor<2x?x8xf32>, %t: tensor<?x2x4xf32>, %i: tensor<3x?x8xf32>) {
  // expected-error @+1 {{must have the same shape and element type}}
  rope.rotate <half along [1]> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x2x4xf32>) outs(%i : tensor<3x?x8xf32>) -> tensor<3x?x8xf32>
  return
}

// -----

func.func @rotate_c6_rank(%x: tensor<2x?x8xf32>, %t: tensor<?x2x4xf32>, %i: tensor<?x8xf32>) {
  // expected-error @+1 {{must have the same shape and element type}}
  rope.rotate <half along [1]> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x2x4xf32>) outs(%i : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @rotate_c6_element(%x: tensor<2x?x8xf32>, %t: tensor<?x2x4xf32>, %i: tensor<2x?x8xbf16>) {
  // expected-error @+1 {{must have the same shape and element type}}
  rope.rotate <half along [1]> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x2x4xf32>) outs(%i : tensor<2x?x8xbf16>) -> tensor<2x?x8xbf16>
  return
}

// -----

func.func @rotate_c7_planes(%x: tensor<2x?x8xf32>, %t: tensor<?x3x4xf32>, %i: tensor<2x?x8xf32>) {
  // expected-error @+1 {{table of input must have the shape [lead..., 2, W], got 'tensor<?x3x4xf32>'}}
  rope.rotate <half along [1]> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x3x4xf32>) outs(%i : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @rotate_c7_rank(%x: tensor<2x?x8xf32>, %t: tensor<4xf32>, %i: tensor<2x?x8xf32>) {
  // expected-error @+1 {{table of input must have the shape [lead..., 2, W], got 'tensor<4xf32>'}}
  rope.rotate <half along [1]> ins(%x, %t : tensor<2x?x8xf32>, tensor<4xf32>) outs(%i : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @rotate_integers(%x: tensor<2x?x8xi32>, %t: tensor<?x2x4xf32>, %i: tensor<2x?x8xi32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or memref of f16, bf16, f32 or f64}}
  rope.rotate <half along [1]> ins(%x, %t : tensor<2x?x8xi32>, tensor<?x2x4xf32>) outs(%i : tensor<2x?x8xi32>) -> tensor<2x?x8xi32>
  return
}

// -----

func.func @rotate_mixed(%x: memref<8xf32>, %t: tensor<2x4xf32>) {
  // expected-error @+1 {{mixes tensors and memrefs}}
  rope.rotate <half along []> ins(%x, %t : memref<8xf32>, tensor<2x4xf32>) outs(%x : memref<8xf32>)
  return
}

// -----

func.func @rotate_memref_result(%x: memref<8xf32>, %t: memref<2x4xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{expected the number of tensor results (1) to be equal to the number of output tensors (0)}}
  %r = rope.rotate <half along []> ins(%x, %t : memref<8xf32>, memref<2x4xf32>) outs(%x : memref<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @rerotate_c2_pairs(%x: tensor<2x?x8xf32>, %t: tensor<?x2x5xf32>, %i: tensor<2x?x8xf32>) {
  // expected-error @+1 {{input has 8 channels, too few for 5 pairs at offset 0}}
  rope.rerotate <half along [1]> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x2x5xf32>) outs(%i : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @rerotate_c6_element(%x: tensor<2x?x8xf32>, %t: tensor<?x2x4xf32>, %i: tensor<2x?x8xbf16>) {
  // expected-error @+1 {{must have the same shape and element type}}
  rope.rerotate <half along [1]> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x2x4xf32>) outs(%i : tensor<2x?x8xbf16>) -> tensor<2x?x8xbf16>
  return
}
