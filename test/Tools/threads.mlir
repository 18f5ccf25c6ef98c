// Code that shares its work among threads calls libomp, which rope-run brings
// along and shared libraries name.

// RUN: rm -rf %t && mkdir %t
// RUN: env OMP_NUM_THREADS=1 rope-run %s --random 1 --pipeline-options threads --compare --rtol 1e-5 --save=%t/1.npz | FileCheck %s
// RUN: env OMP_NUM_THREADS=2 rope-run %s --random 1 --pipeline-options threads --save=%t/2.npz
// RUN: env OMP_NUM_THREADS=3 rope-run %s --random 1 --pipeline-options threads --save=%t/3.npz
// RUN: env OMP_NUM_THREADS=8 rope-run %s --random 1 --pipeline-options threads --save=%t/8.npz
// RUN: rope-run %s --random 1 --save=%t/alone.npz
// RUN: cmp %t/1.npz %t/alone.npz
// RUN: cmp %t/2.npz %t/alone.npz
// RUN: cmp %t/3.npz %t/alone.npz
// RUN: cmp %t/8.npz %t/alone.npz
// RUN: rope-compile %s -o %t/model.so --target-cpu native --pipeline-options threads --header %t/model.h
// RUN: FileCheck %s --check-prefix=LINK --input-file %t/model.h
// LINK: Link with -lm -lomp.
// RUN: llvm-readelf --needed-libs %t/model.so | FileCheck %s --check-prefix=NEEDED
// RUN: rope-compile %s -o %t/alone.so --target-cpu native
// RUN: llvm-readelf --needed-libs %t/alone.so | FileCheck %s --check-prefix=ALONE

// CHECK: against plain loops:
// CHECK-NEXT: result 0: f32[8x300x333] {{.*}} ok
// NEEDED: libomp.so
// ALONE-NOT: libomp.so
func.func @main(%q: tensor<8x300x64xf32>, %k: tensor<2x300x64xf32>, %t: tensor<300x2x32xf32>, %w: tensor<8x64x333xf32>) -> tensor<8x300x333xf32> {
  %x = tensor.empty() : tensor<2x300x64xf32>
  %r = rope.rotate <half along [1]> ins(%k, %t : tensor<2x300x64xf32>, tensor<300x2x32xf32>) outs(%x : tensor<2x300x64xf32>) -> tensor<2x300x64xf32>
  %o = tensor.empty() : tensor<8x300x64xf32>
  %y = rope.attention ins(%q, %r, %k : tensor<8x300x64xf32>, tensor<2x300x64xf32>, tensor<2x300x64xf32>)
    outs(%o : tensor<8x300x64xf32>) scale 0.125 causal
    layout <query = "(hg)md", key = "hnd", value = "hne", output = "(hg)me"> -> tensor<8x300x64xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x300x333xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x300x333xf32>) -> tensor<8x300x333xf32>
  %p = linalg.batch_matmul ins(%y, %w : tensor<8x300x64xf32>, tensor<8x64x333xf32>) outs(%f : tensor<8x300x333xf32>) -> tensor<8x300x333xf32>
  return %p : tensor<8x300x333xf32>
}
