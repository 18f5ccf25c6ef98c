//===- TilingModel.cpp - How the ops of the dialect are cut ---------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TilingInterface from a TilingModel. A tile of the domain is carried to the
// operands dim by dim (and back in DomainTile.cpp). The one hard case is a dim
// that holds two dims of the domain, (hg): its part is one piece only if one h
// is taken, or if g is whole.
//
//===----------------------------------------------------------------------===//

#include "TilingModel.h"
#include "LoopFacts.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Whole dims
//===----------------------------------------------------------------------===//

/// What a value carried by loops is at first. Tiling puts the init of an op
/// into loops that carry it, and asks for positions before and after.
static Value skipLoops(Value value) {
  while (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop =
        dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    if (!init)
      break;
    value = init->get();
  }
  return value;
}

/// Whether `size` is the op that reads the extent of dim `dim` of `shaped`.
static bool isDimOf(OpFoldResult size, Value shaped, int64_t dim) {
  auto value = dyn_cast<Value>(size);
  if (!value)
    return false;
  if (auto op = value.getDefiningOp<tensor::DimOp>())
    return skipLoops(op.getSource()) == skipLoops(shaped) &&
           op.getConstantIndex() == dim;
  if (auto op = value.getDefiningOp<memref::DimOp>())
    return op.getSource() == shaped && op.getConstantIndex() == dim;
  return false;
}

/// Whether `size` reads the extent of an operand's dim that holds just `dims`.
static bool isDimHolding(OpFoldResult size, TilingModel &model,
                         ArrayRef<unsigned> dims) {
  for (auto [operand, held] :
       llvm::zip_equal(model.op->getOperands(), model.operands))
    for (auto [i, label] : llvm::enumerate(held))
      if (ArrayRef<unsigned>(label) == dims && isDimOf(size, operand, i))
        return true;
  return false;
}

/// Whether `size` is the dynamic extent of a dim of the domain.
static bool isDynamicExtent(OpFoldResult size, TilingModel &model,
                            unsigned dim) {
  if (isDimHolding(size, model, {dim}))
    return true;
  // The inner of two dims that always come together.
  auto value = dyn_cast<Value>(size);
  auto quotient = value ? value.getDefiningOp<arith::DivUIOp>() : nullptr;
  return quotient && dim > 0 &&
         isDimHolding(quotient.getLhs(), model, {dim - 1, dim});
}

bool TilingModel::isWhole(const Tile &tile, unsigned dim) {
  int64_t extent = getStaticExtent(dim);
  // A tile at 0 has at least one element; another one is empty, as where a dim
  // is split over more threads than it has elements.
  if (extent == 1)
    return isAlwaysZero(tile.offsets[dim]);
  if (!isZeroInteger(tile.offsets[dim]))
    return false;
  if (ShapedType::isDynamic(extent))
    return isDynamicExtent(tile.sizes[dim], *this, dim);
  return isConstantIntValue(tile.sizes[dim], extent);
}

Part TilingModel::getPart(const Tile &tile, unsigned dim) {
  bool whole = isWhole(tile, dim);
  bool single = (whole && getStaticExtent(dim) == 1) ||
                isConstantIntValue(tile.sizes[dim], 1);
  return {whole, single};
}

SmallVector<Part> TilingModel::getParts(const Tile &tile) {
  return llvm::map_to_vector(llvm::seq<unsigned>(iterators.size()),
                             [&](unsigned dim) { return getPart(tile, dim); });
}

unsigned TilingModel::getInitOperand(unsigned resultNumber) {
  return op.getDpsInitOperand(resultNumber)->getOperandNumber();
}

bool rope::isWholeDim(Value shaped, const Tile &tile, unsigned dim) {
  if (!isZeroInteger(tile.offsets[dim]))
    return false;
  int64_t extent = cast<ShapedType>(shaped.getType()).getDimSize(dim);
  if (ShapedType::isDynamic(extent))
    return isDimOf(tile.sizes[dim], shaped, dim);
  return isConstantIntValue(tile.sizes[dim], extent);
}

static OpFoldResult createDim(OpBuilder &builder, Location loc, Value shaped,
                              unsigned dim) {
  if (isa<MemRefType>(shaped.getType()))
    return memref::getMixedSize(builder, loc, shaped, dim);
  return tensor::getMixedSize(builder, loc, shaped, dim);
}

int64_t LeadingDimsModel::getStaticExtent(unsigned dim) {
  return cast<ShapedType>(shaped.getType()).getDimSize(dim);
}

OpFoldResult LeadingDimsModel::getExtent(OpBuilder &builder, unsigned dim) {
  return createDim(builder, op.getLoc(), shaped, dim);
}

std::unique_ptr<TilingModel> rope::createTilingModel(Operation *op) {
  return TypeSwitch<Operation *, std::unique_ptr<TilingModel>>(op)
      .Case<TableOp, AssembleOp, ComposeOp, RotateOp, RerotateOp, AttentionOp,
            OnlineAttentionOp, LinearAttentionOp>(
          [](auto op) { return tiling::createModel(op); });
}

//===----------------------------------------------------------------------===//
// From the domain to operands
//===----------------------------------------------------------------------===//

OpFoldResult rope::apply(OpBuilder &builder, Location loc, AffineExpr expr,
                         ArrayRef<OpFoldResult> operands) {
  auto map = AffineMap::get(operands.size(), 0, expr);
  return affine::makeComposedFoldedAffineApply(builder, loc, map, operands);
}

/// x · y, where y may be dynamic.
static OpFoldResult multiply(OpBuilder &builder, Location loc, OpFoldResult x,
                             OpFoldResult y) {
  if (std::optional<int64_t> factor = getConstantIntValue(y))
    return apply(builder, loc, builder.getAffineDimExpr(0) * *factor, {x});
  return builder.createOrFold<arith::MulIOp>(
      loc, getValueOrCreateConstantIndexOp(builder, loc, x),
      getValueOrCreateConstantIndexOp(builder, loc, y));
}

/// The offset and size of the part of a dim (outer · inner).
static FailureOr<std::pair<OpFoldResult, OpFoldResult>>
joinDims(OpBuilder &builder, TilingModel &model, const Tile &tile,
         unsigned outer, unsigned inner) {
  Location loc = model.op.getLoc();
  if (model.isWhole(tile, inner)) {
    OpFoldResult extent = model.getExtent(builder, inner);
    return std::make_pair(multiply(builder, loc, tile.offsets[outer], extent),
                          multiply(builder, loc, tile.sizes[outer], extent));
  }
  if (!model.getPart(tile, outer).single)
    return failure();
  OpFoldResult start = multiply(builder, loc, tile.offsets[outer],
                                model.getExtent(builder, inner));
  AffineExpr sum = builder.getAffineDimExpr(0) + builder.getAffineDimExpr(1);
  return std::make_pair(apply(builder, loc, sum, {start, tile.offsets[inner]}),
                        tile.sizes[inner]);
}

FailureOr<Tile> rope::getOperandTile(OpBuilder &builder, TilingModel &model,
                                     unsigned operandNumber,
                                     const Tile &domainTile) {
  Value shaped = model.op->getOperand(operandNumber);
  Tile tile;
  auto add = [&](OpFoldResult offset, OpFoldResult size) {
    tile.offsets.push_back(offset);
    tile.sizes.push_back(size);
  };
  for (auto [i, dims] : llvm::enumerate(model.operands[operandNumber])) {
    bool whole = llvm::all_of(
        dims, [&](unsigned dim) { return model.isWhole(domainTile, dim); });
    if (whole) {
      add(builder.getIndexAttr(0),
          createDim(builder, model.op.getLoc(), shaped, i));
    } else if (dims.size() == 1) {
      add(domainTile.offsets[dims.front()], domainTile.sizes[dims.front()]);
    } else {
      auto joined = joinDims(builder, model, domainTile, dims[0], dims[1]);
      if (failed(joined))
        return failure();
      add(joined->first, joined->second);
    }
  }
  return tile;
}

Operation *rope::createSlice(OpBuilder &builder, Location loc, Value shaped,
                             const Tile &tile) {
  SmallVector<OpFoldResult> strides(tile.sizes.size(), builder.getIndexAttr(1));
  if (isa<MemRefType>(shaped.getType()))
    return memref::SubViewOp::create(builder, loc, shaped, tile.offsets,
                                     tile.sizes, strides);
  return tensor::ExtractSliceOp::create(builder, loc, shaped, tile.offsets,
                                        tile.sizes, strides);
}

FailureOr<SmallVector<Value>>
rope::createOperandTiles(OpBuilder &builder, TilingModel &model,
                         const Tile &tile,
                         SmallVectorImpl<Operation *> &slices) {
  SmallVector<Value> tiled(model.op->getOperands());
  for (auto [i, operand] : llvm::enumerate(tiled)) {
    // What every tile has all of is not sliced: there is nothing to fuse.
    bool whole = llvm::all_of(model.operands[i], [&](ArrayRef<unsigned> dims) {
      return llvm::all_of(
          dims, [&](unsigned dim) { return model.isWhole(tile, dim); });
    });
    if (whole)
      continue;
    FailureOr<Tile> part = getOperandTile(builder, model, i, tile);
    if (failed(part))
      return failure();
    slices.push_back(createSlice(builder, model.op.getLoc(), operand, *part));
    operand = slices.back()->getResult(0);
  }
  return tiled;
}

Operation *rope::cloneOnOperands(OpBuilder &builder,
                                 DestinationStyleOpInterface op,
                                 ValueRange operands) {
  auto clone = cast<DestinationStyleOpInterface>(builder.clone(*op));
  clone->setOperands(operands);
  for (OpResult result : clone->getResults())
    result.setType(clone.getTiedOpOperand(result)->get().getType());
  return clone;
}

//===----------------------------------------------------------------------===//
// TilingInterface
//===----------------------------------------------------------------------===//

SmallVector<Range> tiling::getIterationDomain(OpBuilder &builder,
                                              TilingModel &model) {
  SmallVector<Range> domain;
  for (unsigned dim = 0; dim < model.iterators.size(); ++dim)
    domain.push_back({builder.getIndexAttr(0), model.getExtent(builder, dim),
                      builder.getIndexAttr(1)});
  return domain;
}

/// Whether tiles of the op run at the same time: its inits are shared by the
/// iterations of a parallel loop.
static bool isInParallelLoop(TilingModel &model) {
  return llvm::any_of(model.op.getDpsInits(), [](Value init) {
    auto argument = dyn_cast<BlockArgument>(init);
    Operation *parent = argument ? argument.getOwner()->getParentOp() : nullptr;
    return parent && parent->hasTrait<OpTrait::HasParallelRegion>();
  });
}

FailureOr<TilingResult> tiling::getTiledImplementation(OpBuilder &builder,
                                                       TilingModel &model,
                                                       const Tile &tile) {
  if (Obstacle obstacle =
          model.findObstacle(model.getParts(tile), isInParallelLoop(model))) {
    // No error: fusion tries what may fail.
    remark::missed(model.op.getLoc(),
                   remark::RemarkOpts::name("tile").category("rope-tile"))
        << *obstacle;
    return failure();
  }
  TilingResult result;
  FailureOr<SmallVector<Value>> operands =
      createOperandTiles(builder, model, tile, result.generatedSlices);
  if (failed(operands))
    return failure();
  Operation *tiled = cloneOnOperands(builder, model.op, *operands);
  model.adjust(builder, tiled, tile);
  result.tiledOps.push_back(tiled);
  result.tiledValues = llvm::to_vector_of<Value>(tiled->getResults());
  return result;
}

LogicalResult tiling::getResultTilePosition(OpBuilder &builder,
                                            TilingModel &model,
                                            unsigned resultNumber,
                                            const Tile &tile,
                                            SmallVector<OpFoldResult> &offsets,
                                            SmallVector<OpFoldResult> &sizes) {
  FailureOr<Tile> part =
      getOperandTile(builder, model, model.getInitOperand(resultNumber), tile);
  if (failed(part))
    return failure();
  offsets = std::move(part->offsets);
  sizes = std::move(part->sizes);
  return success();
}

FailureOr<TilingResult> tiling::generateResultTileValue(OpBuilder &builder,
                                                        TilingModel &model,
                                                        unsigned resultNumber,
                                                        const Tile &tile) {
  FailureOr<Tile> domainTile =
      getDomainTileOfResult(builder, model, resultNumber, tile);
  if (failed(domainTile))
    return failure();
  FailureOr<TilingResult> result =
      getTiledImplementation(builder, model, *domainTile);
  if (failed(result))
    return failure();
  Value value = result->tiledValues[resultNumber];
  unsigned init = model.getInitOperand(resultNumber);
  // A part of the channels is cut out of all of them.
  Tile rest = tile;
  bool whole = true;
  for (auto [i, held] : llvm::enumerate(model.operands[init])) {
    if (!held.empty())
      rest.offsets[i] = builder.getIndexAttr(0);
    else
      whole &= isWholeDim(model.op->getOperand(init), tile, i);
  }
  if (!whole)
    value = createSlice(builder, model.op.getLoc(), value, rest)->getResult(0);
  result->tiledValues = {value};
  return result;
}
