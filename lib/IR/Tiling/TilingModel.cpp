//===- TilingModel.cpp - How the ops of the dialect are cut ---------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TilingInterface from a TilingModel. A tile of the domain is carried to the
// operands dim by dim, and back. The one hard case is a dim that holds two dims
// of the domain, (hg): its part is one piece only if one h is taken, or if g is
// whole.
//
//===----------------------------------------------------------------------===//

#include "TilingModel.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

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
  if (extent == 1)
    return true;
  if (!isZeroInteger(tile.offsets[dim]))
    return false;
  if (ShapedType::isDynamic(extent))
    return isDynamicExtent(tile.sizes[dim], *this, dim);
  return isConstantIntValue(tile.sizes[dim], extent);
}

/// Whether a tile of `shaped` has all of its dim `dim`.
static bool isWholeDim(Value shaped, const Tile &tile, unsigned dim) {
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

//===----------------------------------------------------------------------===//
// From the domain to operands
//===----------------------------------------------------------------------===//

/// `map` of `operands`, folded where they are constant.
static OpFoldResult apply(OpBuilder &builder, Location loc, AffineExpr expr,
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
  if (!isConstantIntValue(tile.sizes[outer], 1))
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
      return model.op.emitOpError()
             << "cannot be tiled: the tile of operand " << i
             << " would not be one piece; of a dim that holds two, either one "
                "of the outer or all of the inner must be taken";
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
// From operands to the domain
//===----------------------------------------------------------------------===//

/// Whether a value is known to be a multiple of `factor`.
static bool isMultipleOf(OpFoldResult value, int64_t factor) {
  if (factor == 1)
    return true;
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant % factor == 0;
  auto dynamic = cast<Value>(value);
  if (auto apply = dynamic.getDefiningOp<affine::AffineApplyOp>()) {
    AffineExpr expr = apply.getAffineMap().getResult(0);
    if (expr.isMultipleOf(factor))
      return true;
    return isa<AffineDimExpr, AffineSymbolExpr>(expr) &&
           isMultipleOf(apply.getMapOperands().front(), factor);
  }
  auto argument = dyn_cast<BlockArgument>(dynamic);
  auto loop =
      argument
          ? dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp())
          : nullptr;
  if (!loop)
    return false;
  auto ivs = loop.getLoopInductionVars();
  auto starts = loop.getLoopLowerBounds();
  auto steps = loop.getLoopSteps();
  if (!ivs || !starts || !steps)
    return false;
  for (auto [iv, start, step] : llvm::zip(*ivs, *starts, *steps))
    if (iv == dynamic)
      return isMultipleOf(start, factor) && isMultipleOf(step, factor);
  return false;
}

/// Sets dims of a domain tile, each only once.
namespace {
class DomainTileBuilder {
public:
  DomainTileBuilder(OpBuilder &builder, TilingModel &model)
      : builder(builder), model(model) {
    tile.offsets.resize(model.iterators.size());
    tile.sizes.resize(model.iterators.size());
  }

  /// Adds what a part of an operand's dim says of the domain.
  LogicalResult add(ArrayRef<unsigned> dims, OpFoldResult offset,
                    OpFoldResult size);
  /// The tile, whole where nothing was said.
  FailureOr<Tile> take();

private:
  LogicalResult set(unsigned dim, OpFoldResult offset, OpFoldResult size);
  LogicalResult split(unsigned outer, unsigned inner, OpFoldResult offset,
                      OpFoldResult size);

  OpBuilder &builder;
  TilingModel &model;
  Tile tile;
};
} // namespace

LogicalResult DomainTileBuilder::set(unsigned dim, OpFoldResult offset,
                                     OpFoldResult size) {
  if (tile.offsets[dim])
    return success(isEqualConstantIntOrValue(tile.offsets[dim], offset) &&
                   isEqualConstantIntOrValue(tile.sizes[dim], size));
  tile.offsets[dim] = offset;
  tile.sizes[dim] = size;
  return success();
}

LogicalResult DomainTileBuilder::split(unsigned outer, unsigned inner,
                                       OpFoldResult offset, OpFoldResult size) {
  int64_t count = model.getStaticExtent(inner);
  if (model.getStaticExtent(outer) == 1)
    return set(inner, offset, size);
  std::optional<int64_t> width = getConstantIntValue(size);
  if (ShapedType::isDynamic(count) || count == 0 || !width || *width == 0)
    return failure();
  Location loc = model.op.getLoc();
  AffineExpr at = builder.getAffineDimExpr(0);
  OpFoldResult first = apply(builder, loc, at.floorDiv(count), {offset});
  // Whole groups.
  if (*width % count == 0 && isMultipleOf(offset, count))
    return success(
        succeeded(set(outer, first, builder.getIndexAttr(*width / count))) &&
        succeeded(
            set(inner, builder.getIndexAttr(0), builder.getIndexAttr(count))));
  // A part of one group.
  if (count % *width != 0 || !isMultipleOf(offset, *width))
    return failure();
  return success(
      succeeded(set(outer, first, builder.getIndexAttr(1))) &&
      succeeded(set(inner, apply(builder, loc, at % count, {offset}), size)));
}

LogicalResult DomainTileBuilder::add(ArrayRef<unsigned> dims,
                                     OpFoldResult offset, OpFoldResult size) {
  if (dims.size() == 1)
    return set(dims.front(), offset, size);
  return split(dims[0], dims[1], offset, size);
}

FailureOr<Tile> DomainTileBuilder::take() {
  for (auto [dim, offset] : llvm::enumerate(tile.offsets)) {
    if (!offset) {
      offset = builder.getIndexAttr(0);
      tile.sizes[dim] = model.getExtent(builder, dim);
    } else if (model.iterators[dim] != utils::IteratorType::parallel &&
               !model.isWhole(tile, dim)) {
      // A part of a reduction is not a part of its result.
      return failure();
    }
  }
  return std::move(tile);
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

static unsigned getInitOperand(TilingModel &model, unsigned resultNumber) {
  return model.op.getDpsInitOperand(resultNumber)->getOperandNumber();
}

static bool holds(const OperandDims &dims, unsigned dim) {
  return llvm::any_of(dims, [&](ArrayRef<unsigned> held) {
    return llvm::is_contained(held, dim);
  });
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

/// Fails if two tiles would write the same part of a result at the same time,
/// or over each other.
static LogicalResult verifyDisjoint(TilingModel &model, const Tile &tile) {
  for (unsigned dim = 0; dim < model.iterators.size(); ++dim) {
    if (model.isWhole(tile, dim))
      continue;
    if (model.iterators[dim] != utils::IteratorType::parallel) {
      if (isInParallelLoop(model))
        return model.op.emitOpError()
               << "cannot be tiled along dim " << dim
               << " of its domain by a parallel loop: each tile reads what the "
                  "one before it has written";
      continue;
    }
    for (OpOperand &init : model.op.getDpsInitsMutable())
      if (!holds(model.operands[init.getOperandNumber()], dim))
        return model.op.emitOpError()
               << "cannot be tiled along dim " << dim
               << " of its domain: all tiles would write to the same init "
               << init.getOperandNumber() - model.op.getNumDpsInputs();
  }
  return success();
}

FailureOr<TilingResult> tiling::getTiledImplementation(OpBuilder &builder,
                                                       TilingModel &model,
                                                       const Tile &tile) {
  if (failed(verifyDisjoint(model, tile)) || failed(model.verifyTile(tile)))
    return failure();
  TilingResult result;
  FailureOr<SmallVector<Value>> operands =
      createOperandTiles(builder, model, tile, result.generatedSlices);
  if (failed(operands))
    return failure();
  Operation *tiled = cloneOnOperands(builder, model.op, *operands);
  if (failed(model.adjust(builder, tiled, tile)))
    return failure();
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
      getOperandTile(builder, model, getInitOperand(model, resultNumber), tile);
  if (failed(part))
    return failure();
  offsets = std::move(part->offsets);
  sizes = std::move(part->sizes);
  return success();
}

FailureOr<Tile> tiling::getDomainTileOfResult(OpBuilder &builder,
                                              TilingModel &model,
                                              unsigned resultNumber,
                                              const Tile &tile) {
  DomainTileBuilder domain(builder, model);
  const OperandDims &dims = model.operands[getInitOperand(model, resultNumber)];
  for (auto [i, held] : llvm::enumerate(dims))
    if (!held.empty() &&
        failed(domain.add(held, tile.offsets[i], tile.sizes[i])))
      return failure();
  return domain.take();
}

FailureOr<Tile>
tiling::getDomainTileOfOperands(OpBuilder &builder, TilingModel &model,
                                ArrayRef<unsigned> operandNumbers,
                                ArrayRef<SmallVector<OpFoldResult>> offsets,
                                ArrayRef<SmallVector<OpFoldResult>> sizes) {
  DomainTileBuilder domain(builder, model);
  for (auto [number, offset, size] :
       llvm::zip_equal(operandNumbers, offsets, sizes)) {
    Tile tile{offset, size};
    Value operand = model.op->getOperand(number);
    for (auto [i, held] : llvm::enumerate(model.operands[number])) {
      if (held.empty() ? !isWholeDim(operand, tile, i)
                       : failed(domain.add(held, offset[i], size[i])))
        return failure();
    }
  }
  return domain.take();
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
  unsigned init = getInitOperand(model, resultNumber);
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
