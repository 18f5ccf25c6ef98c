// RUN: rope-opt %s --rope-expand-narrowing | FileCheck %s

// Exactly f32, or its odd neighbour.
// CHECK-LABEL: func @scalar
// CHECK-SAME: (%[[X:.*]]: f64)
// CHECK: %[[NEAR:.*]] = arith.truncf %[[X]] : f64 to f32
// CHECK: %[[WIDE:.*]] = arith.extf %[[NEAR]] : f32 to f64
// CHECK: %[[EXACT:.*]] = arith.cmpf ueq, %[[WIDE]], %[[X]]
// CHECK: %[[BITS:.*]] = arith.bitcast %[[NEAR]] : f32 to i32
// CHECK: %[[ODD:.*]] = arith.ori
// CHECK: %[[SOME:.*]] = arith.select %[[EXACT]], %[[BITS]], %[[ODD]]
// CHECK: %[[F32:.*]] = arith.bitcast %[[SOME]] : i32 to f32
// CHECK: arith.truncf %[[F32]] : f32 to f16
func.func @scalar(%x: f64) -> f16 {
  %y = arith.truncf %x : f64 to f16
  return %y : f16
}

// CHECK-LABEL: func @vector
// CHECK: arith.truncf %{{.*}} : vector<4xf32> to vector<4xbf16>
func.func @vector(%x: vector<4xf64>) -> vector<4xbf16> {
  %y = arith.truncf %x : vector<4xf64> to vector<4xbf16>
  return %y : vector<4xbf16>
}

// CHECK-LABEL: func @fma
// CHECK-NOT: math.fma
// CHECK: arith.mulf %{{.*}} : f64
// CHECK: arith.addf %{{.*}} : f64
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @fma(%x: f16) -> f16 {
  %y = math.fma %x, %x, %x : f16
  return %y : f16
}

// Steps that processors have, other roundings, tensors.
// CHECK-LABEL: func @others
// CHECK-COUNT-4: arith.truncf
// CHECK-NOT: arith.truncf
func.func @others(%x: f64, %y: f32, %z: tensor<4xf64>) -> (f32, f16, f16, tensor<4xf16>) {
  %0 = arith.truncf %x : f64 to f32
  %1 = arith.truncf %y : f32 to f16
  %2 = arith.truncf %x to_nearest_away : f64 to f16
  %3 = arith.truncf %z : tensor<4xf64> to tensor<4xf16>
  return %0, %1, %2, %3 : f32, f16, f16, tensor<4xf16>
}
