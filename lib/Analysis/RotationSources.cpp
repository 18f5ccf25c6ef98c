//===- RotationSources.cpp - What an element may be a rotation of ---------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rotated element reads its source at two channels. Every value that an
// element goes back to is looked at.
//
//===----------------------------------------------------------------------===//

#include "RotationSources.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::rope;

/// Reads looked at in the search for the source of one element.
static constexpr size_t kMaxReads = 4096;

/// The reads of an element by the value that they read, nearest value last.
using ReadsByValue = llvm::MapVector<Value, llvm::SetVector<const Expr *>>;

static void collectReads(const Expr *expr, SmallVectorImpl<const Expr *> &to,
                         llvm::SmallDenseSet<const Expr *> &seen) {
  if (!seen.insert(expr).second)
    return;
  if (expr->getKind() == Expr::Kind::Read)
    to.push_back(expr);
  else if (expr->getKind() == Expr::Kind::Apply)
    for (const Expr *operand : expr->getOperands())
      collectReads(operand, to, seen);
}

namespace {
/// A read, and the number of known rotations that it was reached through.
struct ReachedRead {
  const Expr *read;
  int rotations;
};
} // namespace

/// All reads that an element goes back to through at most one known rotation.
static ReadsByValue findReads(ElementEvaluator &evaluator, const Expr *element,
                              function_ref<bool(Value)> isKnown) {
  ReadsByValue reads;
  SmallVector<ReachedRead> queue = {{element, 0}};
  size_t count = 0;
  while (!queue.empty() && count < kMaxReads) {
    auto [read, rotations] = queue.pop_back_val();
    if (!reads[read->getValue()].insert(read))
      continue;
    ++count;
    rotations += isKnown(read->getValue());
    const Expr *step = rotations < 2 ? evaluator.expand(read) : nullptr;
    if (!step)
      continue;
    llvm::SmallDenseSet<const Expr *> seen;
    SmallVector<const Expr *> next;
    collectReads(step, next, seen);
    for (const Expr *further : next)
      queue.push_back({further, rotations});
  }
  return reads;
}

/// Whether one element reads a value at two constants, and alike otherwise.
static bool readsTwoChannels(ArrayRef<const Expr *> reads) {
  return reads.size() > 1 && llvm::all_of(reads, [&](const Expr *read) {
           return llvm::all_of(llvm::zip_equal(reads.front()->getOperands(),
                                               read->getOperands()),
                               [](auto pair) {
                                 auto [a, b] = pair;
                                 return a == b || (a->isInt() && b->isInt());
                               });
         });
}

/// Whether a comes after b in a block; arguments come before all ops.
static bool isNearer(Value a, Value b) {
  Operation *opA = a.getDefiningOp(), *opB = b.getDefiningOp();
  if (opA && opB && opA != opB)
    return opB->isBeforeInBlock(opA);
  if (static_cast<bool>(opA) != static_cast<bool>(opB))
    return opA;
  if (opA)
    return cast<OpResult>(a).getResultNumber() <
           cast<OpResult>(b).getResultNumber();
  return cast<BlockArgument>(a).getArgNumber() <
         cast<BlockArgument>(b).getArgNumber();
}

SmallVector<Value> rope::findSources(ElementEvaluator &evaluator, Value root,
                                     const Expr *element,
                                     function_ref<bool(Value)> isKnown) {
  SmallVector<Value> sources;
  for (auto &[value, reads] : findReads(evaluator, element, isKnown)) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && isa<FloatType>(type.getElementType()) &&
        value.getParentBlock() == root.getParentBlock() &&
        readsTwoChannels(reads.getArrayRef()))
      sources.push_back(value);
  }
  llvm::sort(sources, isNearer);
  return sources;
}
