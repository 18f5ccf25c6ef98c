// What rope-run finds when it compares results, and its exit status.
// RUN: rm -rf %t && mkdir %t
// RUN: rope-run %s --random 1 --save %t/good.npz --time 3 | FileCheck %s --check-prefix=TIME
// RUN: rope-run %s --random 1 --expect %t/good.npz --rtol 0 | FileCheck %s --check-prefix=GOOD
// RUN: not rope-run %s --random 2 --expect %t/good.npz --rtol 1e-3 > %t/bad.txt 2>&1
// RUN: FileCheck %s --check-prefix=BAD < %t/bad.txt
// RUN: rope-run %s --random 2 --expect %t/good.npz | FileCheck %s --check-prefix=UNJUDGED
// RUN: rope-run %s --random 1 --compare --rtol 1e-6 -O0 | FileCheck %s --check-prefix=COMPARE
// RUN: rope-run %s --input-spec %S/Inputs/run/inputs.json --expect %t/good.npz | FileCheck %s --check-prefix=SPEC

// TIME: time: best {{[0-9.]+}} ms, median {{[0-9.]+}} ms of 3
// GOOD: against {{.*}}good.npz:
// GOOD-NEXT: result 0: f32[2x3] max_abs 0.000e+00 max_rel 0.000e+00 rtol 0.0e+00 ok
// BAD: result 0: f32[2x3] max_abs {{.*}} rtol 1.0e-03 FAILED
// BAD: rope-run: error: a result differs by more than the tolerance
// UNJUDGED: result 0: f32[2x3] max_abs {{[^ ]*}} max_rel {{[^ ]*$}}
// COMPARE: against plain loops:
// COMPARE-NEXT: result 0: f32[2x3] max_abs {{.*}} rtol 1.0e-06 ok
// SPEC: result 0: f32[2x3] min 2.5 max 2.5

// What is infinite on both sides has not been compared.
// RUN: rope-run %S/Inputs/run/infinite.mlir --random 1 --compare | FileCheck %s --check-prefix=NONE
// NONE: against plain loops:
// NONE-NEXT: result 0: f32[2] max_abs 0.000e+00 max_rel 0.000e+00, 2 finite on neither side
func.func @main(%x: tensor<2x3xf32>, %scale: f32) -> tensor<2x3xf32> {
  %0 = tensor.splat %scale : tensor<2x3xf32>
  %1 = arith.mulf %x, %0 : tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
