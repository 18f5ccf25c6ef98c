// RUN: rope-opt %s --split-input-file --verify-diagnostics --rope-attention-to-vector --rope-linear-attention-to-vector --rope-rotation-to-vector

func.func @open(%q: memref<8x8xf32>, %o: memref<8x8xf32>) {
  // expected-error @+1 {{'rope.attention' op has a plan with open numbers: run rope-plan}}
  rope.attention ins(%q, %q, %q : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%o : memref<8x8xf32>) scale 0.5 {rope.plan = #rope.cpu_plan<rows = 4>}
  return
}

// -----

func.func @lookup(%q: memref<8x8xf32>, %o: memref<8x8xf32>) {
  // expected-error @+1 {{'rope.attention' op has a plan with lookup, which wants 16 lanes}}
  rope.attention ins(%q, %q, %q : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%o : memref<8x8xf32>) scale 0.5 {rope.plan = #rope.cpu_plan<lookup = true, lanes = 8, rows = 1, keys = 1, channels = 1, group = 1, strips = 1, weave = -1, stream = -1>}
  return
}

// -----

func.func @dots(%q: memref<8x8xbf16>, %v: memref<8x8xf32>, %o: memref<8x8xf32>) {
  // expected-error @+1 {{'rope.attention' op has a plan with dots, which want 16 lanes, and bf16 queries, keys and values}}
  rope.attention ins(%q, %q, %v : memref<8x8xbf16>, memref<8x8xbf16>, memref<8x8xf32>)
    outs(%o : memref<8x8xf32>) scale 0.5 {rope.plan = #rope.cpu_plan<dots = true, lanes = 16, rows = 1, keys = 1, channels = 1, group = 1, strips = 1, weave = -1, stream = -1>}
  return
}

// -----

func.func @linear(%q: memref<8x8xf32>, %o: memref<8x8xf32>) {
  // expected-error @+1 {{'rope.linear_attention' op has a plan with open numbers: run rope-plan}}
  rope.linear_attention ins(%q, %q, %q : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%o : memref<8x8xf32>) feature_map exp {rope.plan = #rope.cpu_plan<lanes = 4, rows = 4, keys = 4>}
  return
}

// -----

func.func @dots_where_keys_lie(%q: memref<8x8xbf16>, %o: memref<8x8xbf16>) {
  // expected-error @+1 {{'rope.attention' op has a plan with dots, which want packed keys: stream must be -1}}
  rope.attention ins(%q, %q, %q : memref<8x8xbf16>, memref<8x8xbf16>, memref<8x8xbf16>)
    outs(%o : memref<8x8xbf16>) scale 0.5 {rope.plan = #rope.cpu_plan<dots = true, lanes = 16, rows = 1, keys = 1, channels = 1, group = 1, strips = 1, weave = -1, stream = 8>}
  return
}

// -----

// What is written is not read at the same time.

func.func @in_place(%q: memref<8x8xf32>) {
  // expected-error @+1 {{'rope.attention' op cannot have a plan: an input may share memory with a result}}
  rope.attention ins(%q, %q, %q : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%q : memref<8x8xf32>) scale 0.5 {rope.plan = #rope.cpu_plan<lanes = 16, rows = 1, keys = 1, channels = 1, group = 1, strips = 1, weave = -1, stream = -1>}
  return
}

// -----

func.func @linear_in_place(%q: memref<8x8xf32>) {
  // expected-error @+1 {{'rope.linear_attention' op cannot have a plan: an input may share memory with a result}}
  rope.linear_attention ins(%q, %q, %q : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%q : memref<8x8xf32>) feature_map exp {rope.plan = #rope.cpu_plan<lanes = 4, rows = 4, keys = 4, channels = 2>}
  return
}

// -----

func.func @over_table(%x: memref<2x4xf32>, %t: memref<2x4xf32>) {
  // expected-error @+1 {{'rope.rotate' op cannot have a plan: an input may share memory with a result}}
  rope.rotate <half along [] full = true> ins(%x, %t : memref<2x4xf32>, memref<2x4xf32>) outs(%t : memref<2x4xf32>) {rope.plan = #rope.cpu_plan<>}
  return
}

// -----

func.func @two_results(%q: memref<8x8xf32>, %o: memref<8x8xf32>) {
  // expected-error @+1 {{'rope.linear_attention' op cannot have a plan: two results may share memory}}
  rope.linear_attention ins(%q, %q, %q : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%o, %o : memref<8x8xf32>, memref<8x8xf32>) feature_map exp {rope.plan = #rope.cpu_plan<lanes = 4, rows = 4, keys = 4, channels = 2>}
  return
}
