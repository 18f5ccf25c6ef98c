//===- Quotient.cpp - Parts of expressions behind movement ----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Quotient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "rope/Analysis/ConstantFold.h"

using namespace mlir;
using namespace mlir::rope;

/// Terms of a score or an exponent that are looked at.
static constexpr size_t kMaxTerms = 32;

/// Ops that a constant factor is computed by, one on the other.
static constexpr int kMaxConstantDepth = 8;

const Expr *rope::peel(ElementEvaluator &evaluator, const Expr *expr) {
  while (true) {
    if (expr->isa<arith::ExtFOp>() || expr->isa<arith::TruncFOp>()) {
      expr = expr->getOperands()[0];
      continue;
    }
    if (expr->getKind() != Expr::Kind::Read || evaluator.isReduction(expr))
      return expr;
    const Expr *step = evaluator.expand(expr);
    if (!step)
      return expr;
    expr = step;
  }
}

static std::optional<double> peelConstant(ElementEvaluator &evaluator,
                                          const Expr *expr, int depth) {
  const Expr *peeled = peel(evaluator, expr);
  if (peeled->getKind() != Expr::Kind::Apply || depth == 0)
    return foldConstant(peeled);
  ExprContext &context = evaluator.getContext();
  SmallVector<const Expr *> operands;
  for (const Expr *operand : peeled->getOperands()) {
    std::optional<double> value = peelConstant(evaluator, operand, depth - 1);
    if (!value || !operand->getType())
      return std::nullopt;
    operands.push_back(context.getFloat(*value, operand->getType()));
  }
  return foldConstant(context.apply(peeled->getName(), peeled->getAttr(),
                                    peeled->getType(), operands));
}

std::optional<double> rope::peelConstant(ElementEvaluator &evaluator,
                                         const Expr *expr) {
  return ::peelConstant(evaluator, expr, kMaxConstantDepth);
}

SmallVector<Quotient, 2> rope::getQuotients(ElementEvaluator &evaluator,
                                            const Expr *expr) {
  ArrayRef<const Expr *> operands = expr->getOperands();
  if (expr->isa<arith::DivFOp>())
    return {{operands[0], operands[1]}};
  SmallVector<Quotient, 2> quotients;
  if (expr->isa<arith::MulFOp>())
    for (auto [numerator, inverse] : {std::pair(operands[0], operands[1]),
                                      std::pair(operands[1], operands[0])}) {
      const Expr *reciprocal = peel(evaluator, inverse);
      if (reciprocal->isa<arith::DivFOp>() &&
          peelConstant(evaluator, reciprocal->getOperands()[0]) == 1.0)
        quotients.push_back({numerator, reciprocal->getOperands()[1]});
    }
  return quotients;
}

/// Splits off a constant factor of a product or quotient; nullopt for other
/// expressions.
static std::optional<ScaledTerm> splitFactor(ElementEvaluator &evaluator,
                                             const Expr *expr) {
  ArrayRef<const Expr *> operands = expr->getOperands();
  if (expr->isa<arith::NegFOp>())
    return ScaledTerm{operands[0], -1};
  if (expr->isa<arith::DivFOp>()) {
    std::optional<double> divisor = peelConstant(evaluator, operands[1]);
    return divisor && *divisor != 0
               ? std::optional(ScaledTerm{operands[0], 1 / *divisor})
               : std::nullopt;
  }
  if (expr->isa<arith::MulFOp>())
    for (unsigned i : {0, 1})
      if (std::optional<double> factor = peelConstant(evaluator, operands[i]))
        return ScaledTerm{operands[1 - i], *factor};
  return std::nullopt;
}

FailureOr<ScaledTerms> rope::collectTerms(ElementEvaluator &evaluator,
                                          const Expr *expr, double factor) {
  ScaledTerms terms, queue = {{expr, factor}};
  while (!queue.empty()) {
    ScaledTerm next = queue.pop_back_val();
    const Expr *peeled = peel(evaluator, next.expr);
    if (peeled->isa<arith::AddFOp>()) {
      for (const Expr *operand : peeled->getOperands())
        queue.push_back({operand, next.factor});
    } else if (auto split = splitFactor(evaluator, peeled)) {
      queue.push_back({split->expr, next.factor * split->factor});
    } else {
      terms.push_back(next);
    }
    if (terms.size() + queue.size() > kMaxTerms)
      return failure();
  }
  return terms;
}

const Expr *rope::getScaled(ExprContext &context, ScaledTerm term) {
  Type type = term.expr->getType();
  return context.apply<arith::MulFOp>(
      type, {term.expr, context.getFloat(term.factor, type)});
}

SmallVector<const Expr *> rope::getFactors(ElementEvaluator &evaluator,
                                           const Expr *product,
                                           double &constant) {
  SmallVector<const Expr *> factors, queue = {peel(evaluator, product)};
  while (!queue.empty()) {
    const Expr *next = queue.pop_back_val();
    while (next->isa<arith::ExtFOp>())
      next = next->getOperands()[0];
    if (next->isa<arith::MulFOp>())
      llvm::append_range(queue, llvm::reverse(next->getOperands()));
    else if (std::optional<double> number = foldConstant(next))
      constant *= *number;
    else
      factors.push_back(next);
    if (factors.size() + queue.size() > kMaxTerms)
      return {};
  }
  return factors;
}
