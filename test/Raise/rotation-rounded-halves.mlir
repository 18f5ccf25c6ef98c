// RUN: rope-opt %s --rope-raise --split-input-file | FileCheck %s
// RUN: sed '/^.. -----/,$d' %s | rope-run - --random 1 --compare --rtol 4e-3 --pipeline-options raise

// Each half is rounded by itself, after it was turned: so is the whole, and its
// source is not.
// CHECK-LABEL: @f32_to_bf16
// CHECK-SAME: %[[X:[^:]*]]: tensor<8x4xf32>
// CHECK: %[[Y:.*]] = rope.rotate <half along [0]> ins(%[[X]], %{{.*}} : tensor<8x4xf32>
// CHECK: %[[R:.*]] = arith.truncf %[[Y]] : tensor<8x4xf32> to tensor<8x4xbf16>
// CHECK: return %[[R]]
func.func @f32_to_bf16(%x: tensor<8x4xf32>, %c: tensor<8x2xf32>, %s: tensor<8x2xf32>) -> tensor<8x4xbf16> {
  %a = tensor.extract_slice %x[0, 0] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %b = tensor.extract_slice %x[0, 2] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %ac = arith.mulf %a, %c : tensor<8x2xf32>
  %bs = arith.mulf %b, %s : tensor<8x2xf32>
  %bc = arith.mulf %b, %c : tensor<8x2xf32>
  %as = arith.mulf %a, %s : tensor<8x2xf32>
  %u = arith.subf %ac, %bs : tensor<8x2xf32>
  %v = arith.addf %bc, %as : tensor<8x2xf32>
  %u16 = arith.truncf %u : tensor<8x2xf32> to tensor<8x2xbf16>
  %v16 = arith.truncf %v : tensor<8x2xf32> to tensor<8x2xbf16>
  %y = tensor.concat dim(1) %u16, %v16 : (tensor<8x2xbf16>, tensor<8x2xbf16>) -> tensor<8x4xbf16>
  return %y : tensor<8x4xbf16>
}

// -----

// Neither of f16 and bf16 holds the other.
// CHECK-LABEL: @f16_to_bf16
// CHECK-SAME: %[[X:[^:]*]]: tensor<8x4xf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[X]] : tensor<8x4xf16> to tensor<8x4xf32>
// CHECK: %[[Y:.*]] = rope.rotate <half along [0]> ins(%[[WIDE]], %{{.*}} : tensor<8x4xf32>
// CHECK: %[[R:.*]] = arith.truncf %[[Y]] : tensor<8x4xf32> to tensor<8x4xbf16>
// CHECK: return %[[R]]
func.func @f16_to_bf16(%x: tensor<8x4xf16>, %c: tensor<8x2xf32>, %s: tensor<8x2xf32>) -> tensor<8x4xbf16> {
  %a16 = tensor.extract_slice %x[0, 0] [8, 2] [1, 1] : tensor<8x4xf16> to tensor<8x2xf16>
  %b16 = tensor.extract_slice %x[0, 2] [8, 2] [1, 1] : tensor<8x4xf16> to tensor<8x2xf16>
  %a = arith.extf %a16 : tensor<8x2xf16> to tensor<8x2xf32>
  %b = arith.extf %b16 : tensor<8x2xf16> to tensor<8x2xf32>
  %ac = arith.mulf %a, %c : tensor<8x2xf32>
  %bs = arith.mulf %b, %s : tensor<8x2xf32>
  %bc = arith.mulf %b, %c : tensor<8x2xf32>
  %as = arith.mulf %a, %s : tensor<8x2xf32>
  %u = arith.subf %ac, %bs : tensor<8x2xf32>
  %v = arith.addf %bc, %as : tensor<8x2xf32>
  %u16 = arith.truncf %u : tensor<8x2xf32> to tensor<8x2xbf16>
  %v16 = arith.truncf %v : tensor<8x2xf32> to tensor<8x2xbf16>
  %y = tensor.concat dim(1) %u16, %v16 : (tensor<8x2xbf16>, tensor<8x2xbf16>) -> tensor<8x4xbf16>
  return %y : tensor<8x4xbf16>
}
