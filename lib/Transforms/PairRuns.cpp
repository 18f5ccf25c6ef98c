//===- PairRuns.cpp - What stands for what in runs that are equal ---------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RepeatedRuns.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

using namespace mlir;
using namespace mlir::rope;

// Whether a function takes and returns values of the type as they are.
static bool canPass(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return !tensor.getEncoding();
  return isa<MemRefType, VectorType>(type) || type.isIntOrIndexOrFloat();
}

// Memory that is allocated in a run has to be freed there.
static bool canReturn(Type type) {
  return canPass(type) && !isa<MemRefType>(type);
}

SetVector<Operation *> rope::getDependents(ArrayRef<Operation *> run) {
  SetVector<Operation *> made(run.begin(), run.end()), dependents;
  auto isMade = [&](Value value) {
    return made.contains(value.getDefiningOp());
  };
  for (Operation &op : llvm::make_range(run.front()->getIterator(),
                                        run.back()->getIterator())) {
    bool depends = false;
    op.walk([&](Operation *inner) {
      depends |= llvm::any_of(inner->getOperands(), isMade);
    });
    if (depends && made.insert(&op))
      dependents.insert(&op);
  }
  return dependents;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

namespace {
class Pairing {
public:
  Pairing(ArrayRef<Operation *> run, SetVector<Value> &inputs)
      : run(run), dependents(getDependents(run)), inputs(inputs) {}

  /// Fails if the values of the two runs do not flow in the same way.
  FailureOr<PairedRun> pair(ArrayRef<Operation *> first) {
    for (auto [a, b] : llvm::zip_equal(first, run)) {
      pairMade(a, b);
      if (failed(pairAllTaken(a, b)))
        return failure();
      made.insert_range(b->getResults());
    }
    return PairedRun{Run(run), values};
  }

private:
  void pairMade(Operation *a, Operation *b);
  LogicalResult pairAllTaken(Operation *a, Operation *b);
  LogicalResult pairTaken(Value a, Value b);
  bool pairRemade(Value a, Value b);
  bool isInside(Value value);

  ArrayRef<Operation *> run;
  SetVector<Operation *> dependents;
  SetVector<Value> &inputs;
  DenseMap<Value, Value> values;
  DenseSet<Value> made;
};
} // namespace

// The op itself and those in its regions. Ops that are alike have as many.
static SmallVector<Operation *> collectOps(Operation *op) {
  SmallVector<Operation *> ops;
  op->walk<WalkOrder::PreOrder>(
      [&](Operation *inner) { ops.push_back(inner); });
  return ops;
}

// Results, and arguments of blocks.
void Pairing::pairMade(Operation *first, Operation *other) {
  for (auto [a, b] : llvm::zip_equal(collectOps(first), collectOps(other))) {
    for (auto [x, y] : llvm::zip_equal(a->getResults(), b->getResults()))
      values[x] = y;
    for (auto [p, q] : llvm::zip_equal(a->getRegions(), b->getRegions()))
      for (auto [c, d] : llvm::zip_equal(p, q))
        for (auto [x, y] : llvm::zip_equal(c.getArguments(), d.getArguments()))
          values[x] = y;
  }
}

LogicalResult Pairing::pairAllTaken(Operation *first, Operation *other) {
  for (auto [a, b] : llvm::zip_equal(collectOps(first), collectOps(other)))
    for (auto [x, y] : llvm::zip_equal(a->getOperands(), b->getOperands()))
      if (failed(pairTaken(x, y)))
        return failure();
  return success();
}

// Whether the function can make a value itself.
bool Pairing::pairRemade(Value a, Value b) {
  Operation *first = a.getDefiningOp(), *other = b.getDefiningOp();
  if (!first || !other || !isRemade(first) || !areSimilar(first, other))
    return false;
  pairMade(first, other);
  return succeeded(pairAllTaken(first, other));
}

// Whether a value is one that costs nothing in the function, but memory if it
// is passed.
static bool isRemadeTensor(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isRemade(op) && !op->hasTrait<OpTrait::ConstantLike>();
}

// Whether an op of the run has a region that defines the value.
bool Pairing::isInside(Value value) {
  return run.front()->getParentRegion()->isProperAncestor(
      value.getParentRegion());
}

LogicalResult Pairing::pairTaken(Value a, Value b) {
  if (auto known = values.find(a); known != values.end())
    return success(known->second == b);
  if (a.getType() != b.getType() || made.contains(b) || isInside(b))
    return failure();
  if (pairRemade(a, b))
    return success();
  if (!canPass(a.getType()) || isRemadeTensor(a) || isRemadeTensor(b) ||
      dependents.contains(b.getDefiningOp()))
    return failure();
  values[a] = b;
  inputs.insert(a);
  return success();
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

// Whether anything takes the value that is not of the run, nor made for it.
static bool isTakenBeyond(Value value, const SetVector<Operation *> &run) {
  Block *block = run.front()->getBlock();
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (ancestor && run.contains(ancestor))
      return false;
    return !isRemade(user) || isTakenBeyond(user->getResult(0), run);
  });
}

static SetVector<Value> findOutputs(ArrayRef<PairedRun> runs) {
  SetVector<Value> outputs;
  for (Operation *first : runs.front().ops)
    outputs.insert_range(first->getResults());
  SetVector<Value> taken;
  for (const PairedRun &run : runs) {
    SetVector<Operation *> ops(run.ops.begin(), run.ops.end());
    for (Value first : outputs)
      if (isTakenBeyond(run.values.lookup_or(first, first), ops))
        taken.insert(first);
  }
  outputs.remove_if([&](Value value) { return !taken.contains(value); });
  return outputs;
}

// Whether calls can stand for the runs.
static bool canCall(const PairedRuns &runs) {
  SetVector<Operation *> dependents = getDependents(runs.runs.front().ops);
  return llvm::none_of(runs.inputs,
                       [&](Value value) {
                         return dependents.contains(value.getDefiningOp());
                       }) &&
         llvm::all_of(runs.outputs,
                      [](Value value) { return canReturn(value.getType()); });
}

// How many values that others make a run takes.
static unsigned countTaken(ArrayRef<Operation *> run) {
  DenseSet<Value> taken, made;
  for (Operation *op : run) {
    op->walk(
        [&](Operation *inner) { taken.insert_range(inner->getOperands()); });
    made.insert_range(op->getResults());
  }
  return llvm::count_if(taken,
                        [&](Value value) { return !made.contains(value); });
}

// Pairs what can be paired with the first run; returns the other runs.
static SmallVector<Run> pairWithFirst(ArrayRef<Run> runs, PairedRuns &paired) {
  paired.runs.emplace_back().ops = runs.front();
  SmallVector<Run> others;
  for (const Run &run : runs.drop_front()) {
    SetVector<Value> inputs;
    FailureOr<PairedRun> pair = Pairing(run, inputs).pair(runs.front());
    if (failed(pair)) {
      others.push_back(run);
      continue;
    }
    paired.runs.push_back(std::move(*pair));
    paired.inputs.insert_range(inputs);
  }
  for (Value input : paired.inputs)
    paired.runs.front().values[input] = input;
  return others;
}

PairedRuns rope::takePairedRuns(SmallVector<Run> &runs) {
  // One value can stand in another run for two, but not two for one.
  auto *first = llvm::max_element(runs, [](const Run &a, const Run &b) {
    return countTaken(a) < countTaken(b);
  });
  std::iter_swap(runs.begin(), first);
  PairedRuns paired;
  SmallVector<Run> others = pairWithFirst(runs, paired);
  paired.outputs = findOutputs(paired.runs);
  for (Value output : paired.outputs)
    paired.runs.front().values[output] = output;
  if (!canCall(paired))
    paired.runs.clear();
  runs = std::move(others);
  return paired;
}
