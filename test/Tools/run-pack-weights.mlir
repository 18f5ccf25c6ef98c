// rope-run packs what it is given. The yardstick reads weights as they are, and
// is silent about one that cannot be packed.

// RUN: rope-run %s --random 1 --pipeline-options=pack-weights --compare --rtol 1e-6 > %t.txt 2> %t.err
// RUN: FileCheck %s --input-file %t.txt
// RUN: FileCheck %s --input-file %t.err --check-prefix=REMARK

// CHECK: against plain loops:
// CHECK-NEXT: {{.*}} ok

// REMARK: remark: argument 2 is not packed
// REMARK-NOT: remark
func.func @main(%x: tensor<5x32xf32>, %w: tensor<32x64xf32> {rope.weight}, %v: tensor<64x3xf32> {rope.weight}) -> tensor<5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x64xf32>) -> tensor<5x64xf32>
  %a = linalg.matmul ins(%x, %w : tensor<5x32xf32>, tensor<32x64xf32>) outs(%f : tensor<5x64xf32>) -> tensor<5x64xf32>
  %g = tensor.empty() : tensor<5x3xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<5x3xf32>) -> tensor<5x3xf32>
  %b = linalg.matmul ins(%a, %v : tensor<5x64xf32>, tensor<64x3xf32>) outs(%h : tensor<5x3xf32>) -> tensor<5x3xf32>
  return %b : tensor<5x3xf32>
}
