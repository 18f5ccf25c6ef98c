// What machine code is made of where it spends its time, with pairs of bf16.

// REQUIRES: x86_64
// RUN: rope-compile %s --target-cpu=znver4 --pipeline-options=relaxed-bf16 -o %t.ll
// RUN: llc -mcpu=znver4 %t.ll -o - | %python %S/Inputs/loops.py | FileCheck %s
// RUN: rope-compile %s --target-cpu=znver4 -o %t.ll
// RUN: llc -mcpu=znver4 %t.ll -o - | FileCheck %s --check-prefix=EXACT
// RUN: rope-compile %s --target-cpu=skylake-avx512 --pipeline-options=relaxed-bf16 -o %t.ll
// RUN: llc -mcpu=skylake-avx512 %t.ll -o - | FileCheck %s --check-prefix=EXACT

// As with f32, but for 8 steps of pairs, and an exponential has one
// multiplication less and another that is none of these.
// CHECK-COUNT-1: loop: 64 fma, 0 spill, 0 store, 0 call
// CHECK-COUNT-1: loop: 132 fma, {{[0-2]}} spill, {{.*}} 0 call
// CHECK-COUNT-1: loop: 64 fma, 0 spill, 0 store, 0 call
// CHECK-NOT: loop:

// EXACT-NOT: vdpbf16ps
func.func @main(%q: memref<8x2048x64xbf16>, %k: memref<8x2048x64xbf16>, %v: memref<8x2048x64xbf16>, %o: memref<8x2048x64xbf16>) {
  rope.attention ins(%q, %k, %v : memref<8x2048x64xbf16>, memref<8x2048x64xbf16>, memref<8x2048x64xbf16>)
    outs(%o : memref<8x2048x64xbf16>) scale 0.125
    layout <query = "hmd", key = "hnd", value = "hne", output = "hme">
  return
}
