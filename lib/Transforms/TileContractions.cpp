//===- TileContractions.cpp - Matrix products in registers ----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops of a product, from the outside: batch and other dims one by one;
// panels of the lane dim, each packed once; rows, a few at a time; then the
// whole reduction, one step at a time. The sums of a few rows by one panel are
// vectors that the innermost loop carries.
//
//===----------------------------------------------------------------------===//

#include "LinalgTiles.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::rope;
using linalg::GenericOp;

// Below this number of rows a panel is not read often enough to be packed.
static constexpr int64_t kMinRowsToPack = 16;
// Rows of a register tile, at most.
static constexpr int64_t kRows = 6;

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

// Rows of a register tile: a number that leaves no rest is worth more than
// two more rows.
static int64_t chooseRows(int64_t extent) {
  if (ShapedType::isDynamic(extent))
    return kRows;
  if (extent <= kRows)
    return extent;
  return extent % 4 == 0 && extent % kRows != 0 ? 4 : kRows;
}

static Value widen(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type || !isa<FloatType>(type))
    return value;
  return arith::ExtFOp::create(builder, loc, type, value);
}

// A dense copy of an operand in another type, its dims in the order of the
// loops `order`.
static GenericOp copyInOrder(RewriterBase &rewriter, GenericOp op,
                             OpOperand *operand, ArrayRef<unsigned> order,
                             Type element) {
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
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes, element);
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

// Copies the panel of `op` to a dense tensor, steps outermost and lanes
// innermost, in the type of the sums.
static GenericOp packPanel(RewriterBase &rewriter, GenericOp op,
                           const Roles &roles, int64_t lanes) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  SmallVector<unsigned> order = roles.steps;
  order.push_back(roles.lane);
  GenericOp pack =
      copyInOrder(rewriter, op, op.getDpsInputOperand(roles.panelOperand),
                  order, getElementTypeOrSelf(op.getDpsInits()[0]));

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
static void fillPiece(RewriterBase &rewriter, GenericOp op, Value start) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Value init = op.getDpsInits()[0];
  unsigned rank = cast<RankedTensorType>(init.getType()).getRank();
  SmallVector<utils::IteratorType> parallel(rank,
                                            utils::IteratorType::parallel);
  MLIRContext *context = rewriter.getContext();
  auto fill = GenericOp::create(
      rewriter, op.getLoc(), init.getType(), start, init,
      ArrayRef<AffineMap>{AffineMap::get(rank, 0, context),
                          rewriter.getMultiDimIdentityMap(rank)},
      parallel, [&](OpBuilder &b, Location l, ValueRange args) {
        linalg::YieldOp::create(b, l, args[0]);
      });
  rewriter.modifyOpInPlace(
      op, [&] { op.getDpsInitsMutable()[0].set(fill.getResult(0)); });
  if (fill.hasPureTensorSemantics() &&
      cast<RankedTensorType>(init.getType()).hasStaticShape())
    (void)vectorizePiece(rewriter, fill);
}

// Sums up one register tile.
static void sumTile(RewriterBase &rewriter, GenericOp op,
                    ArrayRef<unsigned> steps, Value start) {
  if (start)
    fillPiece(rewriter, op, start);
  op = tileToUnits(rewriter, op, steps);
  op = dropUnits(rewriter, op, steps.drop_back());
  (void)vectorizePiece(rewriter, op);
}

static void tilePanel(RewriterBase &rewriter, GenericOp op, int64_t lanes,
                      Value start);

// Panels of `size` lanes of an op that has no other dims than its roles.
static void tilePanels(RewriterBase &rewriter, GenericOp op, int64_t lanes,
                       Value start) {
  while (op) {
    std::optional<Roles> roles = assignRoles(op);
    if (!roles)
      return;
    int64_t extent = op.getStaticLoopRanges()[roles->lane];
    int64_t size = chooseVectorSize(extent, 4 * lanes, 4 * lanes);
    if (size == 1) {
      if (start)
        fillPiece(rewriter, op, start);
      return;
    }
    DimPieces pieces = tileDim(rewriter, op, roles->lane, size);
    if (pieces.main)
      tilePanel(rewriter, pieces.main, lanes, start);
    op = pieces.tail;
    if (op && ShapedType::isDynamic(op.getStaticLoopRanges()[roles->lane])) {
      // Up to 4 * lanes - 1 are left: single vectors, then single elements.
      pieces = tileDim(rewriter, op, roles->lane, lanes);
      if (pieces.main)
        tilePanel(rewriter, pieces.main, lanes, start);
      if (pieces.tail && start)
        fillPiece(rewriter, pieces.tail, start);
      return;
    }
  }
}

static void tilePanel(RewriterBase &rewriter, GenericOp op, int64_t lanes,
                      Value start) {
  std::optional<Roles> roles = assignRoles(op);
  int64_t rows = roles->row ? op.getStaticLoopRanges()[*roles->row] : 1;
  bool manyRows = ShapedType::isDynamic(rows) || rows >= kMinRowsToPack;
  bool narrow = getElementTypeOrSelf(op.getDpsInputs()[roles->panelOperand]) !=
                getElementTypeOrSelf(op.getDpsInits()[0]);
  if (manyRows || narrow || !isLaneContiguous(op, *roles))
    op = packPanel(rewriter, op, *roles, lanes);
  if (!roles->row)
    return sumTile(rewriter, op, roles->steps, start);
  unsigned row = *roles->row;
  while (op) {
    int64_t extent = op.getStaticLoopRanges()[row];
    DimPieces pieces = tileDim(rewriter, op, row, chooseRows(extent));
    if (pieces.main)
      sumTile(rewriter, pieces.main, roles->steps, start);
    op = pieces.tail;
    if (op && ShapedType::isDynamic(extent)) {
      sumTile(rewriter, tileToUnits(rewriter, op, {row}), roles->steps, start);
      return;
    }
  }
}

void rope::tileContraction(RewriterBase &rewriter, GenericOp op,
                           int64_t lanes) {
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
  if (chooseVectorSize(extents[roles->lane], lanes, lanes) == 1)
    return;

  Value start;
  if (auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>()) {
    start = fill.value();
    rewriter.modifyOpInPlace(
        op, [&] { op.getDpsInitsMutable()[0].set(fill.output()); });
  }
  op = tileToUnits(rewriter, op, roles->outer);
  op = dropUnits(rewriter, op, roles->outer);
  tilePanels(rewriter, op, lanes, start);
}
