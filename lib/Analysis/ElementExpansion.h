//===- ElementExpansion.h - Steps of the element evaluator ------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_ANALYSIS_ELEMENTEXPANSION_H
#define ROPE_LIB_ANALYSIS_ELEMENTEXPANSION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
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

/// The iteration of `dims` loops that writes the element at `index` through
/// `map`; reduction dims are null. Fails for maps that are no permutation of
/// dims.
FailureOr<SmallVector<const Expr *>> invertMap(AffineMap map, Index index,
                                               unsigned dims);

/// The extents of the loops of an op, each by the first operand that it runs
/// over; cheaper than to invert the maps, which is what the op itself does.
SmallVector<int64_t> getLoopExtents(linalg::LinalgOp op);

/// One step of the body for result `number`, at an iteration, with the current
/// element of the result for its output. Null if the body is opaque.
const Expr *evaluateStep(ElementEvaluator &evaluator, linalg::LinalgOp op,
                         unsigned number, Index iteration, const Expr *current);

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
