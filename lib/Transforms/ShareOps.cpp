//===- ShareOps.cpp - Parts of ops for threads to share -------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cuts an op along dims of its results into parts of the sizes that its loops
// would cut it into anyway, so that each part is computed as without threads
// and no sum is split. Parts are many and small, as the number of threads is
// not known.
//
//===----------------------------------------------------------------------===//

#include "LinalgTiles.h"
#include "PairPanels.h"
#include "ProductPanels.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace mlir::rope;
using linalg::GenericOp;

// Work that is worth the call of a team of threads, in elements of the
// iteration domain: some microseconds.
static constexpr uint64_t kManyProducts = 1 << 18;
static constexpr uint64_t kManyElements = 1 << 16;
// What a dim of unknown extent counts as.
static constexpr int64_t kUnknownExtent = 256;
// With that many parts it does not matter much who gets one more.
static constexpr int64_t kManyParts = 16;
// Rows of a product that a packed panel serves, at least and at most, where
// threads share rows.
static constexpr int64_t kMinRows = 64, kMaxRows = 256;

static uint64_t countElements(ArrayRef<int64_t> extents) {
  uint64_t count = 1;
  for (int64_t extent : extents)
    count = llvm::SaturatingMultiply<uint64_t>(
        count, ShapedType::isDynamic(extent) ? kUnknownExtent : extent);
  return count;
}

bool rope::isWorthSharing(GenericOp op) {
  return !op->getParentWithTrait<OpTrait::HasParallelRegion>() &&
         countElements(op.getStaticLoopRanges()) >=
             (isSumOfProducts(op) ? kManyProducts : kManyElements);
}

namespace {
// How an op is cut: along one dim into pieces of a size, or along several into
// single elements.
struct Cut {
  SmallVector<unsigned> dims;
  int64_t size = 1;
  uint64_t parts = 1;
};
} // namespace

static Cut cutAlong(GenericOp op, unsigned dim, int64_t size) {
  uint64_t extent = countElements(op.getStaticLoopRanges()[dim]);
  return {{dim}, size, llvm::divideCeil(extent, static_cast<uint64_t>(size))};
}

static Cut cutToUnits(GenericOp op, ArrayRef<unsigned> dims) {
  Cut cut = {SmallVector<unsigned>(dims)};
  for (unsigned dim : dims)
    cut.parts = llvm::SaturatingMultiply(cut.parts, cutAlong(op, dim, 1).parts);
  return cut;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

// About the kManyParts-th part of an extent.
static int64_t chooseSize(int64_t extent, int64_t least, int64_t most) {
  int64_t size = countElements(extent) / kManyParts;
  return std::clamp<int64_t>(llvm::PowerOf2Ceil(size), least, most);
}

static Cut cutLanes(GenericOp op, const Roles &roles,
                    const VectorTarget &target) {
  int64_t extent = op.getStaticLoopRanges()[roles.lane];
  int64_t width = getPanelWidth(target);
  int64_t size = width;
  bool stored =
      isStoredInPanels(op, roles, width, target.dots && canSumPairs(op, roles));
  // What is read row by row is read in long runs.
  if (!stored && shouldStream(op, roles, width))
    size = chooseSize(extent, 8 * width, 16 * width);
  else if (!stored && !hasManyRows(op, roles) && !isLaneContiguous(op, roles))
    size = target.lanes;
  return cutAlong(op, roles.lane, size);
}

// All parts about equal: a few rows that are left over would not be worth a
// panel, and be added up in another order.
static Cut cutRows(GenericOp op, unsigned row) {
  int64_t extent = op.getStaticLoopRanges()[row];
  int64_t size = chooseSize(extent, kMinRows, kMaxRows);
  if (ShapedType::isStatic(extent))
    size = llvm::divideCeil(extent, std::max<int64_t>(extent / size, 1));
  return cutAlong(op, row, size);
}

// Batch dims if there are many of them; or what has the most parts.
static Cut chooseCut(GenericOp op, const Roles &roles,
                     const VectorTarget &target) {
  Cut best = cutToUnits(op, roles.outer);
  SmallVector<Cut> others = {cutLanes(op, roles, target)};
  if (roles.row)
    others.push_back(cutRows(op, *roles.row));
  for (const Cut &cut : others)
    if (best.parts < kManyParts && cut.parts > best.parts)
      best = cut;
  return best;
}

//===----------------------------------------------------------------------===//
// Other ops
//===----------------------------------------------------------------------===//

static bool hasInAllResults(GenericOp op, unsigned dim) {
  return llvm::all_of(op->getResults(), [&](OpResult result) {
    return op.getIndexingMapMatchingResult(result).isFunctionOfDim(dim);
  });
}

// The leading dims of the result; or if these are few, or are also those that
// vectors run along, pieces of the first that are whole vectors.
static Cut chooseCut(GenericOp op, const VectorTarget &target) {
  AffineMap map = op.getIndexingMapMatchingResult(op->getResult(0));
  SmallVector<unsigned> leading;
  Cut best;
  for (unsigned i : llvm::seq(map.getNumResults())) {
    unsigned dim = map.getDimPosition(i);
    if (op.getStaticLoopRanges()[dim] == 1)
      continue;
    if (best.parts >= kManyParts || !hasInAllResults(op, dim))
      break;
    unsigned lane = map.getDimPosition(map.getNumResults() - 1);
    bool isAcross = llvm::is_contained(getTransposedDims(op, lane), dim);
    if (dim == lane || isAcross) {
      Cut cut = cutAlong(op, dim, isAcross ? target.lanes : 64 * target.lanes);
      return cut.parts > best.parts ? cut : best;
    }
    leading.push_back(dim);
    best = cutToUnits(op, leading);
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static void shareUnits(RewriterBase &rewriter, GenericOp op,
                       ArrayRef<unsigned> dims) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  IterationBox box = getIterationBox(rewriter, op);
  SmallVector<OpFoldResult> ends;
  for (unsigned dim : dims)
    ends.push_back(std::exchange(box.sizes[dim], rewriter.getIndexAttr(1)));
  SmallVector<OpFoldResult> steps(dims.size(), rewriter.getIndexAttr(1));
  GenericOp piece;
  scf::ForallOp loop = createSharedLoop(
      rewriter, op.getLoc(), ends, steps,
      llvm::map_to_vector(op.getDpsInits(), getDestination),
      [&](ValueRange positions, ValueRange carried) {
        for (auto [dim, position] : llvm::zip_equal(dims, positions))
          box.offsets[dim] = position;
        SmallVector<Value> updated;
        piece = createPiece(rewriter, op, box, carried, updated);
        return updated;
      });
  fillLike(rewriter, piece, op);
  rewriter.replaceOp(op, loop.getResults());
}

void rope::shareOps(RewriterBase &rewriter, Operation *root,
                    const VectorTarget &target) {
  SmallVector<GenericOp> ops;
  root->walk([&](GenericOp op) {
    if (isVectorizable(op) && isWorthSharing(op))
      ops.push_back(op);
  });
  for (GenericOp op : ops) {
    std::optional<Roles> roles;
    if (isSumOfProducts(op))
      roles = assignRoles(op);
    Cut cut = roles ? chooseCut(op, *roles, target) : chooseCut(op, target);
    if (cut.parts <= 1)
      continue;
    if (cut.size == 1)
      shareUnits(rewriter, op, cut.dims);
    else
      (void)shareDim(rewriter, op, cut.dims.front(), cut.size);
  }
}
