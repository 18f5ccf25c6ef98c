//===- RotationSums.h - Sums that could be of a rotation --------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_ANALYSIS_ROTATIONSUMS_H
#define ROPE_LIB_ANALYSIS_ROTATIONSUMS_H

#include "rope/Analysis/ElementEvaluator.h"

#include <optional>
#include <string>

namespace mlir::rope {

/// Follows movement, casts and factors; whether a sum is behind.
bool isSum(ElementEvaluator &evaluator, const Expr *element);

/// What is wrong with a sum that reads no tensor at two channels, if its terms
/// have coefficients as a rotation's do; nullopt for any other sum.
std::optional<std::string> explainSum(ElementEvaluator &evaluator,
                                      const Expr *element);

/// Whether a coefficient looks like a sine rather than a cosine.
bool isSine(const Expr *expr);

} // namespace mlir::rope

#endif // ROPE_LIB_ANALYSIS_ROTATIONSUMS_H
