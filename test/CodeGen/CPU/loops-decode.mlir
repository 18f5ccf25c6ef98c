// What machine code of decoding is made of where it spends its time, and that
// no cache is copied.

// REQUIRES: x86_64
// RUN: rope-compile %s --target-cpu=znver4 -o %t.ll
// RUN: FileCheck %s --check-prefix=MEMORY --implicit-check-not=malloc --implicit-check-not=memcpy < %t.ll
// RUN: llc -mcpu=znver4 %t.ll -o - | %python %S/Inputs/loops.py | FileCheck %s

// MEMORY: define

// Scores of all panels but the first: 8 vectors of channels of 4 keys and 4
// rows. Values: 4 vectors of 4 keys and 4 rows, for each quarter of channels.
// CHECK: loop: 128 fma, 0 spill, 0 store, 0 call
// CHECK-COUNT-4: loop: 64 fma, 0 spill, 0 store, 0 call
// CHECK-NOT: loop:
func.func @main(%q: memref<8x4x256xf32>, %k: memref<8x4096x256xf32>, %v: memref<8x4096x256xf32>, %o: memref<8x4x256xf32>) {
  rope.attention ins(%q, %k, %v : memref<8x4x256xf32>, memref<8x4096x256xf32>, memref<8x4096x256xf32>)
    outs(%o : memref<8x4x256xf32>) scale 0.0625
    layout <query = "hgd", key = "hnd", value = "hne", output = "hge">
  return
}
