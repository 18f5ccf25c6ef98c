//===- TileContractions.cpp - Matrix products in registers ----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops of a product, from the outside: batch and other dims one by one;
// panels of the lane dim; blocks of the sum, so long that a packed panel stays
// in cache; rows, a few at a time; then the block of the sum, one step at a
// time. The sums of a few rows by one panel are vectors that the innermost loop
// carries.
//
//===----------------------------------------------------------------------===//

#include "LinalgTiles.h"
#include "PairPanels.h"
#include "PrefetchPanels.h"
#include "ProductPanels.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::rope;
using linalg::GenericOp;

// Below this number of rows a panel is not used for long enough to bring the
// next one meanwhile.
static constexpr int64_t kMinRowsToPrefetch = 48;
// Steps that are unrolled where a sum is that short.
static constexpr int64_t kUnrolledSteps = 4;

namespace {
class ProductTiler {
public:
  ProductTiler(RewriterBase &rewriter, const VectorTarget &target)
      : rewriter(rewriter), target(target), width(getPanelWidth(target)) {}

  /// Tiles an op that has no other dims than its roles.
  void run(GenericOp op);

private:
  GenericOp createFill(GenericOp op);
  void fillPiece(GenericOp op);
  GenericOp tileSteps(GenericOp op, ArrayRef<unsigned> steps);
  void sumTile(GenericOp op, ArrayRef<unsigned> steps);
  void forEachTile(GenericOp op, const Roles &roles,
                   llvm::function_ref<void(GenericOp)> handle,
                   int64_t firstRow = 0);
  void tileRows(GenericOp op, int64_t firstRow = 0);
  void packBeside(GenericOp op, const Roles &roles, int64_t steps);
  bool usesPairs(GenericOp op, const Roles &roles) const {
    return target.dots && canSumPairs(op, roles);
  }
  void tilePairs(GenericOp op, int64_t size);
  Value getBlockOfPairs(Value panel, DimBlock block, const Roles &roles);
  void tileStored(GenericOp op, Value panel);
  bool canPad(GenericOp op, const Roles &roles) const;
  Value readSums(GenericOp op, VectorType type);
  void padTile(GenericOp op, const Roles &roles, Value panel);
  void tilePadded(GenericOp op, int64_t size);
  DimBlock startBlock(GenericOp op, const Roles &roles, int64_t steps,
                      Value stored = nullptr);
  void tilePanel(GenericOp op);
  void tilePanels(GenericOp op);
  void tileStreaming(GenericOp op, unsigned step);

  RewriterBase &rewriter;
  const VectorTarget &target;
  int64_t width;
  // What the sums start from, if not from the init; and if that is only true
  // of the first block of a sum, whether this is the first.
  Value start, isFirst;
  // What comes after a block of a panel, and what a tile prefetches of it.
  std::optional<NextPanel> next;
  std::optional<PanelPrefetch> prefetch;
  // Whether panels are read once, where they lie.
  bool streams = false;
};
} // namespace

// Gives a piece a start value of its own in place of a slice of a filled
// tensor, which need then not be filled.
GenericOp ProductTiler::createFill(GenericOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Value init = op.getDpsInits()[0];
  unsigned rank = cast<RankedTensorType>(init.getType()).getRank();
  SmallVector<utils::IteratorType> parallel(rank,
                                            utils::IteratorType::parallel);
  SmallVector<Value> inputs = {start};
  if (isFirst)
    inputs.push_back(isFirst);
  SmallVector<AffineMap> maps(inputs.size(),
                              AffineMap::get(rank, 0, rewriter.getContext()));
  maps.push_back(rewriter.getMultiDimIdentityMap(rank));
  auto fill = GenericOp::create(
      rewriter, op.getLoc(), init.getType(), inputs, init, maps, parallel,
      [&](OpBuilder &b, Location l, ValueRange args) {
        Value value = args[0];
        if (isFirst)
          value = arith::SelectOp::create(b, l, args[1], value, args[2]);
        linalg::YieldOp::create(b, l, value);
      });
  rewriter.modifyOpInPlace(
      op, [&] { op.getDpsInitsMutable()[0].set(fill.getResult(0)); });
  return fill;
}

// The same for a tile, in vectors if its size is known.
void ProductTiler::fillPiece(GenericOp op) {
  if (!start)
    return;
  GenericOp fill = createFill(op);
  auto type = cast<RankedTensorType>(fill.getResultTypes()[0]);
  if (type.hasStaticShape())
    (void)vectorizePiece(rewriter, fill);
}

// Cuts a sum to single steps.
GenericOp ProductTiler::tileSteps(GenericOp op, ArrayRef<unsigned> steps) {
  if (prefetch) {
    DimBlock block = tileDimInBlocks(rewriter, op, steps.front(),
                                     PanelPrefetch::kIterations);
    op = block.op;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    if (block.position)
      prefetch->fetch(rewriter, op.getLoc(), block.position);
  }
  return tileToUnits(rewriter, op, steps);
}

// Sums up one register tile.
void ProductTiler::sumTile(GenericOp op, ArrayRef<unsigned> steps) {
  fillPiece(op);
  int64_t extent = op.getStaticLoopRanges()[steps.back()];
  if (ShapedType::isDynamic(extent) || extent > kUnrolledSteps ||
      steps.size() > 1) {
    op = tileSteps(op, steps);
    op = dropUnits(rewriter, op, steps.drop_back());
  }
  (void)vectorizePiece(rewriter, op);
}

// Whether an op takes the rows that are next in a loop over them.
static bool isOneOfManyTiles(GenericOp op, const Roles &roles) {
  unsigned left = 1 - roles.panelOperand;
  auto rows = op.getDpsInputs()[left].getDefiningOp<tensor::ExtractSliceOp>();
  AffineMap map = op.getIndexingMapsArray()[left];
  if (!rows || rows.getSourceType().getRank() != 2 ||
      map.getNumResults() != 2 || map.getDimPosition(0) != *roles.row)
    return false;
  int64_t all = rows.getSourceType().getDimSize(0);
  auto loop = op->getParentOfType<scf::ForOp>();
  return loop && getLoopOver(rows.getMixedOffsets().front()) == loop &&
         (ShapedType::isDynamic(all) || all >= kMinRowsToPrefetch);
}

// Calls `handle` with tiles of a few rows, from `firstRow` on.
void ProductTiler::forEachTile(GenericOp op, const Roles &roles,
                               llvm::function_ref<void(GenericOp)> handle,
                               int64_t firstRow) {
  if (!roles.row)
    return handle(op);
  unsigned row = *roles.row;
  while (op) {
    int64_t extent = op.getStaticLoopRanges()[row];
    bool isDynamic = ShapedType::isDynamic(extent);
    bool isLong = isDynamic || extent >= kMinRowsToPrefetch ||
                  isOneOfManyTiles(op, roles);
    auto [size, count] = chooseTiles(isDynamic ? extent : extent - firstRow);
    DimPieces pieces = tileDim(rewriter, op, row, size, firstRow, count);
    firstRow = 0;
    if (next && isLong && pieces.main)
      prefetch.emplace(rewriter, pieces.main, roles, *next,
                       usesPairs(pieces.main, roles) ? 2 : 1);
    if (pieces.main)
      handle(pieces.main);
    next = std::nullopt;
    prefetch = std::nullopt;
    op = pieces.tail;
    if (op && isDynamic)
      return handle(tileToUnits(rewriter, op, {row}));
  }
}

// Tiles of one panel that is packed, if that is worth it.
void ProductTiler::tileRows(GenericOp op, int64_t firstRow) {
  std::optional<Roles> roles = assignRoles(op);
  auto sum = [&](GenericOp tile) { sumTile(tile, roles->steps); };
  forEachTile(op, *roles, sum, firstRow);
}

// Packs a panel whose lanes lie side by side as its first rows are summed up.
void ProductTiler::packBeside(GenericOp op, const Roles &roles, int64_t steps) {
  int64_t first = chooseTiles(op.getStaticLoopRanges()[*roles.row]).size;
  op = packBesideRows(rewriter, op, roles, first, steps,
                      [&](GenericOp tile) { fillPiece(tile); });
  tileRows(op, first);
}

// A block of the sum of a panel, which may be stored; sets whether it is the
// first, and what comes after it.
DimBlock ProductTiler::startBlock(GenericOp op, const Roles &roles,
                                  int64_t steps, Value stored) {
  Value panel = op.getDpsInputs()[roles.panelOperand];
  DimBlock block = tileDimInBlocks(rewriter, op, roles.steps.front(), steps);
  next = stored ? findNextStored(rewriter, stored, block, steps)
                : findNextPanel(rewriter, panel, block, roles, steps);
  isFirst = nullptr;
  if (!block.position || !start)
    return block;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(block.op);
  Location loc = block.op.getLoc();
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  isFirst = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                  block.position, zero);
  return block;
}

// A panel of `size` lanes for up to that many, of pairs of steps.
void ProductTiler::tilePairs(GenericOp op, int64_t size) {
  std::optional<Roles> roles = assignRoles(op);
  Value panel;
  if (!streams) {
    int64_t steps = choosePanelSteps(op, *roles, target);
    op = startBlock(op, *roles, steps).op;
    panel = packPairs(rewriter, op, *roles, target.lanes, steps, size);
  }
  forEachTile(op, *roles, [&](GenericOp tile) {
    sumPairs(rewriter, tile, *roles, panel, target.lanes, size,
             {start, isFirst}, prefetch ? &*prefetch : nullptr);
  });
  isFirst = nullptr;
}

// The pairs of a stored panel that a block of the sum reads.
Value ProductTiler::getBlockOfPairs(Value panel, DimBlock block,
                                    const Roles &roles) {
  if (!block.position)
    return panel;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(block.op);
  Location loc = block.op.getLoc();
  AffineExpr half = rewriter.getAffineSymbolExpr(0).floorDiv(2);
  OpFoldResult steps =
      tensor::getMixedSizes(rewriter, loc,
                            block.op.getDpsInputs()[1 - roles.panelOperand])
          .back();
  auto halve = [&](OpFoldResult value) {
    return affine::makeComposedFoldedAffineApply(rewriter, loc, half, {value});
  };
  OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets = {halve(block.position), zero};
  SmallVector<OpFoldResult> sizes = {halve(steps),
                                     rewriter.getIndexAttr(2 * width)};
  SmallVector<OpFoldResult> strides = {one, one};
  return tensor::ExtractSliceOp::create(rewriter, loc, panel, offsets, sizes,
                                        strides);
}

// A panel of a weight that is stored in panels.
void ProductTiler::tileStored(GenericOp op, Value panel) {
  std::optional<Roles> roles = assignRoles(op);
  int64_t steps = choosePanelSteps(op, *roles, target);
  if (usesPairs(op, *roles)) {
    DimBlock block = startBlock(op, *roles, steps, panel);
    Value pairs = getBlockOfPairs(panel, block, *roles);
    forEachTile(block.op, *roles, [&](GenericOp tile) {
      sumPairs(rewriter, tile, *roles, pairs, target.lanes, width,
               {start, isFirst}, prefetch ? &*prefetch : nullptr);
    });
  } else {
    op = readStoredPanel(rewriter, op, *roles, panel);
    tileRows(startBlock(op, *roles, steps, panel).op);
  }
  isFirst = nullptr;
}

void ProductTiler::tilePanel(GenericOp op) {
  std::optional<Roles> roles = assignRoles(op);
  if (Value panel =
          findStoredPanel(rewriter, op, *roles, width, usesPairs(op, *roles)))
    return tileStored(op, panel);
  if (usesPairs(op, *roles))
    return tilePairs(
        op, llvm::alignTo(op.getStaticLoopRanges()[roles->lane], target.lanes));
  bool narrow = getElementTypeOrSelf(op.getDpsInputs()[roles->panelOperand]) !=
                getElementTypeOrSelf(op.getDpsInits()[0]);
  if (!hasManyRows(op, *roles) && !narrow && isLaneContiguous(op, *roles))
    return tileRows(op);
  if (!hasManyRows(op, *roles) || roles->steps.size() != 1)
    return tileRows(packPanel(rewriter, op, *roles, target.lanes).product);
  int64_t steps = choosePanelSteps(op, *roles, target);
  op = startBlock(op, *roles, steps).op;
  if (isLaneContiguous(op, *roles) && roles->row &&
      ShapedType::isStatic(op.getStaticLoopRanges()[*roles->row]))
    packBeside(op, *roles, steps);
  else
    tileRows(packPanel(rewriter, op, *roles, target.lanes, steps).product);
  isFirst = nullptr;
}

//===----------------------------------------------------------------------===//
// Panels that are not full
//===----------------------------------------------------------------------===//

// What a tile adds to, in vectors that are wider than the tile.
Value ProductTiler::readSums(GenericOp op, VectorType type) {
  Location loc = op.getLoc();
  Value first;
  if (start) {
    first = vector::BroadcastOp::create(rewriter, loc, type, start);
    if (!isFirst)
      return first;
  }
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value padding = arith::ConstantOp::create(
      rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
  Value old = vector::TransferReadOp::create(
      rewriter, loc, type, op.getDpsInits()[0], ValueRange{zero, zero}, padding,
      ArrayRef<bool>{true, false});
  if (!first)
    return old;
  return arith::SelectOp::create(rewriter, loc, isFirst, first, old);
}

// Sums up a tile of few rows by a panel that is wider than it: what the panel
// has beyond is computed and not stored.
void ProductTiler::padTile(GenericOp op, const Roles &roles, Value panel) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  int64_t rows = op.getStaticLoopRanges()[*roles.row];
  auto panelType = cast<RankedTensorType>(panel.getType());
  Type element = panelType.getElementType();
  auto type = VectorType::get({rows, panelType.getDimSize(1)}, element);
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, type.getShape(), element);
  Value sums = vector::TransferWriteOp::create(
                   rewriter, loc, readSums(op, type), empty,
                   ValueRange{zero, zero}, ArrayRef<bool>{true, true})
                   .getResult();

  SmallVector<Value> inputs = op.getDpsInputs();
  inputs[roles.panelOperand] = panel;
  auto wide = GenericOp::create(
      rewriter, loc, empty.getType(), inputs, sums, op.getIndexingMapsArray(),
      op.getIteratorTypesArray(), [&](OpBuilder &b, Location l, ValueRange) {});
  rewriter.inlineRegionBefore(op.getRegion(), wide.getRegion(),
                              wide.getRegion().begin());
  rewriter.eraseBlock(&wide.getRegion().back());

  Value padding =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(element));
  Value result = vector::TransferReadOp::create(
      rewriter, loc, type, wide.getResult(0), ValueRange{zero, zero}, padding,
      ArrayRef<bool>{true, true});
  auto stored = vector::TransferWriteOp::create(
      rewriter, loc, result, op.getDpsInits()[0], ValueRange{zero, zero},
      ArrayRef<bool>{true, false});
  rewriter.replaceOp(op, stored.getResult());
  wide = tileSteps(wide, roles.steps);
  (void)vectorizePiece(rewriter, wide);
}

// Whether a panel is worth packing, and a tile of the result is rows of lanes.
bool ProductTiler::canPad(GenericOp op, const Roles &roles) const {
  if (usesPairs(op, roles))
    return true;
  return hasManyRows(op, roles) && roles.row && roles.steps.size() == 1 &&
         roles.outer.empty() &&
         op.getIndexingMapsArray()[2].getNumResults() == 2;
}

// A panel of `size` lanes for less than that many: it is packed as if it were
// full, and only what is stored in the end is masked.
void ProductTiler::tilePadded(GenericOp op, int64_t size) {
  std::optional<Roles> roles = assignRoles(op);
  if (usesPairs(op, *roles))
    return tilePairs(op, size);
  int64_t steps = choosePanelSteps(op, *roles, target);
  op = startBlock(op, *roles, steps).op;
  Panel panel = packPanel(rewriter, op, *roles, target.lanes, steps, size);
  forEachTile(panel.product, *roles,
              [&](GenericOp tile) { padTile(tile, *roles, panel.full); });
  isFirst = nullptr;
}

void ProductTiler::tilePanels(GenericOp op) {
  while (op) {
    std::optional<Roles> roles = assignRoles(op);
    if (!roles)
      return;
    int64_t extent = op.getStaticLoopRanges()[roles->lane];
    int64_t size = chooseVectorSize(extent, width, width);
    bool partial =
        ShapedType::isStatic(extent) && extent < width && size != extent;
    if (partial && canPad(op, *roles))
      return tilePadded(
          op, std::max<int64_t>(target.lanes, llvm::PowerOf2Ceil(extent)));
    if (size == 1)
      return fillPiece(op);
    DimPieces pieces = tileDim(rewriter, op, roles->lane, size);
    if (pieces.main)
      tilePanel(pieces.main);
    op = pieces.tail;
    if (!op || ShapedType::isStatic(op.getStaticLoopRanges()[roles->lane]))
      continue;
    if (canPad(op, *roles))
      return tilePadded(op, width);
    // Less than a panel is left: single vectors, then single elements.
    pieces = tileDim(rewriter, op, roles->lane, target.lanes);
    if (pieces.main)
      tilePanel(pieces.main);
    if (pieces.tail)
      fillPiece(pieces.tail);
    return;
  }
}

// Adds a few steps at a time to all lanes.
void ProductTiler::tileStreaming(GenericOp op, unsigned step) {
  streams = true;
  if (start) {
    GenericOp fill = createFill(op);
    start = nullptr;
    tileElementwise(rewriter, fill, target.lanes);
  }
  forEachPiece(rewriter, op, step, kUnrolledSteps,
               [&](GenericOp piece) { tilePanels(piece); });
}

void ProductTiler::run(GenericOp op) {
  if (auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>()) {
    start = fill.value();
    rewriter.modifyOpInPlace(
        op, [&] { op.getDpsInitsMutable()[0].set(fill.output()); });
  }
  std::optional<Roles> roles = assignRoles(op);
  op = tileToUnits(rewriter, op, roles->outer);
  op = dropUnits(rewriter, op, roles->outer);
  roles = assignRoles(op);
  if (roles && !isStoredInPanels(op, *roles, width, usesPairs(op, *roles)) &&
      shouldStream(op, *roles, width))
    return tileStreaming(op, roles->steps.front());
  tilePanels(op);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void rope::tileContraction(RewriterBase &rewriter, GenericOp op,
                           const VectorTarget &target) {
  std::optional<Roles> roles = assignRoles(op);
  Type element = getElementTypeOrSelf(op.getResultTypes()[0]);
  if (!roles || !isVectorizable(op) ||
      !isa<Float32Type, Float64Type>(element) ||
      !llvm::all_of(op.getDpsInputs(), [](Value input) {
        return isa<FloatType>(getElementTypeOrSelf(input));
      }))
    return;
  // With few rows and the panel stored along the sum, the sum is what to put
  // in lanes.
  if (!hasManyRows(op, *roles) && !isLaneContiguous(op, *roles) &&
      !isStoredInPanels(op, *roles, getPanelWidth(target),
                        target.dots && canSumPairs(op, *roles)))
    return isStepContiguous(op, *roles)
               ? tileDots(rewriter, op, *roles, target)
               : tileReduction(rewriter, op, target.lanes);
  int64_t extent = op.getStaticLoopRanges()[roles->lane];
  if (chooseVectorSize(extent, target.lanes, target.lanes) != 1)
    ProductTiler(rewriter, target).run(op);
}
