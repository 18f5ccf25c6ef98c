//===- Plan.cpp - How attention becomes vector code -----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-plan: which attention vector code can do, and by which tiles.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"
#include "Obstacles.h"
#include "RotationParts.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"
#include "rope/CodeGen/CPU/Attention.h"
#include "rope/CodeGen/CPU/Passes.h"
#include "rope/IR/MemoryOverlap.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

namespace mlir::rope {
#define GEN_PASS_DEF_PLANPASS
#include "rope/CodeGen/CPU/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;
using namespace mlir::rope;

std::optional<std::string> rope::findCPUObstacle(AttentionOp op) {
  if (std::optional<std::string> obstacle = cpu::findOperandObstacle(op))
    return obstacle;
  return cpu::findMemoryObstacle(op, mayOverlap);
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// Registers that exponentials want beside sums, keys and one query: with less,
/// they are better off in a loop of their own.
static constexpr int64_t kExponentialRegisters = 9;

/// A plan that says at most how many rows are few.
static CPUPlanAttr getOpenPlan(MLIRContext *context, int64_t stream = 0) {
  return CPUPlanAttr::get(context, 0, 0, 0, 0, 0, 0, 0, stream, false, false);
}

static int64_t choose(int64_t given, int64_t otherwise) {
  return given ? given : otherwise;
}

/// So many vectors, or what a tile of these rows has room for.
static int64_t fitTile(int64_t rows, int64_t vectors) {
  return std::clamp<int64_t>(cpu::kMostSums / rows, 1, vectors);
}

/// Rows for which packing keys takes longer than all that is done with them.
static constexpr int64_t kFewRows = 16;

/// Vectors of keys of a panel when it is read where it lies: keys and values
/// come into the first cache while those before them are worked on, and leave
/// half of it to others.
static int64_t chooseStreamKeys(AttentionOp op, int64_t lanes,
                                const CPUTarget &target) {
  AttentionLikeOpInterface self = op;
  auto countBits = [&](DomainDim channels, Value operand) -> int64_t {
    return self.getStaticExtent(channels) *
           getElementTypeOrSelf(operand).getIntOrFloatBitWidth();
  };
  int64_t bits = countBits(DomainDim::D, op.getKey()) +
                 countBits(DomainDim::E, op.getValue());
  return llvm::bit_floor<uint64_t>(
      std::clamp<int64_t>(target.cacheBytes * 8 / 2 / (bits * lanes), 1, 8));
}

/// The rows of a head that are likely, if there are few: one position. None if
/// even the query heads that share a key are not known.
static std::optional<int64_t> expectFewRows(AttentionOp op) {
  if (std::optional<int64_t> rows = cpu::findNumRows(op))
    return std::max<int64_t>(*rows, 1);
  int64_t group = AttentionLikeOpInterface(op).getStaticExtent(DomainDim::G);
  if (ShapedType::isDynamic(group))
    return std::nullopt;
  return std::max<int64_t>(group, 1);
}

/// Sums of a strip that reads keys where they lie, over all channels.
static constexpr int64_t kMostStreamSums = 256;

/// Rows of a tile for so many rows on keys where they lie: all of them, for
/// each strip reads keys and values again. Sums of values of one vector for
/// each row take at most half of the registers, and those of all `vectors` of a
/// row, which are written out one by one, no more code than kMostStreamSums.
static int64_t chooseStreamRows(std::optional<int64_t> rows, int64_t vectors,
                                const CPUTarget &target) {
  constexpr int64_t together = 4;
  if (!rows)
    return together;
  if (*rows <= 2)
    return *rows;
  int64_t most = std::min({target.registers / 2, kFewRows,
                           kMostStreamSums / std::max<int64_t>(vectors, 1)});
  return std::clamp<int64_t>(llvm::alignTo(*rows, together), together,
                             std::max(most / together, int64_t(1)) * together);
}

static CPUPlanAttr chooseStreamPlan(AttentionOp op, CPUPlanAttr given,
                                    int64_t stream, const CPUTarget &target) {
  AttentionLikeOpInterface self = op;
  int64_t lanes = choose(given.getLanes(), target.lanes);
  std::optional<int64_t> few = expectFewRows(op);
  int64_t rows = few.value_or(kFewRows);
  int64_t vectors = llvm::divideCeil(self.getStaticExtent(DomainDim::E), lanes);
  int64_t tileRows =
      choose(given.getRows(), chooseStreamRows(few, vectors, target));
  // Sums of values take half of the registers.
  int64_t tileVectors = std::clamp<int64_t>(target.registers / 2 / tileRows, 1,
                                            std::min<int64_t>(vectors, 8));
  return CPUPlanAttr::get(
      op.getContext(), lanes, tileRows,
      choose(given.getKeys(), chooseStreamKeys(op, lanes, target)),
      choose(given.getChannels(), tileVectors), choose(given.getGroup(), 1),
      choose(given.getStrips(),
             std::min<int64_t>(llvm::divideCeil(rows, tileRows), kFewRows)),
      choose(given.getWeave(), -1), stream,
      given.getLookup() || (target.lookup && lanes == 16), given.getDots());
}

/// Keys of a panel, at least: each adds its sums to the output, which loses
/// something each time.
static constexpr int64_t kFewestKeys = 32;

/// A plan for rows that are worth packed keys.
static CPUPlanAttr choosePackPlan(AttentionOp op, CPUPlanAttr given,
                                  int64_t stream, const CPUTarget &target) {
  AttentionLikeOpInterface self = op;
  int64_t valueChannels = self.getStaticExtent(DomainDim::E);
  bool manyRegisters = target.registers >= 32;

  int64_t lanes = choose(given.getLanes(), target.lanes);
  bool dots = given.getDots() ||
              (target.dots && target.relaxedBF16 && cpu::takesDots(op, lanes));
  int64_t width = dots ? 2 : 1;
  int64_t channels =
      llvm::alignTo(self.getStaticExtent(DomainDim::D), 4 * width);
  // Few sums leave room for exponentials; with few registers there is none
  // anyway, and a large tile needs fewer loads.
  int64_t rows = choose(given.getRows(), manyRegisters ? 4 : 6);
  int64_t keys =
      choose(given.getKeys(),
             fitTile(rows, std::max<int64_t>(4, kFewestKeys / lanes)));
  int64_t valueVectors = llvm::divideCeil(valueChannels, lanes);
  int64_t tileVectors = choose(
      given.getChannels(),
      fitTile(rows, std::min<int64_t>(manyRegisters ? 4 : 2, valueVectors)));
  bool hasRoom =
      rows * keys + keys + 1 + kExponentialRegisters <= target.registers;
  // Few channels may have no step for each row.
  int64_t steps =
      std::min<int64_t>(channels > 64 ? 16 : 8, channels / width / rows);
  int64_t weave = choose(given.getWeave(), hasRoom && steps > 0 ? steps : -1);
  // Panels of keys and of values that do not fit the cache together take turns.
  int64_t panelBytes = keys * lanes * (channels + valueChannels) * 4 / width;
  int64_t group =
      choose(given.getGroup(), panelBytes > target.cacheBytes ? 4 : 1);
  // Each block reads all panels again: larger ones do so less often where the
  // panels are likely to come from far away.
  int64_t numKeys = self.getStaticExtent(DomainDim::N);
  bool isFar = ShapedType::isDynamic(numKeys) ||
               numKeys / (keys * lanes) * panelBytes > 16 * target.cacheBytes;
  int64_t strips = choose(given.getStrips(), !manyRegisters ? 16
                                             : isFar        ? 64
                                                            : 24);
  return CPUPlanAttr::get(
      op.getContext(), lanes, rows, keys, tileVectors, group, strips, weave,
      stream, given.getLookup() || (target.lookup && lanes == 16), dots);
}

CPUPlanAttr rope::chooseCPUPlan(AttentionOp op, CPUPlanAttr given,
                                const CPUTarget &target) {
  if (!given)
    given = getOpenPlan(op.getContext());
  // Pairs of bf16 want packed keys.
  int64_t stream = choose(given.getStream(), given.getDots() ? -1 : kFewRows);
  return cpu::isStreamed(op, stream)
             ? chooseStreamPlan(op, given, stream, target)
             : choosePackPlan(op, given, stream, target);
}

/// Keys of a chunk: more take longer among themselves, fewer load and store the
/// state more often.
static constexpr int64_t kChunkKeys = 16;

static CPUPlanAttr chooseLinearPlan(LinearAttentionOp op, CPUPlanAttr given,
                                    const CPUTarget &target) {
  if (!given)
    given = getOpenPlan(op.getContext());
  int64_t lanes = choose(given.getLanes(), target.lanes);
  int64_t vectors = llvm::divideCeil(
      AttentionLikeOpInterface(op).getStaticExtent(DomainDim::E), lanes);
  int64_t most = target.registers >= 32 ? 4 : 2;
  int64_t rows = choose(given.getRows(), 4);
  return CPUPlanAttr::get(
      op.getContext(), lanes, rows,
      choose(given.getKeys(), std::max<int64_t>(kChunkKeys / lanes, 1)),
      choose(given.getChannels(), fitTile(rows, std::min(most, vectors))),
      given.getGroup(), given.getStrips(), given.getWeave(), given.getStream(),
      given.getLookup(), given.getDots());
}

/// Where the number of rows is not known, an attention becomes two, one for few
/// rows and one for more; returns them.
static SmallVector<Operation *> splitByRows(AttentionOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto getExtent = [&](DomainDim dim) {
    return getValueOrCreateConstantIndexOp(
        builder, loc,
        AttentionLikeOpInterface(op).getExtent(builder, loc, dim));
  };
  Value rows = arith::MulIOp::create(builder, loc, getExtent(DomainDim::M),
                                     getExtent(DomainDim::G));
  Value few = arith::ConstantIndexOp::create(builder, loc, kFewRows);
  Value areFew =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, rows, few);
  auto choice = scf::IfOp::create(builder, loc, op->getResultTypes(), areFew,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  SmallVector<Operation *> versions;
  for (auto [block, stream] :
       {std::pair(choice.thenBlock(), kFewRows), {choice.elseBlock(), -1}}) {
    builder.setInsertionPointToStart(block);
    versions.push_back(builder.clone(*op));
    versions.back()->setAttr(kPlanAttrName,
                             getOpenPlan(op.getContext(), stream));
    scf::YieldOp::create(builder, loc, versions.back()->getResults());
  }
  op->replaceAllUsesWith(choice.getResults());
  op.erase();
  return versions;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static remark::RemarkOpts getRemark(StringRef what) {
  return remark::RemarkOpts::name(what).category("rope-plan");
}

namespace {
struct PlanPass : rope::impl::PlanPassBase<PlanPass> {
  using PlanPassBase::PlanPassBase;

  void runOnOperation() override {
    if (lanes < 1 || lanes > 64 || !llvm::isPowerOf2_64(lanes)) {
      emitError(getOperation()->getLoc())
          << "rope-plan: lanes must be a power of two up to 64, not "
          << lanes.getValue();
      return signalPassFailure();
    }
    if (registers < 1 || cacheBytes < 1) {
      emitError(getOperation()->getLoc())
          << "rope-plan: registers and cache-bytes must be positive, not "
          << registers.getValue() << " and " << cacheBytes.getValue();
      return signalPassFailure();
    }
    // Ops are added on the way.
    SmallVector<Operation *> ops;
    WalkResult found = getOperation()->walk([&](Operation *op) {
      if (isa<AttentionOp, LinearAttentionOp>(op) || cpu::getRotationParts(op))
        ops.push_back(op);
      else if (isa_and_nonnull<RopeDialect>(op->getDialect()) &&
               op->hasAttr(kPlanAttrName))
        return WalkResult(op->emitOpError(
            "cannot have a plan: there is no vector code for it"));
      return WalkResult::advance();
    });
    if (found.wasInterrupted())
      return signalPassFailure();
    for (Operation *op : ops)
      if (failed(planOp(op)))
        return signalPassFailure();
  }

private:
  /// An op that vector code cannot do must not have a plan.
  static LogicalResult refuse(Operation *op, StringRef what,
                              const std::string &obstacle) {
    remark::missed(op->getLoc(), getRemark(what)) << obstacle;
    if (!op->hasAttr(kPlanAttrName))
      return success();
    return op->emitOpError() << "cannot have a plan: " << obstacle;
  }

  LogicalResult planOp(Operation *op) {
    StringRef what = isa<AttentionOp>(op)         ? "attention"
                     : isa<LinearAttentionOp>(op) ? "linear attention"
                                                  : "rotation";
    std::optional<std::string> obstacle = cpu::findOperandObstacle(op);
    if (!obstacle)
      obstacle = cpu::findMemoryObstacle(cast<DestinationStyleOpInterface>(op),
                                         mayOverlap);
    if (obstacle)
      return refuse(op, what, *obstacle);
    auto given = op->getAttrOfType<CPUPlanAttr>(kPlanAttrName);
    SmallVector<Operation *> versions = {op};
    auto attention = dyn_cast<AttentionOp>(op);
    if (attention && !given && !cpu::findNumRows(attention))
      versions = splitByRows(attention);
    for (Operation *version : versions)
      if (failed(completePlan(version, what)))
        return failure();
    return success();
  }

  /// What a plan asks for must be in the target.
  LogicalResult checkTarget(AttentionOp op, CPUPlanAttr plan) {
    if (plan.getLookup() && !lookup)
      return op.emitOpError("has a plan with lookup, which wants a target with "
                            "AVX-512 (the option lookup)");
    if (plan.getDots() && !dots)
      return op.emitOpError("has a plan with dots, which want a target with "
                            "AVX512-BF16 (the option dots)");
    return success();
  }

  LogicalResult completePlan(Operation *op, StringRef what) {
    CPUTarget target{lanes, registers, cacheBytes, lookup, dots, relaxedBF16};
    auto plan = op->getAttrOfType<CPUPlanAttr>(kPlanAttrName);
    if (auto attention = dyn_cast<AttentionOp>(op)) {
      plan = chooseCPUPlan(attention, plan, target);
      if (failed(checkTarget(attention, plan)))
        return failure();
    } else if (auto linear = dyn_cast<LinearAttentionOp>(op)) {
      plan = chooseLinearPlan(linear, plan, target);
    } else if (!plan) {
      plan = getOpenPlan(&getContext());
    }
    op->setAttr(kPlanAttrName, plan);
    remark::passed(op->getLoc(), getRemark(what))
        << "vector code" + describe(op, plan);
    return cpu::checkPlan(op);
  }

  static std::string describe(Operation *op, CPUPlanAttr plan) {
    std::string keys =
        std::to_string(plan.getKeys() * plan.getLanes()) + " keys";
    if (isa<LinearAttentionOp>(op))
      return " in chunks of " + keys;
    auto attention = dyn_cast<AttentionOp>(op);
    if (!attention)
      return ", row by row";
    std::string tile =
        " of " + std::to_string(plan.getRows()) + " rows by " + keys;
    if (cpu::isStreamed(attention, plan.getStream()))
      tile += ", which are read where they lie";
    return tile;
  }
};
} // namespace
