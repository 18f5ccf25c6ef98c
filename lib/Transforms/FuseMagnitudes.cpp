//===- FuseMagnitudes.cpp - Factors that a table carries ------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model that scales its queries where it turns them has a table of its own
// for them. With the factor in the scale of attention, the table of the keys
// serves both.
//
//===----------------------------------------------------------------------===//

#include "Fuse.h"

#include "mlir/IR/PatternMatch.h"
#include "rope/IR/TableFacts.h"
#include "rope/Transforms/Transforms.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;

static bool isPowerOfTwo(double value) {
  int exponent;
  return std::frexp(value, &exponent) == 0.5;
}

/// Whether the pairs of a rotation are all channels of its operand: others are
/// not scaled by the table.
static bool turnsAllChannels(AttentionLikeOpInterface op,
                             const RotationSite &site) {
  auto type = cast<ShapedType>(op.getRoleOperand(*site.role).getType());
  return 2 * site.getNumPairs() == type.getShape().back();
}

namespace {
/// s·⟨a·R(p)q, k⟩ = (s·a)·⟨R(p)q, k⟩ for a table of magnitude a.
///
/// Preconditions: it turns all channels, its frequencies are known, and (if
/// numerics are strict) a is a power of two, so that no rounding moves.
template <typename OpTy> struct FuseMagnitude : OpRewritePattern<OpTy> {
  FuseMagnitude(MLIRContext *context, Numerics numerics)
      : OpRewritePattern<OpTy>(context), numerics(numerics) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    for (const RotationSite &site : getRotationSites(op))
      if ((site.role == OperandRole::Query || site.role == OperandRole::Key) &&
          succeeded(fuse(op, site, rewriter)))
        return success();
    return rewriter.notifyMatchFailure(op, "no table has a factor to fuse");
  }

private:
  LogicalResult fuse(OpTy op, const RotationSite &site,
                     PatternRewriter &rewriter) const {
    auto table = site.table->get().getDefiningOp<TableOp>();
    if (!table || !turnsAllChannels(op, site))
      return failure();
    std::optional<SmallVector<double>> w = getConstantFrequencies(table);
    double magnitude = table.getFrequencies().computeMagnitude();
    double scale = op.getScale().convertToDouble() * magnitude;
    if (!w || magnitude == 1 || !std::isnormal(scale) ||
        (numerics == Numerics::Strict && !isPowerOfTwo(magnitude)))
      return failure();
    reportFused(op, "fuse-scale",
                "magnitude of the table of " + stringifyRole(*site.role) +
                    " folded into the scale");
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(table);
    auto unit = TableOp::create(
        rewriter, table.getLoc(), getExplicit(rewriter.getContext(), *w, 1),
        table.getPositions(), table.getInit(), table.getAngleMode(), Value(),
        table.getAxesAttr());
    rewriter.modifyOpInPlace(op, [&] {
      site.table->set(unit.getResult());
      op.setScaleAttr(rewriter.getF64FloatAttr(scale));
    });
    return success();
  }

  Numerics numerics;
};
} // namespace

void rope::populateFuseMagnitudesPatterns(RewritePatternSet &patterns,
                                          Numerics numerics) {
  patterns.add<FuseMagnitude<AttentionOp>, FuseMagnitude<OnlineAttentionOp>>(
      patterns.getContext(), numerics);
}
