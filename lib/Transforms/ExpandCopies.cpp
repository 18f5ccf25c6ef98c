//===- ExpandCopies.cpp - Strided copies to linalg ------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-expand-copies.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "rope/Transforms/Passes.h"
#include "rope/Transforms/Transforms.h"

namespace mlir::rope {
#define GEN_PASS_DEF_EXPANDCOPIESPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;

static bool isContiguous(Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  return type && (type.getLayout().isIdentity() || type.getRank() == 0 ||
                  memref::isStaticShapeAndContiguousRowMajor(type));
}

namespace {
struct ExpandStridedCopy : OpRewritePattern<memref::CopyOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::CopyOp copy,
                                PatternRewriter &rewriter) const override {
    Value source = copy.getSource(), target = copy.getTarget();
    if (!isa<MemRefType>(source.getType()) ||
        !isa<MemRefType>(target.getType()))
      return rewriter.notifyMatchFailure(copy, "unranked");
    if (isContiguous(source) && isContiguous(target))
      return rewriter.notifyMatchFailure(copy, "contiguous: memcpy does it");
    linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), source, target);
    rewriter.eraseOp(copy);
    return success();
  }
};

struct ExpandCopies : rope::impl::ExpandCopiesPassBase<ExpandCopies> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    rope::populateExpandCopiesPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void rope::populateExpandCopiesPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandStridedCopy>(patterns.getContext());
}
