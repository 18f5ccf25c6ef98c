//===- OperandMatch.h - Operands of contractions ----------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_ANALYSIS_OPERANDMATCH_H
#define ROPE_LIB_ANALYSIS_OPERANDMATCH_H

#include "rope/Analysis/AttentionMatch.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::rope {

/// The factors of a contraction, at a symbol of the dim that is contracted, and
/// the product of its constant factors.
struct ProductFactors {
  SmallVector<const Expr *> factors;
  double constant = 1;
};

/// Finds the operands of an attention and what their dims are.
///
/// The index of the result is made of symbols. Where an operand is read at a
/// quotient or a remainder of one (heads within a batch, groups within heads),
/// the symbol is split in two and the match is to be done again, until each
/// dim of each operand is one symbol, or several in row-major order.
class OperandMatcher {
public:
  OperandMatcher(ElementEvaluator &evaluator, OperandMatch &match,
                 std::string &reason)
      : evaluator(evaluator), context(evaluator.getContext()), match(match),
        reason(reason) {}

  /// Makes the symbol of the keys, for the dim that `product` contracts.
  LogicalResult makeKey(const Expr *product);
  const Expr *getKey() const { return key; }
  const Expr *getChannel() const { return channel; }

  /// The factors of a contraction, at the key or at a new symbol of channels.
  FailureOr<ProductFactors> getProductOverKeys(const Expr *product);
  FailureOr<ProductFactors> getProductOverChannels(const Expr *product);

  /// The tensor that a number is read from, as far back as its dims are whole
  /// dims. Constant factors on the way are multiplied into `scale`; without it
  /// they are not looked through.
  FailureOr<MatchedOperand> findOperand(const Expr *element,
                                        double *scale = nullptr);

  /// Splits a symbol, if an operand needs it: then all is to be matched anew.
  bool splitSymbols();

  /// Says what each symbol is, once the operands are found.
  LogicalResult nameSymbols();

private:
  LogicalResult fail(const Twine &why) {
    reason = why.str();
    return failure();
  }
  FailureOr<ProductFactors> getFactors(const Expr *product,
                                       ArrayRef<const Expr *> at);
  bool isWhole(const Expr *read);
  bool hasExtentOf(Value tensor, int64_t dim, const Expr *index);
  void split(const Expr *symbol, int64_t divisor);
  LogicalResult name(const Expr *symbol, DomainDim dim);
  LogicalResult nameShared(ArrayRef<const Expr *> shared);
  LogicalResult nameRows(ArrayRef<const Expr *> own);
  LogicalResult checkOperands();

  ElementEvaluator &evaluator;
  ExprContext &context;
  OperandMatch &match;
  std::string &reason;
  const Expr *key = nullptr;
  const Expr *channel = nullptr;
  /// The symbols of channels of all products.
  llvm::SmallSetVector<const Expr *, 2> channels;
  int64_t splits = 0;
};

} // namespace mlir::rope

#endif // ROPE_LIB_ANALYSIS_OPERANDMATCH_H
