// RUN: rope-opt %s --rope-expand-math | FileCheck %s

// CHECK-LABEL: func @scalar
// CHECK-NOT: math.exp
// CHECK-COUNT-2: arith.bitcast {{.*}} : i32 to f32
func.func @scalar(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// CHECK-LABEL: func @vectors
// CHECK-NOT: math.exp
// CHECK: arith.bitcast {{.*}} : vector<2x16xi32> to vector<2x16xf32>
func.func @vectors(%x: vector<2x16xf32>) -> vector<2x16xf32> {
  %y = math.exp %x : vector<2x16xf32>
  return %y : vector<2x16xf32>
}

// Not f32, not of a fixed length, not an exponential.
// CHECK-LABEL: func @others
// CHECK: math.exp
// CHECK: math.exp
// CHECK: math.sin
// CHECK: math.exp
func.func @others(%a: f64, %b: vector<[4]xf32>, %c: f32, %d: tensor<4xf32>)
    -> (f64, vector<[4]xf32>, f32, tensor<4xf32>) {
  %0 = math.exp %a : f64
  %1 = math.exp %b : vector<[4]xf32>
  %2 = math.sin %c : f32
  %3 = math.exp %d : tensor<4xf32>
  return %0, %1, %2, %3 : f64, vector<[4]xf32>, f32, tensor<4xf32>
}
