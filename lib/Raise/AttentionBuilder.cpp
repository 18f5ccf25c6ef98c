//===- AttentionBuilder.cpp - Proven attentions as ops --------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands are used as they stand: the layout says what their dims are. The
// output has the symbols of the result as its dims, so that a collapse alone
// makes the result of it.
//
//===----------------------------------------------------------------------===//

#include "rope/Raise/AttentionBuilder.h"

#include "MaskClassifier.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "rope/IR/Rope.h"
#include "rope/Raise/ExprBuilder.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::rope;

namespace {
class AttentionBuilder {
public:
  AttentionBuilder(OpBuilder &builder, Location loc,
                   ElementEvaluator &evaluator, const AttentionMatch &match,
                   std::string &reason)
      : builder(builder), loc(loc), evaluator(evaluator), match(match),
        reason(reason) {}

  FailureOr<Value> build();

private:
  LogicalResult fail(const Twine &why) {
    reason = why.str();
    return failure();
  }
  StringAttr getLetters(ArrayRef<const Expr *> index);
  FailureOr<OpFoldResult> getExtent(const Expr *symbol);
  FailureOr<Value> buildOver(const Expr *expr, Type type, StringAttr &letters);
  FailureOr<Value> buildMask(const MaskBands &bands, StringAttr &letters);
  FailureOr<Value> buildInit(StringAttr &letters);
  Value restoreRoot(Value output);
  SmallVector<const Expr *> getOutputSymbols();

  OpBuilder &builder;
  Location loc;
  ElementEvaluator &evaluator;
  const AttentionMatch &match;
  std::string &reason;
};
} // namespace

/// The letters of an index of symbols, groups and zeros.
StringAttr AttentionBuilder::getLetters(ArrayRef<const Expr *> index) {
  std::string letters;
  for (const Expr *i : index) {
    if (i->isInt())
      letters += '1';
    else if (std::optional<DomainDim> dim = match.getDim(i))
      letters += getLetter(*dim);
    else
      letters += "(hg)";
  }
  return builder.getStringAttr(letters);
}

/// The extent of a symbol, from an operand that has it as a dim.
FailureOr<OpFoldResult> AttentionBuilder::getExtent(const Expr *symbol) {
  if (!ShapedType::isDynamic(symbol->getExtent()))
    return OpFoldResult(builder.getIndexAttr(symbol->getExtent()));
  for (const MatchedOperand *operand : {&match.query, &match.key, &match.value})
    for (auto [dim, index] : llvm::enumerate(operand->index))
      if (index == symbol)
        return tensor::getMixedSize(builder, loc, operand->tensor, dim);
  return LogicalResult(fail("the extent of a dim stands in no operand"));
}

static void collectSymbols(const Expr *expr,
                           llvm::SmallSetVector<const Expr *, 8> &symbols,
                           llvm::SmallDenseSet<const Expr *> &seen) {
  if (!seen.insert(expr).second)
    return;
  if (expr->getKind() == Expr::Kind::Sym)
    symbols.insert(expr);
  for (const Expr *operand : expr->getOperands())
    collectSymbols(operand, symbols, seen);
}

/// An expression as a tensor over the symbols that it depends on, in the order
/// of the domain's letters.
FailureOr<Value> AttentionBuilder::buildOver(const Expr *expr, Type type,
                                             StringAttr &letters) {
  llvm::SmallSetVector<const Expr *, 8> symbols;
  llvm::SmallDenseSet<const Expr *> seen;
  collectSymbols(evaluator.expandFully(expr), symbols, seen);
  SmallVector<const Expr *> order = llvm::to_vector(symbols);
  for (const Expr *symbol : order)
    if (!match.getDim(symbol))
      return LogicalResult(fail("a mask depends on what is no dim"));
  llvm::sort(order, [&](const Expr *a, const Expr *b) {
    return *match.getDim(a) < *match.getDim(b);
  });
  ExprDomain domain;
  for (const Expr *symbol : order) {
    FailureOr<OpFoldResult> extent = getExtent(symbol);
    if (failed(extent))
      return failure();
    domain.symbols.push_back(symbol->getNumber());
    domain.extents.push_back(*extent);
  }
  letters = getLetters(order);
  // The model's own tensor if it has one, else what it is computed from.
  FailureOr<Value> built =
      buildColumns(builder, loc, domain, expr, type, /*scalar=*/true, reason);
  if (failed(built))
    built = buildColumns(builder, loc, domain, evaluator.expandFully(expr),
                         type, /*scalar=*/true, reason);
  return built;
}

/// One tensor of all masks that are no bands: truths if there are only truths,
/// else numbers, a false truth as −∞.
FailureOr<Value> AttentionBuilder::buildMask(const MaskBands &bands,
                                             StringAttr &letters) {
  ExprContext &context = evaluator.getContext();
  Type truth = builder.getI1Type();
  const Expr *keep = nullptr;
  for (const Expr *term : bands.keep)
    keep = keep ? context.apply<arith::AndIOp>(truth, {keep, term}) : term;
  if (bands.addends.empty())
    return keep ? buildOver(keep, truth, letters) : FailureOr<Value>(Value());
  Type type = bands.addends.front()->getType();
  const Expr *sum = nullptr;
  for (const Expr *addend : bands.addends)
    sum = sum ? context.apply<arith::AddFOp>(type, {sum, addend}) : addend;
  if (keep) {
    double infinity = std::numeric_limits<double>::infinity();
    sum = context.apply<arith::SelectOp>(
        type, {keep, sum, context.getFloat(-infinity, type)});
  }
  return buildOver(sum, type, letters);
}

/// The symbols of the result's index, outermost first.
SmallVector<const Expr *> AttentionBuilder::getOutputSymbols() {
  SmallVector<const Expr *> symbols;
  for (const Expr *index : match.rootIndex) {
    if (index->getKind() == Expr::Kind::Sym)
      symbols.push_back(index);
    if (index->getKind() != Expr::Kind::Linear)
      continue;
    // Parts of one dim, by descending stride.
    SmallVector<std::pair<int64_t, const Expr *>> parts;
    for (auto [atom, coefficient] :
         llvm::zip(index->getOperands(), index->getCoefficients()))
      parts.emplace_back(coefficient, atom);
    llvm::sort(parts, [](auto &a, auto &b) { return a.first > b.first; });
    for (auto &part : parts)
      symbols.push_back(part.second);
  }
  return symbols;
}

FailureOr<Value> AttentionBuilder::buildInit(StringAttr &letters) {
  SmallVector<const Expr *> symbols = getOutputSymbols();
  SmallVector<OpFoldResult> shape;
  for (const Expr *symbol : symbols) {
    FailureOr<OpFoldResult> extent = getExtent(symbol);
    if (failed(extent))
      return failure();
    shape.push_back(*extent);
  }
  letters = getLetters(symbols);
  return tensor::EmptyOp::create(builder, loc, shape,
                                 getElementTypeOrSelf(match.root.getType()))
      .getResult();
}

/// Collapses symbols that are one dim of the result, and adds dims of extent 1
/// that have none.
Value AttentionBuilder::restoreRoot(Value output) {
  auto type = cast<RankedTensorType>(match.root.getType());
  SmallVector<ReassociationIndices> groups;
  int64_t next = 0;
  for (const Expr *index : match.rootIndex) {
    if (index->isInt())
      continue;
    int64_t count = index->getKind() == Expr::Kind::Linear
                        ? index->getOperands().size()
                        : 1;
    groups.emplace_back(llvm::to_vector(llvm::seq(next, next + count)));
    next += count;
  }
  if (static_cast<int64_t>(groups.size()) != next)
    output = tensor::CollapseShapeOp::create(builder, loc, output, groups);
  if (static_cast<int64_t>(groups.size()) != type.getRank()) {
    SmallVector<ReassociationIndices> expand;
    ReassociationIndices open;
    SmallVector<OpFoldResult> sizes =
                                  tensor::getMixedSizes(builder, loc, output),
                              shape;
    for (auto [dim, index] : llvm::enumerate(match.rootIndex)) {
      open.push_back(dim);
      shape.push_back(index->isInt() ? OpFoldResult(builder.getIndexAttr(1))
                                     : sizes[expand.size()]);
      if (!index->isInt())
        expand.push_back(std::exchange(open, {}));
    }
    if (!expand.empty())
      llvm::append_range(expand.back(), open);
    SmallVector<int64_t> extents = llvm::map_to_vector(shape, [](auto size) {
      return getConstantIntValue(size).value_or(ShapedType::kDynamic);
    });
    output = tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get(extents, type.getElementType()),
        output, expand, shape);
  }
  if (output.getType() != type)
    output = tensor::CastOp::create(builder, loc, type, output);
  return output;
}

FailureOr<Value> AttentionBuilder::build() {
  MaskBands bands = classifyMasks(evaluator, match);
  StringAttr maskLetters, sinkLetters, outputLetters;
  FailureOr<Value> mask = buildMask(bands, maskLetters);
  if (failed(mask))
    return failure();
  FailureOr<Value> sink = Value();
  if (match.sink)
    sink = buildOver(match.sink, match.sink->getType(), sinkLetters);
  if (failed(sink))
    return failure();
  FailureOr<Value> init = buildInit(outputLetters);
  if (failed(init))
    return failure();
  auto op =
      AttentionOp::create(builder, loc, match.query.tensor, match.key.tensor,
                          match.value.tensor, *init, match.scores.scale);
  if (*mask)
    op.getMaskMutable().assign(*mask);
  if (*sink)
    op.getSinkMutable().assign(*sink);
  op.setCausal(bands.causal);
  if (bands.left || bands.right)
    op.setWindow(
        ArrayRef<int64_t>{bands.left.value_or(-1), bands.right.value_or(-1)});
  if (match.scores.softcap)
    op.setSoftcapAttr(builder.getF64FloatAttr(*match.scores.softcap));
  op.setLayoutAttr(LayoutAttr::get(
      builder.getContext(), getLetters(match.query.index),
      getLetters(match.key.index), getLetters(match.value.index), outputLetters,
      maskLetters, {}, {}, {}, sinkLetters, {}, {}, {}));
  return restoreRoot(op.getResult(0));
}

FailureOr<Value> rope::buildAttention(OpBuilder &builder, Location loc,
                                      ElementEvaluator &evaluator,
                                      const AttentionMatch &match,
                                      std::string &reason) {
  return AttentionBuilder(builder, loc, evaluator, match, reason).build();
}
