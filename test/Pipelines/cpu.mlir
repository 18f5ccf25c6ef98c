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
