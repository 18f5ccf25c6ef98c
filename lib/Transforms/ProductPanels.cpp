//===- ProductPanels.cpp - Roles and panels of products -------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductPanels.h"
#include "LinalgTiles.h"
#include "PairPanels.h"
#include "PrefetchPanels.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::rope;
using linalg::GenericOp;

// Rows of a register tile, at most.
static constexpr int64_t kRows = 6;
// What a packed panel of a whole sum may take of the second-level cache, and
// what one of a block of a longer sum may: its sums are read and written once
// for each block, and want room as well.
static constexpr int64_t kWholePanelBytes = 512 * 1024;
static constexpr int64_t kPanelBytes = 256 * 1024;

// Below this number of rows a panel is not read often enough to be packed.
static constexpr int64_t kMinRowsToPack = 16;
// Up to this number of rows, reading the panel in order decides.
static constexpr int64_t kMaxRowsToStream = 4;

std::optional<Roles> rope::assignRoles(GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  Roles roles;
  op.getReductionDims(roles.steps);
  if (maps[2].getNumResults() == 0 ||
      !llvm::all_of(roles.steps, [&](unsigned step) {
        return maps[0].isFunctionOfDim(step) && maps[1].isFunctionOfDim(step);
      }))
    return std::nullopt;
  roles.lane = maps[2].getDimPosition(maps[2].getNumResults() - 1);
  bool inLeft = maps[0].isFunctionOfDim(roles.lane);
  if (inLeft == maps[1].isFunctionOfDim(roles.lane))
    return std::nullopt;
  roles.panelOperand = inLeft ? 0 : 1;
  AffineMap other = maps[1 - roles.panelOperand];
  AffineMap panel = maps[roles.panelOperand];
  for (AffineExpr result : maps[2].getResults().drop_back()) {
    unsigned dim = cast<AffineDimExpr>(result).getPosition();
    if (other.isFunctionOfDim(dim) && !panel.isFunctionOfDim(dim)) {
      if (roles.row)
        roles.outer.push_back(*roles.row);
      roles.row = dim;
    } else {
      roles.outer.push_back(dim);
    }
  }
  return roles;
}

bool rope::isLaneContiguous(GenericOp op, const Roles &roles) {
  AffineMap map = op.getIndexingMapsArray()[roles.panelOperand];
  return map.getDimPosition(map.getNumResults() - 1) == roles.lane;
}

bool rope::isStepContiguous(GenericOp op, const Roles &roles) {
  return llvm::all_of(ArrayRef(op.getIndexingMapsArray()).take_front(2),
                      [&](AffineMap map) {
                        return map.getDimPosition(map.getNumResults() - 1) ==
                               roles.steps.back();
                      });
}

bool rope::hasManyRows(GenericOp op, const Roles &roles) {
  int64_t rows = roles.row ? op.getStaticLoopRanges()[*roles.row] : 1;
  return ShapedType::isDynamic(rows) || rows >= kMinRowsToPack;
}

bool rope::shouldStream(GenericOp op, const Roles &roles, int64_t width) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  int64_t rows = roles.row ? extents[*roles.row] : 1;
  int64_t columns = extents[roles.lane];
  return isLaneContiguous(op, roles) && ShapedType::isStatic(rows) &&
         rows <= kMaxRowsToStream && roles.steps.size() == 1 &&
         (ShapedType::isDynamic(columns) || columns > 4 * width);
}

static Value widen(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type || !isa<FloatType>(getElementTypeOrSelf(type)))
    return value;
  return arith::ExtFOp::create(builder, loc, type, value);
}

namespace {
// A tensor without contents for `slice`, and what it is cut from if it is.
struct Scratch {
  Value slice, whole;
};
} // namespace

static Value takeCorner(OpBuilder &builder, Location loc, Value whole,
                        ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, loc, whole, offsets, sizes,
                                        strides);
}

// Cut from a tensor of `capacity`, where that is static, so that its buffer can
// be shared by all iterations of loops.
static Scratch createScratch(OpBuilder &builder, Location loc,
                             ArrayRef<OpFoldResult> sizes,
                             ArrayRef<int64_t> capacity, Type element) {
  SmallVector<int64_t> shape, have;
  for (auto [size, most] : llvm::zip_equal(sizes, capacity)) {
    have.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    shape.push_back(ShapedType::isStatic(most) ? most : have.back());
  }
  if (shape == have || ShapedType::isDynamicShape(shape))
    return {tensor::EmptyOp::create(builder, loc, sizes, element), nullptr};
  // Not tensor.empty: patterns would fold the slice into it.
  Value whole = bufferization::AllocTensorOp::create(
      builder, loc, RankedTensorType::get(shape, element), ValueRange());
  return {takeCorner(builder, loc, whole, sizes), whole};
}

// A dense copy of an operand in another type, its dims in the order of the
// loops `order`, in a buffer of `capacity`. Sets `whole` to that.
static GenericOp copyInOrder(RewriterBase &rewriter, GenericOp op,
                             OpOperand *operand, ArrayRef<unsigned> order,
                             ArrayRef<int64_t> capacity, Type element,
                             Value &whole) {
  Location loc = op.getLoc();
  // The copy's loops are `order`; its source has the same dims, permuted.
  SmallVector<AffineExpr> source;
  SmallVector<OpFoldResult> sizes(order.size());
  SmallVector<OpFoldResult> have =
      tensor::getMixedSizes(rewriter, loc, operand->get());
  AffineMap map = op.getMatchingIndexingMap(operand);
  for (auto [i, result] : llvm::enumerate(map.getResults())) {
    unsigned dim = cast<AffineDimExpr>(result).getPosition();
    size_t at = llvm::find(order, dim) - order.begin();
    source.push_back(rewriter.getAffineDimExpr(at));
    sizes[at] = have[i];
  }
  Scratch scratch = createScratch(rewriter, loc, sizes, capacity, element);
  whole = scratch.whole;
  Value empty = scratch.slice;
  SmallVector<utils::IteratorType> parallel(order.size(),
                                            utils::IteratorType::parallel);
  auto from = AffineMap::get(order.size(), 0, source, rewriter.getContext());
  return GenericOp::create(
      rewriter, loc, empty.getType(), operand->get(), empty,
      ArrayRef<AffineMap>{from, rewriter.getMultiDimIdentityMap(order.size())},
      parallel, [&](OpBuilder &b, Location l, ValueRange args) {
        linalg::YieldOp::create(b, l, widen(b, l, args[0], element));
      });
}

// `op` on other inputs and maps, widened to the type of the sums.
static GenericOp createProduct(RewriterBase &rewriter, GenericOp op,
                               ValueRange inputs, ArrayRef<AffineMap> maps) {
  Type element = getElementTypeOrSelf(op.getDpsInits()[0]);
  return GenericOp::create(
      rewriter, op.getLoc(), op.getResultTypes(), inputs, op.getDpsInits(),
      maps, op.getIteratorTypesArray(),
      [&](OpBuilder &b, Location l, ValueRange args) {
        Value product = arith::MulFOp::create(
            b, l, widen(b, l, args[0], element), widen(b, l, args[1], element));
        Value sum = arith::AddFOp::create(b, l, args[2], product);
        linalg::YieldOp::create(b, l, sum);
      });
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

rope::RowTiles rope::chooseTiles(int64_t rows) {
  if (ShapedType::isDynamic(rows))
    return {kRows, ShapedType::kDynamic};
  int64_t tiles = llvm::divideCeil(rows, kRows);
  int64_t size = llvm::divideCeil(rows, tiles);
  return {size, rows - tiles * (size - 1)};
}

int64_t rope::choosePanelSteps(GenericOp op, const Roles &roles,
                               const VectorTarget &target) {
  bool pairs = target.dots && canSumPairs(op, roles);
  Type element =
      getElementTypeOrSelf(pairs ? op.getDpsInputs()[0] : op.getDpsInits()[0]);
  int64_t stepBytes =
      getPanelWidth(target) * element.getIntOrFloatBitWidth() / 8;
  int64_t limit = kPanelBytes / stepBytes;
  int64_t extent = op.getStaticLoopRanges()[roles.steps.front()];
  if (ShapedType::isDynamic(extent))
    return limit;
  if (extent * stepBytes <= kWholePanelBytes)
    return extent;
  int64_t size = llvm::divideCeil(extent, llvm::divideCeil(extent, limit));
  return std::min<int64_t>(llvm::alignTo(size, target.lanes), extent);
}

//===----------------------------------------------------------------------===//
// Panels that are stored
//===----------------------------------------------------------------------===//

LoopLikeOpInterface rope::getLoopOver(OpFoldResult position) {
  auto variable = dyn_cast_if_present<BlockArgument>(dyn_cast<Value>(position));
  if (!variable)
    return nullptr;
  Operation *parent = variable.getOwner()->getParentOp();
  if (!isa<scf::ForOp, scf::ForallOp>(parent))
    return nullptr;
  auto loop = cast<LoopLikeOpInterface>(parent);
  return loop.getSingleInductionVar() == Value(variable) ? loop : nullptr;
}

// Whether an offset is a multiple of `width`: a constant, or the variable of a
// loop over panels.
static bool isPanelStart(OpFoldResult offset, int64_t width) {
  if (std::optional<int64_t> constant = getConstantIntValue(offset))
    return *constant % width == 0;
  LoopLikeOpInterface loop = getLoopOver(offset);
  return loop && isPanelStart(*loop.getSingleLowerBound(), width) &&
         isPanelStart(*loop.getSingleStep(), width);
}

// Whether a part of a matrix has whole panels of all steps.
static bool takesPanels(tensor::ExtractSliceOp slice, unsigned laneDim,
                        int64_t width) {
  unsigned stepDim = 1 - laneDim;
  return slice.getSourceType().getRank() == 2 &&
         slice.getType().getRank() == 2 && slice.hasUnitStride() &&
         isConstantIntValue(slice.getMixedOffsets()[stepDim], 0) &&
         slice.getType().getDimSize(stepDim) ==
             slice.getSourceType().getDimSize(stepDim) &&
         isPanelStart(slice.getMixedOffsets()[laneDim], width);
}

// Whether an op reads a matrix from panels as rope-pack-weights stores them,
// none of them padded.
static bool readsPanels(linalg::UnPackOp unpack, int64_t laneDim, int64_t width,
                        bool pairs) {
  SmallVector<int64_t> order = {laneDim, 1 - laneDim};
  ArrayRef<int64_t> dims = ArrayRef(order).take_front(pairs ? 2 : 1);
  SmallVector<int64_t> tiles = {width, 2};
  tiles.resize(dims.size());
  auto matrix = cast<RankedTensorType>(unpack.getDest().getType());
  return matrix.getRank() == 2 && matrix.hasStaticShape() &&
         unpack.getStaticInnerTiles() == ArrayRef(tiles) &&
         unpack.getInnerDimsPos() == dims &&
         unpack.getOuterDimsPerm() == ArrayRef(order) &&
         unpack.getSource().getType() ==
             linalg::PackOp::inferPackedType(matrix, tiles, dims, order) &&
         llvm::all_of(llvm::zip_equal(dims, tiles), [&](auto dimAndTile) {
           auto [dim, tile] = dimAndTile;
           return matrix.getDimSize(dim) % tile == 0;
         });
}

// What a panel's operand is cut from, where that is stored in panels.
static linalg::UnPackOp getUnpack(GenericOp op, const Roles &roles,
                                  int64_t width, bool pairs) {
  Value operand = op.getDpsInputs()[roles.panelOperand];
  AffineMap map = op.getIndexingMapsArray()[roles.panelOperand];
  if (map.getNumResults() != 2)
    return nullptr;
  unsigned laneDim = isLaneContiguous(op, roles) ? 1 : 0;
  if (auto slice = operand.getDefiningOp<tensor::ExtractSliceOp>()) {
    if (!takesPanels(slice, laneDim, width))
      return nullptr;
    operand = slice.getSource();
  }
  auto unpack = operand.getDefiningOp<linalg::UnPackOp>();
  return unpack && readsPanels(unpack, laneDim, width, pairs) ? unpack
                                                              : nullptr;
}

bool rope::isStoredInPanels(GenericOp op, const Roles &roles, int64_t width,
                            bool pairs) {
  return getUnpack(op, roles, width, pairs) != nullptr;
}

Value rope::findStoredPanel(RewriterBase &rewriter, GenericOp op,
                            const Roles &roles, int64_t width, bool pairs) {
  linalg::UnPackOp unpack = getUnpack(op, roles, width, pairs);
  if (!unpack || op.getStaticLoopRanges()[roles.lane] != width)
    return nullptr;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  OpFoldResult number = rewriter.getIndexAttr(0);
  Value operand = op.getDpsInputs()[roles.panelOperand];
  if (auto slice = operand.getDefiningOp<tensor::ExtractSliceOp>())
    number = affine::makeComposedFoldedAffineApply(
        rewriter, loc, rewriter.getAffineSymbolExpr(0).floorDiv(width),
        {slice.getMixedOffsets()[unpack.getInnerDimsPos().front()]});
  auto type = cast<RankedTensorType>(unpack.getSource().getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), rewriter.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, unpack.getSource());
  offsets.front() = number;
  sizes.front() = rewriter.getIndexAttr(1);
  auto panelType = RankedTensorType::get(type.getShape().drop_front(),
                                         type.getElementType());
  Value panel = tensor::ExtractSliceOp::create(
      rewriter, loc, panelType, unpack.getSource(), offsets, sizes, strides);
  if (panelType.getRank() == 2)
    return panel;
  SmallVector<ReassociationIndices> groups = {{0}, {1, 2}};
  return tensor::CollapseShapeOp::create(rewriter, loc, panel, groups);
}

GenericOp rope::readStoredPanel(RewriterBase &rewriter, GenericOp op,
                                const Roles &roles, Value panel) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[roles.panelOperand] =
      AffineMap::get(op.getNumLoops(), 0,
                     {rewriter.getAffineDimExpr(roles.steps.front()),
                      rewriter.getAffineDimExpr(roles.lane)},
                     rewriter.getContext());
  SmallVector<Value> inputs = op.getDpsInputs();
  inputs[roles.panelOperand] = panel;
  GenericOp product = createProduct(rewriter, op, inputs, maps);
  rewriter.replaceOp(op, product.getResults());
  return product;
}

//===----------------------------------------------------------------------===//
// Panels that are packed
//===----------------------------------------------------------------------===//

namespace {
// A product on a panel, and the copy that packs it.
struct PackedProduct {
  GenericOp product, pack;
  // What the panel is cut from, if it is.
  Value whole;
};
} // namespace

// As packPanel; the copy is not tiled.
static PackedProduct readPacked(RewriterBase &rewriter, GenericOp op,
                                const Roles &roles, int64_t maxSteps,
                                int64_t maxLanes) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  SmallVector<unsigned> order = roles.steps;
  order.push_back(roles.lane);
  SmallVector<int64_t> capacity(order.size(), ShapedType::kDynamic);
  capacity.front() = maxSteps;
  capacity.back() = maxLanes;
  PackedProduct packed;
  packed.pack = copyInOrder(
      rewriter, op, op.getDpsInputOperand(roles.panelOperand), order, capacity,
      getElementTypeOrSelf(op.getDpsInits()[0]), packed.whole);

  SmallVector<AffineExpr> target = llvm::map_to_vector(
      order, [&](unsigned dim) { return rewriter.getAffineDimExpr(dim); });
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[roles.panelOperand] =
      AffineMap::get(op.getNumLoops(), 0, target, rewriter.getContext());
  SmallVector<Value> inputs = op.getDpsInputs();
  inputs[roles.panelOperand] = packed.pack.getResult(0);
  packed.product = createProduct(rewriter, op, inputs, maps);
  rewriter.replaceOp(op, packed.product.getResults());
  return packed;
}

Panel rope::packPanel(RewriterBase &rewriter, GenericOp op, const Roles &roles,
                      int64_t lanes, int64_t maxSteps, int64_t maxLanes) {
  OpBuilder::InsertionGuard guard(rewriter);
  auto [packed, pack, whole] =
      readPacked(rewriter, op, roles, maxSteps, maxLanes);
  tileElementwise(rewriter, pack, lanes);
  if (!whole || ShapedType::isDynamic(maxLanes))
    return {packed, nullptr};
  rewriter.setInsertionPoint(packed);
  Location loc = packed.getLoc();
  Value part = packed.getDpsInputs()[roles.panelOperand];
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, part);
  SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), rewriter.getIndexAttr(1));
  whole = tensor::InsertSliceOp::create(rewriter, loc, part, whole, offsets,
                                        sizes, strides);
  sizes.back() = rewriter.getIndexAttr(maxLanes);
  return {packed, takeCorner(rewriter, loc, whole, sizes)};
}

// Copies the lanes of a step of `source` to a panel, in its type.
static Value packStep(RewriterBase &rewriter, Location loc, Value source,
                      Value step, Value panel) {
  auto type = cast<RankedTensorType>(source.getType());
  auto narrow = VectorType::get(type.getDimSize(1), type.getElementType());
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value padding = arith::ConstantOp::create(
      rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
  SmallVector<Value> at = {step, zero};
  SmallVector<bool> inBounds = {true};
  Value lanes = vector::TransferReadOp::create(rewriter, loc, narrow, source,
                                               at, padding, inBounds);
  lanes = widen(rewriter, loc, lanes,
                narrow.clone(getElementTypeOrSelf(panel.getType())));
  return vector::TransferWriteOp::create(rewriter, loc, lanes, panel, at,
                                         inBounds)
      .getResult();
}

// One step of a product, the part of it in `box`, with a panel in place of its
// own. Appends the updated sums to `results`.
static GenericOp multiplyStep(RewriterBase &rewriter, GenericOp op,
                              const Roles &roles, const IterationBox &box,
                              Value panel, Value sums,
                              SmallVectorImpl<Value> &results) {
  auto whole = cast<GenericOp>(rewriter.clone(*op));
  whole.getDpsInputOperand(roles.panelOperand)->set(panel);
  GenericOp step = createPiece(rewriter, whole, box, sums, results);
  rewriter.eraseOp(whole);
  return step;
}

// Replaces the copy that packs a panel and a product of a few rows, all of
// which is in `box`, by one loop over steps.
static void fuseWithPack(RewriterBase &rewriter, GenericOp pack, GenericOp rows,
                         const Roles &roles, IterationBox box) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(rows);
  Location loc = rows.getLoc();
  unsigned dim = roles.steps.front();
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value end = getValueOrCreateConstantIndexOp(rewriter, loc, box.sizes[dim]);
  box.sizes[dim] = rewriter.getIndexAttr(1);
  Value source = pack.getDpsInputs()[0];
  SmallVector<Value> inits = {rows.getDpsInits()[0], pack.getDpsInits()[0]};
  GenericOp product;
  auto loop = scf::ForOp::create(
      rewriter, loc, zero, end, one, inits,
      [&](OpBuilder &, Location, Value step, ValueRange carried) {
        prefetchStep(rewriter, loc, source, step, end);
        Value panel = packStep(rewriter, loc, source, step, carried[1]);
        box.offsets[dim] = step;
        SmallVector<Value> results;
        product = multiplyStep(rewriter, rows, roles, box, panel, carried[0],
                               results);
        results.push_back(panel);
        scf::YieldOp::create(rewriter, loc, results);
      });
  rewriter.replaceOp(rows, loop.getResult(0));
  rewriter.replaceOp(pack, loop.getResult(1));
  (void)vectorizePiece(rewriter, product);
}

GenericOp rope::packBesideRows(RewriterBase &rewriter, GenericOp op,
                               const Roles &roles, int64_t rows,
                               int64_t maxSteps,
                               llvm::function_ref<void(GenericOp)> fillFirst) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  // Sizes of what is there before the panel, which is the loop's.
  IterationBox box = getIterationBox(rewriter, op);
  box.sizes[*roles.row] = rewriter.getIndexAttr(rows);
  auto [product, pack, whole] =
      readPacked(rewriter, op, roles, maxSteps, ShapedType::kDynamic);
  rewriter.setInsertionPoint(product);
  SmallVector<Value> updated;
  GenericOp first =
      createPiece(rewriter, product, box, product.getDpsInits(), updated);
  product.getDpsInitsMutable()[0].set(updated.front());
  fillFirst(first);
  fuseWithPack(rewriter, pack, first, roles, box);
  return product;
}
