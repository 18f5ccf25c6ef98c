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
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::rope;
using linalg::GenericOp;

// Below this number of rows a panel is not read often enough to be packed.
static constexpr int64_t kMinRowsToPack = 16;
// Rows of a register tile, at most.
static constexpr int64_t kRows = 6;
// What a packed panel may take of the second-level cache.
static constexpr int64_t kPanelBytes = 256 * 1024;

namespace {
// Which loop plays which part.
struct Roles {
  unsigned lane;               // runs along the result's memory
  std::optional<unsigned> row; // varies the operand that lanes do not
  SmallVector<unsigned> steps; // summed over
  SmallVector<unsigned> outer; // the rest
  unsigned panelOperand;       // the input that varies with the lanes
};
} // namespace

static std::optional<Roles> assignRoles(GenericOp op) {
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

static bool isLaneContiguous(GenericOp op, const Roles &roles) {
  AffineMap map = op.getIndexingMapsArray()[roles.panelOperand];
  return map.getDimPosition(map.getNumResults() - 1) == roles.lane;
}

// Rows of a register tile: as few tiles as possible, of equal size.
static int64_t chooseRows(int64_t extent) {
  if (ShapedType::isDynamic(extent))
    return kRows;
  return llvm::divideCeil(extent, llvm::divideCeil(extent, kRows));
}

static Value widen(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type || !isa<FloatType>(type))
    return value;
  return arith::ExtFOp::create(builder, loc, type, value);
}

// A tensor without contents, cut from one of a size that is known even where
// this one is not, so that its buffer can be shared by all iterations of loops.
static Value createScratch(OpBuilder &builder, Location loc,
                           ArrayRef<OpFoldResult> sizes,
                           ArrayRef<int64_t> bounds, Type element) {
  SmallVector<int64_t> capacity;
  for (auto [size, bound] : llvm::zip_equal(sizes, bounds))
    capacity.push_back(getConstantIntValue(size).value_or(bound));
  bool known = llvm::all_of(sizes, [](OpFoldResult size) {
    return getConstantIntValue(size).has_value();
  });
  if (known || llvm::any_of(capacity, ShapedType::isDynamic))
    return tensor::EmptyOp::create(builder, loc, sizes, element);
  // Not tensor.empty: patterns would fold the slice into it.
  Value buffer = bufferization::AllocTensorOp::create(
      builder, loc, RankedTensorType::get(capacity, element), ValueRange());
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, loc, buffer, offsets, sizes,
                                        strides);
}

// A dense copy of an operand in another type, its dims in the order of the
// loops `order` and no larger than `bounds`, where those are static.
static GenericOp copyInOrder(RewriterBase &rewriter, GenericOp op,
                             OpOperand *operand, ArrayRef<unsigned> order,
                             ArrayRef<int64_t> bounds, Type element) {
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
  Value empty = createScratch(rewriter, loc, sizes, bounds, element);
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

namespace {
class ProductTiler {
public:
  ProductTiler(RewriterBase &rewriter, int64_t lanes, int64_t registers)
      : rewriter(rewriter), lanes(lanes),
        width(registers >= 32 ? 4 * lanes : 2 * lanes) {}

  /// Tiles an op that has no other dims than its roles.
  void run(GenericOp op);

private:
  GenericOp packPanel(GenericOp op, const Roles &roles,
                      int64_t maxSteps = ShapedType::kDynamic);
  void fillPiece(GenericOp op);
  void sumTile(GenericOp op, ArrayRef<unsigned> steps);
  void tileRows(GenericOp op);
  void tilePanel(GenericOp op);
  void tilePanels(GenericOp op);
  int64_t chooseSteps(GenericOp op, const Roles &roles) const;

  RewriterBase &rewriter;
  int64_t lanes;
  // Lanes of a panel: six rows of it fill most registers.
  int64_t width;
  // What the sums start from, if not from the init; and if that is only true
  // of the first block of a sum, whether this is the first.
  Value start, isFirst;
};
} // namespace

// Copies the panel of `op` to a dense tensor, steps outermost and lanes
// innermost, in the type of the sums.
GenericOp ProductTiler::packPanel(GenericOp op, const Roles &roles,
                                  int64_t maxSteps) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  SmallVector<unsigned> order = roles.steps;
  order.push_back(roles.lane);
  SmallVector<int64_t> bounds(order.size(), ShapedType::kDynamic);
  bounds.front() = maxSteps;
  GenericOp pack =
      copyInOrder(rewriter, op, op.getDpsInputOperand(roles.panelOperand),
                  order, bounds, getElementTypeOrSelf(op.getDpsInits()[0]));

  SmallVector<AffineExpr> target = llvm::map_to_vector(
      order, [&](unsigned dim) { return rewriter.getAffineDimExpr(dim); });
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[roles.panelOperand] =
      AffineMap::get(op.getNumLoops(), 0, target, rewriter.getContext());
  SmallVector<Value> inputs = op.getDpsInputs();
  inputs[roles.panelOperand] = pack.getResult(0);
  GenericOp packed = createProduct(rewriter, op, inputs, maps);
  rewriter.replaceOp(op, packed.getResults());
  tileElementwise(rewriter, pack, lanes);
  return packed;
}

// Gives a piece a start value of its own in place of a slice of a filled
// tensor, which need then not be filled.
void ProductTiler::fillPiece(GenericOp op) {
  if (!start)
    return;
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
  if (fill.hasPureTensorSemantics() &&
      cast<RankedTensorType>(init.getType()).hasStaticShape())
    (void)vectorizePiece(rewriter, fill);
}

// Sums up one register tile.
void ProductTiler::sumTile(GenericOp op, ArrayRef<unsigned> steps) {
  fillPiece(op);
  op = tileToUnits(rewriter, op, steps);
  op = dropUnits(rewriter, op, steps.drop_back());
  (void)vectorizePiece(rewriter, op);
}

// Tiles of one panel that is packed, if that is worth it.
void ProductTiler::tileRows(GenericOp op) {
  std::optional<Roles> roles = assignRoles(op);
  if (!roles->row)
    return sumTile(op, roles->steps);
  unsigned row = *roles->row;
  while (op) {
    int64_t extent = op.getStaticLoopRanges()[row];
    DimPieces pieces = tileDim(rewriter, op, row, chooseRows(extent));
    if (pieces.main)
      sumTile(pieces.main, roles->steps);
    op = pieces.tail;
    if (op && ShapedType::isDynamic(extent))
      return sumTile(tileToUnits(rewriter, op, {row}), roles->steps);
  }
}

// How much of a sum a packed panel holds.
int64_t ProductTiler::chooseSteps(GenericOp op, const Roles &roles) const {
  Type element = getElementTypeOrSelf(op.getDpsInits()[0]);
  int64_t limit = kPanelBytes / (width * element.getIntOrFloatBitWidth() / 8);
  int64_t extent = op.getStaticLoopRanges()[roles.steps.front()];
  if (ShapedType::isDynamic(extent))
    return limit;
  int64_t size = llvm::divideCeil(extent, llvm::divideCeil(extent, limit));
  return std::min<int64_t>(llvm::alignTo(size, lanes), extent);
}

void ProductTiler::tilePanel(GenericOp op) {
  std::optional<Roles> roles = assignRoles(op);
  int64_t rows = roles->row ? op.getStaticLoopRanges()[*roles->row] : 1;
  bool manyRows = ShapedType::isDynamic(rows) || rows >= kMinRowsToPack;
  bool narrow = getElementTypeOrSelf(op.getDpsInputs()[roles->panelOperand]) !=
                getElementTypeOrSelf(op.getDpsInits()[0]);
  if (!manyRows && !narrow && isLaneContiguous(op, *roles))
    return tileRows(op);
  if (!manyRows || roles->steps.size() != 1)
    return tileRows(packPanel(op, *roles));
  int64_t steps = chooseSteps(op, *roles);
  DimBlock block = tileDimInBlocks(rewriter, op, roles->steps.front(), steps);
  OpBuilder::InsertionGuard guard(rewriter);
  if (block.position && start) {
    rewriter.setInsertionPoint(block.op);
    Value zero = arith::ConstantIndexOp::create(rewriter, op.getLoc(), 0);
    isFirst =
        arith::CmpIOp::create(rewriter, block.op.getLoc(),
                              arith::CmpIPredicate::eq, block.position, zero);
  }
  tileRows(packPanel(block.op, *roles, steps));
  isFirst = nullptr;
}

void ProductTiler::tilePanels(GenericOp op) {
  while (op) {
    std::optional<Roles> roles = assignRoles(op);
    if (!roles)
      return;
    int64_t extent = op.getStaticLoopRanges()[roles->lane];
    int64_t size = chooseVectorSize(extent, width, width);
    if (size == 1)
      return fillPiece(op);
    DimPieces pieces = tileDim(rewriter, op, roles->lane, size);
    if (pieces.main)
      tilePanel(pieces.main);
    op = pieces.tail;
    if (op && ShapedType::isDynamic(op.getStaticLoopRanges()[roles->lane])) {
      // Less than a panel is left: single vectors, then single elements.
      pieces = tileDim(rewriter, op, roles->lane, lanes);
      if (pieces.main)
        tilePanel(pieces.main);
      if (pieces.tail)
        fillPiece(pieces.tail);
      return;
    }
  }
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
  tilePanels(op);
}

void rope::tileContraction(RewriterBase &rewriter, GenericOp op, int64_t lanes,
                           int64_t registers) {
  std::optional<Roles> roles = assignRoles(op);
  Type element = getElementTypeOrSelf(op.getResultTypes()[0]);
  if (!roles || !isVectorizable(op) ||
      !isa<Float32Type, Float64Type>(element) ||
      !llvm::all_of(op.getDpsInputs(), [](Value input) {
        return isa<FloatType>(getElementTypeOrSelf(input));
      }))
    return;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  int64_t rows = roles->row ? extents[*roles->row] : 1;
  bool fewRows = ShapedType::isStatic(rows) && rows < kMinRowsToPack;
  // With few rows and the panel stored along the sum, the sum is what to put
  // in lanes.
  if (fewRows && !isLaneContiguous(op, *roles))
    return tileReduction(rewriter, op, lanes);
  if (chooseVectorSize(extents[roles->lane], lanes, lanes) != 1)
    ProductTiler(rewriter, lanes, registers).run(op);
}
