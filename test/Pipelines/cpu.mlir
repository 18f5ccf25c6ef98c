// Any mix of upstream dialects ends in the LLVM dialect alone.

// RUN: rope-opt %s --split-input-file --rope-cpu-pipeline | FileCheck %s "--implicit-check-not={{[^.a-z_](linalg|tensor|memref|scf|arith|math|vector|cf|func|complex|affine|tosa|index|shape|bufferization|builtin)[.]}}"
// RUN: rope-opt %s --split-input-file --rope-cpu-pipeline=portable | FileCheck %s "--implicit-check-not={{[^.a-z_](linalg|tensor|memref|scf|arith|math|vector|cf|func|complex|affine|tosa|index|shape|bufferization|builtin)[.]}}"
// RUN: rope-opt %s --split-input-file --rope-cpu-pipeline=runtime-checks | FileCheck %s --check-prefix=CHECKED

// CHECK-LABEL: llvm.func @tosa
func.func @tosa(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tosa.add %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tosa.tanh %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: llvm.func @tosa_matmul
func.func @tosa_matmul(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %y, %zp, %zp : (tensor<2x3x4xf32>, tensor<2x4x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// -----

// CHECK-LABEL: llvm.func @complex_of_tensors
func.func @complex_of_tensors(%x: tensor<?xcomplex<f32>>, %y: tensor<?xcomplex<f32>>, %n: index) -> tensor<?xcomplex<f32>> {
  %0 = tensor.generate %n {
  ^bb0(%i: index):
    %a = tensor.extract %x[%i] : tensor<?xcomplex<f32>>
    %b = tensor.extract %y[%i] : tensor<?xcomplex<f32>>
    %c = complex.exp %a : complex<f32>
    %d = complex.div %c, %b : complex<f32>
    tensor.yield %d : complex<f32>
  } : tensor<?xcomplex<f32>>
  return %0 : tensor<?xcomplex<f32>>
}

// -----

// CHECK-LABEL: llvm.func @polar
// CHECK: llvm.intr.cos
// CHECK: llvm.intr.sin
func.func @polar(%x: tensor<4xf32>) -> tensor<4xcomplex<f32>> {
  %e = tensor.empty() : tensor<4xcomplex<f32>>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xcomplex<f32>>) {
  ^bb0(%a: f32, %o: complex<f32>):
    %c = math.cos %a : f32
    %s = math.sin %a : f32
    %z = complex.create %c, %s : complex<f32>
    linalg.yield %z : complex<f32>
  } -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

// Blocks and branches.
// CHECK-LABEL: llvm.func @branches
func.func @branches(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  cf.cond_br %c, ^bb1, ^bb2(%x : tensor<4xf32>)
^bb1:
  %0 = math.exp %x : tensor<4xf32>
  cf.br ^bb2(%0 : tensor<4xf32>)
^bb2(%r: tensor<4xf32>):
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: llvm.func @powers
func.func @powers(%x: f32, %n: i64, %y: tensor<5xf32>) -> (f32, tensor<5xf32>) {
  %c2 = arith.constant dense<2> : tensor<5xi64>
  %0 = math.fpowi %x, %n : f32, i64
  %1 = math.fpowi %y, %c2 : tensor<5xf32>, tensor<5xi64>
  return %0, %1 : f32, tensor<5xf32>
}

// -----

// CHECK-LABEL: llvm.func @shapes
// CHECKED-LABEL: llvm.func @shapes
// CHECKED: llvm.call @abort
func.func @shapes(%x: tensor<?x?xf32>, %i: index) -> tensor<?xf32> {
  %c1 = arith.constant 1 : index
  %d = tensor.dim %x, %c1 : tensor<?x?xf32>
  %c = tensor.concat dim(0) %x, %x : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = tensor.extract_slice %c[%i, 0] [1, %d] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// No call of a conversion routine that only some compiler runtimes have.
// CHECK-LABEL: llvm.func @narrow
// CHECK-NOT: llvm.fptrunc {{.*}} to bf16
// CHECK-NOT: llvm.fadd {{.*}} : bf16
func.func @narrow(%x: tensor<9xbf16>, %y: tensor<9xbf16>) -> tensor<9xbf16> {
  %0 = arith.addf %x, %y : tensor<9xbf16>
  %1 = math.tanh %0 : tensor<9xbf16>
  return %1 : tensor<9xbf16>
}

// -----

// CHECK-LABEL: llvm.func @softmax
func.func @softmax(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %e = tensor.empty() : tensor<4x16xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

// -----

// CHECK-LABEL: llvm.func @pack
func.func @pack(%x: tensor<33x16xf32>) -> tensor<5x2x8x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x2x8x8xf32>
  %r = linalg.pack %x padding_value(%z : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %e : tensor<33x16xf32> -> tensor<5x2x8x8xf32>
  return %r : tensor<5x2x8x8xf32>
}

// -----

// CHECK-LABEL: llvm.func @conv
func.func @conv(%x: tensor<1x8x8x4xf32>, %f: tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32> {
  %e = tensor.empty() : tensor<1x6x6x8xf32>
  %z = arith.constant 0.0 : f32
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<1x6x6x8xf32>) -> tensor<1x6x6x8xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %f : tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) outs(%i : tensor<1x6x6x8xf32>) -> tensor<1x6x6x8xf32>
  return %r : tensor<1x6x6x8xf32>
}

// -----

// CHECK-LABEL: llvm.func @forall
func.func @forall(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %r = scf.forall (%i) in (64) shared_outs(%o = %e) -> tensor<64xf32> {
    %s = tensor.extract_slice %x[%i] [1] [1] : tensor<64xf32> to tensor<1xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<64xf32> }
  }
  return %r : tensor<64xf32>
}

// -----

// CHECK-LABEL: llvm.func @memrefs
func.func @memrefs(%x: memref<?x?xf32>, %y: memref<?x?xf32, strided<[?, 1], offset: ?>>) {
  linalg.exp ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32, strided<[?, 1], offset: ?>>)
  return
}

// -----

// CHECK-LABEL: llvm.func @pad
func.func @pad(%x: tensor<?x5xf32>) -> tensor<?x16xf32> {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0] high[0, 11] { ^bb0(%i: index, %j: index): tensor.yield %z : f32 } : tensor<?x5xf32> to tensor<?x16xf32>
  return %p : tensor<?x16xf32>
}

// -----

// CHECK-LABEL: llvm.func @materialize
func.func @materialize(%x: tensor<8xf32>, %m: memref<8xf32>) {
  %0 = math.exp %x : tensor<8xf32>
  bufferization.materialize_in_destination %0 in restrict writable %m : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: llvm.func @while
func.func @while(%x: tensor<8xf32>, %n: i32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.while (%i = %c0, %a = %x) : (i32, tensor<8xf32>) -> (i32, tensor<8xf32>) {
    %c = arith.cmpi slt, %i, %n : i32
    scf.condition(%c) %i, %a : i32, tensor<8xf32>
  } do {
  ^bb0(%i: i32, %a: tensor<8xf32>):
    %j = arith.addi %i, %c1 : i32
    %b = arith.addf %a, %a : tensor<8xf32>
    scf.yield %j, %b : i32, tensor<8xf32>
  }
  return %r#1 : tensor<8xf32>
}

// -----

// CHECK-LABEL: llvm.func @intmm
func.func @intmm(%a: tensor<16x32xi8>, %b: tensor<32x64xi8>, %c: tensor<16x64xi32>) -> tensor<16x64xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<16x32xi8>, tensor<32x64xi8>) outs(%c : tensor<16x64xi32>) -> tensor<16x64xi32>
  return %r : tensor<16x64xi32>
}

// -----

// Flags on casts would not survive the translation to LLVM IR.
// CHECK-LABEL: llvm.func @half
// CHECK-NOT: #arith.fastmath
func.func @half(%x: tensor<40xf16>) -> tensor<40xf16> {
  %0 = math.absf %x : tensor<40xf16>
  %1 = math.sin %0 : tensor<40xf16>
  return %1 : tensor<40xf16>
}

// -----

// Empty dims and scalars with a stride.
// CHECK-LABEL: llvm.func @empty
func.func @empty(%x: tensor<0x4xf32>, %y: tensor<4x8xf32>, %z: tensor<0x8xf32>) -> tensor<0x8xf32> {
  %r = linalg.matmul ins(%x, %y : tensor<0x4xf32>, tensor<4x8xf32>) outs(%z : tensor<0x8xf32>) -> tensor<0x8xf32>
  return %r : tensor<0x8xf32>
}

// -----

// CHECK-LABEL: llvm.func @strided_scalar
func.func @strided_scalar(%x: tensor<3x4xf32>, %y: tensor<3x64xf32>) -> tensor<3x64xf32> {
  %s = tensor.extract_slice %x[0, 1] [3, 1] [1, 1] : tensor<3x4xf32> to tensor<3xf32>
  %e = tensor.empty() : tensor<3x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%s, %y : tensor<3xf32>, tensor<3x64xf32>) outs(%e : tensor<3x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<3x64xf32>
  return %r : tensor<3x64xf32>
}
