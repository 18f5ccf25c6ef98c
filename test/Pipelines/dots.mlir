// Sums of products of pairs of bf16 end as the instruction for them.

// RUN: rope-opt %s --rope-cpu-pipeline=dots | FileCheck %s

// CHECK-LABEL: llvm.func @f
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK-NOT: x86vector
func.func @f(%s: vector<16xf32>, %a: vector<32xbf16>, %b: vector<32xbf16>) -> vector<16xf32> {
  %0 = x86vector.avx512.dot %s, %a, %b : vector<32xbf16> -> vector<16xf32>
  return %0 : vector<16xf32>
}
