// What machine code is made of where it spends its time.

// REQUIRES: x86_64
// RUN: rope-compile %s --target-cpu=znver4 -o %t.ll
// RUN: llc -mcpu=znver4 %t.ll -o - | %python %S/Inputs/loops.py | FileCheck %s
// RUN: rope-compile %s --target-cpu=haswell -o %t.ll
// RUN: llc -mcpu=haswell %t.ll -o - | %python %S/Inputs/loops.py | FileCheck %s --check-prefix=AVX2

// The products of the first scores; woven products, 8 channels of 4 × 4 vectors
// with the exponentials of 4 vectors, 3 multiplications each, and 5 stores of
// weights and their sums; products of the remaining channels; and values. No
// registers are spilled.
// CHECK-COUNT-1: loop: 64 fma, 0 spill, 0 store, 0 call
// CHECK-COUNT-1: loop: 136 fma, 0 spill, 5 store, 0 call
// CHECK-COUNT-2: loop: 64 fma, 0 spill, 0 store, 0 call
// CHECK-NOT: loop:

// 4 channels of 6 × 2 vectors, of the first scores and of the others; values in
// four parts.
// AVX2-COUNT-6: loop: 48 fma, 0 spill, 0 store, 0 call
// AVX2-NOT: loop:
func.func @main(%q: memref<8x2048x64xf32>, %k: memref<8x2048x64xf32>, %v: memref<8x2048x64xf32>, %o: memref<8x2048x64xf32>) {
  rope.attention ins(%q, %k, %v : memref<8x2048x64xf32>, memref<8x2048x64xf32>, memref<8x2048x64xf32>)
    outs(%o : memref<8x2048x64xf32>) scale 0.125
    layout <query = "hmd", key = "hnd", value = "hne", output = "hme">
  return
}
