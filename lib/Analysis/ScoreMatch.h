//===- ScoreMatch.h - Softmaxes and their scores ----------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_ANALYSIS_SCOREMATCH_H
#define ROPE_LIB_ANALYSIS_SCOREMATCH_H

#include "rope/Analysis/AttentionMatch.h"

namespace mlir::rope {

/// A softmax along one symbol: exp(score) over the sum of it, where `score`
/// is exact up to a term that does not depend on the symbol.
struct SoftmaxMatch {
  const Expr *score = nullptr;
  const Expr *sink = nullptr;
  /// Numbers that are −∞ for every key of a row that the model makes 0: the
  /// score itself, or its mask.
  SmallVector<const Expr *> guards;
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

  /// Whether each guard of a softmax is of its score or of a mask: where it
  /// holds, the row sees no key, and attention gives 0 too.
  bool areGuardsEmptyRows(const SoftmaxMatch &softmax,
                          const MatchedScores &scores);

  /// Takes a score apart into a product of query and key, scale and masks.
  FailureOr<MatchedScores> matchScores(const Expr *score);

  /// Follows reads and casts down to an op or a reduction.
  const Expr *peel(const Expr *expr);

private:
  LogicalResult fail(const Twine &why) {
    reason = why.str();
    return failure();
  }
  FailureOr<SoftmaxMatch> matchQuotient(const Expr *numerator,
                                        const Expr *denominator);
  using SignedTerms = SmallVector<std::pair<const Expr *, bool>>;
  LogicalResult matchSum(const Expr *denominator, const Expr *numerator,
                         const SignedTerms &shifts, SoftmaxMatch &match);
  LogicalResult matchSink(const Expr *last, const SignedTerms &shifts,
                          SoftmaxMatch &match);
  const Expr *getGuarded(const Expr *condition);
  bool isProduct(const Expr *read);
  bool hasProduct(const Expr *expr);
  void collectTerms(const Expr *expr, bool negative,
                    SmallVectorImpl<std::pair<const Expr *, bool>> &terms);
  LogicalResult addScore(const Expr *expr, MatchedScores &scores);
  LogicalResult addChoice(const Expr *expr, MatchedScores &scores);
  LogicalResult addMask(const Expr *expr, MatchedScores &scores);
  LogicalResult scaleScores(double factor, MatchedScores &scores);
  LogicalResult capScores(const Expr *tanh, double cap, MatchedScores &scores);

  ElementEvaluator &evaluator;
  ExprContext &context;
  const Expr *key;
  std::string &reason;
  llvm::DenseMap<const Expr *, bool> dependence;
  llvm::DenseMap<const Expr *, bool> products;
};

} // namespace mlir::rope

#endif // ROPE_LIB_ANALYSIS_SCOREMATCH_H
