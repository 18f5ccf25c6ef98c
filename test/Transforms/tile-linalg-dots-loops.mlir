// The inner loops of a product of bf16 as machine code.

// REQUIRES: x86_64
// RUN: rope-compile %s --target-cpu=znver4 -o %t.ll
// RUN: llc -mcpu=znver4 %t.ll -o - | %python %S/../CodeGen/CPU/Inputs/loops.py 12 | FileCheck %s
// RUN: llc -mcpu=znver4 %t.ll -o - | FileCheck %s --check-prefix=CODE

// One pair of 6 x 4 vectors, without conversions; LLVM may make a loop of its own
// for the first block.
// CHECK: loop: 24 fma, 0 spill, 0 store, 0 call
// CHECK-NOT: {{[1-9]}} {{spill|store|call}}
// CODE: vdpbf16ps {{.*}}zmm
// CODE-NOT: vfmadd
func.func @main(%a: tensor<96x5000xbf16>, %b: tensor<128x5000xbf16>) -> tensor<96x128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5000x128xbf16>
  %t = linalg.transpose ins(%b : tensor<128x5000xbf16>) outs(%e : tensor<5000x128xbf16>) permutation = [1, 0]
  %e2 = tensor.empty() : tensor<96x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e2 : tensor<96x128xf32>) -> tensor<96x128xf32>
  %r = linalg.matmul ins(%a, %t : tensor<96x5000xbf16>, tensor<5000x128xbf16>) outs(%f : tensor<96x128xf32>) -> tensor<96x128xf32>
  return %r : tensor<96x128xf32>
}
