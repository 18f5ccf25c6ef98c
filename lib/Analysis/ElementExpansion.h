//===- ElementExpansion.h - Steps of the element evaluator ------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_ANALYSIS_ELEMENTEXPANSION_H
#define ROPE_LIB_ANALYSIS_ELEMENTEXPANSION_H

#include "rope/Analysis/ElementEvaluator.h"

namespace mlir::rope {

/// An index into a tensor.
using Index = ArrayRef<const Expr *>;

/// The element of `value` at `index` in terms of its op's operands; null if
/// the op is opaque.
const Expr *expandElement(ElementEvaluator &evaluator, Value value,
                          Index index);

/// The same for ops that move elements and compute nothing.
const Expr *expandMovement(ElementEvaluator &evaluator, Operation *op,
                           Index index);

/// The same for structured ops and elementwise ops on tensors.
const Expr *expandComputation(ElementEvaluator &evaluator, OpResult result,
                              Index index);

/// The element of a constant, if the index is one too or all are alike; else
/// the same element read from the first of the columns that are equal.
const Expr *expandConstant(ElementEvaluator &evaluator, Value constant,
                           ElementsAttr elements, Index index);

/// A number as an expression; null for other attributes.
const Expr *getConstant(ExprContext &context, Attribute number);

/// A scalar value as an expression.
const Expr *evaluateScalarOp(ElementEvaluator &evaluator, Value value);

/// An index that is a constant or a value.
const Expr *evaluateFoldResult(ElementEvaluator &evaluator, OpFoldResult value);

} // namespace mlir::rope

#endif // ROPE_LIB_ANALYSIS_ELEMENTEXPANSION_H
