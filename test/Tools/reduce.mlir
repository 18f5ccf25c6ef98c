// RUN: rope-reduce %s -reduction-tree='traversal-mode=0 test=%S/Inputs/has-mulf.sh' | FileCheck %s

// The reducer drops the function that the interesting op is not in.
// CHECK-NOT: @unrelated
// CHECK: func.func @interesting
// CHECK: arith.mulf

func.func @unrelated(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  return %0 : f32
}

func.func @interesting(%x: f32) -> f32 {
  %0 = arith.mulf %x, %x : f32
  return %0 : f32
}
