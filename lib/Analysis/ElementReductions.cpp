//===- ElementReductions.cpp - What structured ops reduce -----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums, maxima and conjunctions that a structured op computes along its
// reduction dims, from their neutral element on.
//
//===----------------------------------------------------------------------===//

#include "ElementExpansion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::rope;

static linalg::LinalgOp getStructuredOp(const Expr *read) {
  if (read->getKind() != Expr::Kind::Read)
    return nullptr;
  return dyn_cast_or_null<linalg::LinalgOp>(read->getValue().getDefiningOp());
}

SmallVector<int64_t> rope::getLoopExtents(linalg::LinalgOp op) {
  SmallVector<std::optional<int64_t>> extents(op.getNumLoops());
  for (auto [operand, map] :
       llvm::zip_equal(op->getOperands(), op.getIndexingMapsArray()))
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr);
          loop && !extents[loop.getPosition()])
        extents[loop.getPosition()] =
            cast<ShapedType>(operand.getType()).getDimSize(dim);
  return llvm::map_to_vector(extents, [](std::optional<int64_t> extent) {
    return extent.value_or(ShapedType::kDynamic);
  });
}

SmallVector<int64_t> ElementEvaluator::getReductionExtents(const Expr *read) {
  linalg::LinalgOp op = getStructuredOp(read);
  SmallVector<int64_t> extents;
  if (!op || op.getNumReductionLoops() == 0 || !op.hasPureTensorSemantics())
    return extents;
  for (auto [extent, type] :
       llvm::zip_equal(getLoopExtents(op), op.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction)
      extents.push_back(extent);
  return extents;
}

std::optional<unsigned> ElementEvaluator::getReductionDim(const Expr *read) {
  std::optional<unsigned> found;
  for (auto [i, extent] : llvm::enumerate(getReductionExtents(read))) {
    if (extent != 1 && found)
      return std::nullopt;
    if (extent != 1)
      found = i;
  }
  return found;
}

const Expr *ElementEvaluator::evaluateReductionExtent(const Expr *read,
                                                      unsigned dim) {
  linalg::LinalgOp op = getStructuredOp(read);
  SmallVector<unsigned> dims;
  op.getReductionDims(dims);
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [i, expr] : llvm::enumerate(map.getResults()))
      if (expr == getAffineDimExpr(dims[dim], op.getContext()))
        return evaluateExtent(operand.get(), i);
  }
  return nullptr;
}

std::optional<Reduction>
ElementEvaluator::evaluateReductionOver(const Expr *read, const Expr *at) {
  std::optional<unsigned> dim = getReductionDim(read);
  if (!dim)
    return std::nullopt;
  SmallVector<const Expr *> index(getReductionExtents(read).size(),
                                  context.getInt(0));
  index[*dim] = at;
  return evaluateReduction(read, index);
}

std::optional<Reduction>
ElementEvaluator::evaluateReductionWhole(const Expr *read, const Expr *symbol) {
  std::optional<unsigned> dim = getReductionDim(read);
  if (!dim)
    return std::nullopt;
  const Expr *extent = ShapedType::isDynamic(symbol->getExtent())
                           ? symbol->getDynamicExtent()
                           : context.getInt(symbol->getExtent());
  if (!extent || evaluateReductionExtent(read, *dim) != extent)
    return std::nullopt;
  return evaluateReductionOver(read, symbol);
}

bool ElementEvaluator::isReduction(const Expr *read) {
  return llvm::any_of(getReductionExtents(read),
                      [](int64_t extent) { return extent != 1; });
}

/// Whether an expression is the neutral element of a reduction. The most
/// negative finite number is taken for −∞: scores are above it.
static bool isNeutral(Reduction::Kind kind, const Expr *init) {
  switch (kind) {
  case Reduction::Kind::Sum:
    return init->isFloat(0);
  case Reduction::Kind::Max:
    return init->getKind() == Expr::Kind::Float && init->getFloat() < -1e4;
  case Reduction::Kind::And:
    return init->isInt(1);
  case Reduction::Kind::Or:
    return init->isInt(0);
  }
  return false;
}

std::optional<Reduction> ElementEvaluator::evaluateReduction(const Expr *read,
                                                             Index index) {
  linalg::LinalgOp op = getStructuredOp(read);
  unsigned number = cast<OpResult>(read->getValue()).getResultNumber();
  OpOperand *init = op.getDpsInitOperand(number);
  FailureOr<SmallVector<const Expr *>> iteration = invertMap(
      op.getMatchingIndexingMap(init), read->getOperands(), op.getNumLoops());
  if (failed(iteration))
    return std::nullopt;
  for (const Expr *&i : *iteration)
    if (!i && index.empty())
      return std::nullopt;
    else if (!i)
      i = std::exchange(index, index.drop_front()).front();
  // The accumulator stands for itself.
  const Expr *current = context.getScalar(read->getValue());
  const Expr *step = evaluateStep(*this, op, number, *iteration, current);
  if (!step || step->getKind() != Expr::Kind::Apply ||
      step->getOperands().size() != 2)
    return std::nullopt;
  ArrayRef<const Expr *> operands = step->getOperands();
  if (operands[0] != current && operands[1] != current)
    return std::nullopt;
  Reduction result;
  result.element = operands[operands[0] == current ? 1 : 0];
  if (step->isa<arith::AddFOp>())
    result.kind = Reduction::Kind::Sum;
  else if (step->isa<arith::MaximumFOp>() || step->isa<arith::MaxNumFOp>())
    result.kind = Reduction::Kind::Max;
  else if (step->isa<arith::AndIOp>())
    result.kind = Reduction::Kind::And;
  else if (step->isa<arith::OrIOp>())
    result.kind = Reduction::Kind::Or;
  else
    return std::nullopt;
  const Expr *start =
      expandFully(context.getRead(init->get(), read->getOperands()));
  if (!isNeutral(result.kind, start))
    return std::nullopt;
  return result;
}
