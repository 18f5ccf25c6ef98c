//===- Attention.cpp - Canonicalization of the attention ops --------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Masks, positions and results that have no effect go; what is left has one
// spelling.
//
//===----------------------------------------------------------------------===//

#include "Canonicalization.h"

#include "mlir/IR/Matchers.h"
#include "rope/IR/TableFacts.h"

using namespace mlir;
using namespace mlir::rope;

/// Erases an operand that may be there; true if it was.
static bool erase(MutableOperandRange operand) {
  if (operand.empty())
    return false;
  operand.clear();
  return true;
}

/// Applies changes to an op in place, and succeeds if there was one.
static LogicalResult modifyIf(Operation *op, PatternRewriter &rewriter,
                              function_ref<bool()> change) {
  rewriter.startOpModification(op);
  if (change()) {
    rewriter.finalizeOpModification(op);
    return success();
  }
  rewriter.cancelOpModification(op);
  return failure();
}

//===----------------------------------------------------------------------===//
// Causal, windows and positions
//===----------------------------------------------------------------------===//

static constexpr int64_t kUnbounded = -1;

/// The window [l, 0] is causal with [l, −1]; causal makes the right side of a
/// window idle, as 0 ≤ qpos − kpos; [−1, −1] is no window.
template <typename OpTy>
static LogicalResult canonicalizeWindow(OpTy op, PatternRewriter &rewriter) {
  std::optional<ArrayRef<int64_t>> window = op.getWindow();
  if (!window)
    return rewriter.notifyMatchFailure(op, "no window");
  int64_t left = (*window)[0], right = (*window)[1];
  bool causal = op.getCausal() || right == 0;
  if (causal)
    right = kUnbounded;
  DenseI64ArrayAttr wanted;
  if (left != kUnbounded || right != kUnbounded)
    wanted = rewriter.getDenseI64ArrayAttr({left, right});
  if (wanted == op.getWindowAttr() && causal == op.getCausal())
    return rewriter.notifyMatchFailure(op, "is canonical");
  rewriter.modifyOpInPlace(op, [&] {
    op.setCausal(causal);
    if (wanted)
      op.setWindowAttr(wanted);
    else
      op.removeWindowAttr();
  });
  return success();
}

/// Positions only order the mask, and a start at 0 is the default.
template <typename OpTy>
static LogicalResult dropPositions(OpTy op, PatternRewriter &rewriter) {
  bool ordered = op.getCausal() || op.getWindow();
  auto idle = [&](Value positions) {
    return positions && (!ordered || (positions.getType().isIndex() &&
                                      matchPattern(positions, m_Zero())));
  };
  bool query = idle(op.getQueryPos()), key = idle(op.getKeyPos());
  return modifyIf(op, rewriter, [&] {
    bool changed = query && erase(op.getQueryPosMutable());
    return (key && erase(op.getKeyPosMutable())) || changed;
  });
}

/// The start of consecutive positions if it is constant; 0 if there is none.
static std::optional<int64_t> getConstantStart(Value positions) {
  APInt start;
  if (!positions)
    return 0;
  if (positions.getType().isIndex() &&
      matchPattern(positions, m_ConstantInt(&start)))
    return start.getSExtValue();
  return std::nullopt;
}

/// A first row that sees the last key: nothing is masked by the order.
template <typename OpTy>
static LogicalResult dropCausal(OpTy op, PatternRewriter &rewriter) {
  AttentionLikeOpInterface self = op;
  int64_t keys = self.getStaticExtent(DomainDim::N);
  std::optional<int64_t> query = getConstantStart(op.getQueryPos());
  std::optional<int64_t> key = getConstantStart(op.getKeyPos());
  if (!op.getCausal() || ShapedType::isDynamic(keys) || !query || !key)
    return rewriter.notifyMatchFailure(op, "order of the keys is not known");
  int64_t last;
  if (llvm::AddOverflow(*key, keys - 1, last) || last > *query)
    return rewriter.notifyMatchFailure(op, "masks a key");
  rewriter.modifyOpInPlace(op, [&] { op.setCausal(false); });
  return success();
}

//===----------------------------------------------------------------------===//
// Lengths and masks
//===----------------------------------------------------------------------===//

/// Whether a constant, or each element of one, is at least `bound`.
static bool isAtLeast(Value value, int64_t bound) {
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return false;
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return integer.getValue().sge(bound);
  auto elements = dyn_cast<DenseIntElementsAttr>(attr);
  return elements && llvm::all_of(elements.getValues<APInt>(), [&](APInt n) {
           return n.getSExtValue() >= bound;
         });
}

/// All keys are there.
template <typename OpTy>
static LogicalResult dropKeyLength(OpTy op, PatternRewriter &rewriter) {
  AttentionLikeOpInterface self = op;
  int64_t keys = self.getStaticExtent(DomainDim::N);
  if (!op.getKeyLength() || ShapedType::isDynamic(keys) ||
      !isAtLeast(op.getKeyLength(), keys))
    return rewriter.notifyMatchFailure(op, "some keys may be missing");
  return modifyIf(op, rewriter,
                  [&] { return erase(op.getKeyLengthMutable()); });
}

/// A constant mask that keeps every key as it is: all true, or all zero.
template <typename OpTy>
static LogicalResult dropMask(OpTy op, PatternRewriter &rewriter) {
  if (!op.getMask() || (!matchPattern(op.getMask(), m_One()) &&
                        !matchPattern(op.getMask(), m_AnyZeroFloat())))
    return rewriter.notifyMatchFailure(op, "mask may have an effect");
  return modifyIf(op, rewriter, [&] { return erase(op.getMaskMutable()); });
}

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

/// The dims of the domain that the table of a role follows; fails if one of
/// them is not a batch or a key-value head.
static FailureOr<SmallVector<DomainDim>>
getSharedDims(AttentionLikeOpInterface op, OperandRole role) {
  DimLabels labels = op.getLabels(role);
  SmallVector<DomainDim> dims;
  for (int64_t dim : op.getRotation(role).getRotary().getAlong()) {
    const DimLabel &label = labels[dim];
    if (label.size() != 1 ||
        (label.front() != DomainDim::B && label.front() != DomainDim::H))
      return failure();
    dims.push_back(label.front());
  }
  return dims;
}

/// ⟨Rq, Rk⟩ = ⟨q, k⟩ and R⁻¹(Σ a·Rv) = Σ a·v for a unit table that turns all
/// rows of a head alike. The pairs are those of both operands; what permutes
/// queries and keys permutes both alike, or permutes values back.
static LogicalResult cancelShared(AttentionLikeOpInterface op,
                                  OperandRole first, OperandRole second,
                                  PatternRewriter &rewriter) {
  Rotation one = op.getRotation(first), other = op.getRotation(second);
  if (!one || one.table != other.table || !isUnitTable(one.table))
    return rewriter.notifyMatchFailure(op, "no unit table of both");
  RotaryAttr r1 = one.getRotary(), r2 = other.getRotary();
  int64_t pairs = r1.getNumPairs(getTableWidth(one.table));
  bool same = second == OperandRole::Output
                  ? readsWhatIsWritten(r2, r1, pairs) &&
                        readsWhatIsWritten(r1, r2, pairs)
                  : r1.withAlong({}) == r2.withAlong({});
  if (r1.getFull() || r2.getFull() || !same)
    return rewriter.notifyMatchFailure(op, "other pairs");
  FailureOr<SmallVector<DomainDim>> dims = getSharedDims(op, first);
  FailureOr<SmallVector<DomainDim>> otherDims = getSharedDims(op, second);
  if (failed(dims) || failed(otherDims) || *dims != *otherDims)
    return rewriter.notifyMatchFailure(op, "rows are turned differently");
  rewriter.modifyOpInPlace(op, [&] {
    // Erasing one moves the other.
    for (OperandRole role : {first, second})
      for (const RotationSite &site : getRotationSites(op))
        if (site.role == role) {
          eraseRotation(site);
          break;
        }
  });
  return success();
}

template <typename OpTy>
static LogicalResult cancelSharedScores(OpTy op, PatternRewriter &rewriter) {
  return cancelShared(op, OperandRole::Query, OperandRole::Key, rewriter);
}

static LogicalResult cancelSharedValues(AttentionOp op,
                                        PatternRewriter &rewriter) {
  return cancelShared(op, OperandRole::Value, OperandRole::Output, rewriter);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// An lse that nobody reads need not be computed.
static LogicalResult dropUnusedLse(AttentionOp op, PatternRewriter &rewriter) {
  if (op.getNumResults() != 2 || !op.getResult(1).use_empty())
    return rewriter.notifyMatchFailure(op, "no unused lse");
  AttentionOp::Properties properties = op.getProperties();
  properties.operandSegmentSizes.back() = 1;
  auto without = AttentionOp::create(
      rewriter, op.getLoc(), TypeRange(op->getResultTypes().front()),
      op->getOperands().drop_back(), properties,
      llvm::to_vector(op->getDiscardableAttrs()));
  rewriter.replaceAllUsesWith(op.getResult(0), without.getResult(0));
  rewriter.eraseOp(op);
  return success();
}

template <typename OpTy>
static void populateSoftmaxPatterns(RewritePatternSet &patterns) {
  patterns.add(canonicalizeWindow<OpTy>);
  patterns.add(dropPositions<OpTy>);
  patterns.add(dropCausal<OpTy>);
  patterns.add(dropKeyLength<OpTy>);
  patterns.add(dropMask<OpTy>);
  patterns.add(cancelSharedScores<OpTy>);
  rope::detail::populateRolePatterns(patterns, OpTy::getOperationName());
}

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *) {
  populateSoftmaxPatterns<AttentionOp>(patterns);
  patterns.add(dropUnusedLse);
  patterns.add(cancelSharedValues);
}

void OnlineAttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                    MLIRContext *) {
  populateSoftmaxPatterns<OnlineAttentionOp>(patterns);
}

void LinearAttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                    MLIRContext *) {
  rope::detail::populateRolePatterns(patterns, getOperationName());
}
