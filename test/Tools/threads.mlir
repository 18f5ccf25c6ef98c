// Code that shares its work among threads calls libomp, which rope-run brings
// along and shared libraries name.

// RUN: rm -rf %t && mkdir %t
// RUN: rope-run %s --random 1 --pipeline-options threads --compare --rtol 1e-5 | FileCheck %s
// RUN: rope-compile %s -o %t/model.so --target-cpu native --pipeline-options threads
// RUN: llvm-readelf --needed-libs %t/model.so | FileCheck %s --check-prefix=NEEDED
// RUN: rope-compile %s -o %t/alone.so --target-cpu native
// RUN: llvm-readelf --needed-libs %t/alone.so | FileCheck %s --check-prefix=ALONE

// CHECK: against plain loops:
// CHECK-NEXT: result 0: f32[8x300x64] {{.*}} ok
// NEEDED: libomp.so
// ALONE-NOT: libomp.so
func.func @main(%q: tensor<8x300x64xf32>, %k: tensor<2x300x64xf32>, %t: tensor<300x2x32xf32>) -> tensor<8x300x64xf32> {
  %x = tensor.empty() : tensor<2x300x64xf32>
  %r = rope.rotate <half along [1]> ins(%k, %t : tensor<2x300x64xf32>, tensor<300x2x32xf32>) outs(%x : tensor<2x300x64xf32>) -> tensor<2x300x64xf32>
  %o = tensor.empty() : tensor<8x300x64xf32>
  %y = rope.attention ins(%q, %r, %k : tensor<8x300x64xf32>, tensor<2x300x64xf32>, tensor<2x300x64xf32>)
    outs(%o : tensor<8x300x64xf32>) scale 0.125 causal
    layout <query = "(hg)md", key = "hnd", value = "hne", output = "(hg)me"> -> tensor<8x300x64xf32>
  return %y : tensor<8x300x64xf32>
}
