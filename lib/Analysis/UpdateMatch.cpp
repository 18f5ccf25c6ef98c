//===- UpdateMatch.cpp - A tensor with one index of a dim replaced --------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Analysis/UpdateMatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::rope;

/// Indices to choose one from for each of some rows.
static constexpr int64_t kManyIndices = 32;

namespace {
/// Looks for the only index of one dim at which an element is not `kept`.
class PositionFinder {
public:
  PositionFinder(ElementEvaluator &evaluator, const Expr *kept,
                 const Expr *index)
      : evaluator(evaluator), context(evaluator.getContext()), kept(kept),
        index(index) {}

  const Expr *findInElement(const Expr *element);

private:
  const Expr *findInTruth(const Expr *truth, bool isTrue);
  const Expr *solve(const Expr *difference);

  ElementEvaluator &evaluator;
  ExprContext &context;
  const Expr *kept;
  const Expr *index;
};
} // namespace

/// The value of the index for which a difference is 0, if that does not depend
/// on the index.
const Expr *PositionFinder::solve(const Expr *difference) {
  for (int64_t sign : {1, -1}) {
    const Expr *signedIndex = context.mul(index, context.getInt(sign));
    const Expr *rest = context.sub(difference, signedIndex);
    const Expr *position = context.mul(rest, context.getInt(-sign));
    if (!llvm::is_contained(collectSymbols({position}), index))
      return position;
  }
  return nullptr;
}

/// What the index must be for `truth` to be `isTrue`; null if it may be
/// several.
const Expr *PositionFinder::findInTruth(const Expr *truth, bool isTrue) {
  if (truth->isa<arith::XOrIOp>() && truth->getOperands()[1]->isInt(1))
    return findInTruth(truth->getOperands()[0], !isTrue);
  if (isTrue ? truth->isa<arith::AndIOp>() : truth->isa<arith::OrIOp>()) {
    for (const Expr *operand : truth->getOperands())
      if (const Expr *position = findInTruth(operand, isTrue))
        return position;
    return nullptr;
  }
  if (!truth->isa<arith::CmpIOp>())
    return nullptr;
  auto predicate = cast<arith::CmpIPredicateAttr>(truth->getAttr()).getValue();
  if (predicate !=
      (isTrue ? arith::CmpIPredicate::eq : arith::CmpIPredicate::ne))
    return nullptr;
  return solve(context.sub(truth->getOperands()[0], truth->getOperands()[1]));
}

const Expr *PositionFinder::findInElement(const Expr *element) {
  if (!element->isa<arith::SelectOp>())
    return nullptr;
  ArrayRef<const Expr *> operands = element->getOperands();
  for (bool keptIfFalse : {true, false}) {
    if (operands[keptIfFalse ? 2 : 1] != kept)
      continue;
    const Expr *condition = evaluator.expandFully(operands[0]);
    if (const Expr *position = findInTruth(condition, keptIfFalse))
      return position;
    return findInElement(operands[keptIfFalse ? 1 : 2]);
  }
  return nullptr;
}

namespace {
/// Tells whether an expression of a body can be computed in front of its op.
class HoistCheck {
public:
  HoistCheck(ElementEvaluator &evaluator, Operation *op)
      : evaluator(evaluator), op(op) {}

  bool canHoist(const Expr *expr);

private:
  bool isDefined(Value value) { return dominance.properlyDominates(value, op); }
  bool isInBounds(const Expr *read);

  ElementEvaluator &evaluator;
  Operation *op;
  DominanceInfo dominance;
  llvm::SmallDenseSet<const Expr *> seen;
};
} // namespace

/// A body may read by a condition only, or not be run at all.
bool HoistCheck::isInBounds(const Expr *read) {
  ExprContext &context = evaluator.getContext();
  for (auto [dim, index] : llvm::enumerate(read->getOperands())) {
    const Expr *extent = evaluator.evaluateExtent(read->getValue(), dim);
    IntRange beyond = context.getRange(context.sub(index, extent));
    if (!context.getRange(index).isNotNegative() || !beyond.high ||
        *beyond.high >= 0)
      return false;
  }
  return true;
}

bool HoistCheck::canHoist(const Expr *expr) {
  if (!seen.insert(expr).second)
    return true;
  // What the function checks further down may have put other values in.
  if (Value value = expr->getValue(); value && !isDefined(value))
    return false;
  if (expr->getKind() == Expr::Kind::Read && !isInBounds(expr))
    return false;
  return llvm::all_of(expr->getOperands(),
                      [&](const Expr *operand) { return canHoist(operand); });
}

/// Whether a part of an op's result takes parts of its operands that start
/// where the maps say.
static bool hasPlainMaps(linalg::LinalgOp op) {
  return llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return llvm::all_of(map.getResults(),
                        llvm::IsaPred<AffineDimExpr, AffineConstantExpr>);
  });
}

/// Whether an op computes one tensor, element by element, and does nothing
/// else.
static bool isElementwise(linalg::LinalgOp op) {
  if (op->getNumResults() != 1 || !op.hasPureTensorSemantics() ||
      op.getNumLoops() != op.getNumParallelLoops() || !hasPlainMaps(op) ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation())
    return false;
  auto type = cast<RankedTensorType>(op->getResultTypes()[0]);
  return !llvm::is_contained(type.getShape(), 0) &&
         llvm::all_of(*op.getBlock(), [](Operation &scalar) {
           return isMemoryEffectFree(&scalar);
         });
}

/// Whether what is read of an operand is kept without a change. Expressions say
/// so but for integers, which they take not to wrap: only positions do not.
static bool keepsElement(linalg::LinalgOp op, OpOperand &operand) {
  BlockArgument element = op.getMatchingBlockArgument(&operand);
  return !element.getType().isIntOrIndex() ||
         llvm::all_of(element.getUsers(), llvm::IsaPred<arith::SelectOp>);
}

/// Whether one index of many is replaced. Where the position is computed for
/// each index of other dims, as few as these are done as fast in vectors.
static bool isWorthwhile(const UpdateMatch &match) {
  auto type = cast<RankedTensorType>(match.op->getResultTypes()[0]);
  int64_t extent = type.getDimSize(match.dim);
  return collectSymbols({match.position}).empty() ||
         ShapedType::isDynamic(extent) || extent >= kManyIndices;
}

FailureOr<UpdateMatch> rope::matchUpdate(ElementEvaluator &evaluator,
                                         linalg::LinalgOp op) {
  if (!isElementwise(op))
    return failure();
  ExprContext &context = evaluator.getContext();
  Value result = op->getResult(0);
  SmallVector<const Expr *> indices = evaluator.getSymbolicIndex(result);
  const Expr *read = context.getRead(result, indices);
  const Expr *element = evaluator.expandOnce(read);
  if (!element)
    return failure();
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (OpOperand &operand : op->getOpOperands()) {
    if (operand.get().getType() != result.getType() ||
        op.getMatchingIndexingMap(&operand) != map ||
        !keepsElement(op, operand))
      continue;
    const Expr *kept = context.getRead(operand.get(), indices);
    for (auto [dim, index] : llvm::enumerate(indices)) {
      if (index->getKind() != Expr::Kind::Sym)
        continue;
      PositionFinder finder(evaluator, kept, index);
      UpdateMatch match{op, operand.getOperandNumber(),
                        static_cast<int64_t>(dim),
                        finder.findInElement(element)};
      if (match.position && isWorthwhile(match) &&
          HoistCheck(evaluator, op).canHoist(match.position))
        return match;
    }
  }
  return failure();
}
