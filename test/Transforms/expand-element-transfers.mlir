// RUN: rope-opt %s --rope-expand-element-transfers | FileCheck %s
// RUN: rope-opt %s --rope-cpu-pipeline | FileCheck %s --check-prefix=LLVM

// LLVM-NOT: vector.transfer
!M = memref<?x?xf32, strided<[?, ?], offset: ?>>

// CHECK-LABEL: @read
// CHECK: %[[X:.*]] = memref.load %{{.*}}[%[[I:.*]], %[[I]]]
// CHECK: vector.broadcast %[[X]] : f32 to vector<f32>
func.func @read(%m: !M, %i: index) -> vector<f32> {
  %pad = arith.constant 0.0 : f32
  %v = vector.transfer_read %m[%i, %i], %pad : !M, vector<f32>
  return %v : vector<f32>
}

// CHECK-LABEL: @write
// CHECK: %[[X:.*]] = vector.extract %{{.*}}[] : f32 from vector<f32>
// CHECK: memref.store %[[X]], %{{.*}}[%[[I:.*]], %[[I]]]
func.func @write(%m: !M, %v: vector<f32>, %i: index) {
  vector.transfer_write %v, %m[%i, %i] : vector<f32>, !M
  return
}

// What has dims stays, and so does a write to a tensor.
// CHECK-LABEL: @others
// CHECK: vector.transfer_read {{.*}} vector<1xf32>
// CHECK: vector.transfer_write {{.*}} vector<1xf32>
// CHECK: vector.transfer_write {{.*}} vector<f32>, tensor<4xf32>
func.func @others(%m: memref<4xf32>, %t: tensor<4xf32>, %v: vector<f32>, %i: index) -> tensor<4xf32> {
  %pad = arith.constant 0.0 : f32
  %u = vector.transfer_read %m[%i], %pad : memref<4xf32>, vector<1xf32>
  vector.transfer_write %u, %m[%i] : vector<1xf32>, memref<4xf32>
  %r = vector.transfer_write %v, %t[%i] : vector<f32>, tensor<4xf32>
  return %r : tensor<4xf32>
}
