//===- RepeatedRuns.h - Ops that do the same more than once -----*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the layers of a model that is written out layer by layer.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_TRANSFORMS_REPEATEDRUNS_H
#define ROPE_LIB_TRANSFORMS_REPEATEDRUNS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::rope {

/// Ops of one block, in their order. Between them may stand others that are
/// free of effects.
using Run = SmallVector<Operation *>;

/// Whether an op is a constant, makes a tensor that is empty or filled with
/// one, or tells how a weight is packed. It is no part of a run: whoever needs
/// it can make it anew.
bool isRemade(Operation *op);

/// Whether an op takes a part of an argument, such as the weights of one layer.
/// It is no part of a run either.
bool isPartOfArgument(Operation *op);

/// Whether ops are equal but for the values that they take.
bool areSimilar(Operation *a, Operation *b);

/// Finds runs that are equal but for the values which they take, each op in one
/// run at most, those first that save most. Takes no run that `isWorthwhile`
/// says no to.
SmallVector<SmallVector<Run>>
findRepeatedRuns(ArrayRef<Block *> blocks,
                 function_ref<bool(ArrayRef<Operation *>)> isWorthwhile);

/// A run, and what stands in it for the values of the first run.
struct PairedRun {
  Run ops;
  DenseMap<Value, Value> values;
};

/// Runs that are equal, with what a function that does their work takes and
/// returns, as values of the first run.
struct PairedRuns {
  SmallVector<PairedRun> runs;
  SetVector<Value> inputs, outputs;
};

/// Pairs the values of each run with those of the first. Drops the runs whose
/// values do not flow in the same way, or that a call cannot stand for.
PairedRuns pairRuns(ArrayRef<Run> runs);

/// The ops between those of a run that take what the run makes.
SetVector<Operation *> getDependents(ArrayRef<Operation *> run);

} // namespace mlir::rope

#endif // ROPE_LIB_TRANSFORMS_REPEATEDRUNS_H
