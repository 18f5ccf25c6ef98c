//===- Table.cpp - Tiling of the ops that make tables ---------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TilingInterface of rope.table, rope.assemble and rope.compose. The domain is
// the leading dims; a row is always whole, since the width of a table is
// static.
//
//===----------------------------------------------------------------------===//

#include "TilingModel.h"
#include "rope/IR/Rope.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::rope;

namespace {
/// A model whose domain is the leading dims of an operand.
class LeadingDimsModel : public TilingModel {
public:
  LeadingDimsModel(DestinationStyleOpInterface op, Value init, int64_t trailing)
      : TilingModel(op), init(init) {
    lead = cast<ShapedType>(init.getType()).getRank() - trailing;
    iterators.assign(lead, utils::IteratorType::parallel);
  }

  int64_t getStaticExtent(unsigned dim) override {
    return cast<ShapedType>(init.getType()).getDimSize(dim);
  }
  OpFoldResult getExtent(OpBuilder &builder, unsigned dim) override {
    if (isa<MemRefType>(init.getType()))
      return memref::getMixedSize(builder, op.getLoc(), init, dim);
    return tensor::getMixedSize(builder, op.getLoc(), init, dim);
  }

protected:
  /// Dims of which `before` and `after` lie around the leading dims.
  OperandDims getDims(int64_t before, int64_t after) const {
    OperandDims dims(before);
    for (int64_t i = 0; i < lead; ++i)
      dims.push_back({static_cast<unsigned>(i)});
    dims.resize(before + lead + after);
    return dims;
  }

  Value init;
  int64_t lead;
};

class TableModel : public LeadingDimsModel {
public:
  explicit TableModel(TableOp op)
      : LeadingDimsModel(op, op.getInit(), /*trailing=*/2) {
    bool shaped = isa<ShapedType>(op.getPositions().getType());
    operands.push_back(shaped ? getDims(op.getAxes() ? 1 : 0, 0)
                              : OperandDims());
    if (op.getLength())
      operands.emplace_back();
    operands.push_back(getDims(0, 2));
  }

  /// Row r of a tile is at position start + offset + r.
  LogicalResult adjust(OpBuilder &builder, Operation *tiled,
                       const Tile &tile) override {
    auto table = cast<TableOp>(tiled);
    if (!table.getPositions().getType().isIndex() ||
        isZeroInteger(tile.offsets[0]))
      return success();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(tiled);
    Location loc = tiled->getLoc();
    Value start = builder.createOrFold<arith::AddIOp>(
        loc, table.getPositions(),
        getValueOrCreateConstantIndexOp(builder, loc, tile.offsets[0]));
    table.getPositionsMutable().assign(start);
    return success();
  }
};

class AssembleModel : public LeadingDimsModel {
public:
  explicit AssembleModel(AssembleOp op)
      : LeadingDimsModel(op, op.getInit(), /*trailing=*/2) {
    operands = {getDims(0, 1), getDims(0, 1), getDims(0, 2)};
  }
};

class ComposeModel : public LeadingDimsModel {
public:
  explicit ComposeModel(ComposeOp op)
      : LeadingDimsModel(op, op.getInit(), /*trailing=*/2) {
    operands.assign(3, getDims(0, 2));
  }
};
} // namespace

ROPE_DEFINE_TILING(TableOp, TableModel)
ROPE_DEFINE_TILING(AssembleOp, AssembleModel)
ROPE_DEFINE_TILING(ComposeOp, ComposeModel)
