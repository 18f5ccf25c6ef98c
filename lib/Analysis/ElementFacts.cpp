//===- ElementFacts.cpp - What a model checks of its extents --------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An assert that fails ends the program, so that what it checks holds of every
// run whose results count.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
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

void ElementEvaluator::assumeFacts(Block &block) {
  for (Operation &op : block) {
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
