// What becomes of a product with a weight as torch has it, whose sum runs in
// blocks: machine code of its inner loops, and memory.

// REQUIRES: x86_64
// RUN: rope-compile %s --target-cpu=znver4 -o %t.ll
// RUN: llc -mcpu=znver4 %t.ll -o - | %python %S/../CodeGen/CPU/Inputs/loops.py 12 | FileCheck %s
// RUN: rope-compile %s --target-cpu=haswell -o %t.ll
// RUN: llc -mcpu=haswell %t.ll -o - | %python %S/../CodeGen/CPU/Inputs/loops.py 12 | FileCheck %s --check-prefix=AVX2
// RUN: rope-opt %s --rope-cpu-pipeline --mlir-print-ir-after=rope-expand-copies -o /dev/null 2>&1 | FileCheck %s --check-prefix=MEMORY

// One step of 6 x 4 vectors; of a register file half the size, 6 x 2.
// CHECK: loop: 24 fma, 0 spill, 0 store, 0 call
// CHECK-NOT: loop:
// AVX2: loop: 12 fma, 0 spill, 0 store, 0 call
// AVX2-NOT: loop:

// The result and a panel, both before the first loop.
// MEMORY: func @main
// MEMORY-COUNT-2: memref.alloc()
// MEMORY: scf.for
// MEMORY-NOT: memref.alloc(
func.func @main(%a: tensor<96x2500xf32>, %b: tensor<128x2500xf32>) -> tensor<96x128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2500x128xf32>
  %t = linalg.transpose ins(%b : tensor<128x2500xf32>) outs(%e : tensor<2500x128xf32>) permutation = [1, 0]
  %e2 = tensor.empty() : tensor<96x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e2 : tensor<96x128xf32>) -> tensor<96x128xf32>
  %r = linalg.matmul ins(%a, %t : tensor<96x2500xf32>, tensor<2500x128xf32>) outs(%f : tensor<96x128xf32>) -> tensor<96x128xf32>
  return %r : tensor<96x128xf32>
}
