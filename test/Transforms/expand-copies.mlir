// RUN: rope-opt %s --rope-expand-copies | FileCheck %s

// CHECK-LABEL: func @strided
// CHECK-NOT: memref.copy
// CHECK: linalg.generic
// CHECK: return
func.func @strided(%a: memref<4x4xf32, strided<[8, 1]>>, %b: memref<4x4xf32>) {
  memref.copy %a, %b : memref<4x4xf32, strided<[8, 1]>> to memref<4x4xf32>
  return
}

// CHECK-LABEL: func @contiguous
// CHECK: memref.copy
func.func @contiguous(%a: memref<4x?xf32>, %b: memref<4x?xf32>) {
  memref.copy %a, %b : memref<4x?xf32> to memref<4x?xf32>
  return
}

// CHECK-LABEL: func @contiguous_offset
// CHECK: memref.copy
func.func @contiguous_offset(%a: memref<4x4xf32, strided<[4, 1], offset: 8>>, %b: memref<4x4xf32>) {
  memref.copy %a, %b : memref<4x4xf32, strided<[4, 1], offset: 8>> to memref<4x4xf32>
  return
}

// CHECK-LABEL: func @unranked
// CHECK: memref.copy
func.func @unranked(%a: memref<*xf32>, %b: memref<*xf32>) {
  memref.copy %a, %b : memref<*xf32> to memref<*xf32>
  return
}
