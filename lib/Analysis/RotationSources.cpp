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

/// All reads that an element goes back to, at any depth.
static ReadsByValue findReads(ElementEvaluator &evaluator,
                              const Expr *element) {
  ReadsByValue reads;
  SmallVector<const Expr *> queue = {element};
  size_t count = 0;
  while (!queue.empty() && count < kMaxReads) {
    const Expr *read = queue.pop_back_val();
    if (!reads[read->getValue()].insert(read))
      continue;
    ++count;
    llvm::SmallDenseSet<const Expr *> seen;
    if (const Expr *step = evaluator.expand(read))
      collectReads(step, queue, seen);
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
                                     const Expr *element) {
  SmallVector<Value> sources;
  for (auto &[value, reads] : findReads(evaluator, element)) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && isa<FloatType>(type.getElementType()) &&
        value.getParentBlock() == root.getParentBlock() &&
        readsTwoChannels(reads.getArrayRef()))
      sources.push_back(value);
  }
  llvm::sort(sources, isNearer);
  return sources;
}
