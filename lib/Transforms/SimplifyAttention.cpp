//===- SimplifyAttention.cpp - Offsets and scales of attention ------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scores depend on differences of rotary positions, and are linear in query and
// key. Both facts hold in real arithmetic and move roundings.
//
//===----------------------------------------------------------------------===//

#include "Simplify.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "rope/IR/TableFacts.h"
#include "rope/Transforms/Transforms.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// A common offset
//===----------------------------------------------------------------------===//

/// Two starts of consecutive positions.
using Starts = std::pair<OpFoldResult, OpFoldResult>;

/// p − q for constants p and q, if it is an index.
static std::optional<int64_t> subtract(int64_t p, int64_t q) {
  int64_t difference;
  if (llvm::SubOverflow(p, q, difference))
    return std::nullopt;
  return difference;
}

/// Takes a common part off two starts: the same value, the smaller constant, or
/// a summand of both. Fails if there is none but 0.
static FailureOr<Starts> dropCommon(Value p, Value q, OpBuilder &builder) {
  OpFoldResult zero = builder.getIndexAttr(0);
  APInt constantP, constantQ;
  if (matchPattern(p, m_ConstantInt(&constantP)) &&
      matchPattern(q, m_ConstantInt(&constantQ))) {
    int64_t pp = constantP.getSExtValue(), qq = constantQ.getSExtValue();
    int64_t common = std::min(pp, qq);
    std::optional<int64_t> restP = subtract(pp, common);
    std::optional<int64_t> restQ = subtract(qq, common);
    if (common == 0 || !restP || !restQ)
      return failure();
    return Starts(builder.getIndexAttr(*restP), builder.getIndexAttr(*restQ));
  }
  if (p == q)
    return Starts(zero, zero);
  auto summands = [&](Value value) {
    SmallVector<std::pair<Value, OpFoldResult>> result{{value, zero}};
    if (auto add = value.getDefiningOp<arith::AddIOp>()) {
      result.emplace_back(add.getLhs(), add.getRhs());
      result.emplace_back(add.getRhs(), add.getLhs());
    }
    return result;
  };
  for (auto [part, rest] : summands(p))
    for (auto [otherPart, otherRest] : summands(q))
      if (part == otherPart)
        return Starts(rest, otherRest);
  return failure();
}

/// Whether a table is exact, starts at an index, and serves attention alone (a
/// cache of rotated keys must keep its positions, and would keep the table).
static bool isFreeTable(TableOp table) {
  return table && table.hasPureTensorSemantics() &&
         table.getAngleMode() == AngleMode::Exact &&
         table.getPositions().getType().isIndex() &&
         llvm::all_of(table->getUsers(),
                      llvm::IsaPred<AttentionOp, OnlineAttentionOp>);
}

/// The same table from another start, in its place: no work enters a loop.
static Value createTableAt(TableOp table, OpFoldResult start,
                           PatternRewriter &rewriter) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(table);
  Value index =
      getValueOrCreateConstantIndexOp(rewriter, table.getLoc(), start);
  return TableOp::create(rewriter, table.getLoc(), table.getFrequencies(),
                         index, table.getInit(), AngleMode::Exact,
                         table.getLength())
      .getResult();
}

static void setTable(AttentionLikeOpInterface op, OperandRole role,
                     Value table) {
  for (const RotationSite &site : getRotationSites(op))
    if (site.role == role)
      site.table->set(table);
}

/// ⟨R(s + m)q, R(s + n)k⟩ = ⟨R(m)q, R(n)k⟩, and likewise R(−(s + m))R(s + n)v
/// of values and output: rotations of the same pairs lose a start that is
/// common.
///
/// Preconditions: two exact tables of the same schedule and length from index
/// starts, which no op but attention uses; the pairs of both operands are the
/// same where they meet; no table is `full`. Magnitudes do not matter.
static LogicalResult dropOffset(AttentionLikeOpInterface op, OperandRole first,
                                OperandRole second, PatternRewriter &rewriter) {
  Rotation one = op.getRotation(first), other = op.getRotation(second);
  if (!one || !other)
    return rewriter.notifyMatchFailure(op, "not both are rotated");
  auto p = one.table.getDefiningOp<TableOp>();
  auto q = other.table.getDefiningOp<TableOp>();
  if (!isFreeTable(p) || !isFreeTable(q))
    return rewriter.notifyMatchFailure(op, "no exact tables of its own");
  int64_t pairs = getTableWidth(one.table);
  if (p.getFrequencies() != q.getFrequencies() ||
      p.getLength() != q.getLength() || pairs != getTableWidth(other.table))
    return rewriter.notifyMatchFailure(op, "other frequencies");
  if (one.getRotary().getFull() || other.getRotary().getFull())
    return rewriter.notifyMatchFailure(op, "full tables");
  // Queries meet keys as both are written; the output reads what values wrote.
  RotaryAttr meeting = other.getRotary();
  if (second != OperandRole::Output)
    meeting = RotaryAttr::get(op.getContext(), meeting.getWritePairing(),
                              meeting.getReadPairing(), meeting.getOffset(),
                              meeting.getDistance(), meeting.getAlong(),
                              /*full=*/false);
  if (!readsWhatIsWritten(meeting, one.getRotary(), pairs))
    return rewriter.notifyMatchFailure(op, "other pairs");
  FailureOr<Starts> starts =
      dropCommon(p.getPositions(), q.getPositions(), rewriter);
  if (failed(starts))
    return rewriter.notifyMatchFailure(op, "no common offset");
  reportRule(op, "drop-offset", "an offset common to two rotations dropped");
  Value tables[] = {createTableAt(p, starts->first, rewriter),
                    createTableAt(q, starts->second, rewriter)};
  rewriter.modifyOpInPlace(op, [&] {
    setTable(op, first, tables[0]);
    setTable(op, second, tables[1]);
  });
  return success();
}

template <typename OpTy>
static LogicalResult dropScoreOffset(OpTy op, PatternRewriter &rewriter) {
  return dropOffset(op, OperandRole::Query, OperandRole::Key, rewriter);
}

static LogicalResult dropValueOffset(AttentionOp op,
                                     PatternRewriter &rewriter) {
  return dropOffset(op, OperandRole::Value, OperandRole::Output, rewriter);
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

namespace {
/// An op that multiplies each element of a tensor by one constant.
struct Scaling {
  Operation *op;
  /// The product or quotient itself, within a generic op.
  Operation *arithmetic;
  Value source;
  double factor;
  /// Whether a rotation between the op and attention rounds what was scaled.
  bool isRotated = false;
};
} // namespace

/// The constant that a float or each element of a splat is.
static std::optional<double> getConstant(Value value) {
  APFloat constant(0.0);
  if (!matchPattern(value, m_ConstantFloat(&constant)))
    return std::nullopt;
  bool losesInfo;
  constant.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
  return constant.convertToDouble();
}

/// Matches x·c, c·x and x/c.
static std::optional<std::pair<Value, double>> matchProduct(Operation *op) {
  if (!isa_and_nonnull<arith::MulFOp, arith::DivFOp>(op))
    return std::nullopt;
  Value x = op->getOperand(0), c = op->getOperand(1);
  std::optional<double> factor = getConstant(c);
  if (isa<arith::DivFOp>(op))
    return factor ? std::make_optional(std::pair(x, 1 / *factor))
                  : std::nullopt;
  if (!factor) {
    std::swap(x, c);
    factor = getConstant(c);
  }
  return factor ? std::make_optional(std::pair(x, *factor)) : std::nullopt;
}

/// Matches an elementwise product on tensors, or a generic op of one.
static std::optional<Scaling> matchScaling(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!generic) {
    auto product = matchProduct(op);
    if (!product)
      return std::nullopt;
    return Scaling{op, op, product->first, product->second};
  }
  if (!generic.hasPureTensorSemantics() || generic.getNumDpsInputs() != 1 ||
      generic.getNumResults() != 1 ||
      !llvm::all_of(generic.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return std::nullopt;
  Operation *yield = generic.getBody()->getTerminator();
  Operation *arithmetic = yield->getOperand(0).getDefiningOp();
  auto product = matchProduct(arithmetic);
  if (!product || product->first != generic.getBody()->getArgument(0))
    return std::nullopt;
  return Scaling{op, arithmetic, generic.getInputs()[0], product->second};
}

/// What an op that is linear and homogeneous in one operand takes; null for
/// others.
static Value getLinearSource(Operation *op) {
  if (isa_and_nonnull<RotateOp, RerotateOp, tensor::ExpandShapeOp,
                      tensor::CollapseShapeOp, tensor::CastOp,
                      linalg::TransposeOp, linalg::BroadcastOp>(op))
    return op->getOperand(0);
  return {};
}

/// The scaling from which an operand comes by linear ops, none of which has
/// another user.
static std::optional<Scaling> findScaling(Value operand) {
  bool isRotated = false;
  while (operand && operand.hasOneUse()) {
    Operation *op = operand.getDefiningOp();
    if (std::optional<Scaling> scaling = matchScaling(op)) {
      scaling->isRotated = isRotated;
      return scaling;
    }
    isRotated |= isa_and_nonnull<RotateOp, RerotateOp>(op);
    operand = getLinearSource(op);
  }
  return std::nullopt;
}

static bool isPowerOfTwo(double value) {
  int exponent;
  return std::abs(std::frexp(value, &exponent)) == 0.5;
}

/// Whether folding a factor into a scale only removes a rounding. A power of
/// two has no rounding that could move.
static bool isExact(const Scaling &scaling, double scale) {
  if (isPowerOfTwo(scaling.factor))
    return true;
  bool isQuotient = isa<arith::DivFOp>(scaling.arithmetic);
  double product = scale * scaling.factor;
  return !isQuotient && !scaling.isRotated &&
         std::fma(scale, scaling.factor, -product) == 0;
}

namespace {
/// s·⟨c·q, k⟩ = (s·c)·⟨q, k⟩: a factor of query or key becomes one of the
/// scale, also from before rotations and what moves rows.
///
/// Preconditions: nothing else uses the scaled value; the factor and the
/// product are normal numbers; no type changes. Strictly, the product is
/// exact in f64, so that a rounding goes and none comes or moves.
template <typename OpTy> struct FoldScale : OpRewritePattern<OpTy> {
  FoldScale(MLIRContext *context, Numerics numerics, StringRef category)
      : OpRewritePattern<OpTy>(context), numerics(numerics),
        category(category) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    std::optional<Scaling> scaling = findScaling(op.getQuery());
    if (!scaling)
      scaling = findScaling(op.getKey());
    if (!scaling)
      return rewriter.notifyMatchFailure(op, "no factor of query or key");
    double given = op.getScale().convertToDouble();
    double scale = given * scaling->factor;
    if (!std::isnormal(scaling->factor) || !std::isnormal(scale))
      return rewriter.notifyMatchFailure(op, "scale would not be normal");
    if (numerics == Numerics::Strict && !isExact(*scaling, given))
      return rewriter.notifyMatchFailure(op, "scale would be rounded");
    if (scaling->source.getType() != scaling->op->getResult(0).getType())
      return rewriter.notifyMatchFailure(op, "scaling changes the type");
    reportRule(op, "fold-scale",
               "a factor of query or key folded into the scale", category);
    rewriter.replaceOp(scaling->op, scaling->source);
    rewriter.modifyOpInPlace(
        op, [&] { op.setScaleAttr(rewriter.getF64FloatAttr(scale)); });
    return success();
  }

private:
  Numerics numerics;
  StringRef category;
};
} // namespace

void rope::populateDropOffsetsPatterns(RewritePatternSet &patterns) {
  patterns.add(dropScoreOffset<AttentionOp>);
  patterns.add(dropScoreOffset<OnlineAttentionOp>);
  patterns.add(dropValueOffset);
}

void rope::populateFoldScalePatterns(RewritePatternSet &patterns,
                                     Numerics numerics, StringRef category) {
  patterns.add<FoldScale<AttentionOp>, FoldScale<OnlineAttentionOp>>(
      patterns.getContext(), numerics, category);
}
