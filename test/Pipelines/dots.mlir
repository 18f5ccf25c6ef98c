// Sums of products of pairs of bf16 end as the instruction for them.

// RUN: rope-opt %s --rope-cpu-pipeline=dots | FileCheck %s
// RUN: rope-opt %s --rope-cpu-pipeline="dots lanes=32" | FileCheck %s --check-prefix=WIDE

// CHECK-LABEL: llvm.func @f
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK-NOT: x86vector
func.func @f(%s: vector<16xf32>, %a: vector<32xbf16>, %b: vector<32xbf16>) -> vector<16xf32> {
  %0 = x86vector.avx512.dot %s, %a, %b : vector<32xbf16> -> vector<16xf32>
  return %0 : vector<16xf32>
}

// Vectors that are wider than those of the target do without.
// CHECK-LABEL: llvm.func @product
// CHECK: avx512bf16
// WIDE-LABEL: llvm.func @product
// WIDE-NOT: avx512bf16
// WIDE: vector<128xf32>
func.func @product(%x: tensor<32x4xbf16>, %w: tensor<4x128xbf16>, %c: tensor<32x128xf32>) -> tensor<32x128xf32> {
  %p = linalg.matmul ins(%x, %w : tensor<32x4xbf16>, tensor<4x128xbf16>) outs(%c : tensor<32x128xf32>) -> tensor<32x128xf32>
  return %p : tensor<32x128xf32>
}
