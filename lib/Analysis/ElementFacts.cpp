//===- ElementFacts.cpp - What a model checks of its extents --------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An assert that fails ends the program, so that what it checks holds of every
// run whose results count. The same is true of what an op wants of the extents
// of its operands.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rope/Analysis/ElementEvaluator.h"

using namespace mlir;
using namespace mlir::rope;

/// Takes a truth for granted: equalities, lower bounds, and conjunctions.
static void assumeTrue(ExprContext &context, const Expr *truth) {
  if (truth->isa<arith::AndIOp>()) {
    for (const Expr *operand : truth->getOperands())
      assumeTrue(context, operand);
    return;
  }
  if (!truth->isa<arith::CmpIOp>())
    return;
  const Expr *lhs = truth->getOperands()[0], *rhs = truth->getOperands()[1];
  switch (cast<arith::CmpIPredicateAttr>(truth->getAttr()).getValue()) {
  case arith::CmpIPredicate::eq:
    return context.equate(lhs, rhs);
  case arith::CmpIPredicate::sle:
    std::swap(lhs, rhs);
    [[fallthrough]];
  case arith::CmpIPredicate::sge:
    if (rhs->isInt())
      context.bound(lhs, rhs->getInt());
    return;
  case arith::CmpIPredicate::slt:
    std::swap(lhs, rhs);
    [[fallthrough]];
  case arith::CmpIPredicate::sgt:
    if (rhs->isInt() && rhs->getInt() < std::numeric_limits<int64_t>::max())
      context.bound(lhs, rhs->getInt() + 1);
    return;
  default:
    return;
  }
}

static const Expr *countElements(ElementEvaluator &evaluator, Value tensor) {
  const Expr *count = evaluator.getContext().getInt(1);
  for (int64_t dim = 0, e = cast<ShapedType>(tensor.getType()).getRank();
       dim < e; ++dim)
    count = evaluator.getContext().mul(count,
                                       evaluator.evaluateExtent(tensor, dim));
  return count;
}

static bool isDynamic(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  return type && !type.hasStaticShape();
}

namespace {
/// Extents that are equal, by what they are the extent of.
class EqualExtents {
public:
  EqualExtents(ElementEvaluator &evaluator, unsigned count)
      : evaluator(evaluator), extents(count) {}

  void add(unsigned at, Value tensor, int64_t dim) {
    const Expr *extent = evaluator.evaluateExtent(tensor, dim);
    if (!extents[at])
      extents[at] = extent;
    else if (extents[at] != extent)
      evaluator.assumeEqual(extents[at], extent);
  }

private:
  ElementEvaluator &evaluator;
  SmallVector<const Expr *> extents;
};
} // namespace

/// The dims that one loop runs over have one extent.
static void assumeLoops(ElementEvaluator &evaluator, linalg::LinalgOp op) {
  EqualExtents extents(evaluator, op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [i, expr] : llvm::enumerate(map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        extents.add(loop.getPosition(), operand.get(), i);
  }
}

/// Tensors that are combined element by element have one shape.
static void assumeShapes(ElementEvaluator &evaluator, Operation &op) {
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  EqualExtents extents(evaluator, type.getRank());
  for (Value operand : op.getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        extents.add(dim, operand, dim);
}

void ElementEvaluator::assumeFacts(Block &block) {
  // Of two integers that are equal the youngest expression goes. It shall be
  // that of the value that is computed last, which what comes before cannot
  // use.
  auto makeExprs = [&](ValueRange values) {
    for (Value value : values)
      if (value.getType().isIntOrIndex())
        evaluateScalar(value);
  };
  makeExprs(block.getArguments());
  for (Operation &op : block) {
    makeExprs(op.getResults());
    bool dynamic = llvm::any_of(op.getOperands(), isDynamic);
    if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
      if (dynamic)
        assumeLoops(*this, structured);
      continue;
    }
    if (dynamic && op.hasTrait<OpTrait::Elementwise>() &&
        op.getNumResults() == 1) {
      assumeShapes(*this, op);
      continue;
    }
    if (auto check = dyn_cast<cf::AssertOp>(op)) {
      assumeTrue(context, expandFully(evaluateScalar(check.getArg())));
    } else if (isa<tensor::ReshapeOp, tensor::ExpandShapeOp>(op)) {
      Value from = op.getOperand(0), to = op.getResult(0);
      if (isDynamic(from) && isDynamic(to))
        context.equate(countElements(*this, from), countElements(*this, to));
    } else {
      continue;
    }
    forget();
  }
}

void ElementEvaluator::assumeEqual(const Expr *lhs, const Expr *rhs) {
  context.equate(lhs, rhs);
  forget();
}

void ElementEvaluator::forget() {
  expansions.clear();
  fullExpansions.clear();
  scalars.clear();
}
