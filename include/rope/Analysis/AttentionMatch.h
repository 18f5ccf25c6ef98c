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
// stands in the numerator. The division may come after the contraction.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_ANALYSIS_ATTENTIONMATCH_H
#define ROPE_ANALYSIS_ATTENTIONMATCH_H

#include "rope/Analysis/ElementEvaluator.h"
#include "rope/IR/AttentionDomain.h"

namespace mlir::rope {

/// An operand as a tensor and what each of its dims is: a symbol, several in
/// row-major order, or 0.
struct MatchedOperand {
  Value tensor;
  SmallVector<const Expr *> index;
};

/// A symbol of the domain, and what it is.
struct DomainSymbol {
  const Expr *symbol;
  DomainDim dim;
};

/// What a match has to do with its operands. Expressions are over the symbols
/// of `domain`.
struct OperandMatch {
  /// The value that is replaced, and the index into it.
  Value root;
  SmallVector<const Expr *> rootIndex;
  MatchedOperand query, key, value;
  /// More channels of query and key, whose product is added to the others'.
  std::optional<std::pair<MatchedOperand, MatchedOperand>> added;
  SmallVector<DomainSymbol> domain;

  /// The operands of products.
  SmallVector<const MatchedOperand *> getOperands() const {
    SmallVector<const MatchedOperand *> operands = {&query, &key, &value};
    if (added)
      operands.append({&added->first, &added->second});
    return operands;
  }

  /// The dim that a symbol is, or nullopt.
  std::optional<DomainDim> getDim(const Expr *symbol) const {
    for (const DomainSymbol &entry : domain)
      if (entry.symbol == symbol)
        return entry.dim;
    return std::nullopt;
  }
  /// The symbol that is a dim, or null.
  const Expr *getSymbol(DomainDim dim) const {
    for (const DomainSymbol &entry : domain)
      if (entry.dim == dim)
        return entry.symbol;
    return nullptr;
  }
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
  /// The contraction of query and key, and another one that is added.
  const Expr *product = nullptr;
  const Expr *added = nullptr;
  double scale = 1, addedScale = 1;
  std::optional<double> softcap;
  SmallVector<MaskTerm> masks;
};

/// A proven attention.
struct AttentionMatch : OperandMatch {
  MatchedScores scores;
  /// The logit that only enters the denominator, or null.
  const Expr *sink = nullptr;
};

/// The symbols that an index is made of in row-major order, outermost first;
/// nullopt if it is no such number.
std::optional<SmallVector<const Expr *>> getDigits(ExprContext &context,
                                                   const Expr *index);

/// Why a value is no attention.
struct AttentionFailure {
  /// Whether it has the outline of one: worth a remark.
  bool isCandidate = false;
  std::string reason;
};

/// Matches a value, or says why it is no attention.
FailureOr<AttentionMatch> matchAttention(ElementEvaluator &evaluator,
                                         Value root, AttentionFailure &why);

} // namespace mlir::rope

#endif // ROPE_ANALYSIS_ATTENTIONMATCH_H
