//===- OperandBuilder.cpp - Operands of attention as IR -------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OperandBuilder.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "rope/IR/ElementTypes.h"
#include "rope/Raise/ExprBuilder.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace mlir::rope;

/// The letters of dims that are one symbol each.
StringAttr OperandBuilder::getLetters(ArrayRef<const Expr *> symbols) {
  std::string letters;
  for (const Expr *symbol : symbols)
    letters += getLetter(*match.getDim(symbol));
  return builder.getStringAttr(letters);
}

/// The extent of a symbol, from an operand that has it as a dim.
FailureOr<OpFoldResult> OperandBuilder::getExtent(const Expr *symbol) {
  if (!ShapedType::isDynamic(symbol->getExtent()))
    return OpFoldResult(builder.getIndexAttr(symbol->getExtent()));
  for (const MatchedOperand *operand : match.getOperands())
    for (auto [dim, index] : llvm::enumerate(operand->index))
      if (index == symbol)
        return tensor::getMixedSize(builder, loc, operand->tensor, dim);
  return LogicalResult(fail("the extent of a dim stands in no operand"));
}

static SmallVector<int64_t> getStaticShape(ArrayRef<OpFoldResult> sizes) {
  return llvm::map_to_vector(sizes, [](OpFoldResult size) {
    return getConstantIntValue(size).value_or(ShapedType::kDynamic);
  });
}

FailureOr<LetteredTensor>
OperandBuilder::buildView(const MatchedOperand &operand) {
  auto type = cast<RankedTensorType>(operand.tensor.getType());
  std::string letters;
  SmallVector<ReassociationIndices> groups;
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, index] : llvm::enumerate(operand.index)) {
    groups.emplace_back(1, sizes.size());
    sizes.push_back(tensor::getMixedSize(builder, loc, operand.tensor, dim));
    if (index->isInt()) {
      letters += '1';
      continue;
    }
    SmallVector<const Expr *> digits =
        *getDigits(evaluator.getContext(), index);
    StringAttr names = getLetters(digits);
    if (digits.size() == 1 || names == "hg") {
      letters += digits.size() == 1 ? names.str() : "(hg)";
      continue;
    }
    letters += names.str();
    sizes.pop_back();
    groups.back().clear();
    for (const Expr *digit : digits) {
      FailureOr<OpFoldResult> extent = getExtent(digit);
      if (failed(extent))
        return failure();
      groups.back().push_back(sizes.size());
      sizes.push_back(*extent);
    }
  }
  Value tensor = operand.tensor;
  if (static_cast<int64_t>(sizes.size()) != type.getRank())
    tensor = tensor::ExpandShapeOp::create(
        builder, loc,
        RankedTensorType::get(getStaticShape(sizes), type.getElementType()),
        tensor, groups, sizes);
  return LetteredTensor{tensor, builder.getStringAttr(letters)};
}

/// An operand over given dims and its channels.
FailureOr<Value> OperandBuilder::buildPart(const MatchedOperand &operand,
                                           ArrayRef<const Expr *> shared) {
  const Expr *read =
      evaluator.getContext().getRead(operand.tensor, operand.index);
  SmallVector<const Expr *> symbols(shared);
  for (const Expr *symbol : collectSymbols(read))
    if (match.getDim(symbol) == DomainDim::D)
      symbols.push_back(symbol);
  ExprDomain domain;
  for (const Expr *symbol : symbols) {
    FailureOr<OpFoldResult> extent = getExtent(symbol);
    if (failed(extent))
      return failure();
    domain.symbols.push_back(symbol->getNumber());
    domain.extents.push_back(*extent);
  }
  return buildColumns(builder, loc, evaluator, domain, read, read->getType(),
                      /*scalar=*/true, reason);
}

FailureOr<LetteredTensor>
OperandBuilder::buildJoined(const MatchedOperand &operand,
                            const MatchedOperand &added) {
  ExprContext &context = evaluator.getContext();
  const Expr *reads[] = {context.getRead(operand.tensor, operand.index),
                         context.getRead(added.tensor, added.index)};
  if (reads[0]->getType() != reads[1]->getType())
    return LogicalResult(fail("two products are of different types"));
  SmallVector<const Expr *> shared = collectSymbols(reads);
  llvm::erase_if(shared, [&](const Expr *symbol) {
    return match.getDim(symbol) == DomainDim::D;
  });
  llvm::sort(shared, [&](const Expr *a, const Expr *b) {
    return *match.getDim(a) < *match.getDim(b);
  });
  FailureOr<Value> first = buildPart(operand, shared);
  FailureOr<Value> second = buildPart(added, shared);
  if (failed(first) || failed(second))
    return failure();
  Value joined = tensor::ConcatOp::create(builder, loc, shared.size(),
                                          ValueRange{*first, *second});
  shared.push_back(match.getSymbol(DomainDim::D));
  return LetteredTensor{joined, getLetters(shared)};
}

FailureOr<LetteredTensor> OperandBuilder::buildOver(const Expr *expr,
                                                    Type type) {
  if (!isOpMask(type))
    return LogicalResult(fail("a mask or sink is of " + llvm::to_string(type)));
  SmallVector<const Expr *> order =
      collectSymbols({evaluator.expandFully(expr)});
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
  // The model's own tensor if it has one, else what it is computed from.
  FailureOr<Value> built = buildColumns(builder, loc, evaluator, domain, expr,
                                        type, /*scalar=*/true, reason);
  if (failed(built))
    built = buildColumns(builder, loc, evaluator, domain,
                         evaluator.expandFully(expr), type, /*scalar=*/true,
                         reason);
  if (failed(built))
    return failure();
  return LetteredTensor{*built, getLetters(order)};
}

/// The symbols of the root's index, outermost first.
static SmallVector<const Expr *> getRootSymbols(ExprContext &context,
                                                const OperandMatch &match) {
  SmallVector<const Expr *> symbols;
  for (const Expr *index : match.rootIndex)
    if (!index->isInt())
      llvm::append_range(symbols, *getDigits(context, index));
  return symbols;
}

FailureOr<LetteredTensor> OperandBuilder::buildInit() {
  Type type = getElementTypeOrSelf(match.root.getType());
  if (!isOpFloat(type))
    return LogicalResult(fail("the output is of " + llvm::to_string(type)));
  SmallVector<const Expr *> symbols =
      getRootSymbols(evaluator.getContext(), match);
  SmallVector<OpFoldResult> shape;
  for (const Expr *symbol : symbols) {
    FailureOr<OpFoldResult> extent = getExtent(symbol);
    if (failed(extent))
      return failure();
    shape.push_back(*extent);
  }
  Value init = tensor::EmptyOp::create(builder, loc, shape, type);
  return LetteredTensor{init, getLetters(symbols)};
}

/// Collapses symbols that are one dim of the root.
Value OperandBuilder::collapseSymbols(Value output) {
  SmallVector<ReassociationIndices> groups;
  int64_t next = 0;
  for (const Expr *index : match.rootIndex) {
    if (index->isInt())
      continue;
    int64_t count = getDigits(evaluator.getContext(), index)->size();
    groups.emplace_back(llvm::to_vector(llvm::seq(next, next + count)));
    next += count;
  }
  if (static_cast<int64_t>(groups.size()) == next)
    return output;
  return tensor::CollapseShapeOp::create(builder, loc, output, groups);
}

/// Adds the dims of extent 1 that the root has.
Value OperandBuilder::addUnitDims(Value output) {
  auto type = cast<RankedTensorType>(match.root.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, output);
  if (static_cast<int64_t>(sizes.size()) == type.getRank())
    return output;
  SmallVector<OpFoldResult> shape;
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices open;
  for (auto [dim, index] : llvm::enumerate(match.rootIndex)) {
    open.push_back(dim);
    shape.push_back(index->isInt() ? OpFoldResult(builder.getIndexAttr(1))
                                   : sizes[groups.size()]);
    if (!index->isInt())
      groups.push_back(std::exchange(open, {}));
  }
  if (!groups.empty())
    llvm::append_range(groups.back(), open);
  return tensor::ExpandShapeOp::create(
      builder, loc,
      RankedTensorType::get(getStaticShape(shape), type.getElementType()),
      output, groups, shape);
}

Value OperandBuilder::restoreRoot(Value output) {
  output = addUnitDims(collapseSymbols(output));
  if (output.getType() != match.root.getType())
    output = tensor::CastOp::create(builder, loc, match.root.getType(), output);
  return output;
}
