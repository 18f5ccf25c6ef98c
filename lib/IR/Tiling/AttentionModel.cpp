//===- AttentionModel.cpp - How attention is cut --------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the dims of all operands are, from their roles, and what becomes of
// positions and lengths in a tile: rows of a tile start at a later position,
// and fewer keys are left from its first key on.
//
//===----------------------------------------------------------------------===//

#include "AttentionModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// The dims of an operand that are loops.
static OperandDims getLoops(ArrayRef<DimLabel> labels, unsigned loops,
                            bool keysFollowRows) {
  OperandDims dims;
  for (const DimLabel &label : labels) {
    auto &held = dims.emplace_back();
    for (DomainDim dim : label) {
      if (keysFollowRows && dim == DomainDim::N)
        dim = DomainDim::M;
      if (getLoop(dim) < loops)
        held.push_back(getLoop(dim));
    }
  }
  return dims;
}

AttentionModel::AttentionModel(AttentionLikeOpInterface op, unsigned loops,
                               bool keysFollowRows)
    : TilingModel(cast<DestinationStyleOpInterface>(op.getOperation())),
      attention(op) {
  iterators.assign(loops, utils::IteratorType::parallel);
  auto getDims = [&](OperandRole role) {
    return getLoops(op.getLabels(role), loops, keysFollowRows);
  };
  // Operands stand in this order in all of the ops.
  using Role = OperandRole;
  for (Role role : {Role::Query, Role::Key, Role::Value, Role::Mask,
                    Role::QueryPos, Role::KeyPos, Role::KeyLength, Role::Sink})
    if (op.getRoleOperand(role))
      operands.push_back(getDims(role));
  for (Role role : {Role::Query, Role::Key, Role::Value, Role::Output}) {
    Rotation rotation = op.getRotation(role);
    if (!rotation)
      continue;
    OperandDims dims = getDims(role), table;
    for (int64_t dim : rotation.getRotary().getAlong())
      table.push_back(dims[dim]);
    table.resize(table.size() + 2);
    operands.push_back(table);
  }
  SmallVector<Role> inits = op.getInitRoles();
  inits.truncate(this->op.getNumDpsInits());
  for (Role role : inits)
    operands.push_back(getDims(role));
}

int64_t AttentionModel::getStaticExtent(unsigned dim) {
  return attention.getStaticExtent(static_cast<DomainDim>(dim));
}

OpFoldResult AttentionModel::getExtent(OpBuilder &builder, unsigned dim) {
  return attention.getExtent(builder, op.getLoc(), static_cast<DomainDim>(dim));
}

//===----------------------------------------------------------------------===//
// Positions and lengths
//===----------------------------------------------------------------------===//

using MapFn = function_ref<Value(OpBuilder &, Location, Value)>;

/// Applies `map`, from index to index, to an index or to each element of a
/// tensor of integers. Indices are wide enough for every sum of positions.
static Value mapSlots(OpBuilder &builder, Location loc, Value slots,
                      MapFn map) {
  auto type = dyn_cast<RankedTensorType>(slots.getType());
  if (!type)
    return map(builder, loc, slots);
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, slots),
      builder.getIndexType());
  SmallVector<AffineMap> maps(2,
                              builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto body = [&](OpBuilder &nested, Location loc, ValueRange args) {
    Value slot = args.front();
    if (!slot.getType().isIndex())
      slot =
          arith::IndexCastOp::create(nested, loc, nested.getIndexType(), slot);
    linalg::YieldOp::create(nested, loc, map(nested, loc, slot));
  };
  return linalg::GenericOp::create(builder, loc, init.getType(), slots, init,
                                   maps, iterators, body)
      .getResult(0);
}

/// Moves the start of consecutive positions to the first row of a tile; a list
/// of positions has been sliced.
static void shiftStart(OpBuilder &builder, AttentionLikeOpInterface op,
                       OperandRole role, DomainDim dim,
                       MutableOperandRange positions, OpFoldResult offset) {
  if (isZeroInteger(offset) || findDim(op.getLabels(role), dim))
    return;
  Location loc = op.getLoc();
  Value shift = getValueOrCreateConstantIndexOp(builder, loc, offset);
  if (positions.empty()) {
    positions.assign(shift);
    return;
  }
  Value start = op.getRoleOperand(role);
  positions.assign(mapSlots(
      builder, loc, start, [&](OpBuilder &builder, Location loc, Value start) {
        return builder.createOrFold<arith::AddIOp>(loc, start, shift);
      }));
}

/// The keys that are left from the first key of a tile on.
static void shiftLength(OpBuilder &builder, Operation *op,
                        MutableOperandRange length, OpFoldResult offset,
                        OpFoldResult size) {
  if (length.empty())
    return;
  Value slots = length[0].get();
  Location loc = op->getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value first = getValueOrCreateConstantIndexOp(builder, loc, offset);
  Value count = getValueOrCreateConstantIndexOp(builder, loc, size);
  length.assign(mapSlots(
      builder, loc, slots, [&](OpBuilder &builder, Location loc, Value slot) {
        Value left = arith::SubIOp::create(builder, loc, slot, first);
        left = arith::MaxSIOp::create(builder, loc, left, zero);
        return arith::MinSIOp::create(builder, loc, left, count).getResult();
      }));
}

/// Whether positions are read: those of keys and rows without an order are not.
template <typename OpTy> static bool isOrdered(OpTy op) {
  return op.getCausal() || op.getWindow();
}

static bool isOrdered(Operation *op) {
  if (auto attention = dyn_cast<AttentionOp>(op))
    return isOrdered(attention);
  return isOrdered(cast<OnlineAttentionOp>(op));
}

template <typename OpTy>
static void shiftRows(OpBuilder &builder, OpTy op, TilingModel &model,
                      const Tile &tile) {
  unsigned m = getLoop(DomainDim::M);
  if (isOrdered(op) && !model.isWhole(tile, m))
    shiftStart(builder, op, OperandRole::QueryPos, DomainDim::M,
               op.getQueryPosMutable(), tile.offsets[m]);
}

void rope::shiftPositions(OpBuilder &builder, Operation *tiled,
                          TilingModel &model, const Tile &tile) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(tiled);
  if (auto op = dyn_cast<AttentionOp>(tiled))
    return shiftRows(builder, op, model, tile);
  auto op = cast<OnlineAttentionOp>(tiled);
  shiftRows(builder, op, model, tile);
  unsigned n = getLoop(DomainDim::N);
  if (model.isWhole(tile, n))
    return;
  if (isOrdered(op))
    shiftStart(builder, op, OperandRole::KeyPos, DomainDim::N,
               op.getKeyPosMutable(), tile.offsets[n]);
  shiftLength(builder, op, op.getKeyLengthMutable(), tile.offsets[n],
              tile.sizes[n]);
}

Obstacle rope::findFixedPositions(AttentionLikeOpInterface op,
                                  ArrayRef<Part> parts) {
  auto isFixed = [&](OperandRole role, DomainDim dim) {
    if (getLoop(dim) >= parts.size() || parts[getLoop(dim)].whole)
      return false;
    Value slots = op.getRoleOperand(role);
    return slots && isa<MemRefType>(slots.getType()) &&
           !findDim(op.getLabels(role), dim);
  };
  bool ordered = isOrdered(op.getOperation());
  if ((ordered && isFixed(OperandRole::QueryPos, DomainDim::M)) ||
      (ordered && isFixed(OperandRole::KeyPos, DomainDim::N)) ||
      isFixed(OperandRole::KeyLength, DomainDim::N))
    return "cannot be tiled: positions and lengths of each batch in a memref "
           "would have to be copied";
  return std::nullopt;
}
