// RUN: rope-opt %s --verify-diagnostics --rope-attention-to-vector

func.func @open(%q: memref<8x8xf32>, %o: memref<8x8xf32>) {
  // expected-error @+1 {{'rope.attention' op has a plan with open numbers: run rope-plan}}
  rope.attention ins(%q, %q, %q : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%o : memref<8x8xf32>) scale 0.5 {rope.plan = #rope.cpu_plan<rows = 4>}
  return
}
