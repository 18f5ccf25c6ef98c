//===- Pipelines.h - Pass pipelines and their stages ------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pipeline that compiles a module for the CPU, and the stages it is made
// of. A host that wants passes of its own in between calls the stages one by
// one, in the order in which they are declared here.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_PIPELINES_PIPELINES_H
#define ROPE_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::rope {

/// Options of rope-cpu-pipeline and of its stages.
struct CPUPipelineOptions : PassPipelineOptions<CPUPipelineOptions> {
  Option<bool> raise{
      *this, "raise",
      llvm::cl::desc(
          "Find rotations, attention and updates in upstream dialects first, "
          "and fuse them"),
      llvm::cl::init(false)};
  Option<bool> portable{
      *this, "portable",
      llvm::cl::desc("Lower every op to plain loops as it stands: no fusion, "
                     "tiles or vectors. Slow, and the yardstick of the rest"),
      llvm::cl::init(false)};
  Option<int64_t> lanes{
      *this, "lanes",
      llvm::cl::desc("Elements of one vector: 16 f32 fill a 512-bit register"),
      llvm::cl::init(16)};
  Option<int64_t> registers{
      *this, "registers",
      llvm::cl::desc("Vector registers of the target: 32 of AVX-512 and NEON, "
                     "16 of AVX2"),
      llvm::cl::init(32)};
  Option<bool> lookup{
      *this, "lookup",
      llvm::cl::desc("The target is AVX-512: use its tables in registers"),
      llvm::cl::init(false)};
  Option<bool> dots{
      *this, "dots",
      llvm::cl::desc("The target has AVX512-BF16: add up products of pairs of "
                     "bf16 by one instruction, for which subnormal factors "
                     "and sums are zero"),
      llvm::cl::init(false)};
  Option<int64_t> streamBytes{
      *this, "stream-bytes",
      llvm::cl::desc("Bytes of a rotation's result from which on it is written "
                     "past the caches; 0: never"),
      llvm::cl::init(67108864)};
  Option<bool> threads{
      *this, "threads",
      llvm::cl::desc("Share heads, rows and keys of attention, heads of linear "
                     "attention, rows of rotations, parts of products and of "
                     "other ops on many elements, and the iterations of "
                     "scf.forall among threads by OpenMP, as many as the "
                     "runtime says"),
      llvm::cl::init(false)};
  Option<bool> relaxedBF16{
      *this, "relaxed-bf16",
      llvm::cl::desc("Attention of bf16 may round all that it multiplies to "
                     "bf16, as frameworks do: faster with `dots`"),
      llvm::cl::init(false)};
  Option<bool> resultsAsOutParams{
      *this, "results-as-out-params",
      llvm::cl::desc("Write results into buffers that the caller passes after "
                     "the other arguments"),
      llvm::cl::init(false)};
  Option<bool> keepMemory{
      *this, "keep-memory",
      llvm::cl::desc("Keep the work buffer of a function from one call to the "
                     "next; it is freed when the program or library ends"),
      llvm::cl::init(false)};
  Option<bool> packWeights{
      *this, "pack-weights",
      llvm::cl::desc("Store constants in the order in which products read "
                     "them, take arguments that are a rope.weight in it, and "
                     "make a function pack_weights_of_F that puts them in it"),
      llvm::cl::init(false)};
  Option<bool> runtimeChecks{
      *this, "runtime-checks",
      llvm::cl::desc("Check shapes, bounds and positions when the code runs; "
                     "a violation prints a message and aborts"),
      llvm::cl::init(false)};
};

/// After it: rotations and attention as rope ops, as far as they are found and
/// fused (with `raise`), and arguments of the types that calls pass (with
/// `pack-weights`). Empty without the two.
void buildRaiseStage(OpPassManager &pm, const CPUPipelineOptions &options);

/// After it: linalg on tensors, with tensor, arith, math, complex, scf, cf,
/// affine, index, vector, memref and bufferization as they came; no tosa,
/// shape or elementwise arithmetic on tensors outside linalg. Of rope,
/// attention with a plan is left, unless `portable` is set.
void buildTensorStage(OpPassManager &pm, const CPUPipelineOptions &options);

/// After it: as before, and loops over vectors in place of most of linalg.
/// Empty when `portable` is set.
void buildTileStage(OpPassManager &pm, const CPUPipelineOptions &options);

/// After it: no tensors; memref in place of them, and linalg only on buffers.
/// Every buffer that is allocated is also freed or given to the caller.
void buildBufferizeStage(OpPassManager &pm, const CPUPipelineOptions &options);

/// After it: the LLVM dialect alone, and omp where threads share work.
void buildLLVMStage(OpPassManager &pm, const CPUPipelineOptions &options);

/// All of the above: any mix of upstream dialects and rope to the LLVM
/// dialect.
void buildCPUPipeline(OpPassManager &pm, const CPUPipelineOptions &options);

/// Registers rope-cpu-pipeline.
void registerRopePipelines();

} // namespace mlir::rope

#endif // ROPE_PIPELINES_PIPELINES_H
