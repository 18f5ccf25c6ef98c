// RUN: rope-opt %s --split-input-file --verify-diagnostics --rope-plan --rope-attention-to-vector --rope-linear-attention-to-vector

func.func @not_a_plan(%q: memref<8x8xf32>, %o: memref<8x8xf32>) {
  // expected-error @+1 {{'rope.attention' op "rope.plan" must be a #rope.cpu_plan, got 4 : i64}}
  rope.attention ins(%q, %q, %q : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%o : memref<8x8xf32>) scale 0.5 {rope.plan = 4}
  return
}

// -----

func.func @unknown(%q: memref<8x8xf32>, %o: memref<8x8xf32>) {
  // expected-error @+1 {{'rope.attention' op has unknown attribute "rope.tile"}}
  rope.attention ins(%q, %q, %q : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%o : memref<8x8xf32>) scale 0.5 {rope.tile = 4}
  return
}

// -----

// expected-error @+1 {{lanes must be a power of two up to 64, got 12}}
func.func private @lanes() attributes {rope.plan = #rope.cpu_plan<lanes = 12>}

// -----

// expected-error @+1 {{weave and stream must be at least -1, got -2 and 0}}
func.func private @weave() attributes {rope.plan = #rope.cpu_plan<weave = -2>}

// -----

// expected-error @+1 {{strips must be between 0 and 64, got -1}}
func.func private @strips() attributes {rope.plan = #rope.cpu_plan<strips = -1>}

// -----

func.func @obstacle(%q: memref<8x8xf64>, %o: memref<8x8xf64>) {
  // expected-error @+1 {{'rope.attention' op cannot have a plan: query is f64, vectors are f32}}
  rope.attention ins(%q, %q, %q : memref<8x8xf64>, memref<8x8xf64>, memref<8x8xf64>)
    outs(%o : memref<8x8xf64>) scale 0.5 {rope.plan = #rope.cpu_plan<>}
  return
}

// -----

func.func @rotation(%x: memref<8x8xf64>, %t: memref<2x4xf64>, %o: memref<8x8xf64>) {
  // expected-error @+1 {{'rope.rotate' op cannot have a plan: input is f64, vectors are f32}}
  rope.rotate <half along []> ins(%x, %t : memref<8x8xf64>, memref<2x4xf64>) outs(%o : memref<8x8xf64>) {rope.plan = #rope.cpu_plan<>}
  return
}

// -----

// expected-error @+1 {{rows must be between 0 and 64, got 1000000}}
func.func private @many_rows() attributes {rope.plan = #rope.cpu_plan<rows = 1000000>}

// -----

func.func @linear(%q: memref<8x8xf64>, %o: memref<8x8xf64>) {
  // expected-error @+1 {{'rope.linear_attention' op cannot have a plan: query is f64, vectors are f32}}
  rope.linear_attention ins(%q, %q, %q : memref<8x8xf64>, memref<8x8xf64>, memref<8x8xf64>)
    outs(%o : memref<8x8xf64>) feature_map identity {rope.plan = #rope.cpu_plan<>}
  return
}

// -----

// What the target lacks.

!B = memref<8x128x64xbf16>

func.func @dots(%q: !B, %o: !B) {
  // expected-error @+1 {{'rope.attention' op has a plan with dots, which want a target with AVX512-BF16 (the option dots)}}
  rope.attention ins(%q, %q, %q : !B, !B, !B) outs(%o : !B) scale 0.5 {rope.plan = #rope.cpu_plan<dots = true>}
  return
}

// -----

!B = memref<8x128x64xbf16>

func.func @lookup(%q: !B, %o: !B) {
  // expected-error @+1 {{'rope.attention' op has a plan with lookup, which wants a target with AVX-512 (the option lookup)}}
  rope.attention ins(%q, %q, %q : !B, !B, !B) outs(%o : !B) scale 0.5 {rope.plan = #rope.cpu_plan<lookup = true>}
  return
}

// -----

// Register tiles are unrolled.

func.func @tile(%q: tensor<20x8xf32>, %o: tensor<20x8xf32>) -> tensor<20x8xf32> {
  // expected-error @+1 {{'rope.attention' op has a plan with 16 rows by 5 vectors, more than 64 sums}}
  %r = rope.attention ins(%q, %q, %q : tensor<20x8xf32>, tensor<20x8xf32>, tensor<20x8xf32>)
    outs(%o : tensor<20x8xf32>) scale 0.5 {rope.plan = #rope.cpu_plan<rows = 16, keys = 5>} -> tensor<20x8xf32>
  return %r : tensor<20x8xf32>
}

// -----

func.func @tile_of_values(%q: tensor<8x8xf32>, %o: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{'rope.attention' op has a plan with 16 rows by 5 vectors, more than 64 sums}}
  %r = rope.attention ins(%q, %q, %q : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
    outs(%o : tensor<8x8xf32>) scale 0.5 {rope.plan = #rope.cpu_plan<rows = 16, channels = 5>} -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

func.func @linear_tile(%q: tensor<8x8xf32>, %o: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{'rope.linear_attention' op has a plan with 64 rows by 64 vectors, more than 64 sums}}
  %r = rope.linear_attention ins(%q, %q, %q : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
    outs(%o : tensor<8x8xf32>) feature_map exp {rope.plan = #rope.cpu_plan<rows = 64, channels = 64>} -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

// Memory that one thread works in is on its stack.

!L = memref<2x600x64xf32>

func.func @linear_chunk(%q: !L, %o: !L) {
  // expected-error @+1 {{'rope.linear_attention' op has a plan with 72384768 bytes of work memory, which a stack may not hold: at most 2097152}}
  rope.linear_attention ins(%q, %q, %q : !L, !L, !L) outs(%o : !L) feature_map exp causal {rope.plan = #rope.cpu_plan<keys = 64, lanes = 64>}
  return
}

// -----

!L = memref<2x600x512xf32>

func.func @block(%q: !L, %o: !L) {
  // expected-error @+1 {{bytes of work memory, which a stack may not hold: at most 2097152}}
  rope.attention ins(%q, %q, %q : !L, !L, !L) outs(%o : !L) scale 0.5 {rope.plan = #rope.cpu_plan<rows = 16, strips = 64>}
  return
}

// -----

func.func @online(%q: tensor<4x8xf32>, %o: tensor<4x8xf32>, %m: tensor<4xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'rope.online_attention' op cannot have a plan: there is no vector code for it}}
  %r:3 = rope.online_attention ins(%q, %q, %q : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
    outs(%o, %m, %m : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>) scale 0.5
    {rope.plan = #rope.cpu_plan<>} -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  return %r#0 : tensor<4x8xf32>
}
