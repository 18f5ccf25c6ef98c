//===- ScoreMatch.h - Softmaxes and their scores ----------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_ANALYSIS_SCOREMATCH_H
#define ROPE_LIB_ANALYSIS_SCOREMATCH_H

#include "Quotient.h"
#include "rope/Analysis/AttentionMatch.h"

namespace mlir::rope {

/// A softmax along one symbol: exp(score) over the sum of it, where the sum
/// `score` is exact up to terms that do not depend on the symbol.
struct SoftmaxMatch {
  ScaledTerms score;
  const Expr *sink = nullptr;
  /// Masks that stand outside of the exponential.
  SmallVector<const Expr *> keep;
  /// Numbers that are −∞ for every key of a row that the model makes 0: the
  /// score itself, or its mask.
  SmallVector<const Expr *> guards;
};

/// A truth, or its opposite.
struct Truth {
  const Expr *expr;
  bool negated;
};

/// Takes expressions apart, looking through what only moves or casts elements.
class ScoreMatcher {
public:
  ScoreMatcher(ElementEvaluator &evaluator, const Expr *key,
               std::string &reason)
      : evaluator(evaluator), context(evaluator.getContext()), key(key),
        reason(reason) {}

  /// Whether an expression depends on the key symbol.
  bool dependsOnKey(const Expr *expr);

  /// Matches a probability as a softmax along the key symbol; `isCandidate` is
  /// set if it has the outline of one.
  FailureOr<SoftmaxMatch> matchSoftmax(const Expr *probability,
                                       bool &isCandidate);

  /// The same where numerator and denominator are given.
  FailureOr<SoftmaxMatch> matchQuotient(const Expr *numerator,
                                        const Expr *denominator,
                                        bool &isCandidate);

  /// Whether each guard of a softmax is of its score or of a mask: where it
  /// holds, the row sees no key, and attention gives 0 too.
  bool areGuardsEmptyRows(const SoftmaxMatch &softmax,
                          const MatchedScores &scores);

  /// Takes scores apart into a product of query and key, scale and masks.
  FailureOr<MatchedScores> matchScores(const SoftmaxMatch &softmax);

private:
  LogicalResult fail(const Twine &why) {
    reason = why.str();
    return failure();
  }
  const Expr *peel(const Expr *expr) { return rope::peel(evaluator, expr); }

  // Softmaxes (SoftmaxMatch.cpp).
  FailureOr<const Expr *> getElementMore(const Expr *summed);
  FailureOr<SoftmaxMatch> matchSoftmaxOp(const Expr *read, bool &isCandidate);
  FailureOr<SoftmaxMatch> matchGuarded(const Expr *choice, bool &isCandidate);
  FailureOr<SoftmaxMatch> matchLogarithm(const Expr *exponential,
                                         bool &isCandidate);
  const Expr *stripMasks(const Expr *numerator, SoftmaxMatch &match);
  LogicalResult matchSum(const Expr *denominator, const Expr *numerator,
                         const ScaledTerms &shifts, SoftmaxMatch &match);
  LogicalResult matchSumRead(const Expr *sum, const Expr *numerator,
                             const ScaledTerms &shifts, SoftmaxMatch &match);
  LogicalResult matchSink(const Expr *exponential, const ScaledTerms &shifts,
                          SoftmaxMatch &match);
  Truth peelTruth(const Expr *expr, bool negated);
  const Expr *getGuarded(Truth condition);
  const Expr *getGuardedByReduction(Truth condition);
  const Expr *getEqualToMinusInfinity(Truth test);

  // Scores (ScoreMatch.cpp).
  bool isProduct(const Expr *read);
  bool hasProduct(const Expr *expr);
  LogicalResult addSum(const Expr *expr, double factor, MatchedScores &scores);
  LogicalResult addTerms(const ScaledTerms &terms, MatchedScores &scores);
  LogicalResult addScore(ScaledTerm term, MatchedScores &scores);
  LogicalResult addSecond(ScaledTerm term, MatchedScores &scores);
  LogicalResult addChoice(const Expr *choice, double factor,
                          MatchedScores &scores);
  LogicalResult addCapped(const Expr *tanh, double cap, MatchedScores &scores);
  void addMask(ScaledTerm term, MatchedScores &scores);

  ElementEvaluator &evaluator;
  ExprContext &context;
  const Expr *key;
  std::string &reason;
  llvm::DenseMap<const Expr *, bool> dependence;
  llvm::DenseMap<const Expr *, bool> products;
};

/// Not `truth`.
const Expr *invertTruth(ExprContext &context, const Expr *truth);

} // namespace mlir::rope

#endif // ROPE_LIB_ANALYSIS_SCOREMATCH_H
