//===- AttentionMatch.cpp - Proves that a value is attention --------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Analysis/AttentionMatch.h"

#include "OperandMatch.h"
#include "ScoreMatch.h"

using namespace mlir;
using namespace mlir::rope;

/// Splits of symbols, each of which refines one: there are few to refine.
static constexpr int kMaxRounds = 8;

namespace {
class AttentionMatcher {
public:
  AttentionMatcher(ElementEvaluator &evaluator, Value root,
                   AttentionFailure &why)
      : evaluator(evaluator), why(why), operands(evaluator, match, why.reason) {
    match.root = root;
    match.rootIndex = evaluator.getSymbolicIndex(root);
  }

  FailureOr<AttentionMatch> run();

private:
  LogicalResult fail(const Twine &reason) {
    why.reason = reason.str();
    return failure();
  }
  LogicalResult matchOnce();
  LogicalResult matchContraction(const Expr *product, const Expr *denominator);
  LogicalResult matchScoresOf(ScoreMatcher &matcher,
                              const SoftmaxMatch &softmax, const Expr *value);
  FailureOr<std::pair<MatchedOperand, MatchedOperand>>
  matchProduct(ScoreMatcher &matcher, const Expr *product, double &scale);
  LogicalResult matchProducts(ScoreMatcher &matcher);

  ElementEvaluator &evaluator;
  AttentionFailure &why;
  AttentionMatch match;
  OperandMatcher operands;
};
} // namespace

/// A product of scores must contract a query and a key.
FailureOr<std::pair<MatchedOperand, MatchedOperand>>
AttentionMatcher::matchProduct(ScoreMatcher &matcher, const Expr *product,
                               double &scale) {
  FailureOr<ProductFactors> factors = operands.getProductOverChannels(product);
  if (failed(factors))
    return failure();
  if (factors->factors.size() != 2)
    return LogicalResult(fail("scores are no product of two tensors"));
  const Expr *lhs = factors->factors[0], *rhs = factors->factors[1];
  bool firstIsKey = matcher.dependsOnKey(lhs);
  if (firstIsKey == matcher.dependsOnKey(rhs))
    return LogicalResult(fail("scores are not of a query and a key"));
  scale *= factors->constant;
  FailureOr<MatchedOperand> keys =
      operands.findOperand(firstIsKey ? lhs : rhs, &scale);
  if (failed(keys))
    return failure();
  FailureOr<MatchedOperand> queries =
      operands.findOperand(firstIsKey ? rhs : lhs, &scale);
  if (failed(queries))
    return failure();
  return std::pair(*queries, *keys);
}

LogicalResult AttentionMatcher::matchProducts(ScoreMatcher &matcher) {
  MatchedScores &scores = match.scores;
  match.added.reset();
  if (scores.added) {
    auto added = matchProduct(matcher, scores.added, scores.addedScale);
    if (failed(added))
      return failure();
    match.added = *added;
  }
  auto operands = matchProduct(matcher, scores.product, scores.scale);
  if (failed(operands))
    return failure();
  std::tie(match.query, match.key) = *operands;
  return scores.added && scores.scale != scores.addedScale
             ? fail("two products are scaled by different numbers")
             : success();
}

LogicalResult AttentionMatcher::matchScoresOf(ScoreMatcher &matcher,
                                              const SoftmaxMatch &softmax,
                                              const Expr *value) {
  match.sink = softmax.sink;
  FailureOr<MatchedScores> scores = matcher.matchScores(softmax);
  if (failed(scores))
    return failure();
  if (!matcher.areGuardsEmptyRows(softmax, *scores))
    return fail("a guard of empty rows is of other numbers");
  match.scores = *scores;
  FailureOr<MatchedOperand> values = operands.findOperand(value);
  if (failed(values))
    return failure();
  match.value = *values;
  return matchProducts(matcher);
}

/// A contraction of probabilities, or of what `denominator` divides, with
/// values.
LogicalResult AttentionMatcher::matchContraction(const Expr *product,
                                                 const Expr *denominator) {
  if (failed(operands.makeKey(product)))
    return failure();
  FailureOr<ProductFactors> factors = operands.getProductOverKeys(product);
  if (failed(factors))
    return failure();
  if (factors->factors.size() != 2 || factors->constant != 1)
    return fail("not a product of probabilities and values alone");
  const Expr *lhs = factors->factors[0], *rhs = factors->factors[1];
  ScoreMatcher matcher(evaluator, operands.getKey(), why.reason);
  for (auto [probability, value] : {std::pair(lhs, rhs), std::pair(rhs, lhs)}) {
    bool hasOutline = false;
    FailureOr<SoftmaxMatch> softmax =
        denominator
            ? matcher.matchQuotient(probability, denominator, hasOutline)
            : matcher.matchSoftmax(probability, hasOutline);
    why.isCandidate |= hasOutline;
    if (succeeded(softmax))
      return matchScoresOf(matcher, *softmax, value);
    if (hasOutline)
      return failure();
  }
  return failure();
}

LogicalResult AttentionMatcher::matchOnce() {
  const Expr *read =
      evaluator.getContext().getRead(match.root, match.rootIndex);
  if (evaluator.isReduction(read))
    return matchContraction(read, nullptr);
  const Expr *step = evaluator.expand(read);
  if (!step)
    return failure();
  for (Quotient quotient : getQuotients(evaluator, step)) {
    const Expr *product = peel(evaluator, quotient.numerator);
    if (product->getKind() == Expr::Kind::Read &&
        evaluator.isReduction(product))
      return matchContraction(product, quotient.denominator);
  }
  return failure();
}

FailureOr<AttentionMatch> AttentionMatcher::run() {
  for (int round = 0; round < kMaxRounds; ++round) {
    if (failed(matchOnce()))
      return failure();
    if (operands.splitSymbols())
      continue;
    if (failed(operands.nameSymbols()))
      return failure();
    return match;
  }
  return LogicalResult(fail("dims of operands do not come apart"));
}

FailureOr<AttentionMatch> rope::matchAttention(ElementEvaluator &evaluator,
                                               Value root,
                                               AttentionFailure &why) {
  auto type = dyn_cast<RankedTensorType>(root.getType());
  if (!type || !isa<FloatType>(type.getElementType()) || !root.getDefiningOp())
    return failure();
  return AttentionMatcher(evaluator, root, why).run();
}
