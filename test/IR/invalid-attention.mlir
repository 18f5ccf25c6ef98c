// RUN: rope-opt %s --split-input-file --verify-diagnostics

// Each constraint of the attention ops, named after it; and malformed text.

func.func @attention_c1_query(%q: tensor<2x2x8x4x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>) {
  // expected-error @+1 {{no default layout for query of type 'tensor<2x2x8x4x5x16xf32>'}}
  rope.attention ins(%q, %k, %v : tensor<2x2x8x4x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c1_query_rank0(%q: tensor<f32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>) {
  // expected-error @+1 {{no default layout for query of type 'tensor<f32>'}}
  rope.attention ins(%q, %k, %v : tensor<f32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c1_key(%q: tensor<2x8x5x16xf32>, %k: tensor<16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>) {
  // expected-error @+1 {{no default layout for key of type 'tensor<16xf32>'}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<16xf32>, tensor<2x4x7x16xf32>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c1_layout_rank(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>) {
  // expected-error @+1 {{query of type 'tensor<2x8x5x16xf32>' does not have the rank of its layout 'md'}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 layout <query = "md"> -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c1_index(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %p: index) {
  // expected-error @+1 {{query_pos of type 'index' does not have the rank of its layout 'b'}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) query_pos(%p : index) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 causal layout <query_pos = "b"> -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c2_batch(%q: tensor<2x8x5x16xf32>, %k: tensor<3x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>) {
  // expected-error @+1 {{dim 0 (b) of key has extent 3, expected 2}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<3x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c2_heads(%q: tensor<2x9x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x9x5x16xf32>) {
  // expected-error @+1 {{query has 9 heads, but there are 4 key-value heads and 2 query heads for each}}
  rope.attention ins(%q, %k, %v : tensor<2x9x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o : tensor<2x9x5x16xf32>) scale 0.25 -> tensor<2x9x5x16xf32>
  return
}

// -----

// Groups have to agree even where nothing says how many heads share a key.
func.func @attention_c2_groups(%q: tensor<2x8x5x16xf32>, %k: tensor<2x?x7x16xf32>, %v: tensor<2x?x7x16xf32>, %o: tensor<2x6x5x16xf32>) {
  // expected-error @+1 {{output has 6 heads, expected 8}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x?x7x16xf32>, tensor<2x?x7x16xf32>) outs(%o : tensor<2x6x5x16xf32>) scale 0.25 -> tensor<2x6x5x16xf32>
  return
}

// -----

func.func @attention_c2_no_heads(%q: tensor<2x8x5x16xf32>, %k: tensor<2x0x7x16xf32>, %v: tensor<2x0x7x16xf32>, %o: tensor<2x8x5x16xf32>) {
  // expected-error @+1 {{query has 8 heads, but there are 0 key-value heads and 0 query heads for each}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x0x7x16xf32>, tensor<2x0x7x16xf32>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c2_keys(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x8x16xf32>, %o: tensor<2x8x5x16xf32>) {
  // expected-error @+1 {{dim 2 (n) of value has extent 8, expected 7}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x8x16xf32>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c2_channels(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x32xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>) {
  // expected-error @+1 {{dim 3 (d) of key has extent 32, expected 16}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x32xf32>, tensor<2x4x7x16xf32>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c2_output(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x32xf32>, %o: tensor<2x8x5x16xf32>) {
  // expected-error @+1 {{dim 3 (e) of output has extent 16, expected 32}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x32xf32>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c2_mask(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %m: tensor<1x1x5x6xi1>) {
  // expected-error @+1 {{dim 3 (n) of mask has extent 6, expected 7}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) mask(%m : tensor<1x1x5x6xi1>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c2_broadcast(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %m: tensor<5x7xi1>) {
  // expected-error @+1 {{dim 0 (1) of mask has extent 5, expected 1}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) mask(%m : tensor<5x7xi1>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 layout <mask = "1n"> -> tensor<2x8x5x16xf32>
  return
}

// -----

// A single dim lists the rows; one for each batch must be said.
func.func @attention_c2_query_pos(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %p: tensor<2xi64>) {
  // expected-error @+1 {{dim 0 (m) of query_pos has extent 2, expected 5}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) query_pos(%p : tensor<2xi64>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 causal -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c2_sink(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{sink has 4 heads, but there are 4 key-value heads and 2 query heads for each}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) sink(%s : tensor<4xf32>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c3(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %m: memref<5x7xi1>) {
  // expected-error @+1 {{mixes tensors and memrefs}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) mask(%m : memref<5x7xi1>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c4_query(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %t: tensor<5x2x9xf32>) {
  // expected-error @+1 {{query has 16 channels, too few for 9 pairs at offset 0}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) rotate_query(%t : tensor<5x2x9xf32>) <half along [2]> outs(%o : tensor<2x8x5x16xf32>) scale 0.25 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c4_key(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %t: tensor<5x2x8xf32>) {
  // expected-error @+1 {{dim 0 of the table of key has extent 5, but dim 2 of key has 7}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) rotate_key(%t : tensor<5x2x8xf32>) <half along [2]> outs(%o : tensor<2x8x5x16xf32>) scale 0.25 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c4_value(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %t: tensor<7x2x8xf32>) {
  // expected-error @+1 {{along names dim 3 of value, which has 3 dims before its channels}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) rotate_value(%t : tensor<7x2x8xf32>) <half along [3]> outs(%o : tensor<2x8x5x16xf32>) scale 0.25 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c4_output(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %t: tensor<5x2x5xf32>) {
  // expected-error @+1 {{full table of output must have an even width, got 5}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) rerotate_output(%t : tensor<5x2x5xf32>) <half along [2] full = true> outs(%o : tensor<2x8x5x16xf32>) scale 0.25 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c4_last(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x16x7xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %t: tensor<7x2x8xf32>) {
  // expected-error @+1 {{key is rotated, so that its channels must be its last dim}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x16x7xf32>, tensor<2x4x7x16xf32>) rotate_key(%t : tensor<7x2x8xf32>) <half along [2]> outs(%o : tensor<2x8x5x16xf32>) scale 0.25 layout <key = "bhdn"> -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c4_no_rotary(%x: tensor<?x4xf32>, %t: tensor<?x2x2xf32>) {
  // expected-error @+1 {{query has a table but no rotary}}
  "rope.attention"(%x, %x, %x, %t, %x) <{scale = 1.0 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1>}> : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x2x2xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @attention_c4_no_table(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{value has a rotary but no table}}
  "rope.attention"(%x, %x, %x, %x) <{scale = 1.0 : f64, value_rotary = #rope.rotary<half along [0]>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1>}> : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @attention_c5_scale(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>) {
  // expected-error @+1 {{scale must be finite}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o : tensor<2x8x5x16xf32>) scale 0x7FF8000000000000 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c5_softcap_negative(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>) {
  // expected-error @+1 {{softcap must be finite and positive}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 softcap -1.0 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c5_softcap_zero(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>) {
  // expected-error @+1 {{softcap must be finite and positive}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 softcap 0.0 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c5_softcap_inf(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>) {
  // expected-error @+1 {{softcap must be finite and positive}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 softcap 0x7FF0000000000000 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c6_count(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>) {
  // expected-error @+1 {{window must have two entries, each at least -1, got [4]}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 window [4] -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c6_side(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>) {
  // expected-error @+1 {{window must have two entries, each at least -1, got [4, -2]}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 window [4, -2] -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_c7_none(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{expected an output and at most one lse, got 0 inits}}
  "rope.attention"(%x, %x, %x) <{scale = 1.0 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> ()
  return
}

// -----

func.func @attention_c7_three(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %l: tensor<2x8x5xf32>, %s: tensor<2x8x5xf32>) {
  // expected-error @+1 {{expected an output and at most one lse, got 3 inits}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o, %l, %s : tensor<2x8x5x16xf32>, tensor<2x8x5xf32>, tensor<2x8x5xf32>) scale 0.25 -> tensor<2x8x5x16xf32>, tensor<2x8x5xf32>, tensor<2x8x5xf32>
  return
}

// -----

func.func @attention_c7_element(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %l: tensor<2x8x5xbf16>) {
  // expected-error @+1 {{lse must be f32 or f64, got 'bf16'}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o, %l : tensor<2x8x5x16xf32>, tensor<2x8x5xbf16>) scale 0.25 -> tensor<2x8x5x16xf32>, tensor<2x8x5xbf16>
  return
}

// -----

func.func @attention_c8_batch(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<8x5x16xf32>) {
  // expected-error @+1 {{output lacks b, which has extent 2}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o : tensor<8x5x16xf32>) scale 0.25 -> tensor<8x5x16xf32>
  return
}

// -----

func.func @attention_c8_rows(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %l: tensor<2x8xf32>) {
  // expected-error @+1 {{lse lacks m, which has extent 5}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o, %l : tensor<2x8x5x16xf32>, tensor<2x8xf32>) scale 0.25 layout <lse = "b(hg)"> -> tensor<2x8x5x16xf32>, tensor<2x8xf32>
  return
}

// -----

func.func @attention_i1_key_length(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %n: tensor<2xi1>) {
  // expected-error @+1 {{operand #3 must be index, or ranked tensor or memref of i8, i16, i32, i64 or index}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) key_length(%n : tensor<2xi1>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_float_query_pos(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %n: tensor<5xf32>) {
  // expected-error @+1 {{operand #3 must be index, or ranked tensor or memref of i8, i16, i32, i64 or index}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) query_pos(%n : tensor<5xf32>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 causal -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_integer_mask(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %m: tensor<5x7xi8>) {
  // expected-error @+1 {{operand #3 must be ranked tensor or memref of i1, f16, bf16, f32 or f64}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) mask(%m : tensor<5x7xi8>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_result_type(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>) {
  // expected-error @+1 {{to match type of corresponding result}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 -> tensor<2x8x?x16xf32>
  return
}

// -----

func.func @attention_result_count(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %l: tensor<2x8x5xf32>) {
  // expected-error @+1 {{expected the number of tensor results (1) to be equal to the number of output tensors (2)}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o, %l : tensor<2x8x5x16xf32>, tensor<2x8x5xf32>) scale 0.25 -> tensor<2x8x5x16xf32>
  return
}

// -----

// Clauses have one order.
func.func @attention_clause_order(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %s: tensor<8xf32>, %m: tensor<5x7xi1>) {
  // expected-error @+1 {{expected 'outs'}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) sink(%s : tensor<8xf32>) mask(%m : tensor<5x7xi1>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @attention_no_scale(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>) {
  // expected-error @+1 {{expected 'scale'}}
  rope.attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o : tensor<2x8x5x16xf32>) causal -> tensor<2x8x5x16xf32>
  return
}

// -----

func.func @online_c5_scale(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %x: tensor<2x8x5xf32>, %s: tensor<2x8x5xf32>) {
  // expected-error @+1 {{scale must be finite}}
  rope.online_attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o, %x, %s : tensor<2x8x5x16xf32>, tensor<2x8x5xf32>, tensor<2x8x5xf32>) scale 0xFFF0000000000000 -> tensor<2x8x5x16xf32>, tensor<2x8x5xf32>, tensor<2x8x5xf32>
  return
}

// -----

func.func @online_c7_count(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %x: tensor<2x8x5xf32>) {
  // expected-error @+1 {{expected acc, max and sum, got 2 inits}}
  rope.online_attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o, %x : tensor<2x8x5x16xf32>, tensor<2x8x5xf32>) scale 0.25 -> tensor<2x8x5x16xf32>, tensor<2x8x5xf32>
  return
}

// -----

func.func @online_c7_element(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xbf16>, %x: tensor<2x8x5xf32>, %s: tensor<2x8x5xf32>) {
  // expected-error @+1 {{must be variadic of ranked tensor or memref of f32 or f64}}
  rope.online_attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o, %x, %s : tensor<2x8x5x16xbf16>, tensor<2x8x5xf32>, tensor<2x8x5xf32>) scale 0.25 -> tensor<2x8x5x16xbf16>, tensor<2x8x5xf32>, tensor<2x8x5xf32>
  return
}

// -----

func.func @online_c8(%q: tensor<2x8x5x16xf32>, %k: tensor<2x4x7x16xf32>, %v: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>, %x: tensor<2x8x5xf32>, %s: tensor<8x5xf32>) {
  // expected-error @+1 {{sum lacks b, which has extent 2}}
  rope.online_attention ins(%q, %k, %v : tensor<2x8x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o, %x, %s : tensor<2x8x5x16xf32>, tensor<2x8x5xf32>, tensor<8x5xf32>) scale 0.25 -> tensor<2x8x5x16xf32>, tensor<2x8x5xf32>, tensor<8x5xf32>
  return
}

// -----

func.func @linear_c2_state(%q: tensor<8x5x16xf32>, %k: tensor<8x5x16xf32>, %v: tensor<8x5x16xf32>, %o: tensor<8x5x16xf32>, %s: tensor<8x16x8xf32>) {
  // expected-error @+1 {{dim 2 (e) of kv_state has extent 8, expected 16}}
  rope.linear_attention ins(%q, %k, %v : tensor<8x5x16xf32>, tensor<8x5x16xf32>, tensor<8x5x16xf32>) outs(%o, %s : tensor<8x5x16xf32>, tensor<8x16x8xf32>) feature_map relu -> tensor<8x5x16xf32>, tensor<8x16x8xf32>
  return
}

// -----

func.func @linear_c4_key(%q: tensor<8x5x16xf32>, %k: tensor<8x5x16xf32>, %v: tensor<8x5x16xf32>, %o: tensor<8x5x16xf32>, %t: tensor<5x2x9xf32>) {
  // expected-error @+1 {{key has 16 channels, too few for 9 pairs at offset 0}}
  rope.linear_attention ins(%q, %k, %v : tensor<8x5x16xf32>, tensor<8x5x16xf32>, tensor<8x5x16xf32>) rotate_key(%t : tensor<5x2x9xf32>) <half along [1]> outs(%o : tensor<8x5x16xf32>) feature_map relu -> tensor<8x5x16xf32>
  return
}

// -----

func.func @linear_c5(%q: tensor<8x5x16xf32>, %k: tensor<8x7x16xf32>, %v: tensor<8x7x16xf32>, %o: tensor<8x5x16xf32>) {
  // expected-error @+1 {{causal, but there are 5 query rows and 7 keys}}
  rope.linear_attention ins(%q, %k, %v : tensor<8x5x16xf32>, tensor<8x7x16xf32>, tensor<8x7x16xf32>) outs(%o : tensor<8x5x16xf32>) feature_map relu causal -> tensor<8x5x16xf32>
  return
}

// -----

func.func @linear_c6_count(%q: tensor<8x5x16xf32>, %k: tensor<8x5x16xf32>, %v: tensor<8x5x16xf32>, %o: tensor<8x5x16xf32>, %s: tensor<8x16x16xf32>, %z: tensor<8x16xf32>, %y: tensor<8x16xf32>) {
  // expected-error @+1 {{expected an output and at most two states, got 4 inits}}
  rope.linear_attention ins(%q, %k, %v : tensor<8x5x16xf32>, tensor<8x5x16xf32>, tensor<8x5x16xf32>) outs(%o, %s, %z, %y : tensor<8x5x16xf32>, tensor<8x16x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) feature_map relu -> tensor<8x5x16xf32>, tensor<8x16x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
  return
}

// -----

func.func @linear_c6_no_k_sum(%q: tensor<8x5x16xf32>, %k: tensor<8x5x16xf32>, %v: tensor<8x5x16xf32>, %o: tensor<8x5x16xf32>, %s: tensor<8x16x16xf32>) {
  // expected-error @+1 {{a normaliser needs k_sum beside kv_state}}
  rope.linear_attention ins(%q, %k, %v : tensor<8x5x16xf32>, tensor<8x5x16xf32>, tensor<8x5x16xf32>) outs(%o, %s : tensor<8x5x16xf32>, tensor<8x16x16xf32>) feature_map relu normalizer_eps 1.0e-6 -> tensor<8x5x16xf32>, tensor<8x16x16xf32>
  return
}

// -----

func.func @linear_c6_no_normaliser(%q: tensor<8x5x16xf32>, %k: tensor<8x5x16xf32>, %v: tensor<8x5x16xf32>, %o: tensor<8x5x16xf32>, %s: tensor<8x16x16xf32>, %z: tensor<8x16xf32>) {
  // expected-error @+1 {{k_sum needs normalizer_eps}}
  rope.linear_attention ins(%q, %k, %v : tensor<8x5x16xf32>, tensor<8x5x16xf32>, tensor<8x5x16xf32>) outs(%o, %s, %z : tensor<8x5x16xf32>, tensor<8x16x16xf32>, tensor<8x16xf32>) feature_map relu -> tensor<8x5x16xf32>, tensor<8x16x16xf32>, tensor<8x16xf32>
  return
}

// -----

func.func @linear_c7_eps(%q: tensor<8x5x16xf32>, %k: tensor<8x5x16xf32>, %v: tensor<8x5x16xf32>, %o: tensor<8x5x16xf32>) {
  // expected-error @+1 {{normalizer_eps must be finite and not negative}}
  rope.linear_attention ins(%q, %k, %v : tensor<8x5x16xf32>, tensor<8x5x16xf32>, tensor<8x5x16xf32>) outs(%o : tensor<8x5x16xf32>) feature_map relu normalizer_eps -1.0 -> tensor<8x5x16xf32>
  return
}

// -----

func.func @linear_c7_nan(%q: tensor<8x5x16xf32>, %k: tensor<8x5x16xf32>, %v: tensor<8x5x16xf32>, %o: tensor<8x5x16xf32>) {
  // expected-error @+1 {{normalizer_eps must be finite and not negative}}
  rope.linear_attention ins(%q, %k, %v : tensor<8x5x16xf32>, tensor<8x5x16xf32>, tensor<8x5x16xf32>) outs(%o : tensor<8x5x16xf32>) feature_map relu normalizer_eps 0x7FF8000000000000 -> tensor<8x5x16xf32>
  return
}

// -----

func.func @linear_c7_element(%q: tensor<8x5x16xf32>, %k: tensor<8x5x16xf32>, %v: tensor<8x5x16xf32>, %o: tensor<8x5x16xf32>, %s: tensor<8x16x16xbf16>) {
  // expected-error @+1 {{states must be f32 or f64, got 'bf16'}}
  rope.linear_attention ins(%q, %k, %v : tensor<8x5x16xf32>, tensor<8x5x16xf32>, tensor<8x5x16xf32>) outs(%o, %s : tensor<8x5x16xf32>, tensor<8x16x16xbf16>) feature_map relu -> tensor<8x5x16xf32>, tensor<8x16x16xbf16>
  return
}

// -----

func.func @linear_c8(%q: tensor<8x5x16xf32>, %k: tensor<8x5x16xf32>, %v: tensor<8x5x16xf32>, %o: tensor<8x5x16xf32>, %s: tensor<16x16xf32>) {
  // expected-error @+1 {{kv_state lacks h, which has extent 8}}
  rope.linear_attention ins(%q, %k, %v : tensor<8x5x16xf32>, tensor<8x5x16xf32>, tensor<8x5x16xf32>) outs(%o, %s : tensor<8x5x16xf32>, tensor<16x16xf32>) feature_map relu -> tensor<8x5x16xf32>, tensor<16x16xf32>
  return
}

// -----

func.func @linear_feature_map(%q: tensor<8x5x16xf32>, %k: tensor<8x5x16xf32>, %v: tensor<8x5x16xf32>, %o: tensor<8x5x16xf32>) {
  // expected-error @+1 {{expected 'identity', 'elu_plus_one', 'relu' or 'exp', got 'gelu'}}
  rope.linear_attention ins(%q, %k, %v : tensor<8x5x16xf32>, tensor<8x5x16xf32>, tensor<8x5x16xf32>) outs(%o : tensor<8x5x16xf32>) feature_map gelu -> tensor<8x5x16xf32>
  return
}
