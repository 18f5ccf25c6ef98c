// RUN: rope-opt %s --rope-decompose --one-shot-bufferize=bufferize-function-boundaries --canonicalize --cse | FileCheck %s

// A decode step reads the cache where it lies: no copy, and nothing of its size
// is allocated, whatever the layout.
// CHECK-LABEL: func @decode(
// CHECK-NOT: memref.copy{{.*}}2048
// CHECK-NOT: alloc{{.*}}2048x64x
// CHECK-NOT: alloc{{.*}}2048x2x64x
// CHECK: linalg.generic {{.*}} memref<1x2x4x1x64xf32{{.*}}, memref<1x2x2048x64xbf16
// CHECK-NOT: memref.copy{{.*}}2048
// CHECK-NOT: alloc{{.*}}2048x64x
// CHECK-NOT: alloc{{.*}}2048x2x64x
// CHECK: linalg.generic {{.*}} memref<1x2x4x1x2048xf32{{.*}}, memref<1x2048x2x64xbf16
// CHECK-NOT: memref.copy{{.*}}2048
// CHECK: return
func.func @decode(%q: tensor<1x8x1x64xf32>, %k: tensor<1x2x2048x64xbf16> {bufferization.writable = false}, %v: tensor<1x2048x2x64xbf16> {bufferization.writable = false}, %pos: index, %t: tensor<1x2x32xf32>) -> tensor<1x8x1x64xf32> {
  %init = tensor.empty() : tensor<1x8x1x64xf32>
  %o = rope.attention ins(%q, %k, %v : tensor<1x8x1x64xf32>, tensor<1x2x2048x64xbf16>, tensor<1x2048x2x64xbf16>)
         query_pos(%pos : index) rotate_query(%t : tensor<1x2x32xf32>) <half along [2]>
         outs(%init : tensor<1x8x1x64xf32>) scale 0.125 causal layout <value = "bnhe"> -> tensor<1x8x1x64xf32>
  return %o : tensor<1x8x1x64xf32>
}
