//===- TileLinalg.cpp - Structured ops in tiles and vectors ---------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-tile-linalg: the order of the parts, and what becomes of the
// vectors that they make. Neither CSE nor code motion of whole ops runs here:
// shared inits and fills that leave their loop would be copied by
// bufferization.
//
//===----------------------------------------------------------------------===//

#include "LinalgTiles.h"
#include "Patterns.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "rope/Transforms/Passes.h"
#include "rope/Transforms/Transforms.h"

namespace mlir::rope {
#define GEN_PASS_DEF_TILELINALGPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;
using linalg::GenericOp;

template <typename Populate>
static LogicalResult runPatterns(Operation *root, Populate populate) {
  RewritePatternSet patterns(root->getContext());
  populate(patterns);
  return rope::applyWithCanonicalization(
      root, std::move(patterns),
      {"affine", "arith", "linalg", "scf", "tensor", "vector"});
}

static void tileOps(Operation *root, const rope::VectorTarget &target) {
  SmallVector<GenericOp> ops;
  root->walk([&](GenericOp op) {
    // A loop that never runs has no tiles.
    if (op.hasPureTensorSemantics() &&
        !llvm::is_contained(op.getStaticLoopRanges(), 0))
      ops.push_back(op);
  });
  IRRewriter rewriter(root->getContext());
  for (GenericOp op : ops) {
    if (rope::isSumOfProducts(op))
      rope::tileContraction(rewriter, op, target);
    else if (op.getNumReductionLoops() != 0)
      rope::tileReduction(rewriter, op, target.lanes);
    else
      rope::tileElementwise(rewriter, op, target.lanes);
  }
}

// Writes out weights in panels that something else than panels is read of.
static LogicalResult expandWeights(Operation *root) {
  IRRewriter rewriter(root->getContext());
  WalkResult result = root->walk([&](linalg::UnPackOp op) {
    if (isa<BlockArgument>(op.getSource()))
      op.emitRemark("puts a weight together in every call: it is not packed "
                    "for this target, or not only read by products");
    rewriter.setInsertionPoint(op);
    if (succeeded(linalg::lowerUnPack(rewriter, op)))
      return WalkResult::advance();
    return WalkResult(op.emitOpError("has a form that cannot be expanded"));
  });
  return failure(result.wasInterrupted());
}

static bool hasStructuredOps(Operation *root) {
  return root
      ->walk([&](Operation *op) {
        return isa<linalg::LinalgOp>(op) ? WalkResult::interrupt()
                                         : WalkResult::advance();
      })
      .wasInterrupted();
}

// Lets loops carry vectors in place of the memory they are read from and
// written to in each iteration.
static void hoistAccumulators(Operation *root) {
  SmallVector<scf::ForOp> loops;
  root->walk([&](scf::ForOp loop) {
    if (!hasStructuredOps(loop))
      loops.push_back(loop);
  });
  IRRewriter rewriter(root->getContext());
  for (scf::ForOp loop : loops) {
    bool innermost = true;
    loop.getBody()->walk([&](scf::ForOp) { innermost = false; });
    if (innermost)
      moveLoopInvariantCode(loop);
    (void)hoistLoopInvariantSubsets(rewriter, loop);
  }
}

static LogicalResult cleanTiles(Operation *root) {
  if (failed(runPatterns(
          root,
          [](RewritePatternSet &patterns) {
            vector::populateVectorReductionToContractPatterns(patterns);
            vector::populateVectorTransferPermutationMapLoweringPatterns(
                patterns);
            tensor::populateFoldTensorEmptyPatterns(patterns);
          })) ||
      failed(runPatterns(root, [](RewritePatternSet &patterns) {
        tensor::populateFoldTensorSubsetIntoVectorTransferPatterns(patterns);
        rope::populateExpandElementTransfersPatterns(patterns);
      })))
    return failure();
  hoistAccumulators(root);
  // What is written after a loop is written to where it belongs.
  return runPatterns(root, [](RewritePatternSet &patterns) {
    tensor::populateFoldTensorSubsetIntoVectorTransferPatterns(patterns);
  });
}

// Whether a write of a part has as many elements along its dims as the first
// dims of the tensor, whichever dims it is along.
static bool seemsWhole(vector::TransferWriteOp write) {
  auto type = dyn_cast<RankedTensorType>(write.getBase().getType());
  if (!type || !type.hasStaticShape() || write.getMask() ||
      write.getPermutationMap().isIdentity() ||
      !llvm::all_of(write.getIndices(), isZeroInteger))
    return false;
  VectorType vector = write.getVectorType();
  if (vector.getNumElements() >= type.getNumElements())
    return false;
  for (auto [all, written] : llvm::zip(type.getShape(), vector.getShape()))
    if (all > written)
      return false;
  return true;
}

// Bufferization takes such a write for one of the whole tensor, and what was
// there before is lost. It has all dims of the tensor then, in their order.
static void spellOutParts(Operation *root) {
  IRRewriter rewriter(root->getContext());
  root->walk([&](vector::TransferWriteOp write) {
    if (!seemsWhole(write))
      return;
    rewriter.setInsertionPoint(write);
    auto mapped = write.getPermutationMap().getResults();
    int64_t rank = write.getIndices().size();
    int64_t added = rank - static_cast<int64_t>(mapped.size());
    SmallVector<int64_t> shape(added, 1), order;
    llvm::append_range(shape, write.getVectorType().getShape());
    SmallVector<bool> inBounds;
    for (int64_t dim = 0, unit = 0; dim < rank; ++dim) {
      auto found = llvm::find(mapped, rewriter.getAffineDimExpr(dim));
      int64_t from = found - mapped.begin();
      bool isWritten = found != mapped.end();
      order.push_back(isWritten ? added + from : unit++);
      inBounds.push_back(!isWritten || write.isDimInBounds(from));
    }
    Value part = vector::BroadcastOp::create(
        rewriter, write.getLoc(),
        VectorType::get(shape, write.getVectorType().getElementType()),
        write.getValueToStore());
    part = vector::TransposeOp::create(rewriter, write.getLoc(), part, order);
    rewriter.replaceOpWithNewOp<vector::TransferWriteOp>(
        write, part, write.getBase(), write.getIndices(),
        ArrayRef<bool>(inBounds));
  });
}

LogicalResult rope::checkTarget(Operation *root, StringRef pass,
                                const VectorTarget &target) {
  auto error = [&]() { return emitError(root->getLoc()) << pass << ": "; };
  if (target.lanes < 4 || target.lanes > 64 ||
      !llvm::isPowerOf2_64(target.lanes))
    return error() << "lanes must be a power of two from 4 to 64, not "
                   << target.lanes;
  if (target.registers < 1)
    return error() << "registers must be positive, not " << target.registers;
  if (target.dots && target.lanes > 16)
    return error() << "dots wants up to 16 lanes, not " << target.lanes;
  return success();
}

LogicalResult rope::tileLinalg(Operation *root, const VectorTarget &target) {
  IRRewriter rewriter(root->getContext());
  root->walk([&](FunctionOpInterface function) {
    for (Block &block : function.getFunctionBody()) {
      fuseHeads(rewriter, block, target.threads);
      fuseEpilogues(rewriter, block, target);
      fuseRows(rewriter, block, target.threads);
    }
  });
  if (target.threads)
    shareOps(rewriter, root, target);
  tileOps(root, target);
  // Last: panels that are read where they lie leave nothing of it.
  if (failed(cleanTiles(root)) || failed(expandWeights(root)))
    return failure();
  spellOutParts(root);
  return success();
}

namespace {
struct TileLinalg : rope::impl::TileLinalgPassBase<TileLinalg> {
  using TileLinalgPassBase::TileLinalgPassBase;

  void runOnOperation() override {
    rope::VectorTarget target = {lanes, registers, dots, threads};
    if (failed(checkTarget(getOperation(), getArgument(), target)) ||
        failed(rope::tileLinalg(getOperation(), target)))
      signalPassFailure();
  }
};
} // namespace
