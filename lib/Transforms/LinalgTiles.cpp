//===- LinalgTiles.cpp - Pieces of structured ops -------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's tiling gives a piece at the end of a dynamic dim a size that is
// only known at run time, and all pieces with it. Vectors want static sizes,
// so the loops here run over whole pieces only, and the rest comes after.
//
//===----------------------------------------------------------------------===//

#include "LinalgTiles.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/ViewLikeInterfaceUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using linalg::GenericOp;

GenericOp rope::createPiece(RewriterBase &rewriter, GenericOp op,
                            const IterationBox &box, ValueRange inits,
                            SmallVectorImpl<Value> &results) {
  SmallVector<Value> operands = op.getDpsInputs();
  llvm::append_range(operands, inits);
  SmallVector<Value> parts =
      linalg::makeTiledShapes(rewriter, op.getLoc(), op, operands, box.offsets,
                              box.sizes, /*sizeBounds=*/{},
                              /*omitPartialTileCheck=*/true);
  auto piece = cast<GenericOp>(mlir::clone(
      rewriter, op, linalg::getTensorOutputTypes(op, parts), parts));
  linalg::offsetIndices(rewriter, cast<linalg::LinalgOp>(*piece), box.offsets);
  ArrayRef<Value> initParts = ArrayRef(parts).take_back(inits.size());
  for (auto [init, part, value] :
       llvm::zip_equal(inits, initParts, piece->getResults())) {
    auto slice = part == init ? tensor::ExtractSliceOp()
                              : part.getDefiningOp<tensor::ExtractSliceOp>();
    if (!slice) {
      results.push_back(value);
      continue;
    }
    results.push_back(tensor::InsertSliceOp::create(
        rewriter, op.getLoc(), value, init, slice.getMixedOffsets(),
        slice.getMixedSizes(), slice.getMixedStrides()));
  }
  return piece;
}

rope::IterationBox rope::getIterationBox(RewriterBase &rewriter, GenericOp op) {
  IterationBox box;
  for (const Range &range :
       cast<TilingInterface>(op.getOperation()).getIterationDomain(rewriter)) {
    box.offsets.push_back(rewriter.getIndexAttr(0));
    box.sizes.push_back(range.size);
  }
  return box;
}

// Where pieces of `size` from `start` on end that are whole.
static OpFoldResult getEndOfPieces(OpBuilder &builder, Location loc,
                                   OpFoldResult extent, int64_t size,
                                   int64_t start, int64_t count) {
  if (ShapedType::isStatic(count))
    return builder.getIndexAttr(start + count * size);
  AffineExpr n = builder.getAffineSymbolExpr(0);
  return affine::makeComposedFoldedAffineApply(
      builder, loc, (n - start).floorDiv(size) * size + start, {extent});
}

// What is left from `position`, but at most `size`.
static OpFoldResult getBlockSize(OpBuilder &builder, Location loc,
                                 OpFoldResult extent, Value position,
                                 int64_t size) {
  std::optional<int64_t> known = getConstantIntValue(extent);
  if (known && *known % size == 0)
    return builder.getIndexAttr(size);
  MLIRContext *context = builder.getContext();
  AffineExpr n = builder.getAffineSymbolExpr(0);
  AffineExpr p = builder.getAffineSymbolExpr(1);
  auto map = AffineMap::get(0, 2, {builder.getAffineConstantExpr(size), n - p},
                            context);
  return affine::makeComposedFoldedAffineMin(builder, loc, map,
                                             {extent, OpFoldResult(position)});
}

Value rope::getDestination(Value init) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    return fill.output();
  return init;
}

void rope::fillLike(RewriterBase &rewriter, GenericOp piece, GenericOp whole) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(piece);
  for (auto [i, init] : llvm::enumerate(whole.getDpsInits())) {
    auto fill = init.getDefiningOp<linalg::FillOp>();
    if (!fill)
      continue;
    OpOperand &part = piece.getDpsInitsMutable()[i];
    part.set(linalg::FillOp::create(rewriter, piece.getLoc(), fill.value(),
                                    part.get())
                 .getResult(0));
  }
}

scf::ForallOp rope::createSharedLoop(
    RewriterBase &rewriter, Location loc, ArrayRef<OpFoldResult> ends,
    ArrayRef<OpFoldResult> steps, ValueRange inits,
    llvm::function_ref<SmallVector<Value>(ValueRange, ValueRange)> body) {
  SmallVector<OpFoldResult> zeros(ends.size(), rewriter.getIndexAttr(0));
  auto loop = scf::ForallOp::create(rewriter, loc, zeros, ends, steps, inits,
                                    /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(loop.getTerminator());
  SmallVector<Value> updated =
      body(loop.getInductionVars(), loop.getRegionIterArgs());
  rewriter.setInsertionPointToEnd(loop.getTerminator().getBody());
  for (Value value : updated) {
    auto insert = value.getDefiningOp<tensor::InsertSliceOp>();
    tensor::ParallelInsertSliceOp::create(
        rewriter, loc, insert.getSource(), insert.getDest(),
        insert.getMixedOffsets(), insert.getMixedSizes(),
        insert.getMixedStrides());
    rewriter.eraseOp(insert);
  }
  return loop;
}

rope::DimPieces rope::tileDim(RewriterBase &rewriter, GenericOp op,
                              unsigned dim, int64_t size, int64_t start,
                              int64_t count) {
  int64_t extent = op.getStaticLoopRanges()[dim];
  if (extent == size && start == 0)
    return {op, nullptr};
  if (ShapedType::isStatic(extent) && extent < size)
    return {nullptr, op};

  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  IterationBox box = getIterationBox(rewriter, op);
  OpFoldResult all = box.sizes[dim];
  OpFoldResult end = getEndOfPieces(rewriter, loc, all, size, start, count);
  Value first = arith::ConstantIndexOp::create(rewriter, loc, start);
  Value step = arith::ConstantIndexOp::create(rewriter, loc, size);

  DimPieces pieces;
  box.sizes[dim] = rewriter.getIndexAttr(size);
  auto loop = scf::ForOp::create(
      rewriter, loc, first, getValueOrCreateConstantIndexOp(rewriter, loc, end),
      step, op.getDpsInits(),
      [&](OpBuilder &, Location, Value position, ValueRange carried) {
        box.offsets[dim] = position;
        SmallVector<Value> updated;
        pieces.main = createPiece(rewriter, op, box, carried, updated);
        scf::YieldOp::create(rewriter, loc, updated);
      });
  SmallVector<Value> results = loop.getResults();
  bool hasRest = ShapedType::isDynamic(extent)
                     ? size > 1
                     : getConstantIntValue(end) != extent;
  if (hasRest) {
    box.offsets[dim] = end;
    AffineExpr n = rewriter.getAffineSymbolExpr(0);
    AffineExpr e = rewriter.getAffineSymbolExpr(1);
    box.sizes[dim] =
        affine::makeComposedFoldedAffineApply(rewriter, loc, n - e, {all, end});
    SmallVector<Value> updated;
    pieces.tail = createPiece(rewriter, op, box, results, updated);
    results = updated;
  }
  rewriter.replaceOp(op, results);
  return pieces;
}

// Reads parts of parts right from the whole.
static void mergeSlices(RewriterBase &rewriter, GenericOp piece) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(piece);
  for (OpOperand *input : piece.getDpsInputOperands()) {
    auto part = input->get().getDefiningOp<tensor::ExtractSliceOp>();
    auto whole = part ? part.getSource().getDefiningOp<tensor::ExtractSliceOp>()
                      : tensor::ExtractSliceOp();
    if (!whole || part->getBlock() != piece->getBlock())
      continue;
    SmallVector<OpFoldResult> offsets, sizes, strides;
    if (failed(affine::mergeOffsetsSizesAndStrides(
            rewriter, part.getLoc(), whole, part, whole.getDroppedDims(),
            offsets, sizes, strides)))
      continue;
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
        part, part.getType(), whole.getSource(), offsets, sizes, strides);
  }
}

// Replaces an op, and erases slices that only it reads.
static void replaceWithSlices(RewriterBase &rewriter, GenericOp op,
                              ValueRange results) {
  llvm::SmallSetVector<Operation *, 4> slices;
  for (Value input : op.getDpsInputs())
    if (auto slice = input.getDefiningOp<tensor::ExtractSliceOp>())
      slices.insert(slice);
  rewriter.replaceOp(op, results);
  for (Operation *slice : slices)
    if (slice->use_empty())
      rewriter.eraseOp(slice);
}

// Cuts `block`, a part of `whole` that has up to `size` elements of a dim, into
// one piece of that size or one of less, as the case may be.
static rope::DimPieces chooseSize(RewriterBase &rewriter, GenericOp block,
                                  GenericOp whole, unsigned dim, int64_t size) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(block);
  Location loc = block.getLoc();
  rope::IterationBox box = rope::getIterationBox(rewriter, block);
  Value have = getValueOrCreateConstantIndexOp(rewriter, loc, box.sizes[dim]);
  Value most = arith::ConstantIndexOp::create(rewriter, loc, size);
  Value isWhole = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                        have, most);
  auto choice = scf::IfOp::create(rewriter, loc, block.getResultTypes(),
                                  isWhole, /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  auto createBranch = [&](Block *branch, OpFoldResult extent) {
    rewriter.setInsertionPointToStart(branch);
    box.sizes[dim] = extent;
    SmallVector<Value> updated;
    GenericOp piece =
        rope::createPiece(rewriter, block, box, block.getDpsInits(), updated);
    mergeSlices(rewriter, piece);
    rope::fillLike(rewriter, piece, whole);
    scf::YieldOp::create(rewriter, loc, updated);
    return piece;
  };
  int64_t extent = whole.getStaticLoopRanges()[dim];
  OpFoldResult rest = have;
  if (ShapedType::isStatic(extent))
    rest = rewriter.getIndexAttr(extent % size);
  rope::DimPieces pieces;
  pieces.main = createBranch(choice.thenBlock(), rewriter.getIndexAttr(size));
  pieces.tail = createBranch(choice.elseBlock(), rest);
  replaceWithSlices(rewriter, block, choice.getResults());
  return pieces;
}

rope::DimPieces rope::shareDim(RewriterBase &rewriter, GenericOp op,
                               unsigned dim, int64_t size) {
  int64_t extent = op.getStaticLoopRanges()[dim];
  bool hasRest = ShapedType::isDynamic(extent) ? size > 1 : extent % size != 0;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  IterationBox box = getIterationBox(rewriter, op);
  OpFoldResult all = box.sizes[dim], step = rewriter.getIndexAttr(size);
  GenericOp block;
  scf::ForallOp loop = createSharedLoop(
      rewriter, loc, all, step,
      llvm::map_to_vector(op.getDpsInits(), getDestination),
      [&](ValueRange positions, ValueRange carried) {
        Value position = positions.front();
        box.offsets[dim] = position;
        box.sizes[dim] =
            hasRest ? getBlockSize(rewriter, loc, all, position, size) : step;
        SmallVector<Value> updated;
        block = createPiece(rewriter, op, box, carried, updated);
        return updated;
      });
  DimPieces pieces = {block, nullptr};
  if (hasRest)
    pieces = chooseSize(rewriter, block, op, dim, size);
  else
    fillLike(rewriter, block, op);
  rewriter.replaceOp(op, loop.getResults());
  return pieces;
}

void rope::forEachPiece(RewriterBase &rewriter, GenericOp op, unsigned dim,
                        int64_t size,
                        llvm::function_ref<void(GenericOp)> handle) {
  DimPieces pieces = tileDim(rewriter, op, dim, size);
  if (pieces.main)
    handle(pieces.main);
  if (!pieces.tail)
    return;
  if (ShapedType::isDynamic(pieces.tail.getStaticLoopRanges()[dim]))
    pieces.tail = tileToUnits(rewriter, pieces.tail, {dim});
  handle(pieces.tail);
}

rope::DimBlock rope::tileDimInBlocks(RewriterBase &rewriter, GenericOp op,
                                     unsigned dim, int64_t size) {
  int64_t extent = op.getStaticLoopRanges()[dim];
  if (ShapedType::isStatic(extent) && extent <= size)
    return {op, nullptr};
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  IterationBox box = getIterationBox(rewriter, op);
  OpFoldResult all = box.sizes[dim];
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value step = arith::ConstantIndexOp::create(rewriter, loc, size);
  // Also a dim without elements has a block.
  auto atLeastOne = AffineMap::get(
      0, 1,
      {rewriter.getAffineSymbolExpr(0), rewriter.getAffineConstantExpr(1)},
      rewriter.getContext());
  OpFoldResult end =
      affine::makeComposedFoldedAffineMax(rewriter, loc, atLeastOne, {all});
  auto loop = scf::ForOp::create(
      rewriter, loc, zero, getValueOrCreateConstantIndexOp(rewriter, loc, end),
      step, op.getDpsInits());
  rewriter.setInsertionPointToStart(loop.getBody());
  Value position = loop.getInductionVar();
  box.offsets[dim] = position;
  box.sizes[dim] = getBlockSize(rewriter, loc, all, position, size);
  SmallVector<Value> updated;
  GenericOp block =
      createPiece(rewriter, op, box, loop.getRegionIterArgs(), updated);
  scf::YieldOp::create(rewriter, loc, updated);
  rewriter.replaceOp(op, loop.getResults());
  return {block, position};
}

GenericOp rope::tileToUnits(RewriterBase &rewriter, GenericOp op,
                            ArrayRef<unsigned> dims) {
  for (unsigned dim : dims)
    op = tileDim(rewriter, op, dim, 1).main;
  return op;
}

GenericOp rope::dropUnits(RewriterBase &rewriter, GenericOp op,
                          ArrayRef<unsigned> dims) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  linalg::ControlDropUnitDims options;
  options.rankReductionStrategy =
      linalg::ControlDropUnitDims::RankReductionStrategy::ExtractInsertSlice;
  options.controlFn = [&](Operation *) {
    return SmallVector<unsigned>(dims.begin(), dims.end());
  };
  auto dropped = linalg::dropUnitDims(rewriter, op, options);
  if (failed(dropped))
    return op;
  rewriter.replaceOp(op, dropped->replacements);
  return cast<GenericOp>(dropped->resultOp.getOperation());
}

LogicalResult rope::vectorizePiece(RewriterBase &rewriter, GenericOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::VectorizationResult> vectors =
      linalg::vectorize(rewriter, op);
  if (failed(vectors))
    return failure();
  rewriter.replaceOp(op, vectors->replacements);
  return success();
}

bool rope::isVectorizable(GenericOp op) {
  // Loops that never run are not worth a tile, and upstream cannot cut one.
  if (llvm::is_contained(op.getStaticLoopRanges(), 0))
    return false;
  if (!op.hasPureTensorSemantics() || op.getNumLoops() == 0 ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return false;
  auto isNumber = [](Type type) { return type.isIntOrFloat(); };
  if (!llvm::all_of(op->getOperands(), [&](Value operand) {
        return isNumber(getElementTypeOrSelf(operand));
      }))
    return false;
  return llvm::all_of(op.getBody()->getOperations(), [&](Operation &nested) {
    return nested.getNumRegions() == 0 && !isa<tensor::ExtractOp>(nested) &&
           llvm::all_of(nested.getResultTypes(), [&](Type type) {
             return isNumber(type) || type.isIndex();
           });
  });
}

static Value skipWidening(Value value) {
  while (auto extension = value.getDefiningOp<arith::ExtFOp>())
    value = extension.getIn();
  return value;
}

// Whether the operands of `op` are `a` and `b` in some order, or widened.
static bool hasOperands(Operation *op, Value a, Value b) {
  Value left = skipWidening(op->getOperand(0));
  Value right = skipWidening(op->getOperand(1));
  return (left == a && right == b) || (left == b && right == a);
}

bool rope::isSumOfProducts(GenericOp op) {
  if (!linalg::isaContractionOpInterface(op))
    return false;
  Block &body = *op.getBody();
  Value result = body.getTerminator()->getOperand(0);
  auto sum = result.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return false;
  Value carried = body.getArgument(2);
  for (auto [term, other] : {std::pair(sum.getLhs(), sum.getRhs()),
                             std::pair(sum.getRhs(), sum.getLhs())}) {
    auto product = term.getDefiningOp<arith::MulFOp>();
    if (other == carried && product &&
        hasOperands(product, body.getArgument(0), body.getArgument(1)))
      return true;
  }
  return false;
}

int64_t rope::chooseVectorSize(int64_t extent, int64_t limit,
                               int64_t whenDynamic) {
  if (ShapedType::isDynamic(extent))
    return whenDynamic;
  int64_t size = limit;
  while (size > extent)
    size /= 2;
  return size < 4 ? 1 : size;
}
