//===- LinearAttentionToVector.cpp - Linear attention as vector loops -----===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-linear-attention-to-vector: puts each linear attention into a
// function of its own, and writes the loops over heads and chunks there.
//
//===----------------------------------------------------------------------===//

#include "LinearKernel.h"
#include "PlannedOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "rope/CodeGen/CPU/Passes.h"

namespace mlir::rope {
#define GEN_PASS_DEF_LINEARATTENTIONTOVECTORPASS
#include "rope/CodeGen/CPU/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

LinearKernel::LinearKernel(LinearAttentionOp op, CPUPlanAttr plan,
                           OpBuilder &builder)
    : DomainKernel(op, plan.getLanes(), builder), op(op),
      tileRows(plan.getRows()), tileVectors(plan.getChannels()),
      chunkKeys(plan.getKeys() * lanes),
      scoreVectors(std::min(plan.getKeys(), tileVectors)),
      paddedChannels(llvm::alignTo(channels, lanes)),
      paddedValueChannels(llvm::alignTo(valueChannels, lanes)),
      hasNormalizer(op.getNormalizerEps().has_value()),
      readsValues(valueChannels == paddedValueChannels &&
                  getElementType(OperandRole::Value).isF32()) {
  // As many sums as a tile of values has.
  scoreRows = tileRows * std::max<int64_t>(tileVectors / scoreVectors, 1);
  chunkRows = llvm::alignTo(chunkKeys, scoreRows);
}

static void reserveMemory(LinearKernel &k) {
  Type f32 = k.getF32Type();
  k.state = k.reserve({k.channels, k.paddedValueChannels}, f32);
  k.keySum = k.reserve({k.channels}, f32);
  k.keys = k.reserve({k.chunkKeys, k.paddedChannels}, f32);
  if (!k.readsValues)
    k.values = k.reserve({k.chunkKeys, k.paddedValueChannels}, f32);
  k.queries = k.reserve({k.chunkRows, k.paddedChannels}, f32);
  k.normalizers = k.reserve({k.chunkRows}, f32);
  k.outputs = k.reserve({k.chunkRows, k.paddedValueChannels}, f32);
  if (!k.op.getCausal())
    return;
  k.keyColumns = k.reserve({k.paddedChannels, k.chunkKeys}, f32);
  k.keySums = k.reserve({k.chunkKeys, k.channels}, f32);
  k.scores = k.reserve({k.chunkRows, k.chunkKeys}, f32);
}

static void forEachChunk(LinearKernel &k, Value extent,
                         function_ref<void(const Chunk &)> body) {
  k.loop(0, extent, k.chunkKeys, [&](Value first) {
    body({first, k.lesser(k.minus(extent, first), k.chunkKeys)});
  });
}

static void computeRows(LinearKernel &k, const Chunk &chunk) {
  k.loop(0, k.numGroups, 1, [&](Value g) {
    stageQueries(k, chunk, g);
    if (k.op.getCausal())
      computeScores(k, chunk);
    computeOutputs(k, chunk, g);
  });
}

static void computeHead(LinearKernel &k) {
  bool causal = k.op.getCausal();
  loadStates(k);
  forEachChunk(k, k.numKeys, [&](const Chunk &chunk) {
    stageKeys(k, chunk);
    if (causal)
      computeRows(k, chunk);
    updateState(k, chunk);
  });
  if (!causal)
    forEachChunk(k, k.numPositions,
                 [&](const Chunk &chunk) { computeRows(k, chunk); });
  storeStates(k);
}

static LogicalResult computeLinearAttention(LinearKernel &k) {
  auto member = [&](function_ref<void()> loop) {
    reserveMemory(k);
    loop();
  };
  // A state goes from each chunk to the next: the parts of a head wait.
  k.forEachHead(k.index(1), member, [&](Value b, Value h, Value) {
    k.b = b;
    k.h = h;
    computeHead(k);
  });
  return success();
}

namespace {
struct LinearAttentionToVectorPass
    : rope::impl::LinearAttentionToVectorPassBase<LinearAttentionToVectorPass> {
  using LinearAttentionToVectorPassBase::LinearAttentionToVectorPassBase;

  void runOnOperation() override {
    if (failed(lowerAllPlanned<LinearAttentionOp>(
            getOperation(), "rope_linear_attention", threads,
            computeLinearAttention)))
      signalPassFailure();
  }
};
} // namespace
