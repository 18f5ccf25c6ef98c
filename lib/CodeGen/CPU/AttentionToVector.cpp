//===- AttentionToVector.cpp - Attention as loops over vectors ------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-attention-to-vector: puts each attention into a function of
// its own, and writes the loops over heads and blocks of rows there.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"
#include "PlannedOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "rope/CodeGen/CPU/Attention.h"
#include "rope/CodeGen/CPU/Passes.h"

namespace mlir::rope {
#define GEN_PASS_DEF_ATTENTIONTOVECTORPASS
#include "rope/CodeGen/CPU/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

//===----------------------------------------------------------------------===//
// Heads and blocks
//===----------------------------------------------------------------------===//

static void allocateStreamScratch(AttentionKernel &k) {
  Scratch &s = k.scratch;
  Type f32 = k.getF32Type();
  s.lostOutput = k.reserve({k.blockRows, k.paddedValueChannels}, f32);
  s.lostSums = k.reserve({k.blockRows, k.lanes}, f32);
  s.keyProducts = k.reserve({k.lanes, k.lanes}, f32);
  if (k.dotRows > 1)
    s.keySums = k.reserve({k.dotRows, k.lanes}, f32);
  if (k.plan.getChannels() * k.lanes < k.paddedValueChannels)
    s.panelSums = k.reserve({k.tileRows, k.paddedValueChannels}, f32);
  if (k.stagesValues)
    s.valueRows = k.reserve({k.tileKeys, k.paddedValueChannels}, f32);
}

static void allocateScratch(AttentionKernel &k) {
  Scratch &s = k.scratch;
  Type f32 = k.getF32Type(), index = k.getIndexType();
  int64_t slots = k.plan.getGroup();
  s.query = k.reserve({k.blockRows, k.getScoreSteps()}, f32);
  s.output = k.reserve({k.blockRows, k.paddedValueChannels}, f32);
  s.sums = k.reserve({k.blockRows, k.lanes}, f32);
  s.references = k.reserve({k.blockRows}, f32);
  s.scores = k.reserve({2, k.tileRows, k.tileKeys}, f32);
  s.weights = k.reserve({slots * k.tileRows, k.getPanelSteps()}, f32);
  s.weightSums = k.reserve({slots * k.tileRows, k.lanes}, f32);
  int64_t length = llvm::alignTo(k.getScoreSteps(), k.lanes);
  s.keyRows = k.reserve({k.tileKeys, length}, f32);
  if (k.streams)
    allocateStreamScratch(k);
  if (slots > 1)
    s.slots = k.reserve({slots}, index);
  if (!k.hasRanges)
    return;
  if (k.hasBegins)
    s.rowBegins = k.reserve({k.blockRows}, index);
  s.rowEnds = k.reserve({k.blockRows}, index);
  s.stripRanges = k.reserve({k.blockStrips, 4}, index);
}

/// Where a tile is computed by half, the scores of the other half are those
/// from before. They do not count, but decide how careful the code is: those of
/// another block must not, or results would depend on who computes what.
static void clearScores(AttentionKernel &k) {
  Value zeros = arith::ConstantOp::create(
      k, k.getZeroAttr(VectorType::get(k.tileKeys, k.getF32Type())));
  for (int64_t buffer : {0, 1})
    for (int64_t row = 0; row < k.tileRows; ++row)
      k.storeVector(zeros, k.scratch.scores, {buffer, row, 0});
}

/// Computes one block of rows of a head in `parts`, from `part` on: causal rows
/// see the more keys the later they are.
static void computeHead(AttentionKernel &k, Value part, Value parts) {
  setUpKeys(k);
  packHead(k);
  Value blocks = k.quotientUp(k.numRows, k.blockRows);
  auto loop = scf::ForOp::create(k, part, blocks, parts);
  OpBuilder::InsertionGuard guard(k);
  k.setInsertionPointToStart(loop.getBody());
  k.block = RowBlock{};
  k.block.first = k.times(loop.getInductionVar(), k.blockRows);
  k.block.rows = k.lesser(k.minus(k.numRows, k.block.first), k.blockRows);
  clearScores(k);
  computeBlock(k);
}

/// With this many heads for each thread it does not matter who gets one more.
static constexpr int64_t kManyHeads = 4;

/// As many parts of each head as it takes to give all threads the same number
/// of parts. Each part packs the head's keys, so there are no more than that.
static Value countParts(AttentionKernel &k) {
  if (!k.threads)
    return k.index(1);
  Value threads = k.countThreads();
  Value heads = k.greater(k.times(k.numBatches, k.numHeads), 1);
  Value divides = k.isEqual(k.remainder(threads, heads), 0);
  Value parts = k.select(divides, k.quotient(threads, heads), threads);
  Value isEven = k.isEqual(k.remainder(heads, threads), 0);
  Value areMany = k.isLess(k.times(threads, kManyHeads), heads);
  parts = k.select(k.either(isEven, areMany), k.index(1), parts);
  Value blocks = k.quotientUp(k.numRows, k.blockRows);
  return k.greater(k.lesser(parts, blocks), 1);
}

/// Merges what splits of keys have left, a row at a time.
static void mergeSplits(AttentionKernel &k) {
  Value heads = k.times(k.numBatches, k.numHeads);
  k.shareInTeam(k.times(heads, k.numRows), 1, [&](Value i) {
    Value head = k.quotient(i, k.numRows);
    k.head = Head{};
    k.head.b = k.quotient(head, k.numHeads);
    k.head.h = k.remainder(head, k.numHeads);
    mergeStates(k, k.remainder(i, k.numRows));
  });
}

void cpu::computeAttention(AttentionKernel &k) {
  setUpSplits(k);
  auto member = [&](function_ref<void()> loop) {
    allocateScratch(k);
    allocatePacked(k);
    loop();
    deallocatePacked(k);
    if (k.splits.count)
      mergeSplits(k);
  };
  Value parts = k.splits.count ? k.splits.count : countParts(k);
  k.forEachHead(parts, member, [&](Value b, Value h, Value part) {
    k.head = Head{};
    k.head.b = b;
    k.head.h = h;
    k.splits.current = part;
    if (k.splits.count)
      computeHead(k, k.index(0), k.index(1));
    else
      computeHead(k, part, parts);
  });
  if (k.splits.count)
    memref::DeallocOp::create(k, k.splits.states);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static LogicalResult computeOnThreads(AttentionKernel &k) {
  if (k.threads && failed(declareThreadCount(k.op)))
    return failure();
  computeAttention(k);
  return success();
}

LogicalResult rope::lowerAttentionToVector(ModuleOp module, bool threads) {
  return lowerAllPlanned<AttentionOp>(module, "rope_attention", threads,
                                      computeOnThreads);
}

namespace {
struct AttentionToVectorPass
    : rope::impl::AttentionToVectorPassBase<AttentionToVectorPass> {
  using AttentionToVectorPassBase::AttentionToVectorPassBase;

  void runOnOperation() override {
    if (failed(lowerAttentionToVector(getOperation(), threads)))
      signalPassFailure();
  }
};
} // namespace
