//===- ExpandStructured.cpp - Structured ops without a loop form ----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-expand-structured by upstream's own expansions, which only
// the transform dialect offers otherwise.
//
//===----------------------------------------------------------------------===//

#include "ArgumentAttrs.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rope/Transforms/Passes.h"

namespace mlir::rope {
#define GEN_PASS_DEF_EXPANDSTRUCTUREDPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;

static LogicalResult expand(RewriterBase &rewriter, Operation *op) {
  rewriter.setInsertionPoint(op);
  if (auto pack = dyn_cast<linalg::PackOp>(op))
    return success(succeeded(linalg::lowerPack(rewriter, pack)));
  if (auto unpack = dyn_cast<linalg::UnPackOp>(op))
    return success(succeeded(linalg::lowerUnPack(rewriter, unpack)));
  FailureOr<SmallVector<Value>> parts =
      cast<linalg::AggregatedOpInterface>(op).decomposeOperation(rewriter);
  if (failed(parts))
    return failure();
  rewriter.replaceOp(op, *parts);
  return success();
}

static bool lacksLoops(Operation *op) {
  return isa<linalg::LinalgDialect>(op->getDialect()) &&
         isa<linalg::PackOp, linalg::UnPackOp, linalg::AggregatedOpInterface>(
             op) &&
         llvm::all_of(op->getOperands(), [](Value operand) {
           return !isa<BaseMemRefType>(operand.getType());
         });
}

// Whether an op reads a weight that rope-pack-weights had packed.
static bool readsWeight(Operation *op) {
  auto unpack = dyn_cast<linalg::UnPackOp>(op);
  return unpack && rope::isWeight(unpack.getSource());
}

namespace {
struct ExpandStructured
    : rope::impl::ExpandStructuredPassBase<ExpandStructured> {
  using ExpandStructuredPassBase::ExpandStructuredPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (op->getDialect() && lacksLoops(op) &&
          !(keepWeights && readsWeight(op)))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops)
      if (failed(expand(rewriter, op))) {
        op->emitOpError("has a form that cannot be expanded");
        return signalPassFailure();
      }
  }
};
} // namespace
