//===- RotationSums.cpp - Sums that could be of a rotation ----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RotationSums.h"

#include "Quotient.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::rope;

/// What a cast, a sign or a constant factor is applied to; null otherwise.
static const Expr *stripUnary(const Expr *element) {
  ArrayRef<const Expr *> operands = element->getOperands();
  if (element->isa<arith::NegFOp>() || element->isa<arith::TruncFOp>() ||
      element->isa<arith::ExtFOp>())
    return operands[0];
  if (element->isa<arith::MulFOp>() || element->isa<arith::DivFOp>()) {
    if (operands[1]->getKind() == Expr::Kind::Float)
      return operands[0];
    if (operands[0]->getKind() == Expr::Kind::Float)
      return operands[1];
  }
  return nullptr;
}

bool rope::isSum(ElementEvaluator &evaluator, const Expr *element) {
  while (element && !element->isa<arith::AddFOp>()) {
    const Expr *inner = stripUnary(element);
    element = inner ? inner : evaluator.expandOnce(element);
  }
  return element;
}

/// Whether a factor is a cosine, a sine or a number of the model's own, as the
/// coefficients of rotations are.
static bool isCoefficient(ElementEvaluator &evaluator, const Expr *factor) {
  const Expr *expr = evaluator.expandFully(factor);
  while (expr->isa<arith::ExtFOp>() || expr->isa<arith::TruncFOp>() ||
         expr->isa<arith::NegFOp>())
    expr = expr->getOperands()[0];
  return expr->isa<math::CosOp>() || expr->isa<math::SinOp>() ||
         (expr->getKind() == Expr::Kind::Read &&
          expr->getValue().getDefiningOp<arith::ConstantOp>());
}

std::optional<std::string> rope::explainSum(ElementEvaluator &evaluator,
                                            const Expr *element) {
  FailureOr<ScaledTerms> terms = collectTerms(evaluator, element);
  if (failed(terms) || terms->size() != 2)
    return std::nullopt;
  SmallVector<const Expr *> turned;
  for (const ScaledTerm &term : *terms) {
    double constant = 1;
    SmallVector<const Expr *> factors =
        getFactors(evaluator, term.expr, constant);
    if (factors.size() != 2)
      return std::nullopt;
    bool first = isCoefficient(evaluator, factors[0]);
    if (first == isCoefficient(evaluator, factors[1]))
      return std::nullopt;
    turned.push_back(evaluator.expandFully(factors[first ? 1 : 0]));
  }
  if (turned[0] == turned[1] || (turned[0]->isa<arith::NegFOp>() &&
                                 turned[0]->getOperands()[0] == turned[1]))
    return "each channel is scaled, and none is exchanged for another";
  return "the terms with cosine and sine are of different tensors";
}

bool rope::isSine(const Expr *expr) {
  SmallVector<const Expr *> queue = {expr};
  llvm::SmallDenseSet<const Expr *> seen;
  while (!queue.empty()) {
    const Expr *next = queue.pop_back_val();
    if (next->isa<math::SinOp>())
      return true;
    if (next->getKind() == Expr::Kind::Apply && !next->isa<math::CosOp>() &&
        seen.insert(next).second)
      llvm::append_range(queue, next->getOperands());
  }
  return false;
}
