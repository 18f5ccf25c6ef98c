//===- ExpandElementTransfers.cpp - Transfers of one element ------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-expand-element-transfers.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "rope/Transforms/Passes.h"
#include "rope/Transforms/Transforms.h"

namespace mlir::rope {
#define GEN_PASS_DEF_EXPANDELEMENTTRANSFERSPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;

namespace {
struct ReadElement : OpRewritePattern<vector::TransferReadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::TransferReadOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getVectorType().getRank() != 0 || op.getMask())
      return rewriter.notifyMatchFailure(op, "not one element");
    Location loc = op.getLoc();
    Value element;
    if (isa<TensorType>(op.getBase().getType()))
      element = tensor::ExtractOp::create(rewriter, loc, op.getBase(),
                                          op.getIndices());
    else
      element =
          memref::LoadOp::create(rewriter, loc, op.getBase(), op.getIndices());
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(op, op.getVectorType(),
                                                     element);
    return success();
  }
};

struct WriteElement : OpRewritePattern<vector::TransferWriteOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::TransferWriteOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getVectorType().getRank() != 0 || op.getMask())
      return rewriter.notifyMatchFailure(op, "not one element");
    // A write to a tensor stays what loops can be freed of.
    if (!isa<MemRefType>(op.getBase().getType()))
      return rewriter.notifyMatchFailure(op, "not to memory");
    Value element = vector::ExtractOp::create(
        rewriter, op.getLoc(), op.getValueToStore(), ArrayRef<int64_t>());
    rewriter.replaceOpWithNewOp<memref::StoreOp>(op, element, op.getBase(),
                                                 op.getIndices());
    return success();
  }
};

struct ExpandElementTransfers
    : rope::impl::ExpandElementTransfersPassBase<ExpandElementTransfers> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    rope::populateExpandElementTransfersPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void rope::populateExpandElementTransfersPatterns(RewritePatternSet &patterns) {
  patterns.add<ReadElement, WriteElement>(patterns.getContext());
}
