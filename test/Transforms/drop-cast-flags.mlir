// RUN: rope-opt %s --rope-drop-cast-flags | FileCheck %s

// CHECK-LABEL: func @casts
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.mulf %{{.*}} fastmath<contract>
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @casts(%x: f16) -> f16 {
  %0 = arith.extf %x fastmath<contract> : f16 to f32
  %1 = arith.mulf %0, %0 fastmath<contract> : f32
  %2 = arith.truncf %1 fastmath<contract> : f32 to f16
  return %2 : f16
}
