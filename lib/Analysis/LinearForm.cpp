//===- LinearForm.cpp - An element as a sum over one source ---------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Analysis/LinearForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::rope;

FailureOr<LinearForm> LinearFormBuilder::fail(const Twine &why) {
  reason = why.str();
  return failure();
}

//===----------------------------------------------------------------------===//
// Dependence
//===----------------------------------------------------------------------===//

/// Whether an op uses its operands for their shapes only.
static bool readsShapesOnly(Operation *op) {
  return isa<tensor::DimOp, tensor::RankOp, tensor::EmptyOp>(op);
}

bool LinearFormBuilder::dependsOnSource(Value value) {
  if (value == source)
    return true;
  auto [entry, inserted] = values.try_emplace(value, false);
  Operation *op = value.getDefiningOp();
  if (!inserted || !op || readsShapesOnly(op))
    return entry->second;
  bool depends = false;
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands()) {
      // Values within the op's own regions are covered by the walk.
      Operation *parent = operand.getParentBlock()->getParentOp();
      if (!op->isAncestor(parent))
        depends = depends || dependsOnSource(operand);
    }
  });
  values[value] = depends;
  return depends;
}

bool LinearFormBuilder::dependsOnSource(const Expr *expr) {
  auto found = exprs.find(expr);
  if (found != exprs.end())
    return found->second;
  bool depends = llvm::any_of(
      expr->getOperands(), [&](const Expr *e) { return dependsOnSource(e); });
  if (expr->getKind() == Expr::Kind::Read ||
      expr->getKind() == Expr::Kind::Scalar)
    depends = depends || dependsOnSource(expr->getValue());
  exprs[expr] = depends;
  return depends;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// Adds a term to a form, merging terms of one element.
static void addTerm(ExprContext &context, LinearForm &form, LinearTerm term) {
  Type type = term.read->getType();
  auto *same = llvm::find_if(
      form, [&](const LinearTerm &t) { return t.read == term.read; });
  if (same == form.end())
    form.push_back(term);
  else
    same->coefficient = context.apply<arith::AddFOp>(
        type, {same->coefficient, term.coefficient});
}

FailureOr<LinearForm> LinearFormBuilder::buildSum(const Expr *lhs,
                                                  const Expr *rhs) {
  FailureOr<LinearForm> left = build(lhs);
  if (failed(left))
    return failure();
  FailureOr<LinearForm> right = build(rhs);
  if (failed(right))
    return failure();
  for (const LinearTerm &term : *right)
    addTerm(context, *left, term);
  return left;
}

FailureOr<LinearForm> LinearFormBuilder::buildScaled(const Expr *expr,
                                                     const Expr *factor,
                                                     bool divide) {
  FailureOr<LinearForm> form = build(expr);
  if (failed(form))
    return failure();
  // A number that was spread over a tensor is a number, so that its sign shows.
  const Expr *number = evaluator.expandFully(factor);
  if (number->getKind() == Expr::Kind::Float)
    factor = number;
  if (factor->isFloat(0))
    return LinearForm();
  Type type = factor->getType() ? factor->getType() : expr->getType();
  for (LinearTerm &term : *form)
    term.coefficient =
        divide ? context.apply<arith::DivFOp>(type, {term.coefficient, factor})
               : context.apply<arith::MulFOp>(type, {term.coefficient, factor});
  return form;
}

FailureOr<LinearForm> LinearFormBuilder::buildApply(const Expr *expr) {
  ArrayRef<const Expr *> operands = expr->getOperands();
  if (expr->isa<arith::AddFOp>())
    return buildSum(operands[0], operands[1]);
  if (expr->isa<arith::NegFOp>())
    return buildScaled(operands[0], context.getFloat(-1, expr->getType()),
                       /*divide=*/false);
  if (expr->isa<arith::MulFOp>())
    for (auto [a, b] : {std::pair(operands[0], operands[1]),
                        std::pair(operands[1], operands[0])})
      if (!dependsOnSource(b))
        return buildScaled(a, b, /*divide=*/false);
  if (expr->isa<arith::DivFOp>() && !dependsOnSource(operands[1]))
    return buildScaled(operands[0], operands[1], /*divide=*/true);
  if (expr->isa<arith::ExtFOp>() || expr->isa<arith::TruncFOp>())
    return build(operands[0]);
  // A choice, or a part of a complex number, that a closer look may settle.
  if (const Expr *closer = evaluator.expandOnce(expr, source))
    return build(closer);
  return fail(expr->getName().getStringRef() +
              " is not linear in its operands");
}

FailureOr<LinearForm> LinearFormBuilder::build(const Expr *expr) {
  if (auto found = forms.find(expr); found != forms.end())
    return found->second;
  FailureOr<LinearForm> form = buildNew(expr);
  forms.try_emplace(expr, form);
  return form;
}

FailureOr<LinearForm> LinearFormBuilder::buildNew(const Expr *expr) {
  if (expr->getKind() == Expr::Kind::Read && expr->getValue() == source)
    return LinearForm{{context.getFloat(1, expr->getType()), expr}};
  if (!dependsOnSource(expr)) {
    if (evaluator.expandFully(expr)->isFloat(0))
      return LinearForm();
    return fail("a term does not depend on the source");
  }
  if (expr->getKind() == Expr::Kind::Apply)
    return buildApply(expr);
  if (expr->getKind() != Expr::Kind::Read)
    return fail("an integer depends on the source");
  if (const Expr *step = evaluator.expand(expr))
    return build(step);
  if (Operation *op = expr->getValue().getDefiningOp())
    return fail(op->getName().getStringRef() + " cannot be looked through");
  return fail("an argument of a block cannot be looked through");
}
