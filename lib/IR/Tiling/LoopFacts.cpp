//===- LoopFacts.cpp - What loops say of an offset ------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Offsets of tiles are induction variables and affine functions of them.
//
//===----------------------------------------------------------------------===//

#include "LoopFacts.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::rope;

namespace {
/// The loop of an induction variable: from `start` to before `end`.
struct LoopRange {
  OpFoldResult start, end, step;
};
} // namespace

static std::optional<LoopRange> findLoop(Value iv) {
  auto argument = dyn_cast<BlockArgument>(iv);
  auto loop =
      argument
          ? dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp())
          : nullptr;
  if (!loop)
    return std::nullopt;
  auto ivs = loop.getLoopInductionVars();
  auto starts = loop.getLoopLowerBounds();
  auto ends = loop.getLoopUpperBounds();
  auto steps = loop.getLoopSteps();
  if (!ivs || !starts || !ends || !steps)
    return std::nullopt;
  for (auto [other, start, end, step] : llvm::zip(*ivs, *starts, *ends, *steps))
    if (other == iv)
      return LoopRange{start, end, step};
  return std::nullopt;
}

bool rope::isMultipleOf(OpFoldResult value, int64_t factor) {
  if (factor == 1)
    return true;
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant % factor == 0;
  auto dynamic = cast<Value>(value);
  if (auto apply = dynamic.getDefiningOp<affine::AffineApplyOp>()) {
    AffineExpr expr = apply.getAffineMap().getResult(0);
    if (expr.isMultipleOf(factor))
      return true;
    return isa<AffineDimExpr, AffineSymbolExpr>(expr) &&
           isMultipleOf(apply.getMapOperands().front(), factor);
  }
  std::optional<LoopRange> loop = findLoop(dynamic);
  return loop && isMultipleOf(loop->start, factor) &&
         isMultipleOf(loop->step, factor);
}

bool rope::isAlwaysZero(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant == 0;
  auto dynamic = cast<Value>(value);
  if (auto apply = dynamic.getDefiningOp<affine::AffineApplyOp>()) {
    Builder builder(apply.getContext());
    SmallVector<Attribute> zeros(apply.getMapOperands().size(),
                                 builder.getIndexAttr(0));
    SmallVector<Attribute> at;
    return llvm::all_of(apply.getMapOperands(), isAlwaysZero) &&
           succeeded(apply.getAffineMap().constantFold(zeros, at)) &&
           isZeroInteger(at.front());
  }
  std::optional<LoopRange> loop = findLoop(dynamic);
  return loop && isAlwaysZero(loop->start) &&
         getConstantIntValue(loop->end).value_or(2) <= 1;
}
