//===- LinearForm.h - An element as a sum over one source -------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_ANALYSIS_LINEARFORM_H
#define ROPE_ANALYSIS_LINEARFORM_H

#include "rope/Analysis/ElementEvaluator.h"

namespace mlir::rope {

/// One term: coefficient · element of the source. The coefficient does not
/// depend on the source.
struct LinearTerm {
  const Expr *coefficient;
  const Expr *read;
};

/// An element as a sum of terms, one for each element of the source that it
/// reads; terms with coefficient 0 are left out.
using LinearForm = SmallVector<LinearTerm, 2>;

/// Writes elements as linear forms in elements of one source tensor.
///
/// Casts between floating-point types on the way from the source are looked
/// through.
class LinearFormBuilder {
public:
  LinearFormBuilder(ElementEvaluator &evaluator, Value source)
      : evaluator(evaluator), context(evaluator.getContext()), source(source) {}

  /// Fails if the element is no such sum; `getReason` then says why.
  FailureOr<LinearForm> build(const Expr *expr);

  StringRef getReason() const { return reason; }

  /// Whether the elements of a value are computed from those of the source.
  bool dependsOnSource(Value value);
  bool dependsOnSource(const Expr *expr);

private:
  FailureOr<LinearForm> buildNew(const Expr *expr);
  FailureOr<LinearForm> buildApply(const Expr *expr);
  FailureOr<LinearForm> buildSum(const Expr *lhs, const Expr *rhs);
  FailureOr<LinearForm> buildScaled(const Expr *expr, const Expr *factor,
                                    bool divide);
  FailureOr<LinearForm> fail(const Twine &why);

  ElementEvaluator &evaluator;
  ExprContext &context;
  Value source;
  llvm::DenseMap<Value, bool> values;
  llvm::DenseMap<const Expr *, bool> exprs;
  llvm::DenseMap<const Expr *, FailureOr<LinearForm>> forms;
  std::string reason;
};

} // namespace mlir::rope

#endif // ROPE_ANALYSIS_LINEARFORM_H
