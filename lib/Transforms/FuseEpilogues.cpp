//===- FuseEpilogues.cpp - What follows products, panel by panel ----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An elementwise op that is the only reader of a product (a cast, a residual,
// the gate of another product) works on one panel of its columns right after
// that is computed. The panel of sums is then in cache, and the sums of all
// columns are in no memory at all.
//
// Where it does little and reads nothing else, it takes the few rows of a tile
// at a time: what it writes goes to memory bit by bit, and not all at once.
//
//===----------------------------------------------------------------------===//

#include "LinalgTiles.h"
#include "PairPanels.h"
#include "ProductPanels.h"
#include "mlir/Dialect/Affine/ViewLikeInterfaceUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace mlir::rope;
using linalg::GenericOp;

// Whether a value starts from a fill or nothing at all, so that a panel of it
// needs nothing but its own memory.
static bool startsAnew(GenericOp product) {
  Value init = product.getDpsInits()[0];
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    init = fill.output();
  return init.getDefiningOp<tensor::EmptyOp>();
}

// The product that an operand of an elementwise op reads row by row and column
// by column, if nobody else reads it.
static GenericOp getProduct(OpOperand &operand) {
  auto reader = cast<GenericOp>(operand.getOwner());
  auto product = operand.get().getDefiningOp<GenericOp>();
  if (!product || reader.isDpsInit(&operand) || !isSumOfProducts(product) ||
      product->getBlock() != reader->getBlock() || !isVectorizable(product) ||
      !startsAnew(product) ||
      !reader.getMatchingIndexingMap(&operand).isIdentity() ||
      !product.getIndexingMapsArray()[2].isProjectedPermutation())
    return nullptr;
  std::optional<Roles> roles = assignRoles(product);
  if (!roles || !roles->outer.empty() || !roles->row ||
      !hasManyRows(product, *roles))
    return nullptr;
  bool isOnlyReader = llvm::all_of(product->getUses(), [&](OpOperand &use) {
    return &use == &operand || isa<tensor::DimOp>(use.getOwner());
  });
  return isOnlyReader ? product : nullptr;
}

// Computes the part of a product that `slice` takes, in memory of its own.
static void computePart(RewriterBase &rewriter, tensor::ExtractSliceOp slice,
                        GenericOp product) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(slice);
  SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
  FailureOr<TilingResult> part =
      cast<TilingInterface>(product.getOperation())
          .generateResultTileValue(rewriter, 0, slice.getMixedOffsets(), sizes);
  // Then the slice reads the whole product as before.
  if (failed(part))
    return;
  auto piece = cast<GenericOp>(part->tiledOps.front());
  rewriter.setInsertionPoint(piece);
  Location loc = product.getLoc();
  Value init = tensor::EmptyOp::create(
      rewriter, loc, sizes, getElementTypeOrSelf(slice.getResultType()));
  if (auto fill = product.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
    init =
        linalg::FillOp::create(rewriter, loc, fill.value(), init).getResult(0);
  piece.getDpsInitsMutable()[0].set(init);
  rewriter.replaceOp(slice, part->tiledValues.front());
}

// A tile of a panel is a slice of a slice: the one of the product that is both.
static tensor::ExtractSliceOp mergeSlices(RewriterBase &rewriter,
                                          tensor::ExtractSliceOp slice) {
  auto whole = slice.getSource().getDefiningOp<tensor::ExtractSliceOp>();
  if (!whole)
    return slice;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(slice);
  SmallVector<OpFoldResult> offsets, sizes, strides;
  if (failed(affine::mergeOffsetsSizesAndStrides(
          rewriter, slice.getLoc(), whole, slice, whole.getDroppedDims(),
          offsets, sizes, strides)))
    return slice;
  auto merged = rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
      slice, slice.getType(), whole.getSource(), offsets, sizes, strides);
  if (whole->use_empty())
    rewriter.eraseOp(whole);
  return merged;
}

// The product that a value is a slice of, or a slice of a slice.
static GenericOp getSliced(Value value, ArrayRef<GenericOp> products) {
  while (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>())
    value = slice.getSource();
  auto product = value.getDefiningOp<GenericOp>();
  return llvm::is_contained(products, product) ? product : nullptr;
}

static void computeParts(RewriterBase &rewriter, GenericOp piece,
                         ArrayRef<GenericOp> products) {
  if (!piece)
    return;
  for (Value input : SmallVector<Value>(piece.getDpsInputs())) {
    auto slice = input.getDefiningOp<tensor::ExtractSliceOp>();
    if (GenericOp product = getSliced(input, products); slice && product)
      computePart(rewriter, mergeSlices(rewriter, slice), product);
  }
}

// The same for all rows of a panel, or for those of one tile after the other.
static void computePanel(RewriterBase &rewriter, GenericOp panel,
                         ArrayRef<GenericOp> products, bool byTiles) {
  if (!panel || !byTiles)
    return computeParts(rewriter, panel, products);
  auto [size, count] = chooseTiles(panel.getStaticLoopRanges()[0]);
  DimPieces tiles = tileDim(rewriter, panel, 0, size, /*start=*/0, count);
  computeParts(rewriter, tiles.main, products);
  computeParts(rewriter, tiles.tail, products);
}

// Erases a product that only sizes are read of now: those of its init, which
// stays, are the same.
static void eraseComputed(RewriterBase &rewriter, GenericOp product) {
  for (OpOperand &use : llvm::make_early_inc_range(product->getUses()))
    if (isa<tensor::DimOp>(use.getOwner()))
      use.set(product.getDpsInits()[0]);
  if (product->use_empty())
    rewriter.eraseOp(product);
}

// Whether a reader takes the rows of one tile at a time: only where it does a
// few cheap ops and reads nothing else, since few rows would not hide the
// latency of more, and where the panel is stored and takes one block, or else
// each tile would pack it, or read it, anew.
static bool takesTiles(GenericOp reader, GenericOp product,
                       const VectorTarget &target) {
  std::optional<Roles> roles = assignRoles(product);
  bool pairs = target.dots && canSumPairs(product, *roles);
  return reader.getNumDpsInputs() == 1 && roles->steps.size() == 1 &&
         llvm::all_of(reader.getBody()->without_terminator(),
                      llvm::IsaPred<arith::TruncFOp, arith::ExtFOp,
                                    arith::MulFOp, arith::AddFOp>) &&
         isStoredInPanels(product, *roles, getPanelWidth(target), pairs) &&
         choosePanelSteps(product, *roles, target) ==
             product.getStaticLoopRanges()[roles->steps.front()];
}

void rope::fuseEpilogues(RewriterBase &rewriter, Block &block,
                         const VectorTarget &target) {
  int64_t width = getPanelWidth(target);
  for (GenericOp op : llvm::to_vector(block.getOps<GenericOp>())) {
    if (op.getNumLoops() != 2 || op.getNumParallelLoops() != 2 ||
        op->getNumResults() != 1 || !isVectorizable(op) ||
        !op.getIndexingMapMatchingResult(op->getResult(0)).isIdentity())
      continue;
    int64_t columns = op.getStaticLoopRanges()[1];
    SmallVector<GenericOp> products;
    for (OpOperand &operand : op->getOpOperands())
      if (GenericOp product = getProduct(operand))
        products.push_back(product);
    if (products.empty() || (ShapedType::isStatic(columns) && columns <= width))
      continue;
    bool byTiles = takesTiles(op, products.front(), target);
    bool shared = target.threads && llvm::any_of(products, isWorthSharing);
    DimPieces pieces = shared ? shareDim(rewriter, op, 1, width)
                              : tileDim(rewriter, op, 1, width);
    computePanel(rewriter, pieces.main, products, byTiles);
    computePanel(rewriter, pieces.tail, products, byTiles);
    for (GenericOp product : products)
      eraseComputed(rewriter, product);
  }
}
