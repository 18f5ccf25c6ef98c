// What a function needs while it runs is allocated by the first call only.
// Inputs/keep-memory.c counts.

// RUN: rope-opt %s --rope-cpu-pipeline="keep-memory results-as-out-params" | mlir-translate --mlir-to-llvmir -o %t.ll
// RUN: clang -w -O1 -Wl,--wrap=malloc -Wl,--wrap=free %S/Inputs/keep-memory.c -x ir %t.ll -o %t.exe -lm
// RUN: %t.exe | FileCheck %s
// RUN: rope-opt %s --rope-cpu-pipeline="portable keep-memory results-as-out-params" | mlir-translate --mlir-to-llvmir -o %t.ll
// RUN: clang -w -O1 -Wl,--wrap=malloc -Wl,--wrap=free %S/Inputs/keep-memory.c -x ir %t.ll -o %t.exe -lm
// RUN: %t.exe | FileCheck %s
// RUN: rope-opt %s --rope-cpu-pipeline=results-as-out-params | mlir-translate --mlir-to-llvmir -o %t.ll
// RUN: clang -w -O1 -Wl,--wrap=malloc -Wl,--wrap=free %S/Inputs/keep-memory.c -x ir %t.ll -o %t.exe -lm
// RUN: %t.exe | FileCheck %s --check-prefix=FREED

// CHECK: 0.5 1 allocated, 0 freed
// CHECK-NEXT: 0.5 1 allocated, 0 freed
// CHECK-NEXT: at exit: 1 freed

// FREED: 0.5 1 allocated, 1 freed
// FREED-NEXT: 0.5 2 allocated, 2 freed
// FREED-NEXT: at exit: 2 freed
func.func @sum(%x: tensor<16x16xf32>) -> tensor<16x16xf32> attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %y = linalg.matmul ins(%x, %x : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %z = linalg.matmul ins(%y, %x : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %z : tensor<16x16xf32>
}
