// Arguments that a call writes to are the same for each call.

// RUN: rope-run %s --random 1 --save %t.npz
// RUN: rope-run %s --random 1 --compare --time 3 --expect %t.npz --rtol 0 | FileCheck %s
// RUN: rope-run %s --random 1 --pipeline-options=portable --compare --time 3 --expect %t.npz --rtol 0 | FileCheck %s

// CHECK: against {{.*}}npz:
// CHECK-NEXT: {{.*}} ok
// CHECK: against plain loops:
// CHECK-NEXT: {{.*}} ok
#id = affine_map<(i) -> (i)>
func.func @add(%state: tensor<64xf32> {bufferization.writable = true}, %x: tensor<64xf32>) -> tensor<64xf32> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%state : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
