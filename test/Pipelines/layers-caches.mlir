// Layers that are one function write their rows to the caches of the caller: a
// cache is copied only to be returned.

// RUN: rope-opt %s --rope-cpu-pipeline --mlir-print-ir-after=rope-plan-memory -o %t 2>&1 | FileCheck %s
// RUN: rope-run %s --entry caches --random 1 --compare --rtol 1e-4 | FileCheck %s --check-prefix=SAME
// RUN: rope-run %s --entry columns --random 1 --compare --rtol 1e-4 | FileCheck %s --check-prefix=SAME

// SAME: against plain loops:
// SAME-COUNT-2: max_abs {{.*}} ok

!x = tensor<1x8xf32>
!w = tensor<8x8xf32>
!c = tensor<3x16x8xf32>

// CHECK-LABEL: func.func @caches(
// CHECK-NOT: memref.copy {{.*}}16x8
// CHECK-COUNT-3: call @caches_repeat(
// CHECK: memref.copy {{.*}} : memref<3x16x8xf32> to memref<3x16x8xf32>
// CHECK-NOT: memref.copy {{.*}}16x8
// CHECK: func.func @columns(
// CHECK: func.func private @caches_repeat(
// CHECK-NOT: memref.copy {{.*}}16x8
// CHECK: return
func.func @caches(%x: !x, %w: !w, %c: !c {bufferization.writable = true}) -> (!x, !c) {
  %s0 = tensor.extract_slice %c[0, 0, 0] [1, 16, 8] [1, 1, 1] : !c to tensor<16x8xf32>
  %k0 = linalg.matmul ins(%x, %w : !x, !w) outs(%x : !x) -> !x
  %t0 = tensor.insert_slice %k0 into %s0[5, 0] [1, 8] [1, 1] : !x into tensor<16x8xf32>
  %v0 = tensor.extract_slice %t0[1, 0] [8, 8] [1, 1] : tensor<16x8xf32> to !w
  %a0 = linalg.matmul ins(%k0, %v0 : !x, !w) outs(%k0 : !x) -> !x
  %c0 = tensor.insert_slice %t0 into %c[0, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into !c
  %s1 = tensor.extract_slice %c0[1, 0, 0] [1, 16, 8] [1, 1, 1] : !c to tensor<16x8xf32>
  %k1 = linalg.matmul ins(%a0, %w : !x, !w) outs(%a0 : !x) -> !x
  %t1 = tensor.insert_slice %k1 into %s1[5, 0] [1, 8] [1, 1] : !x into tensor<16x8xf32>
  %v1 = tensor.extract_slice %t1[1, 0] [8, 8] [1, 1] : tensor<16x8xf32> to !w
  %a1 = linalg.matmul ins(%k1, %v1 : !x, !w) outs(%k1 : !x) -> !x
  %c1 = tensor.insert_slice %t1 into %c0[1, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into !c
  %s2 = tensor.extract_slice %c1[2, 0, 0] [1, 16, 8] [1, 1, 1] : !c to tensor<16x8xf32>
  %k2 = linalg.matmul ins(%a1, %w : !x, !w) outs(%a1 : !x) -> !x
  %t2 = tensor.insert_slice %k2 into %s2[5, 0] [1, 8] [1, 1] : !x into tensor<16x8xf32>
  %v2 = tensor.extract_slice %t2[1, 0] [8, 8] [1, 1] : tensor<16x8xf32> to !w
  %a2 = linalg.matmul ins(%k2, %v2 : !x, !w) outs(%k2 : !x) -> !x
  %c2 = tensor.insert_slice %t2 into %c1[2, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into !c
  return %a2, %c2 : !x, !c
}

// A caller that keeps what the function writes to passes a copy of the columns.
func.func @columns(%x: tensor<4x8xf32>, %k: tensor<4x32xf32> {bufferization.writable = true}, %w: !w) -> (tensor<4x8xf32>, tensor<4x32xf32>) {
  %s0 = tensor.extract_slice %k[0, 0] [4, 8] [1, 1] : tensor<4x32xf32> to tensor<4x8xf32>
  %a0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, !w) outs(%s0 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %b0 = linalg.matmul ins(%a0, %w : tensor<4x8xf32>, !w) outs(%a0 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s1 = tensor.extract_slice %k[0, 8] [4, 8] [1, 1] : tensor<4x32xf32> to tensor<4x8xf32>
  %a1 = linalg.matmul ins(%b0, %w : tensor<4x8xf32>, !w) outs(%s1 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %b1 = linalg.matmul ins(%a1, %w : tensor<4x8xf32>, !w) outs(%a1 : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %b1, %k : tensor<4x8xf32>, tensor<4x32xf32>
}
