//===- Simplify.cpp - The algebra that moves roundings --------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-simplify: runs the chosen rules together with the
// canonicalization of the dialect, so that each opens the way for the other.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "rope/IR/Rope.h"
#include "rope/Transforms/Passes.h"
#include "rope/Transforms/Transforms.h"

namespace mlir::rope {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;

static void populateCanonicalization(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  auto *dialect = context->getLoadedDialect<rope::RopeDialect>();
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (&op.getDialect() == dialect)
      op.getCanonicalizationPatterns(patterns, context);
}

namespace {
struct Simplify : rope::impl::SimplifyPassBase<Simplify> {
  using SimplifyPassBase::SimplifyPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateCanonicalization(patterns);
    if (mergeRotations)
      rope::populateMergeRotationsPatterns(patterns);
    if (dropOffsets)
      rope::populateDropOffsetsPatterns(patterns);
    if (foldScale)
      rope::populateFoldScalePatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
