//===- SimplifyRotations.cpp - Rotations one after the other --------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two rotations of one value become one by the product of their tables, and the
// product of two tables becomes one table. Both move roundings. Tables whose
// angles are rounded to f32 by definition (f32_angle, f32_quotient) have no
// sums of positions, and `full` tables need not be rotations: they stay.
//
//===----------------------------------------------------------------------===//

#include "Simplify.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "rope/IR/TableFacts.h"
#include "rope/Transforms/Transforms.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Rotations of one value
//===----------------------------------------------------------------------===//

namespace {
/// A product of tables, and the way in which it turns.
struct Product {
  Value lhs, rhs;
  bool inverse;
  bool opposite;
};
} // namespace

/// The product of a rotation by the first table and one by the second, each the
/// opposite way if so said. With conj(z) = 1/z for a unit table:
///   z1·z2,  conj(z1)·conj(z2) = conj(z1·z2),
///   z1·conj(z2) = z1/z2 = conj(z2/z1), and so on.
static std::optional<Product> getProduct(Value first, bool firstOpposite,
                                         Value second, bool secondOpposite) {
  if (firstOpposite == secondOpposite)
    return Product{first, second, /*inverse=*/false, firstOpposite};
  if (isUnitTable(second))
    return Product{first, second, /*inverse=*/true, firstOpposite};
  if (isUnitTable(first))
    return Product{second, first, /*inverse=*/true, secondOpposite};
  return std::nullopt;
}

/// The product as a table of the wider of the two types.
static Value createCompose(PatternRewriter &rewriter, Location loc,
                           const Product &product) {
  Type left = getElementTypeOrSelf(product.lhs);
  Type right = getElementTypeOrSelf(product.rhs);
  Type type = left.isF64() ? left : right;
  Value init = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, product.lhs), type);
  return ComposeOp::create(rewriter, loc, product.lhs, product.rhs, init,
                           product.inverse)
      .getResult();
}

/// Whether a table has at least the precision of f32, so that the rounding of a
/// product is no larger than those of a rotation.
static bool isPrecise(Value table) {
  Type type = getElementTypeOrSelf(table);
  return type.isF32() || type.isF64();
}

/// rotate(rotate(x, t1), t2) = rotate(x, t1·t2) for rotations of the same
/// pairs, and so for opposite ones with a quotient.
///
/// Preconditions: the first has no other user; both turn the same pairs along
/// the same dims, the second reading what the first wrote; no table is `full`,
/// narrower than f32, or has f32 angles; the one divided by is unit.
template <typename OuterOp, typename InnerOp>
static LogicalResult mergeRotations(OuterOp outer, PatternRewriter &rewriter) {
  auto inner = outer.getInput().template getDefiningOp<InnerOp>();
  if (!inner || !outer.hasPureTensorSemantics() || !inner->hasOneUse())
    return rewriter.notifyMatchFailure(outer, "no rotation for this one alone");
  Value t1 = inner.getTable(), t2 = outer.getTable();
  RotaryAttr r1 = inner.getRotary(), r2 = outer.getRotary();
  int64_t pairs = r1.getNumPairs(getTableWidth(t1));
  if (r1.getFull() || r2.getFull())
    return rewriter.notifyMatchFailure(outer, "full tables do not compose");
  if (r1.getAlong() != r2.getAlong() || pairs != getTableWidth(t2) ||
      !readsWhatIsWritten(r2, r1, pairs))
    return rewriter.notifyMatchFailure(outer, "other pairs or dims");
  if (mayHaveF32Angles(t1) || mayHaveF32Angles(t2))
    return rewriter.notifyMatchFailure(outer, "angles are in f32");
  if (!isPrecise(t1) || !isPrecise(t2))
    return rewriter.notifyMatchFailure(outer, "tables are narrower than f32");
  std::optional<Product> product =
      getProduct(t1, std::is_same_v<InnerOp, RerotateOp>, t2,
                 std::is_same_v<OuterOp, RerotateOp>);
  if (!product)
    return rewriter.notifyMatchFailure(outer, "no table is known to be unit");
  reportRule(outer, "merge-rotations", "two rotations merged into one");
  Value table = createCompose(rewriter, outer.getLoc(), *product);
  auto rotary = RotaryAttr::get(outer.getContext(), r1.getReadPairing(),
                                r2.getWritePairing(), r1.getOffset(),
                                r1.getDistance(), r1.getAlong(),
                                /*full=*/false);
  if (product->opposite)
    rewriter.replaceOpWithNewOp<RerotateOp>(outer, rotary, inner.getInput(),
                                            table, outer.getInit());
  else
    rewriter.replaceOpWithNewOp<RotateOp>(outer, rotary, inner.getInput(),
                                          table, outer.getInit());
  return success();
}

//===----------------------------------------------------------------------===//
// Products of tables
//===----------------------------------------------------------------------===//

namespace {
/// R_f(p)·R_f(q) = R_f(p + q), and R_f(p)·R_g(p) = R_{f+g}(p); differences for
/// quotients; magnitudes multiply or divide.
///
/// Preconditions: both tables are exact, of the same axes, and one of them has
/// no other user (so that there are no more tables to compute than before).
/// Same frequencies: the positions are listed integers, which are added in 64
/// bits, or for a quotient two starts. Same positions: both lists of
/// frequencies are known.
struct MergeTables : OpRewritePattern<ComposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ComposeOp compose,
                                PatternRewriter &rewriter) const override {
    auto lhs = compose.getLhs().getDefiningOp<TableOp>();
    auto rhs = compose.getRhs().getDefiningOp<TableOp>();
    if (!lhs || !rhs || !compose.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(compose, "not of two tables");
    if (lhs.getAngleMode() != AngleMode::Exact ||
        rhs.getAngleMode() != AngleMode::Exact)
      return rewriter.notifyMatchFailure(compose, "angles are in f32");
    if (lhs.getAxesAttr() != rhs.getAxesAttr())
      return rewriter.notifyMatchFailure(compose, "other axes");
    if (!isOnlyUser(compose, lhs) && !isOnlyUser(compose, rhs))
      return rewriter.notifyMatchFailure(compose, "both tables stay");
    if (lhs.getPositions() == rhs.getPositions())
      return addFrequencies(compose, lhs, rhs, rewriter);
    if (lhs.getFrequencies() == rhs.getFrequencies() &&
        lhs.getLength() == rhs.getLength())
      return addPositions(compose, lhs, rhs, rewriter);
    return rewriter.notifyMatchFailure(compose,
                                       "positions and frequencies differ");
  }

private:
  static bool isOnlyUser(ComposeOp compose, TableOp table) {
    return llvm::all_of(table->getUsers(), [&](Operation *user) {
      return user == compose.getOperation();
    });
  }

  static double getMagnitude(ComposeOp compose, TableOp lhs, TableOp rhs) {
    double left = lhs.getFrequencies().computeMagnitude();
    double right = rhs.getFrequencies().computeMagnitude();
    return compose.getInverse() ? left / right : left * right;
  }

  static LogicalResult addFrequencies(ComposeOp compose, TableOp lhs,
                                      TableOp rhs, PatternRewriter &rewriter) {
    std::optional<SmallVector<double>> w = getConstantFrequencies(lhs);
    std::optional<SmallVector<double>> v = getConstantFrequencies(rhs);
    double magnitude = getMagnitude(compose, lhs, rhs);
    if (!w || !v || !std::isnormal(magnitude))
      return rewriter.notifyMatchFailure(compose, "unknown frequencies");
    for (auto [wi, vi] : llvm::zip_equal(*w, *v)) {
      wi = compose.getInverse() ? wi - vi : wi + vi;
      if (!std::isfinite(wi))
        return rewriter.notifyMatchFailure(compose, "infinite frequencies");
    }
    reportRule(compose, "merge-tables", "frequencies of two tables added");
    rewriter.replaceOpWithNewOp<TableOp>(
        compose, getExplicit(rewriter.getContext(), *w, magnitude),
        lhs.getPositions(), compose.getInit(), AngleMode::Exact, Value(),
        lhs.getAxesAttr());
    return success();
  }

  /// The schedule of the sum, which is that of both tables but for the
  /// magnitude. Null if the frequencies are not known and cannot be listed.
  static FrequencyAttrInterface getSchedule(ComposeOp compose, TableOp lhs,
                                            TableOp rhs) {
    double magnitude = getMagnitude(compose, lhs, rhs);
    if (magnitude == lhs.getFrequencies().computeMagnitude())
      return lhs.getFrequencies();
    std::optional<SmallVector<double>> w = getConstantFrequencies(lhs);
    if (!w || !std::isnormal(magnitude))
      return {};
    return getExplicit(compose.getContext(), *w, magnitude);
  }

  static LogicalResult addPositions(ComposeOp compose, TableOp lhs, TableOp rhs,
                                    PatternRewriter &rewriter) {
    FrequencyAttrInterface schedule = getSchedule(compose, lhs, rhs);
    if (!schedule)
      return rewriter.notifyMatchFailure(compose, "unknown frequencies");
    Value positions =
        createSum(compose, lhs.getPositions(), rhs.getPositions(), rewriter);
    if (!positions)
      return rewriter.notifyMatchFailure(
          compose, "positions are not integers that can be added");
    reportRule(compose, "merge-tables", "positions of two tables added");
    rewriter.replaceOpWithNewOp<TableOp>(compose, schedule, positions,
                                         compose.getInit(), AngleMode::Exact,
                                         lhs.getLength(), lhs.getAxesAttr());
    return success();
  }

  /// Positions of 64 bits: the sum of two of 32 may need 33.
  static Value widen(Value positions, PatternRewriter &rewriter) {
    auto type = cast<RankedTensorType>(positions.getType());
    if (type.getElementType().isIndex() || type.getElementType().isInteger(64))
      return positions;
    return arith::ExtSIOp::create(rewriter, positions.getLoc(),
                                  type.clone(rewriter.getI64Type()), positions);
  }

  /// The sum (or difference) of the positions of two tables; null if it has no
  /// integers to add.
  static Value createSum(ComposeOp compose, Value p, Value q,
                         PatternRewriter &rewriter) {
    Location loc = compose.getLoc();
    auto add = [&](Value a, Value b) -> Value {
      if (compose.getInverse())
        return arith::SubIOp::create(rewriter, loc, a, b);
      return arith::AddIOp::create(rewriter, loc, a, b);
    };
    if (p.getType().isIndex() && q.getType().isIndex()) {
      // (p + r) − (q + r) is the same for every row r; the sum steps by two.
      if (!compose.getInverse())
        return {};
      OpFoldResult rows =
          tensor::getMixedSize(rewriter, loc, compose.getInit(), 0);
      auto type = RankedTensorType::get(
          {cast<ShapedType>(compose.getInit().getType()).getDimSize(0)},
          rewriter.getIndexType());
      auto dynamic = dyn_cast<Value>(rows);
      return tensor::SplatOp::create(rewriter, loc, add(p, q), type,
                                     dynamic ? ValueRange(dynamic)
                                             : ValueRange());
    }
    auto pType = dyn_cast<RankedTensorType>(p.getType());
    auto qType = dyn_cast<RankedTensorType>(q.getType());
    if (!pType || !qType || pType.getShape() != qType.getShape() ||
        !pType.getElementType().isIntOrIndex() ||
        !qType.getElementType().isIntOrIndex() ||
        pType.getElementType().isIndex() != qType.getElementType().isIndex())
      return {};
    return add(widen(p, rewriter), widen(q, rewriter));
  }
};
} // namespace

void rope::populateMergeRotationsPatterns(RewritePatternSet &patterns) {
  patterns.add(mergeRotations<RotateOp, RotateOp>);
  patterns.add(mergeRotations<RotateOp, RerotateOp>);
  patterns.add(mergeRotations<RerotateOp, RotateOp>);
  patterns.add(mergeRotations<RerotateOp, RerotateOp>);
  patterns.add<MergeTables>(patterns.getContext());
}
