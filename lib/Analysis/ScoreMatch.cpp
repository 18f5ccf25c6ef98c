//===- ScoreMatch.cpp - Scores as products, scales and masks --------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScoreMatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::rope;

/// Masks at or below this are meant to hide a key.
static constexpr double kHidden = -1e4;

const Expr *rope::invertTruth(ExprContext &context, const Expr *truth) {
  Type type = IntegerType::get(context.getMLIRContext(), 1);
  return context.apply<arith::XOrIOp>(type, {truth, context.getInt(1)});
}

//===----------------------------------------------------------------------===//
// What an expression depends on
//===----------------------------------------------------------------------===//

bool ScoreMatcher::dependsOnKey(const Expr *expr) {
  auto [entry, inserted] = dependence.try_emplace(expr, false);
  if (!inserted)
    return entry->second;
  // A repeated value is read at the key, and does not depend on it.
  const Expr *peeled = peel(expr);
  bool depends = peeled == key ||
                 llvm::any_of(peeled->getOperands(), [&](const Expr *operand) {
                   return dependsOnKey(operand);
                 });
  dependence[expr] = depends;
  return depends;
}

/// Whether a read is of a contraction of numbers.
bool ScoreMatcher::isProduct(const Expr *read) {
  if (!evaluator.isReduction(read))
    return false;
  SmallVector<const Expr *> zeros(evaluator.getReductionExtents(read).size(),
                                  context.getInt(0));
  std::optional<Reduction> sum = evaluator.evaluateReduction(read, zeros);
  return sum && sum->kind == Reduction::Kind::Sum &&
         peel(sum->element)->isa<arith::MulFOp>();
}

/// Whether a contraction that depends on the key is behind an expression.
bool ScoreMatcher::hasProduct(const Expr *expr) {
  auto [entry, inserted] = products.try_emplace(expr, false);
  if (!inserted)
    return entry->second;
  const Expr *peeled = peel(expr);
  bool found = false;
  if (peeled->getKind() == Expr::Kind::Read)
    found = isProduct(peeled) && dependsOnKey(peeled);
  else
    found = llvm::any_of(peeled->getOperands(), [&](const Expr *operand) {
      return hasProduct(operand);
    });
  products[expr] = found;
  return found;
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

void ScoreMatcher::addMask(ScaledTerm term, MatchedScores &scores) {
  const Expr *mask = peel(term.expr);
  if (mask->isa<arith::SelectOp>() && term.factor > 0) {
    ArrayRef<const Expr *> operands = mask->getOperands();
    std::optional<double> first = peelConstant(evaluator, operands[1]);
    std::optional<double> second = peelConstant(evaluator, operands[2]);
    auto hides = [](std::optional<double> number) {
      return number && std::isinf(*number) && *number < 0;
    };
    const Expr *keep = nullptr;
    if (first == 0.0 && hides(second))
      keep = operands[0];
    else if (second == 0.0 && hides(first))
      keep = invertTruth(context, operands[0]);
    if (keep) {
      scores.masks.push_back({keep, nullptr, term.expr});
      return;
    }
  }
  scores.masks.push_back({nullptr, getScaled(context, term), term.expr});
}

/// A choice between a score and a constant that hides.
LogicalResult ScoreMatcher::addChoice(const Expr *choice, double factor,
                                      MatchedScores &scores) {
  ArrayRef<const Expr *> operands = choice->getOperands();
  bool keepsFirst = hasProduct(operands[1]);
  std::optional<double> other =
      peelConstant(evaluator, operands[keepsFirst ? 2 : 1]);
  if (!other || *other * factor > kHidden)
    return fail("a choice between a score and what is no mask");
  if (failed(addSum(operands[keepsFirst ? 1 : 2], factor, scores)))
    return failure();
  const Expr *keep =
      keepsFirst ? operands[0] : invertTruth(context, operands[0]);
  if (std::isinf(*other)) {
    scores.masks.push_back({keep, nullptr, nullptr});
    return success();
  }
  // A finite number in place of a score hides a key only beside one that is
  // shown: a row without any is uniform. So is a sum with the lowest number,
  // which swallows the score.
  Type type = Float32Type::get(context.getMLIRContext());
  const Expr *lowest =
      context.getFloat(std::numeric_limits<float>::lowest(), type);
  const Expr *addend = context.apply<arith::SelectOp>(
      type, {keep, context.getFloat(0, type), lowest});
  scores.masks.push_back({nullptr, addend, nullptr});
  return success();
}

/// cap · tanh(s / cap)
LogicalResult ScoreMatcher::addCapped(const Expr *tanh, double cap,
                                      MatchedScores &scores) {
  MatchedScores inner;
  if (failed(addSum(tanh->getOperands()[0], cap, inner)))
    return failure();
  if (inner.softcap || !inner.masks.empty())
    return fail("scores are capped after they were masked");
  if (cap <= 0)
    return fail("the cap of the scores is not positive");
  scores = inner;
  scores.softcap = cap;
  return success();
}

LogicalResult ScoreMatcher::addScore(ScaledTerm term, MatchedScores &scores) {
  const Expr *peeled = peel(term.expr);
  if (peeled->isa<arith::SelectOp>())
    return addChoice(peeled, term.factor, scores);
  if (peeled->isa<math::TanhOp>())
    return addCapped(peeled, term.factor, scores);
  if (peeled->getKind() == Expr::Kind::Apply)
    return fail("scores go through " + peeled->getName().getStringRef());
  scores.product = peeled;
  scores.scale = term.factor;
  return success();
}

/// Some of the channels are multiplied apart: those that are turned, say.
LogicalResult ScoreMatcher::addSecond(ScaledTerm term, MatchedScores &scores) {
  const Expr *peeled = peel(term.expr);
  bool plain = scores.product && !scores.softcap && scores.masks.empty() &&
               peeled->getKind() == Expr::Kind::Read;
  if (scores.added)
    return fail("scores are a sum of more than two products");
  if (!plain)
    return fail("scores are a sum of products, not all of them plain");
  scores.added = peeled;
  scores.addedScale = term.factor;
  return success();
}

LogicalResult ScoreMatcher::addTerms(const ScaledTerms &terms,
                                     MatchedScores &scores) {
  // Terms are listed last first.
  for (const ScaledTerm &term : llvm::reverse(terms))
    if (hasProduct(term.expr) &&
        failed(scores.product ? addSecond(term, scores)
                              : addScore(term, scores)))
      return failure();
  if (!scores.product)
    return fail("scores are no product of query and key");
  for (const ScaledTerm &term : terms)
    if (!hasProduct(term.expr))
      addMask(term, scores);
  return success();
}

LogicalResult ScoreMatcher::addSum(const Expr *expr, double factor,
                                   MatchedScores &scores) {
  FailureOr<ScaledTerms> terms = collectTerms(evaluator, expr, factor);
  if (failed(terms))
    return fail("a score has too many terms");
  return addTerms(*terms, scores);
}

FailureOr<MatchedScores>
ScoreMatcher::matchScores(const SoftmaxMatch &softmax) {
  // A softmax op gives its scores whole.
  ScaledTerms all;
  for (ScaledTerm term : softmax.score) {
    FailureOr<ScaledTerms> terms =
        collectTerms(evaluator, term.expr, term.factor);
    if (failed(terms))
      return LogicalResult(fail("a score has too many terms"));
    llvm::append_range(all, *terms);
  }
  MatchedScores scores;
  if (failed(addTerms(all, scores)))
    return failure();
  for (const Expr *keep : softmax.keep)
    scores.masks.push_back({keep, nullptr, nullptr});
  return scores;
}
