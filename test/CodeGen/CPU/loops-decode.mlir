// What machine code of decoding is made of where it spends its time, and that
// no cache is copied.

// REQUIRES: x86_64
// RUN: rope-compile %s --target-cpu=znver4 -o %t.ll
// RUN: FileCheck %s --check-prefix=MEMORY --implicit-check-not=malloc --implicit-check-not=memcpy < %t.ll
// RUN: llc -mcpu=znver4 %t.ll -o - | %python %S/Inputs/loops.py 16 | FileCheck %s

// MEMORY: define

// Scores of the first panel and of all others: one key and 4 rows, whose
// products go to memory. Six of the 32 vectors of queries have no register.
// Each loop asks for as many lines as it reads.
// CHECK-COUNT-2: loop: 32 fma, 6 spill, 4 store, 0 call, 8 prefetch
// Values: two keys and half of the channels.
// CHECK-COUNT-2: loop: 32 fma, 0 spill, 0 store, 0 call, 8 prefetch
// One row: two keys, and all channels of their values.
// CHECK-COUNT-2: loop: 16 fma, 0 spill, 2 store, 0 call, 16 prefetch
// CHECK: loop: 16 fma, 0 spill, 0 store, 0 call, 16 prefetch
// CHECK-NOT: loop:
func.func @rows(%q: memref<8x4x128xf32>, %k: memref<8x4096x128xf32>, %v: memref<8x4096x128xf32>, %o: memref<8x4x128xf32>) {
  rope.attention ins(%q, %k, %v : memref<8x4x128xf32>, memref<8x4096x128xf32>, memref<8x4096x128xf32>)
    outs(%o : memref<8x4x128xf32>) scale 0.0625
    layout <query = "hgd", key = "hnd", value = "hne", output = "hge">
  return
}

func.func @row(%q: memref<8x1x128xf32>, %k: memref<8x4096x128xf32>, %v: memref<8x4096x128xf32>, %o: memref<8x1x128xf32>) {
  rope.attention ins(%q, %k, %v : memref<8x1x128xf32>, memref<8x4096x128xf32>, memref<8x4096x128xf32>)
    outs(%o : memref<8x1x128xf32>) scale 0.0625
    layout <query = "hgd", key = "hnd", value = "hne", output = "hge">
  return
}
