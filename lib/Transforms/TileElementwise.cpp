//===- TileElementwise.cpp - Elementwise ops and reductions in vectors ----===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An elementwise op runs along the last dim of its result, and, if an operand
// is stored along another dim, in square tiles of both, which become shuffles.
//
//===----------------------------------------------------------------------===//

#include "LinalgTiles.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace mlir::rope;
using linalg::GenericOp;

// The loop that runs along the memory of an operand.
static std::optional<unsigned> getInnermostDim(AffineMap map) {
  if (map.getNumResults() == 0)
    return std::nullopt;
  return map.getDimPosition(map.getNumResults() - 1);
}

static SmallVector<unsigned> getOtherDims(GenericOp op,
                                          ArrayRef<unsigned> except) {
  SmallVector<unsigned> dims;
  for (unsigned dim : llvm::seq(op.getNumLoops()))
    if (!llvm::is_contained(except, dim))
      dims.push_back(dim);
  return dims;
}

// One bit per element in a vector, one byte in memory: the two do not mix.
static bool hasBitsAlong(GenericOp op, unsigned dim) {
  return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    return getElementTypeOrSelf(operand.get()).isInteger(1) &&
           op.getMatchingIndexingMap(&operand).isFunctionOfDim(dim);
  });
}

// Whether an operand is every other element of something: what a vector of them
// costs is more than it saves, unless both halves are loaded at once, which
// LLVM's vectorizer does to plain loops.
static bool isStridedAlong(GenericOp op, unsigned dim) {
  return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    auto slice = operand.get().getDefiningOp<tensor::ExtractSliceOp>();
    return slice && !slice.getMixedStrides().empty() &&
           !isOneInteger(slice.getMixedStrides().back()) &&
           getInnermostDim(op.getMatchingIndexingMap(&operand)) == dim;
  });
}

SmallVector<unsigned> rope::getTransposedDims(GenericOp op, unsigned lane) {
  llvm::SetVector<unsigned> dims;
  for (AffineMap map : op.getIndexingMapsArray())
    if (auto inner = getInnermostDim(map))
      if (*inner != lane && map.isFunctionOfDim(lane))
        dims.insert(*inner);
  return dims.takeVector();
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

static void vectorizeDropped(RewriterBase &rewriter, GenericOp op) {
  op = dropUnits(rewriter, op,
                 llvm::to_vector(llvm::seq<unsigned>(op.getNumLoops())));
  if (op.getNumLoops() != 0)
    (void)vectorizePiece(rewriter, op);
}

// Cuts a dim into pieces of a vector's size, and what they leave into smaller
// ones. A rest of unknown size, and one that fills no vector, stays as it is.
static void cutDim(RewriterBase &rewriter, GenericOp op, unsigned dim,
                   int64_t limit,
                   llvm::function_ref<void(GenericOp)> handlePiece) {
  while (op) {
    int64_t size =
        chooseVectorSize(op.getStaticLoopRanges()[dim], limit, limit);
    if (size == 1)
      return;
    DimPieces pieces = tileDim(rewriter, op, dim, size);
    if (pieces.main)
      handlePiece(pieces.main);
    if (pieces.tail &&
        ShapedType::isDynamic(pieces.tail.getStaticLoopRanges()[dim]))
      return;
    op = pieces.tail;
  }
}

// Squares of both dims. Those along what is read come one after the other: a
// few rows are then read from end to end, which memory does faster than many
// rows, a piece of each.
static void tileTransposing(RewriterBase &rewriter, GenericOp op, unsigned lane,
                            unsigned across, int64_t lanes) {
  op = tileToUnits(rewriter, op, getOtherDims(op, {lane, across}));
  cutDim(rewriter, op, lane, lanes, [&](GenericOp strip) {
    cutDim(rewriter, strip, across, lanes,
           [&](GenericOp square) { vectorizeDropped(rewriter, square); });
  });
}

void rope::tileElementwise(RewriterBase &rewriter, GenericOp op,
                           int64_t lanes) {
  if (!isVectorizable(op))
    return;
  AffineMap map = op.getIndexingMapMatchingResult(op->getResult(0));
  std::optional<unsigned> lane = getInnermostDim(map);
  if (!lane || hasBitsAlong(op, *lane) || isStridedAlong(op, *lane))
    return;
  SmallVector<unsigned> across = getTransposedDims(op, *lane);
  if (across.size() > 1 ||
      (across.size() == 1 && hasBitsAlong(op, across.front())))
    return;
  int64_t extent = op.getStaticLoopRanges()[*lane];
  if (chooseVectorSize(extent, lanes, lanes) == 1)
    return;
  if (across.size() == 1)
    return tileTransposing(rewriter, op, *lane, across.front(), lanes);
  op = tileToUnits(rewriter, op, getOtherDims(op, {*lane}));
  cutDim(rewriter, op, *lane, 4 * lanes,
         [&](GenericOp piece) { vectorizeDropped(rewriter, piece); });
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

// Sums that end in different lanes: lanes run along the result.
static void reduceAcrossLanes(RewriterBase &rewriter, GenericOp op,
                              unsigned lane, int64_t lanes) {
  SmallVector<unsigned> outer, reductions;
  op.getReductionDims(reductions);
  for (unsigned dim : getOtherDims(op, {lane}))
    if (!llvm::is_contained(reductions, dim))
      outer.push_back(dim);
  op = tileToUnits(rewriter, op, outer);
  while (op) {
    int64_t size =
        chooseVectorSize(op.getStaticLoopRanges()[lane], lanes, lanes);
    if (size == 1)
      return;
    DimPieces pieces = tileDim(rewriter, op, lane, size);
    if (pieces.main)
      vectorizeDropped(rewriter,
                       tileToUnits(rewriter, pieces.main, reductions));
    if (pieces.tail &&
        ShapedType::isDynamic(pieces.tail.getStaticLoopRanges()[lane]))
      return;
    op = pieces.tail;
  }
}

// Whether each result is reduced by one op that has a neutral element. Upstream
// reports an error where that is not so.
static bool canReduceInParts(GenericOp op) {
  SmallVector<BlockArgument> outputs(op.getRegionOutputArgs());
  return llvm::all_of(llvm::seq<unsigned>(outputs.size()), [&](unsigned i) {
    SmallVector<Operation *> combiners;
    return matchReduction(outputs, i, combiners) && combiners.size() == 1 &&
           arith::getNeutralElement(combiners.front());
  });
}

namespace {
// One sum in many lanes: a loop over vectors adds them up lane by lane, the
// lanes are added at the end, and what does not fill a vector after that.
class LaneReduction {
public:
  LaneReduction(RewriterBase &rewriter, GenericOp op, unsigned dim,
                int64_t size)
      : rewriter(rewriter), op(op), dim(dim), size(size), loc(op.getLoc()) {
    dims.insert(dim);
  }

  // Fails, and changes nothing, if a reduction is not one that can be split.
  LogicalResult run() {
    if (!canReduceInParts(op))
      return failure();
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    box = getIterationBox(rewriter, op);
    extent = box.sizes[dim];
    box.sizes[dim] = rewriter.getIndexAttr(size);
    auto partial = cast<PartialReductionOpInterface>(op.getOperation());
    FailureOr<SmallVector<Value>> start =
        partial.generateInitialTensorForPartialReduction(rewriter, loc,
                                                         box.sizes, dims);
    if (failed(start))
      return failure();
    AffineExpr n = rewriter.getAffineSymbolExpr(0);
    end = affine::makeComposedFoldedAffineApply(
        rewriter, loc, n.floorDiv(size) * size, {extent});
    scf::ForOp loop = createLoop(partial, *start);
    FailureOr<MergeResult> merged = failure();
    if (body)
      merged = partial.mergeReductions(rewriter, loc, loop.getResults(), dims);
    if (failed(merged)) {
      rewriter.eraseOp(loop);
      return failure();
    }
    SmallVector<Value> results = merged->replacements;
    addTail(results);
    rewriter.replaceOp(op, results);
    vectorizeAll(*start, merged->mergeOps);
    return success();
  }

private:
  scf::ForOp createLoop(PartialReductionOpInterface partial, ValueRange start) {
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value step = arith::ConstantIndexOp::create(rewriter, loc, size);
    Value bound = getValueOrCreateConstantIndexOp(rewriter, loc, end);
    return scf::ForOp::create(
        rewriter, loc, zero, bound, step, start,
        [&](OpBuilder &, Location, Value position, ValueRange carried) {
          box.offsets[dim] = position;
          FailureOr<TilingResult> piece = partial.tileToPartialReduction(
              rewriter, loc,
              ReductionTilingStrategy::PartialReductionOuterReduction, carried,
              box.offsets, box.sizes, dims, {});
          body = succeeded(piece) ? dyn_cast<GenericOp>(piece->tiledOps.front())
                                  : GenericOp();
          // Upstream leaves them as if each piece were the first.
          if (body)
            linalg::offsetIndices(rewriter,
                                  cast<linalg::LinalgOp>(body.getOperation()),
                                  box.offsets);
          scf::YieldOp::create(rewriter, loc,
                               body ? ValueRange(piece->tiledValues) : carried);
        });
  }

  void addTail(SmallVector<Value> &results) {
    AffineExpr n = rewriter.getAffineSymbolExpr(0);
    AffineExpr e = rewriter.getAffineSymbolExpr(1);
    OpFoldResult rest = affine::makeComposedFoldedAffineApply(
        rewriter, loc, n - e, {extent, end});
    if (isZeroInteger(rest))
      return;
    box.offsets[dim] = end;
    box.sizes[dim] = rest;
    SmallVector<Value> updated;
    createPiece(rewriter, op, box, results, updated);
    results = updated;
  }

  void vectorizeAll(ArrayRef<Value> start, ArrayRef<Operation *> merges) {
    SmallVector<Operation *> ops(merges);
    for (Value value : start)
      if (Operation *fill = value.getDefiningOp())
        ops.push_back(fill);
    ops.push_back(body);
    for (Operation *piece : ops) {
      auto linalgOp = dyn_cast<linalg::LinalgOp>(piece);
      if (!linalgOp)
        continue;
      rewriter.setInsertionPoint(piece);
      if (!isa<GenericOp>(piece)) {
        auto generic = linalg::generalizeNamedOp(rewriter, linalgOp);
        if (failed(generic))
          continue;
        piece = *generic;
      }
      vectorizeDropped(rewriter, cast<GenericOp>(piece));
    }
  }

  RewriterBase &rewriter;
  GenericOp op, body;
  unsigned dim;
  int64_t size;
  Location loc;
  llvm::SetVector<unsigned> dims;
  IterationBox box;
  OpFoldResult extent, end;
};
} // namespace

void rope::tileReduction(RewriterBase &rewriter, GenericOp op, int64_t lanes) {
  if (!isVectorizable(op))
    return;
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  std::optional<unsigned> lane =
      getInnermostDim(op.getIndexingMapMatchingResult(op->getResult(0)));
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  if (lane && getTransposedDims(op, *lane).empty() &&
      !hasBitsAlong(op, *lane) &&
      chooseVectorSize(extents[*lane], lanes, lanes) != 1)
    return reduceAcrossLanes(rewriter, op, *lane, lanes);
  // All inputs are stored along one reduction, or do not vary with it.
  unsigned along = reductions.back();
  if (hasBitsAlong(op, along) || !getTransposedDims(op, along).empty())
    return;
  reduceInLanes(rewriter, op, along, 4 * lanes);
}

void rope::reduceInLanes(RewriterBase &rewriter, GenericOp op, unsigned along,
                         int64_t size, ArrayRef<unsigned> whole) {
  size = chooseVectorSize(op.getStaticLoopRanges()[along], size, size);
  if (size == 1)
    return;
  SmallVector<unsigned> kept(whole);
  kept.push_back(along);
  op = tileToUnits(rewriter, op, getOtherDims(op, kept));
  op = dropUnits(rewriter, op,
                 llvm::to_vector(llvm::make_filter_range(
                     llvm::seq<unsigned>(op.getNumLoops()),
                     [&](unsigned dim) { return dim != along; })));
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  (void)LaneReduction(rewriter, op, reductions.back(), size).run();
}
