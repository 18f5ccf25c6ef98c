//===- AttentionMatch.h - Proves that a value is attention ------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contraction is attention if one of its factors is a softmax along the
// contracted dim of scores that are themselves a contraction. Softmaxes are
// proven by what their parts are: the sum must be of the very expression that
// stands in the numerator.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_ANALYSIS_ATTENTIONMATCH_H
#define ROPE_ANALYSIS_ATTENTIONMATCH_H

#include "rope/Analysis/ElementEvaluator.h"
#include "rope/IR/AttentionDomain.h"

namespace mlir::rope {

/// An operand as a tensor and what each of its dims is.
struct MatchedOperand {
  Value tensor;
  SmallVector<const Expr *> index;
};

/// A term of the mask: `keep` (a truth) or `addend` (a number), one of them.
struct MaskTerm {
  const Expr *keep = nullptr;
  const Expr *addend = nullptr;
  /// The number that the model adds, also where it is stated as `keep`.
  const Expr *given = nullptr;
};

/// Scores as they enter the softmax.
struct MatchedScores {
  /// The contraction of query and key.
  const Expr *product = nullptr;
  double scale = 1;
  std::optional<double> softcap;
  SmallVector<MaskTerm> masks;
};

/// A symbol of the domain, and what it is.
struct DomainSymbol {
  const Expr *symbol;
  DomainDim dim;
};

/// A proven attention. Expressions are over the symbols of `domain`.
struct AttentionMatch {
  /// The contraction that the attention replaces, and the index of its result.
  Value root;
  SmallVector<const Expr *> rootIndex;
  MatchedOperand query, key, value;
  MatchedScores scores;
  /// The logit that only enters the denominator, or null.
  const Expr *sink = nullptr;
  SmallVector<DomainSymbol> domain;

  /// The dim that a symbol is, or nullopt.
  std::optional<DomainDim> getDim(const Expr *symbol) const {
    for (const DomainSymbol &entry : domain)
      if (entry.symbol == symbol)
        return entry.dim;
    return std::nullopt;
  }
};

/// Matches the result of a contraction, or says why it is no attention;
/// `isCandidate` is set if there was a softmax.
FailureOr<AttentionMatch> matchAttention(ElementEvaluator &evaluator,
                                         Value root, bool &isCandidate,
                                         std::string &reason);

} // namespace mlir::rope

#endif // ROPE_ANALYSIS_ATTENTIONMATCH_H
