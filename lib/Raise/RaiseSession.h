//===- RaiseSession.h - One analysis of a function --------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_RAISE_RAISESESSION_H
#define ROPE_LIB_RAISE_RAISESESSION_H

#include "RaiseReport.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "rope/Analysis/ElementEvaluator.h"

namespace mlir::rope {

/// The expressions of a function, under the facts that it checks itself and
/// further equalities that are assumed.
class RaiseSession {
public:
  explicit RaiseSession(FunctionOpInterface function,
                        ArrayRef<IntPair> assumptions = {});

  ElementEvaluator &getEvaluator() { return evaluator; }
  ExprContext &getContext() { return context; }
  /// What was assumed, in the expressions of this session before it was.
  ArrayRef<IntPair> getAssumptions() const { return assumptions; }

private:
  ExprContext context;
  ElementEvaluator evaluator;
  SmallVector<IntPair> assumptions;
};

/// What the user wants of raised ops.
struct RaiseOptions {
  /// Angles in real arithmetic in place of the model's own.
  bool exactAngles = false;
};

/// Finds and rewrites the rotations of a function; whether there were any.
bool raiseRotations(FunctionOpInterface function, const RaiseOptions &options,
                    RaiseReport &report);

/// The same for attentions, once the rotations are ops.
bool raiseAttentions(FunctionOpInterface function, RaiseReport &report);

/// The same for updates of one index of a tensor.
bool raiseUpdates(FunctionOpInterface function, RaiseReport &report);

/// Removes what a builder put after `last`, where that was its insertion point:
/// an attempt that failed leaves nothing behind.
void eraseAfter(Operation *last, OpBuilder &builder);

/// Replaces calls of functions in `table` by their bodies, where those are one
/// block. Adds the functions to `inlined`.
void inlineCalls(FunctionOpInterface function, SymbolTable &table,
                 llvm::SetVector<Operation *> &inlined);

} // namespace mlir::rope

#endif // ROPE_LIB_RAISE_RAISESESSION_H
