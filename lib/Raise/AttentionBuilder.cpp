//===- AttentionBuilder.cpp - Proven attentions as ops --------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Raise/AttentionBuilder.h"

#include "OperandBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "rope/Analysis/MaskClassifier.h"
#include "rope/IR/Rope.h"

using namespace mlir;
using namespace mlir::rope;

static Type getWidestType(ArrayRef<const Expr *> exprs) {
  Type widest = exprs.front()->getType();
  for (const Expr *expr : exprs)
    if (expr->getType().getIntOrFloatBitWidth() >
        widest.getIntOrFloatBitWidth())
      widest = expr->getType();
  return widest;
}

static const Expr *widen(ExprContext &context, const Expr *expr, Type type) {
  return expr->getType() == type ? expr
                                 : context.apply<arith::ExtFOp>(type, expr);
}

/// One tensor of all masks that are no bands: truths if there are only truths,
/// else numbers, a false truth as −∞.
static FailureOr<LetteredTensor> buildMask(ExprContext &context,
                                           OperandBuilder &operands,
                                           const MaskBands &bands) {
  Type truth = IntegerType::get(context.getMLIRContext(), 1);
  const Expr *keep = nullptr;
  for (const Expr *term : bands.keep)
    keep = keep ? context.apply<arith::AndIOp>(truth, {keep, term}) : term;
  if (bands.addends.empty())
    return keep ? operands.buildOver(keep, truth) : LetteredTensor();
  Type type = getWidestType(bands.addends);
  const Expr *sum = nullptr;
  for (const Expr *addend : bands.addends)
    sum = sum ? context.apply<arith::AddFOp>(
                    type, {sum, widen(context, addend, type)})
              : widen(context, addend, type);
  if (keep) {
    double infinity = std::numeric_limits<double>::infinity();
    sum = context.apply<arith::SelectOp>(
        type, {keep, sum, context.getFloat(-infinity, type)});
  }
  return operands.buildOver(sum, type);
}

/// A query or key, of which there may be two parts.
static FailureOr<LetteredTensor> buildScored(OperandBuilder &operands,
                                             const MatchedOperand &operand,
                                             const MatchedOperand *added) {
  return added ? operands.buildJoined(operand, *added)
               : operands.buildView(operand);
}

FailureOr<Value> rope::buildAttention(OpBuilder &builder, Location loc,
                                      ElementEvaluator &evaluator,
                                      const AttentionMatch &match,
                                      std::string &reason) {
  OperandBuilder operands(builder, loc, evaluator, match, reason);
  MaskBands bands = classifyMasks(evaluator, match, match.scores.masks);
  FailureOr<LetteredTensor> mask =
      buildMask(evaluator.getContext(), operands, bands);
  if (failed(mask))
    return failure();
  FailureOr<LetteredTensor> sink = LetteredTensor();
  if (match.sink)
    sink = operands.buildOver(match.sink, match.sink->getType());
  if (failed(sink))
    return failure();
  FailureOr<LetteredTensor> query = buildScored(
      operands, match.query, match.added ? &match.added->first : nullptr);
  FailureOr<LetteredTensor> key = buildScored(
      operands, match.key, match.added ? &match.added->second : nullptr);
  FailureOr<LetteredTensor> value = operands.buildView(match.value);
  FailureOr<LetteredTensor> init = operands.buildInit();
  if (failed(query) || failed(key) || failed(value) || failed(init))
    return failure();
  auto op =
      AttentionOp::create(builder, loc, query->tensor, key->tensor,
                          value->tensor, init->tensor, match.scores.scale);
  if (mask->tensor)
    op.getMaskMutable().assign(mask->tensor);
  if (sink->tensor)
    op.getSinkMutable().assign(sink->tensor);
  op.setCausal(bands.causal);
  if (bands.left || bands.right)
    op.setWindow(
        ArrayRef<int64_t>{bands.left.value_or(-1), bands.right.value_or(-1)});
  if (match.scores.softcap)
    op.setSoftcapAttr(builder.getF64FloatAttr(*match.scores.softcap));
  op.setLayoutAttr(LayoutAttr::get(
      builder.getContext(), query->letters, key->letters, value->letters,
      init->letters, mask->letters, {}, {}, {}, sink->letters, {}, {}, {}));
  return operands.restoreRoot(op.getResult(0));
}

FailureOr<Value> rope::buildLinearAttention(OpBuilder &builder, Location loc,
                                            ElementEvaluator &evaluator,
                                            const LinearAttentionMatch &match,
                                            std::string &reason) {
  OperandBuilder operands(builder, loc, evaluator, match, reason);
  FailureOr<LetteredTensor> query = operands.buildView(match.query);
  FailureOr<LetteredTensor> key = operands.buildView(match.key);
  FailureOr<LetteredTensor> value = operands.buildView(match.value);
  FailureOr<LetteredTensor> init = operands.buildInit();
  if (failed(query) || failed(key) || failed(value) || failed(init))
    return failure();
  bool isSplit =
      query->tensor != match.query.tensor || key->tensor != match.key.tensor;
  if (isSplit && (match.rotateQuery || match.rotateKey)) {
    reason = "a rotated operand has dims that no layout names";
    return failure();
  }
  auto op =
      LinearAttentionOp::create(builder, loc, query->tensor, key->tensor,
                                value->tensor, init->tensor, match.featureMap);
  if (match.rotateQuery) {
    op.getQueryTableMutable().assign(match.rotateQuery.table);
    op.setQueryRotaryAttr(match.rotateQuery.getRotary());
  }
  if (match.rotateKey) {
    op.getKeyTableMutable().assign(match.rotateKey.table);
    op.setKeyRotaryAttr(match.rotateKey.getRotary());
  }
  op.setCausal(match.causal);
  if (match.normalizer)
    op.setNormalizerEpsAttr(builder.getF64FloatAttr(*match.normalizer));
  op.setLayoutAttr(LayoutAttr::get(builder.getContext(), query->letters,
                                   key->letters, value->letters, init->letters,
                                   {}, {}, {}, {}, {}, {}, {}, {}));
  return operands.restoreRoot(op.getResult(0));
}
