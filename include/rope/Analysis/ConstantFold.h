//===- ConstantFold.h - Values of constant expressions ----------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_ANALYSIS_CONSTANTFOLD_H
#define ROPE_ANALYSIS_CONSTANTFOLD_H

#include "rope/Analysis/Expr.h"

namespace mlir::rope {

/// A number rounded to a floating-point type; as it is for other types.
double roundTo(double value, Type type);

/// The real function that an op computes, at numbers; truths are 0 and 1.
/// Nullopt for ops that are not known.
std::optional<double> evaluateOp(const Expr *op, ArrayRef<double> operands);

/// The value of an expression over constants, rounded as its ops round;
/// nullopt for others.
std::optional<double> foldConstant(const Expr *expr);

/// Whether a number is known to be neither infinite nor NaN, whatever integers
/// and constants it is computed from.
bool isKnownFinite(const Expr *expr);

} // namespace mlir::rope

#endif // ROPE_ANALYSIS_CONSTANTFOLD_H
