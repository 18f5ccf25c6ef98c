// Weights of all layers are passed in panels, and the one function that does
// the work of a layer reads them so. rope-run packs what it is given.

// RUN: rope-opt %s --rope-cpu-pipeline=pack-weights --mlir-print-ir-after=rope-tile-linalg -o /dev/null 2>&1 | FileCheck %s
// RUN: rope-run %s --random 1 --save %t.npz
// RUN: rope-run %s --pipeline-options=pack-weights --random 1 --expect %t.npz --compare --rtol 2e-6 | FileCheck %s --check-prefix=SAME
// RUN: rope-compile %s --pipeline-options=pack-weights -o %t.o --header %t.h
// RUN: FileCheck %s --check-prefix=HEADER --input-file %t.h

// CHECK-LABEL: func.func @layers(
// CHECK-SAME: %{{.*}}: tensor<20x128xf32>, %[[W0:[a-z0-9]*]]: tensor<2x128x64xf32> {rope.weight}, %{{[a-z0-9]*}}: tensor<2x128x64xf32> {rope.weight}, %[[W1:[a-z0-9]*]]: tensor<2x128x64xf32> {rope.weight}
// CHECK: call @layers_repeat(%{{.*}}, %[[W0]],
// CHECK: call @layers_repeat(%{{.*}}, %[[W1]],
// CHECK: func.func @pack_weights_of_layers(
// CHECK: func.func private @layers_repeat(%{{[a-z0-9]*}}: tensor<20x128xf32>, %[[W:[a-z0-9]*]]: tensor<2x128x64xf32> {bufferization.writable = false, rope.weight}
// CHECK-NOT: linalg.unpack
// CHECK: vector.transfer_read %[[W]][{{.*}} : tensor<2x128x64xf32>, vector<1x64xf32>

// SAME: against {{.*}}npz:
// SAME-NEXT: {{.*}} ok
// SAME-NEXT: against plain loops:
// SAME-NEXT: {{.*}} ok

// HEADER: void _mlir_ciface_layers(rope_memref_f32_2 *result0, rope_memref_f32_2 *arg0, rope_memref_f32_3 *arg1,
// HEADER: void _mlir_ciface_pack_weights_of_layers(
!x = tensor<20x128xf32>
!w = tensor<128x128xf32>
func.func @layers(%x: !x, %w0: !w {rope.weight}, %v0: !w {rope.weight}, %w1: !w {rope.weight}, %v1: !w {rope.weight}) -> !x {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !x
  %f = linalg.fill ins(%zero : f32) outs(%e : !x) -> !x
  %a0 = linalg.matmul ins(%x, %w0 : !x, !w) outs(%f : !x) -> !x
  %b0 = linalg.matmul ins(%a0, %v0 : !x, !w) outs(%f : !x) -> !x
  %c0 = linalg.abs ins(%b0 : !x) outs(%e : !x) -> !x
  %a1 = linalg.matmul ins(%c0, %w1 : !x, !w) outs(%f : !x) -> !x
  %b1 = linalg.matmul ins(%a1, %v1 : !x, !w) outs(%f : !x) -> !x
  %c1 = linalg.abs ins(%b1 : !x) outs(%e : !x) -> !x
  return %c1 : !x
}
