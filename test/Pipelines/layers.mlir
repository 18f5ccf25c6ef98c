// Layers that are written out one by one are one function, with one attention,
// called for each, and the numbers are those of plain loops.

// RUN: rope-opt %s --rope-cpu-pipeline | FileCheck %s
// RUN: rope-run %s --random 1 --shape 0=37x64 --shape 1=37 --compare --rtol 2e-6 | FileCheck %s --check-prefix=SAME

// Checks name the layer that they are in.
// RUN: rope-opt %s --rope-cpu-pipeline=runtime-checks | FileCheck %s --check-prefix=CHECKED
// CHECKED: llvm.func @layers(
// CHECKED-NOT: layers_repeat

// CHECK-LABEL: llvm.func @layers(
// CHECK-COUNT-3: llvm.call @layers_repeat(
// CHECK-NOT: llvm.call @layers_repeat(
// CHECK: llvm.func @layers_repeat(
// CHECK: llvm.call @rope_attention(
// CHECK-NOT: llvm.call @rope_attention(
// CHECK: llvm.func @rope_attention(

// SAME: against plain loops:
// SAME-NEXT: {{.*}} ok
func.func @layers(%x: tensor<?x64xf32>, %positions: tensor<?xi64>, %wq: tensor<3x64x64xf32>, %wk0: tensor<64x64xf32>, %wv0: tensor<64x64xf32>, %wo0: tensor<64x64xf32>, %wk1: tensor<64x64xf32>, %wv1: tensor<64x64xf32>, %wo1: tensor<64x64xf32>, %wk2: tensor<64x64xf32>, %wv2: tensor<64x64xf32>, %wo2: tensor<64x64xf32>) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %i0 = arith.constant 0 : index
  %rows = tensor.dim %x, %i0 : tensor<?x64xf32>
  %e = tensor.empty(%rows) : tensor<?x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %te = tensor.empty(%rows) : tensor<?x2x8xf32>
  %t = rope.table #rope.default<1.0e4> ins(%positions : tensor<?xi64>) outs(%te : tensor<?x2x8xf32>) -> tensor<?x2x8xf32>
  %wq0 = tensor.extract_slice %wq[0, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<3x64x64xf32> to tensor<64x64xf32>
  %q0 = linalg.matmul ins(%x, %wq0 : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %k0 = linalg.matmul ins(%x, %wk0 : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %v0 = linalg.matmul ins(%x, %wv0 : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %qh0 = tensor.expand_shape %q0 [[0], [1, 2]] output_shape [%rows, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %kh0 = tensor.expand_shape %k0 [[0], [1, 2]] output_shape [%rows, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %vh0 = tensor.expand_shape %v0 [[0], [1, 2]] output_shape [%rows, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %ae0 = tensor.empty(%rows) : tensor<?x4x16xf32>
  %ah0 = rope.attention ins(%qh0, %kh0, %vh0 : tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>) rotate_query(%t : tensor<?x2x8xf32>) <half along [0]> rotate_key(%t : tensor<?x2x8xf32>) <half along [0]> outs(%ae0 : tensor<?x4x16xf32>) scale 0.25 causal layout <query = "mhd", key = "nhd", value = "nhe", output = "mhe"> -> tensor<?x4x16xf32>
  %a0 = tensor.collapse_shape %ah0 [[0], [1, 2]] : tensor<?x4x16xf32> into tensor<?x64xf32>
  %o0 = linalg.matmul ins(%a0, %wo0 : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y0 = linalg.add ins(%x, %o0 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %wq1 = tensor.extract_slice %wq[1, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<3x64x64xf32> to tensor<64x64xf32>
  %q1 = linalg.matmul ins(%y0, %wq1 : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %k1 = linalg.matmul ins(%y0, %wk1 : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %v1 = linalg.matmul ins(%y0, %wv1 : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %qh1 = tensor.expand_shape %q1 [[0], [1, 2]] output_shape [%rows, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %kh1 = tensor.expand_shape %k1 [[0], [1, 2]] output_shape [%rows, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %vh1 = tensor.expand_shape %v1 [[0], [1, 2]] output_shape [%rows, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %ae1 = tensor.empty(%rows) : tensor<?x4x16xf32>
  %ah1 = rope.attention ins(%qh1, %kh1, %vh1 : tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>) rotate_query(%t : tensor<?x2x8xf32>) <half along [0]> rotate_key(%t : tensor<?x2x8xf32>) <half along [0]> outs(%ae1 : tensor<?x4x16xf32>) scale 0.25 causal layout <query = "mhd", key = "nhd", value = "nhe", output = "mhe"> -> tensor<?x4x16xf32>
  %a1 = tensor.collapse_shape %ah1 [[0], [1, 2]] : tensor<?x4x16xf32> into tensor<?x64xf32>
  %o1 = linalg.matmul ins(%a1, %wo1 : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y1 = linalg.add ins(%y0, %o1 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %wq2 = tensor.extract_slice %wq[2, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<3x64x64xf32> to tensor<64x64xf32>
  %q2 = linalg.matmul ins(%y1, %wq2 : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %k2 = linalg.matmul ins(%y1, %wk2 : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %v2 = linalg.matmul ins(%y1, %wv2 : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %qh2 = tensor.expand_shape %q2 [[0], [1, 2]] output_shape [%rows, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %kh2 = tensor.expand_shape %k2 [[0], [1, 2]] output_shape [%rows, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %vh2 = tensor.expand_shape %v2 [[0], [1, 2]] output_shape [%rows, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %ae2 = tensor.empty(%rows) : tensor<?x4x16xf32>
  %ah2 = rope.attention ins(%qh2, %kh2, %vh2 : tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>) rotate_query(%t : tensor<?x2x8xf32>) <half along [0]> rotate_key(%t : tensor<?x2x8xf32>) <half along [0]> outs(%ae2 : tensor<?x4x16xf32>) scale 0.25 causal layout <query = "mhd", key = "nhd", value = "nhe", output = "mhe"> -> tensor<?x4x16xf32>
  %a2 = tensor.collapse_shape %ah2 [[0], [1, 2]] : tensor<?x4x16xf32> into tensor<?x64xf32>
  %o2 = linalg.matmul ins(%a2, %wo2 : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y2 = linalg.add ins(%y1, %o2 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y2 : tensor<?x64xf32>
}
