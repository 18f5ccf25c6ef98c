//===- ShareTables.cpp - One table for all that is equal ------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Queries, keys and layers often have tables of their own that are equal:
// computed from positions that are the same numbers, or held in constants with
// the same bytes. The first that dominates serves all.
//
//===----------------------------------------------------------------------===//

#include "Fuse.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "rope/Analysis/ElementEvaluator.h"
#include "rope/Transforms/Transforms.h"
#include "llvm/ADT/Hashing.h"

#include <map>

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The bytes of a constant that its attribute does not unique: a resource.
static ArrayRef<char> getResourceBytes(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (!constant)
    return {};
  auto elements = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
  AsmResourceBlob *blob =
      elements ? elements.getRawHandle().getBlob() : nullptr;
  return blob ? blob->getData() : ArrayRef<char>();
}

/// The constants that the tables below an op are put together from.
static SetVector<Operation *> getConstantsOfTables(Operation *root) {
  SetVector<Operation *> constants;
  SmallVector<Value> queue;
  root->walk([&](AssembleOp op) {
    queue.push_back(op.getCos());
    queue.push_back(op.getSin());
  });
  while (!queue.empty()) {
    Operation *op = queue.pop_back_val().getDefiningOp();
    if (!op)
      continue;
    if (!getResourceBytes(op).empty())
      constants.insert(op);
    else if (isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp,
                 tensor::ExpandShapeOp, tensor::CastOp>(op))
      queue.push_back(op->getOperand(0));
  }
  return constants;
}

/// Replaces each op by the first of those before it; returns how many were.
static size_t replaceByFirst(ArrayRef<Operation *> equal,
                             DominanceInfo &dominance, RewriterBase &rewriter) {
  size_t replaced = 0;
  for (Operation *op : equal)
    for (Operation *first : equal) {
      if (first == op || first->use_empty() ||
          !dominance.properlyDominates(first, op))
        continue;
      Value by = first->getResult(0), result = op->getResult(0);
      if (by.getType() != result.getType()) {
        rewriter.setInsertionPoint(op);
        by = tensor::CastOp::create(rewriter, op->getLoc(), result.getType(),
                                    by);
      }
      rewriter.replaceAllUsesWith(result, by);
      ++replaced;
      break;
    }
  return replaced;
}

static bool shareConstants(Operation *root, DominanceInfo &dominance,
                           RewriterBase &rewriter) {
  std::map<std::pair<const void *, size_t>, SmallVector<Operation *>> classes;
  for (Operation *op : getConstantsOfTables(root)) {
    ArrayRef<char> bytes = getResourceBytes(op);
    size_t hash = llvm::hash_combine_range(bytes.begin(), bytes.end());
    classes[{op->getResult(0).getType().getAsOpaquePointer(), hash}].push_back(
        op);
  }
  bool changed = false;
  for (auto &[key, equal] : classes) {
    // The same hash is not yet the same bytes.
    ArrayRef<char> bytes = getResourceBytes(equal.front());
    llvm::erase_if(
        equal, [&](Operation *op) { return getResourceBytes(op) != bytes; });
    changed |= replaceByFirst(equal, dominance, rewriter) != 0;
  }
  return changed;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// What tables have in common that are equal: their attributes, and an element
/// of each operand that is read.
using TableKey = SmallVector<const void *>;

static void addOperand(Value value, ElementEvaluator &evaluator,
                       TableKey &key) {
  if (!isa<RankedTensorType>(value.getType())) {
    key.push_back(evaluator.expandFully(evaluator.evaluateScalar(value)));
    return;
  }
  SmallVector<const Expr *> index = evaluator.getSymbolicIndex(value);
  key.push_back(
      evaluator.expandFully(evaluator.getContext().getRead(value, index)));
  key.append(index.begin(), index.end());
}

static TableKey getKey(DestinationStyleOpInterface op,
                       ElementEvaluator &evaluator) {
  ExprContext &context = evaluator.getContext();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  TableKey key = {op->getName().getAsOpaquePointer(),
                  op->getAttrDictionary().getAsOpaquePointer(),
                  type.getElementType().getAsOpaquePointer(),
                  context.getInt(type.getRank()),
                  context.getInt(type.getShape().back())};
  for (OpOperand *operand : op.getDpsInputOperands())
    addOperand(operand->get(), evaluator, key);
  // Rows that count on from a start have no operand that says how many.
  if (auto table = dyn_cast<TableOp>(op.getOperation()))
    if (!isa<ShapedType>(table.getPositions().getType()))
      key.push_back(
          evaluator.expandFully(evaluator.evaluateExtent(op->getResult(0), 0)));
  return key;
}

bool rope::shareTables(Operation *root) {
  DominanceInfo dominance(root);
  IRRewriter rewriter(root->getContext());
  bool changed = shareConstants(root, dominance, rewriter);
  ExprContext context(root->getContext());
  ElementEvaluator evaluator(context);
  std::map<TableKey, SmallVector<Operation *>> classes;
  root->walk([&](DestinationStyleOpInterface op) {
    if (isa<TableOp, AssembleOp>(op.getOperation()) &&
        op.hasPureTensorSemantics())
      classes[getKey(op, evaluator)].push_back(op);
  });
  for (auto &[key, equal] : classes)
    if (size_t replaced = replaceByFirst(equal, dominance, rewriter)) {
      changed = true;
      reportFused(equal.front(), "share-table",
                  "table serves what had " + Twine(replaced) +
                      " others that are equal");
    }
  return changed;
}
