//===- DomainTile.cpp - From tiles of operands to the domain --------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which tile of an op's domain a tile of a result or of operands asks for.
//
//===----------------------------------------------------------------------===//

#include "LoopFacts.h"
#include "TilingModel.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::rope;

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

FailureOr<Tile> tiling::getDomainTileOfResult(OpBuilder &builder,
                                              TilingModel &model,
                                              unsigned resultNumber,
                                              const Tile &tile) {
  DomainTileBuilder domain(builder, model);
  const OperandDims &dims = model.operands[model.getInitOperand(resultNumber)];
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
