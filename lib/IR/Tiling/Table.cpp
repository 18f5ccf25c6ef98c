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
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::rope;

namespace {
/// A model whose domain is the leading dims of a table.
class RowsModel : public LeadingDimsModel {
public:
  RowsModel(DestinationStyleOpInterface op, Value table)
      : LeadingDimsModel(op, table,
                         cast<ShapedType>(table.getType()).getRank() - 2) {}

protected:
  /// Dims of which `before` and `after` lie around the leading dims.
  OperandDims getDims(int64_t before, int64_t after) const {
    OperandDims dims(before);
    for (unsigned i = 0; i < iterators.size(); ++i)
      dims.push_back({i});
    dims.resize(dims.size() + after);
    return dims;
  }
};

class TableModel : public RowsModel {
public:
  explicit TableModel(TableOp op) : RowsModel(op, op.getInit()) {
    bool shaped = isa<ShapedType>(op.getPositions().getType());
    operands.push_back(shaped ? getDims(op.getAxes() ? 1 : 0, 0)
                              : OperandDims());
    if (op.getLength())
      operands.emplace_back();
    operands.push_back(getDims(0, 2));
  }

  /// Row r of a tile is at position start + offset + r.
  void adjust(OpBuilder &builder, Operation *tiled, const Tile &tile) override {
    auto table = cast<TableOp>(tiled);
    if (!table.getPositions().getType().isIndex() ||
        isZeroInteger(tile.offsets[0]))
      return;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(tiled);
    Location loc = tiled->getLoc();
    Value start = builder.createOrFold<arith::AddIOp>(
        loc, table.getPositions(),
        getValueOrCreateConstantIndexOp(builder, loc, tile.offsets[0]));
    table.getPositionsMutable().assign(start);
  }
};

class AssembleModel : public RowsModel {
public:
  explicit AssembleModel(AssembleOp op) : RowsModel(op, op.getInit()) {
    operands = {getDims(0, 1), getDims(0, 1), getDims(0, 2)};
  }
};

class ComposeModel : public RowsModel {
public:
  explicit ComposeModel(ComposeOp op) : RowsModel(op, op.getInit()) {
    operands.assign(3, getDims(0, 2));
  }
};
} // namespace

ROPE_DEFINE_TILING(TableOp, TableModel)
ROPE_DEFINE_TILING(AssembleOp, AssembleModel)
ROPE_DEFINE_TILING(ComposeOp, ComposeModel)
