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
#include "mlir/Interfaces/FunctionInterfaces.h"
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

/// Finds the ops that take a part of an argument that stays as it is, such as
/// the weights of one layer. They are no part of a run either.
DenseSet<Operation *> findPartsOfArguments(ArrayRef<Block *> blocks);

/// Makes offsets of slices that are attributes operands: those of caches of all
/// layers differ from layer to layer.
void makeOffsetsOperands(Block &block, const DenseSet<Operation *> &except);

/// Makes offsets of slices that are constants attributes again.
void makeOffsetsStatic(Block &block);

/// Whether ops are equal but for the values that they take.
bool areSimilar(Operation *a, Operation *b);

/// Finds runs of at least `minProducts` products that are equal but for the
/// values which they take, each op in one run at most, those first that save
/// most.
SmallVector<SmallVector<Run>>
findRepeatedRuns(ArrayRef<Block *> blocks, const DenseSet<Operation *> &parts,
                 function_ref<bool(Operation *)> isProduct,
                 unsigned minProducts);

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

/// Takes a run and those whose values flow in the same way, which calls can
/// stand for.
PairedRuns takePairedRuns(SmallVector<Run> &runs);

/// Sets what holds in all runs of the arguments of their function.
void setArgumentAttrs(FunctionOpInterface function, const PairedRuns &runs);

/// The ops between those of a run that take what the run makes.
SetVector<Operation *> getDependents(ArrayRef<Operation *> run);

} // namespace mlir::rope

#endif // ROPE_LIB_TRANSFORMS_REPEATEDRUNS_H
