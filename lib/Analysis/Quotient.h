//===- Quotient.h - Parts of expressions behind movement --------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_ANALYSIS_QUOTIENT_H
#define ROPE_LIB_ANALYSIS_QUOTIENT_H

#include "rope/Analysis/ElementEvaluator.h"

namespace mlir::rope {

/// Follows reads and casts between floats down to an op, a reduction or an
/// opaque value.
const Expr *peel(ElementEvaluator &evaluator, const Expr *expr);

/// The number that an expression behind movement is, if it is constant.
std::optional<double> peelConstant(ElementEvaluator &evaluator,
                                   const Expr *expr);

/// A quotient, also as a product with a reciprocal.
struct Quotient {
  const Expr *numerator;
  const Expr *denominator;
};

/// The ways to read a peeled expression as a quotient: none or one, or two for
/// a product of two reciprocals.
SmallVector<Quotient, 2> getQuotients(ElementEvaluator &evaluator,
                                      const Expr *expr);

/// One term of a sum.
struct ScaledTerm {
  const Expr *expr;
  double factor;
};
using ScaledTerms = SmallVector<ScaledTerm>;

/// Takes sums, differences and constant factors apart. Fails for sums of very
/// many terms.
FailureOr<ScaledTerms> collectTerms(ElementEvaluator &evaluator,
                                    const Expr *expr, double factor = 1);

/// A term as one expression.
const Expr *getScaled(ExprContext &context, ScaledTerm term);

/// A product as its factors; constant ones are multiplied into `constant`.
/// Looks through movement down to the first multiplication alone.
SmallVector<const Expr *> getFactors(ElementEvaluator &evaluator,
                                     const Expr *product, double &constant);

} // namespace mlir::rope

#endif // ROPE_LIB_ANALYSIS_QUOTIENT_H
