//===- ElementEvaluator.cpp - What an element of a tensor is --------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memoised expansion, extents and scalars. How single ops move elements is in
// ElementMovement.cpp, how their bodies compute is in ElementBodies.cpp.
//
//===----------------------------------------------------------------------===//

#include "rope/Analysis/ElementEvaluator.h"

#include "ConstantColumns.h"
#include "ElementExpansion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::rope;

ElementEvaluator::ElementEvaluator(ExprContext &context, size_t budget)
    : context(context), budget(budget),
      columns(std::make_unique<ConstantColumns>()) {}

ElementEvaluator::~ElementEvaluator() = default;

const Expr *ElementEvaluator::expand(const Expr *read) {
  const Expr *result = expansions.lookup(read);
  if (!result) {
    if (!isBudgetSpent())
      result = expandElement(*this, read->getValue(), read->getOperands());
    if (!result)
      result = read;
    expansions.set(read, result);
  }
  return result == read ? nullptr : result;
}

const Expr *ElementEvaluator::expandOnce(const Expr *expr, Value opaque) {
  if (expr->getKind() == Expr::Kind::Read)
    return expr->getValue() == opaque ? nullptr : expand(expr);
  if (expr->getKind() != Expr::Kind::Apply)
    return nullptr;
  SmallVector<const Expr *> operands(expr->getOperands());
  // What decides a choice is wanted to the end.
  if (expr->isa<arith::SelectOp>())
    operands[0] = expandFully(operands[0]);
  for (const Expr *&operand : operands)
    if (operand->getKind() == Expr::Kind::Read && operand->getValue() != opaque)
      if (const Expr *step = expand(operand))
        operand = step;
  const Expr *closer = context.apply(expr->getName(), expr->getAttr(),
                                     expr->getType(), operands);
  return closer == expr ? nullptr : closer;
}

const Expr *ElementEvaluator::expandFully(const Expr *expr) {
  if (const Expr *known = fullExpansions.lookup(expr))
    return known;
  const Expr *result = expr;
  if (expr->getKind() == Expr::Kind::Read) {
    SmallVector<const Expr *> index;
    for (const Expr *i : expr->getOperands())
      index.push_back(expandFully(i));
    const Expr *read = context.getRead(expr->getValue(), index);
    const Expr *step = expand(read);
    result = step ? expandFully(step) : read;
  } else if (expr->getKind() == Expr::Kind::Apply) {
    SmallVector<const Expr *> operands;
    for (const Expr *operand : expr->getOperands())
      operands.push_back(expandFully(operand));
    result = context.apply(expr->getName(), expr->getAttr(), expr->getType(),
                           operands);
    // A select or an extraction may have uncovered another read.
    if (result != expr)
      result = expandFully(result);
  } else if (expr->getKind() == Expr::Kind::Linear) {
    result = context.getInt(expr->getInt());
    for (auto [atom, coefficient] :
         llvm::zip(expr->getOperands(), expr->getCoefficients()))
      result = context.add(
          result, context.mul(expandFully(atom), context.getInt(coefficient)));
  }
  fullExpansions.set(expr, result);
  return result;
}

const Expr *ElementEvaluator::evaluateScalar(Value value) {
  auto found = scalars.find(value);
  if (found != scalars.end())
    return found->second;
  const Expr *result = evaluateScalarOp(*this, value);
  scalars[value] = result;
  return result;
}

SmallVector<const Expr *> ElementEvaluator::getSymbolicIndex(Value tensor) {
  SmallVector<const Expr *> index;
  for (auto [dim, extent] :
       llvm::enumerate(cast<ShapedType>(tensor.getType()).getShape())) {
    const Expr *dynamic =
        ShapedType::isDynamic(extent) ? evaluateExtent(tensor, dim) : nullptr;
    index.push_back(context.getSym(dim, extent, dynamic));
  }
  return index;
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

const Expr *rope::evaluateFoldResult(ElementEvaluator &evaluator,
                                     OpFoldResult value) {
  if (auto constant = getConstantIntValue(value))
    return evaluator.getContext().getInt(*constant);
  return evaluator.evaluateScalar(cast<Value>(value));
}

/// The extent of the source dims that were collapsed into one.
static const Expr *getCollapsedExtent(ElementEvaluator &evaluator,
                                      tensor::CollapseShapeOp op, int64_t dim) {
  const Expr *product = evaluator.getContext().getInt(1);
  ReassociationIndices group = op.getReassociationIndices()[dim];
  for (int64_t source : group)
    product = evaluator.getContext().mul(
        product, evaluator.evaluateExtent(op.getSrc(), source));
  return product;
}

static const Expr *getConcatExtent(ElementEvaluator &evaluator,
                                   tensor::ConcatOp op, int64_t dim) {
  if (dim != static_cast<int64_t>(op.getDim()))
    return evaluator.evaluateExtent(op.getInputs().front(), dim);
  const Expr *total = evaluator.getContext().getInt(0);
  for (Value input : op.getInputs())
    total =
        evaluator.getContext().add(total, evaluator.evaluateExtent(input, dim));
  return total;
}

const Expr *ElementEvaluator::evaluateExtent(Value tensor, int64_t dim) {
  int64_t extent = cast<ShapedType>(tensor.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(extent))
    return context.getInt(extent);
  Operation *op = tensor.getDefiningOp();
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(op))
    return evaluateExtent(cast.getSource(), dim);
  if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (auto [i, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!dropped.test(i) && dim-- == 0)
        return evaluateFoldResult(*this, size);
  }
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(op))
    return evaluateFoldResult(*this, empty.getMixedSizes()[dim]);
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op))
    return evaluateFoldResult(*this, expand.getMixedOutputShape()[dim]);
  if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(op))
    return getCollapsedExtent(*this, collapse, dim);
  if (auto concat = dyn_cast_or_null<tensor::ConcatOp>(op))
    return getConcatExtent(*this, concat, dim);
  if (auto reshape = dyn_cast_or_null<tensor::ReshapeOp>(op))
    return expandFully(
        context.getRead(reshape.getShape(), context.getInt(dim)));
  if (auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(op))
    return evaluateExtent(insert.getDest(), dim);
  if (auto dps = dyn_cast_or_null<DestinationStyleOpInterface>(op))
    return evaluateExtent(dps.getTiedOpOperand(cast<OpResult>(tensor))->get(),
                          dim);
  if (op && op->hasTrait<OpTrait::Elementwise>())
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        return evaluateExtent(operand, dim);
  return context.getDim(tensor, dim);
}
