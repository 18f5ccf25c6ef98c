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

#include "Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rope/IR/Rope.h"
#include "rope/Transforms/Passes.h"
#include "rope/Transforms/Transforms.h"

namespace mlir::rope {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;

namespace {
struct Simplify : rope::impl::SimplifyPassBase<Simplify> {
  using SimplifyPassBase::SimplifyPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    if (mergeRotations)
      rope::populateMergeRotationsPatterns(patterns);
    if (dropOffsets)
      rope::populateDropOffsetsPatterns(patterns);
    if (foldScale)
      rope::populateFoldScalePatterns(patterns);
    if (failed(rope::applyWithCanonicalization(getOperation(),
                                               std::move(patterns), {"rope"})))
      signalPassFailure();
  }
};
} // namespace
