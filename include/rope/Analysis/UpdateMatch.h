//===- UpdateMatch.h - One index of a dim replaced --------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_ANALYSIS_UPDATEMATCH_H
#define ROPE_ANALYSIS_UPDATEMATCH_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "rope/Analysis/ElementEvaluator.h"

namespace mlir::rope {

/// The result of an op that is an operand of it, but where a dim has one index:
///   result[i] = old[i] wherever i[dim] != position.
/// `where(arange(n) == position, new, old)` is one: so models write to a cache
/// that they may not change.
struct UpdateMatch {
  linalg::LinalgOp op;
  /// The number of the operand that holds what is replaced; it is indexed as
  /// the result is.
  unsigned oldOperand;
  int64_t dim;
  /// It may be out of bounds, and depend on the symbols of other dims.
  const Expr *position;
};

/// Proves that an op is an update.
FailureOr<UpdateMatch> matchUpdate(ElementEvaluator &evaluator,
                                   linalg::LinalgOp op);

} // namespace mlir::rope

#endif // ROPE_ANALYSIS_UPDATEMATCH_H
