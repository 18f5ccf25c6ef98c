//===- Tables.cpp - Canonicalization of tables ----------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constant lengths, and products with what is known to be the identity.
//
//===----------------------------------------------------------------------===//

#include "Canonicalization.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "rope/IR/TableFacts.h"

using namespace mlir;
using namespace mlir::rope;

void rope::detail::replaceWithCast(RewriterBase &rewriter, Operation *op,
                                   Value value) {
  Type type = op->getResult(0).getType();
  if (value.getType() != type)
    value = tensor::CastOp::create(rewriter, op->getLoc(), type, value);
  rewriter.replaceOp(op, value);
}

namespace {
/// A schedule that depends on a length, at a constant length L, is the list of
/// its frequencies at L. Both are computed in f64.
struct FoldConstantLength : OpRewritePattern<TableOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TableOp table,
                                PatternRewriter &rewriter) const override {
    APInt length;
    if (!table.getLength() ||
        !matchPattern(table.getLength(), m_ConstantInt(&length)))
      return rewriter.notifyMatchFailure(table, "no constant length");
    FrequencyAttrInterface schedule = table.getFrequencies();
    int64_t pairs = getTableWidth(table.getInit());
    if (pairs > kMaxListedPairs)
      return rewriter.notifyMatchFailure(table, "too many pairs to list");
    SmallVector<double> w =
        schedule.computeFrequencies(pairs, length.getSExtValue());
    rewriter.modifyOpInPlace(table, [&] {
      table.setFrequenciesAttr(
          getExplicit(getContext(), w, schedule.computeMagnitude()));
      table.getLengthMutable().clear();
    });
    return success();
  }
};

/// z·1 = z/1 = z, and 1·z = z.
struct ComposeWithIdentity : OpRewritePattern<ComposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ComposeOp compose,
                                PatternRewriter &rewriter) const override {
    if (!compose.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(compose, "not on tensors");
    Value other;
    if (isIdentityTable(compose.getRhs()))
      other = compose.getLhs();
    else if (isIdentityTable(compose.getLhs()) && !compose.getInverse())
      other = compose.getRhs();
    if (!other)
      return rewriter.notifyMatchFailure(compose, "no side is the identity");
    if (getElementTypeOrSelf(other) != getElementTypeOrSelf(compose.getInit()))
      return rewriter.notifyMatchFailure(compose, "rounds to another type");
    rope::detail::replaceWithCast(rewriter, compose, other);
    return success();
  }
};

/// z/z = 1 for z ≠ 0: a table of zero frequencies, at the same positions.
struct ComposeWithInverse : OpRewritePattern<ComposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ComposeOp compose,
                                PatternRewriter &rewriter) const override {
    auto table = compose.getLhs().getDefiningOp<TableOp>();
    int64_t pairs = getTableWidth(compose.getInit());
    if (!compose.getInverse() || compose.getLhs() != compose.getRhs())
      return rewriter.notifyMatchFailure(compose, "not t/t");
    if (!table || !table.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(compose, "may be zero");
    if (pairs > kMaxListedPairs)
      return rewriter.notifyMatchFailure(compose, "too many pairs to list");
    auto zeros = getExplicit(getContext(), SmallVector<double>(pairs), 1);
    rewriter.replaceOpWithNewOp<TableOp>(
        compose, cast<FrequencyAttrInterface>(zeros), table.getPositions(),
        compose.getInit(), AngleMode::Exact, Value(), table.getAxesAttr());
    return success();
  }
};
} // namespace

void TableOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<FoldConstantLength>(context);
}

void ComposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<ComposeWithIdentity, ComposeWithInverse>(context);
}
