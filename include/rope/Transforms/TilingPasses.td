//===- TilingPasses.td - Passes that tile structured ops ---*- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_TRANSFORMS_TILINGPASSES
#define ROPE_TRANSFORMS_TILINGPASSES

include "mlir/Pass/PassBase.td"

def NormalizeLinalgPass : Pass<"rope-normalize-linalg"> {
  let summary = "Bring structured ops into the few forms that tiling knows";
  let description = [{
    Prepares a model for rope-tile-linalg, on tensors:

    - named ops become generics, and dims of extent 1 disappear;
    - results that nobody reads disappear (the arg max beside a max);
    - a chain of elementwise ops becomes one op where no element is then
      computed more often than before, copies and casts excepted;
    - a contraction reads a transposed operand where it lies;
    - a contraction that sums in f16 or bf16 sums in f32;
    - `tensor.empty` and `linalg.fill` are written once per use.

    Numbers change by removed roundings only.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::affine::AffineDialect"
  ];
}

def OutlineRepeatsPass : Pass<"rope-outline-repeats", "ModuleOp"> {
  let summary = "Make layers that are equal calls of one function";
  let description = [{
    Models are often written out layer by layer. Where runs of ops with more
    than one product are equal but for the values that they take, a private
    function does the work of one, and calls of it stand for all:

    ```mlir
    %a = linalg.matmul ins(%x, %w0 : ...) ...
    %b = linalg.matmul ins(%a, %v0 : ...) ...
    %c = linalg.matmul ins(%b, %w1 : ...) ...
    %d = linalg.matmul ins(%c, %v1 : ...) ...
    // becomes
    %b = call @f_repeat(%x, %w0, %v0) : ...
    %d = call @f_repeat(%b, %w1, %v1) : ...
    ```

    Compiling then takes little longer for many layers than for one. Constants and
    tensors without contents are made anew in the function. Ops of other kinds
    between those of a run stay where they are or follow the call. Where the
    slices of caches are that layers put back is an argument; parts of weights
    are passed as they lie in memory. The function may not write to what its
    callers have a use for afterwards. Numbers do not change.
  }];
  let options = [
    Option<"minProducts", "min-products", "unsigned", /*default=*/"2",
           "Products, among them attention, that a run has at least">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"
  ];
}

def PackWeightsPass : Pass<"rope-pack-weights", "ModuleOp"> {
  let summary = "Store weights in the order in which products read them";
  let description = [{
    An argument of a public function that has the attribute `rope.weight` is the
    same in every call. Where it is a matrix that products alone read, they now
    want it in panels, and a new function makes these, to be called once:

    ```mlir
    func.func @f(%x: tensor<8x512xf32>, %w: tensor<256x512xf32> {rope.weight})
    // becomes
    func.func @f(%x: tensor<8x512xf32>, %w: tensor<4x512x64xf32> {rope.weight})
    func.func @pack_weights_of_f(%w: tensor<256x512xf32>) -> tensor<4x512x64xf32>
    ```

    That takes and returns the weights that are packed, in their order; a remark
    says why another is not. A constant that products alone read is packed here
    and now. Runs after rope-normalize-linalg and
    before rope-cpu-pipeline, with the same options as that. Numbers do not
    change.
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", /*default=*/"16",
           "Elements of one vector: 16 f32 fill a 512-bit register">,
    Option<"registers", "registers", "int64_t", /*default=*/"32",
           "Vector registers of the target: 32 of AVX-512 and NEON, 16 of AVX2">,
    Option<"dots", "dots", "bool", /*default=*/"false",
           "The target has AVX512-BF16: store bf16 in pairs of steps">
  ];
  let dependentDialects = [
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def TileLinalgPass : Pass<"rope-tile-linalg"> {
  let summary = "Tile and vectorize structured ops on tensors";
  let description = [{
    Turns the linalg generics of a model, as rope-normalize-linalg leaves them,
    into loops over vectors:

    - ops that share rows (a softmax, a norm) or batch dims (the products and
      the softmax of attention) are put into one loop over these;
    - an elementwise op that alone reads a product, or two, works on a panel of
      columns as soon as that is computed;
    - a matrix product packs panels of one operand, in pieces that stay in
      cache, and keeps the sums of a few rows by one panel in vectors that the
      reduction loop carries;
    - with `dots`, one of bf16 summed in f32 packs pairs of steps, which one
      instruction multiplies and adds: it takes subnormal numbers for zero;
    - a panel of a weight that rope-pack-weights had packed is read where it is;
    - elementwise ops and reductions run in vectors along the contiguous dim;
    - with `threads`, an op of much work, or several that share a loop, become
      an `scf.forall` over panels, batch dims, rows or blocks of these. Sums are
      not split: numbers are those without it.

    Dims need not be static or a multiple of anything: what does not fill a
    vector stays a linalg op, and so does whatever has no vector form (gathers,
    complex numbers, bits in memory).

    Sums are reordered; nothing else changes numbers, but for what `dots` takes
    for zero.
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", /*default=*/"16",
           "Elements of one vector: 16 f32 fill a 512-bit register">,
    Option<"registers", "registers", "int64_t", /*default=*/"32",
           "Vector registers of the target: 32 of AVX-512 and NEON, 16 of AVX2">,
    Option<"dots", "dots", "bool", /*default=*/"false",
           "The target has AVX512-BF16: add up products of pairs of bf16 by one "
           "instruction, for which subnormal factors and sums are zero">,
    Option<"threads", "threads", "bool", /*default=*/"false",
           "Cut much work into the iterations of scf.forall">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::ub::UBDialect", "::mlir::vector::VectorDialect",
    "::mlir::x86vector::X86VectorDialect"
  ];
}

#endif // ROPE_TRANSFORMS_TILINGPASSES
