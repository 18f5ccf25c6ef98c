//===- Roundings.cpp - Roundings that raising removes ---------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Roundings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rope;

/// The values that an op or its body reads.
static SmallVector<Value> getReads(Operation *op) {
  SmallVector<Value> reads;
  op->walk([&](Operation *nested) {
    llvm::append_range(reads, nested->getOperands());
  });
  return reads;
}

/// The ops that `root` is computed by without looking further back than
/// `sources`, in program order.
static SmallVector<Operation *> getOpsBetween(Value root,
                                              ArrayRef<Value> sources) {
  SmallVector<Operation *> ops;
  SmallVector<Value> queue = {root};
  llvm::SmallDenseSet<Operation *> seen;
  while (!queue.empty()) {
    Value next = queue.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || op->getBlock() != root.getParentBlock() ||
        llvm::is_contained(sources, next) || !seen.insert(op).second)
      continue;
    ops.push_back(op);
    llvm::append_range(queue, getReads(op));
  }
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}

/// The type of 16 bits that an op computes in; null for others, and for those
/// that round nothing.
static FloatType getNarrow(Operation *op) {
  bool rounds = isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
                    arith::TruncFOp, linalg::SoftmaxOp>(op) ||
                isa<math::MathDialect>(op->getDialect());
  if (!rounds || op->getNumResults() != 1)
    return {};
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(op->getResult(0)));
  return type && type.getWidth() < 32 ? type : FloatType();
}

/// The narrow type that an op of the way rounds to before its own result, if it
/// makes `root`, or at all.
static FloatType getRounding(Operation *op, Value root) {
  FloatType found;
  bool last = op == root.getDefiningOp();
  op->walk([&](Operation *nested) {
    bool isResult =
        nested == op || llvm::all_of(nested->getUsers(), [&](Operation *user) {
          return user->hasTrait<OpTrait::IsTerminator>() &&
                 user->getParentOp() == op;
        });
    if (FloatType type = getNarrow(nested); type && !(last && isResult))
      found = type;
  });
  return found;
}

std::string rope::describeRoundings(Value root, ArrayRef<Value> sources) {
  // Tables are computed beside the way.
  llvm::SmallDenseSet<Value> onTheWay(sources.begin(), sources.end());
  FloatType narrow;
  for (Operation *op : getOpsBetween(root, sources)) {
    if (llvm::none_of(getReads(op),
                      [&](Value read) { return onTheWay.contains(read); }))
      continue;
    onTheWay.insert(op->result_begin(), op->result_end());
    if (FloatType type = getRounding(op, root))
      narrow = type;
  }
  std::string text;
  if (narrow)
    llvm::raw_string_ostream(text)
        << ", without the roundings to " << narrow << " on the way";
  return text;
}
