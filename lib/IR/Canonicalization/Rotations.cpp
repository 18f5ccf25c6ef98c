//===- Rotations.cpp - Canonicalization of rotations ----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rotations that turn nothing, that undo each other, or that turn fewer pairs
// than their table has. `full` tables need not be rotations and are left alone.
//
//===----------------------------------------------------------------------===//

#include "Canonicalization.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "rope/IR/TableFacts.h"

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Rotates
//===----------------------------------------------------------------------===//

/// R(0)x = x, if the channels stay where they are.
template <typename OpTy>
static LogicalResult eraseIdentityRotation(OpTy op, PatternRewriter &rewriter) {
  RotaryAttr rotary = op.getRotary();
  int64_t pairs = rotary.getNumPairs(getTableWidth(op.getTable()));
  if (!op.hasPureTensorSemantics())
    return rewriter.notifyMatchFailure(op, "not on tensors");
  if (!keepsChannels(rotary, pairs))
    return rewriter.notifyMatchFailure(op, "permutes channels");
  if (!isIdentityTable(op.getTable()))
    return rewriter.notifyMatchFailure(op, "table may not be the identity");
  rope::detail::replaceWithCast(rewriter, op, op.getInput());
  return success();
}

/// R(−p)R(p)x = x for a unit table, whatever its angles are (so also for the
/// f32 angle modes), if each pair comes back to its channels. What goes away
/// are the roundings of the table and of the rotated value.
template <typename OpTy, typename OppositeOpTy>
static LogicalResult cancelOpposite(OpTy outer, PatternRewriter &rewriter) {
  auto inner = outer.getInput().template getDefiningOp<OppositeOpTy>();
  if (!inner || !outer.hasPureTensorSemantics())
    return rewriter.notifyMatchFailure(outer, "no opposite rotation before it");
  RotaryAttr first = inner.getRotary(), second = outer.getRotary();
  int64_t pairs = first.getNumPairs(getTableWidth(inner.getTable()));
  if (first.getFull() || second.getFull() || !isUnitTable(outer.getTable()))
    return rewriter.notifyMatchFailure(outer, "table may not be unit");
  if (inner.getTable() != outer.getTable() ||
      first.getAlong() != second.getAlong())
    return rewriter.notifyMatchFailure(outer, "another rotation");
  if (!readsWhatIsWritten(second, first, pairs) ||
      !readsWhatIsWritten(first, second, pairs))
    return rewriter.notifyMatchFailure(outer, "the two permute channels");
  rope::detail::replaceWithCast(rewriter, outer, inner.getInput());
  return success();
}

void RotateOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *) {
  patterns.add(eraseIdentityRotation<RotateOp>);
  patterns.add(cancelOpposite<RotateOp, RerotateOp>);
  rope::detail::populateRotationSitePatterns(patterns, getOperationName());
  rope::detail::populateRotationMotionPatterns(patterns);
}

void RerotateOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *) {
  patterns.add(eraseIdentityRotation<RerotateOp>);
  patterns.add(cancelOpposite<RerotateOp, RotateOp>);
  rope::detail::populateRotationSitePatterns(patterns, getOperationName());
}

//===----------------------------------------------------------------------===//
// Wherever a table is used
//===----------------------------------------------------------------------===//

/// The table of pairs [first, first + frequencies.size()) of `table`.
static Value createNarrowTable(PatternRewriter &rewriter, TableOp table,
                               ArrayRef<double> frequencies, int64_t first) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(table);
  int64_t pairs = frequencies.size();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, table.getLoc(), table.getInit());
  sizes.back() = rewriter.getIndexAttr(pairs);
  Value init = tensor::EmptyOp::create(rewriter, table.getLoc(), sizes,
                                       getElementTypeOrSelf(table.getInit()));
  DenseI64ArrayAttr axes;
  if (std::optional<ArrayRef<int64_t>> all = table.getAxes())
    axes = rewriter.getDenseI64ArrayAttr(all->slice(first, pairs));
  auto list = getExplicit(rewriter.getContext(), frequencies, 1);
  return TableOp::create(rewriter, table.getLoc(), list, table.getPositions(),
                         init, table.getAngleMode(), Value(), axes)
      .getResult();
}

/// The rotary of pairs [first, first + count) of `pairs`.
static RotaryAttr narrow(RotaryAttr rotary, int64_t pairs, int64_t first) {
  bool half = rotary.getReadPairing() == Pairing::Half;
  std::optional<int64_t> distance;
  if (half)
    distance = rotary.getDistance().value_or(pairs);
  return RotaryAttr::get(rotary.getContext(), rotary.getReadPairing(),
                         rotary.getWritePairing(),
                         rotary.getOffset() + (half ? first : 2 * first),
                         distance, rotary.getAlong(), /*full=*/false);
}

namespace {
/// ⟨R(0)q, k⟩ = ⟨q, k⟩: a role that its table does not turn.
struct EraseIdentityRole : RewritePattern {
  EraseIdentityRole(StringRef opName, MLIRContext *context)
      : RewritePattern(opName, /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    for (const RotationSite &site : getRotationSites(op)) {
      if (!keepsChannels(site.getRotary(), site.getNumPairs()) ||
          !isIdentityTable(site.table->get()))
        continue;
      rewriter.modifyOpInPlace(op, [&] { eraseRotation(site); });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no role has the identity");
  }
};

/// Pairs of frequency 0 do not turn; those at either end of the table leave the
/// rotation through its offset and distance.
struct NarrowTable : RewritePattern {
  NarrowTable(StringRef opName, MLIRContext *context)
      : RewritePattern(opName, /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    for (const RotationSite &site : getRotationSites(op))
      if (succeeded(narrowSite(site, rewriter)))
        return success();
    return failure();
  }

private:
  static LogicalResult narrowSite(const RotationSite &site,
                                  PatternRewriter &rewriter) {
    Operation *op = site.table->getOwner();
    auto table = site.table->get().getDefiningOp<TableOp>();
    RotaryAttr rotary = site.getRotary();
    if (!table || rotary.getFull() || !isUnitTable(table.getResult()))
      return rewriter.notifyMatchFailure(op, "table may not be unit");
    if (rotary.getReadPairing() != rotary.getWritePairing())
      return rewriter.notifyMatchFailure(op, "permutes channels");
    std::optional<SmallVector<double>> w = getConstantFrequencies(table);
    if (!w)
      return rewriter.notifyMatchFailure(op, "unknown frequencies");
    size_t first = 0, end = w->size();
    while (first < end && (*w)[first] == 0)
      ++first;
    while (end > first && (*w)[end - 1] == 0)
      --end;
    if (first == end)
      return rewriter.notifyMatchFailure(op, "no pair turns");
    if (end - first == w->size())
      return rewriter.notifyMatchFailure(op, "both ends turn");
    Value narrowed = createNarrowTable(
        rewriter, table, ArrayRef(*w).slice(first, end - first), first);
    rewriter.modifyOpInPlace(op, [&] {
      site.setRotary(narrow(rotary, w->size(), first));
      site.table->set(narrowed);
    });
    return success();
  }
};

/// A distance that is the number of pairs is the default.
struct DropNeedlessDistance : RewritePattern {
  DropNeedlessDistance(StringRef opName, MLIRContext *context)
      : RewritePattern(opName, /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    bool changed = false;
    for (const RotationSite &site : getRotationSites(op)) {
      RotaryAttr rotary = site.getRotary();
      if (rotary.getDistance() != site.getNumPairs())
        continue;
      rewriter.modifyOpInPlace(op, [&] {
        site.setRotary(
            RotaryAttr::get(rotary.getContext(), rotary.getReadPairing(),
                            rotary.getWritePairing(), rotary.getOffset(),
                            std::nullopt, rotary.getAlong(), rotary.getFull()));
      });
      changed = true;
    }
    return success(changed);
  }
};
} // namespace

void rope::detail::populateRotationSitePatterns(RewritePatternSet &patterns,
                                                StringRef opName) {
  patterns.add<NarrowTable, DropNeedlessDistance>(opName,
                                                  patterns.getContext());
}

void rope::detail::populateRolePatterns(RewritePatternSet &patterns,
                                        StringRef opName) {
  populateRotationSitePatterns(patterns, opName);
  patterns.add<EraseIdentityRole>(opName, patterns.getContext());
}
