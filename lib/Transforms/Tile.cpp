//===- Tile.cpp - Tiles rope ops by sizes that are given ------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-tile, over upstream tiling.
//
//===----------------------------------------------------------------------===//

#include "TileReuse.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "rope/IR/Rope.h"
#include "rope/IR/Tiling.h"
#include "rope/Transforms/Passes.h"
#include "rope/Transforms/Transforms.h"

namespace mlir::rope {
#define GEN_PASS_DEF_TILEPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;
using namespace mlir::rope;

/// The tile sizes of an op, one for each loop; 0 where it is not cut.
static SmallVector<int64_t> getSizes(TilingInterface op,
                                     const TileOptions &options) {
  SmallVector<utils::IteratorType> iterators = op.getLoopIteratorTypes();
  SmallVector<int64_t> sizes =
      llvm::to_vector(isa<AttentionLikeOpInterface>(op.getOperation())
                          ? ArrayRef<int64_t>(options.domainSizes)
                          : ArrayRef<int64_t>(options.leadingSizes));
  sizes.resize(iterators.size(), 0);
  if (options.parallel)
    for (auto [size, iterator] : llvm::zip_equal(sizes, iterators))
      if (iterator != utils::IteratorType::parallel)
        size = 0;
  return sizes;
}

/// Erases what fusion has tried, or has left without a use.
static void eraseDeadOps(RewriterBase &rewriter, Operation *loop) {
  loop->walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    if (op != loop && isOpTriviallyDead(op))
      rewriter.eraseOp(op);
  });
}

/// Pulls producers into the loops, but those that many tiles would compute
/// again.
static void setControl(scf::SCFTileAndFuseOptions &fusing, TilingInterface op,
                       ArrayRef<int64_t> sizes) {
  auto attention = dyn_cast<AttentionLikeOpInterface>(op.getOperation());
  if (!attention)
    return;
  using Result = std::optional<scf::SCFTileAndFuseOptions::ControlFnResult>;
  fusing.setFusionControlFn(
      [attention, sizes = llvm::to_vector(sizes)](
          tensor::ExtractSliceOp, OpResult producer, bool) mutable -> Result {
        if (isTileLocal(attention, sizes, producer))
          return scf::SCFTileAndFuseOptions::ControlFnResult{};
        return std::nullopt;
      });
}

static LogicalResult tile(RewriterBase &rewriter, TilingInterface op,
                          scf::SCFTilingOptions tiling, ArrayRef<int64_t> sizes,
                          bool fuse) {
  if (fuse && op->getNumResults() > 0) {
    scf::SCFTileAndFuseOptions fusing;
    fusing.setTilingOptions(std::move(tiling));
    setControl(fusing, op, sizes);
    FailureOr<scf::SCFTileAndFuseResult> result =
        scf::tileConsumerAndFuseProducersUsingSCF(rewriter, op, fusing);
    if (failed(result))
      return failure();
    SmallVector<Value> replacements =
        llvm::map_to_vector(op->getResults(), [&](Value value) {
          return result->replacements.lookup(value);
        });
    rewriter.replaceOp(op, replacements);
    if (!result->loops.empty())
      eraseDeadOps(rewriter, result->loops.front());
    return success();
  }
  FailureOr<scf::SCFTilingResult> result =
      scf::tileUsingSCF(rewriter, op, tiling);
  if (failed(result))
    return failure();
  rewriter.replaceOp(op, result->replacements);
  return success();
}

static LogicalResult tileBySizes(RewriterBase &rewriter, TilingInterface op,
                                 const TileOptions &options) {
  SmallVector<int64_t> sizes = getSizes(op, options);
  if (failed(verifyTileSizes(op, sizes)))
    return failure();
  if (llvm::all_of(sizes, [](int64_t size) { return size == 0; }))
    return success();
  scf::SCFTilingOptions tiling;
  tiling.setTileSizes(getAsIndexOpFoldResult(op.getContext(), sizes));
  if (options.parallel)
    tiling.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  if (auto attention = dyn_cast<AttentionLikeOpInterface>(op.getOperation()))
    hoistRotations(rewriter, attention, sizes);
  return tile(rewriter, op, std::move(tiling), sizes, options.fuse);
}

static LogicalResult splitKeys(RewriterBase &rewriter, OnlineAttentionOp op,
                               int64_t splits) {
  if (hasEmptyOperand(op))
    return success();
  auto keys = static_cast<unsigned>(DomainDim::N);
  SmallVector<int64_t> threads(keys + 1, 0);
  threads[keys] = splits;
  SmallVector<int64_t> parts(keys + 1, 0);
  parts[keys] = splits > 2 ? 1 : 0;
  hoistRotations(rewriter, cast<AttentionLikeOpInterface>(op.getOperation()),
                 parts);
  scf::SCFTilingOptions tiling;
  tiling.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp)
      .setNumThreads(getAsIndexOpFoldResult(op.getContext(), threads))
      .setReductionTilingStrategy(
          ReductionTilingStrategy::PartialReductionOuterParallel)
      .setReductionDims({keys});
  return tile(rewriter, cast<TilingInterface>(op.getOperation()),
              std::move(tiling), /*sizes=*/{}, /*fuse=*/false);
}

/// Calls `fn` on the ops below `root`, users before producers; a producer that
/// nobody uses any more is erased.
template <typename OpTy>
static LogicalResult visit(Operation *root, RewriterBase &rewriter,
                           function_ref<LogicalResult(OpTy)> fn) {
  SmallVector<OpTy> ops;
  root->walk([&](OpTy op) {
    if (isa<RopeDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (OpTy op : llvm::reverse(ops)) {
    if (isOpTriviallyDead(op)) {
      rewriter.eraseOp(op);
      continue;
    }
    rewriter.setInsertionPoint(op);
    if (failed(fn(op)))
      return failure();
  }
  return success();
}

LogicalResult rope::tileRopeOps(Operation *root, const TileOptions &options) {
  IRRewriter rewriter(root->getContext());
  if (failed(visit<TilingInterface>(root, rewriter, [&](TilingInterface op) {
        return tileBySizes(rewriter, op, options);
      })))
    return failure();
  if (options.keySplits == 0)
    return success();
  return visit<OnlineAttentionOp>(root, rewriter, [&](OnlineAttentionOp op) {
    return splitKeys(rewriter, op, options.keySplits);
  });
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// Reads `m:64` into the size of a loop; fails for another letter or a number
/// that is not positive.
static LogicalResult parseSize(StringRef text, TileOptions &options) {
  static constexpr StringRef kLoops = "bhgmn";
  auto [letter, number] = text.split(':');
  size_t loop = letter.size() == 1 ? kLoops.find(letter[0]) : StringRef::npos;
  int64_t size = 0;
  if (loop == StringRef::npos || number.getAsInteger(10, size) || size <= 0)
    return failure();
  options.domainSizes.resize(
      std::max<size_t>(options.domainSizes.size(), loop + 1), 0);
  options.domainSizes[loop] = size;
  return success();
}

namespace {
struct TilePass : rope::impl::TilePassBase<TilePass> {
  using TilePassBase::TilePassBase;

  void runOnOperation() override {
    FailureOr<TileOptions> options = getOptions();
    if (failed(options) || failed(rope::tileRopeOps(getOperation(), *options)))
      signalPassFailure();
  }

  FailureOr<TileOptions> getOptions() {
    Operation *root = getOperation();
    TileOptions options;
    for (const std::string &size : sizes)
      if (failed(parseSize(size, options)))
        return root->emitError()
               << "rope-tile: sizes has '" << size
               << "', expected one of b, h, g, m, n, ':' and a positive number";
    for (int64_t size : dims)
      if (size < 0)
        return root->emitError()
               << "rope-tile: dims has the negative size " << size;
    if (keySplits < 0)
      return root->emitError("rope-tile: key-splits is negative");
    options.leadingSizes = llvm::to_vector(dims);
    options.parallel = parallel;
    options.fuse = fuse;
    options.keySplits = keySplits;
    return options;
  }
};
} // namespace
