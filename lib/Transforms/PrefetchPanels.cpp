//===- PrefetchPanels.cpp - Panels that come next -------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrefetchPanels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::rope;
using linalg::GenericOp;

// Bytes that one prefetch brings.
static constexpr int64_t kLineBytes = 64;
// Into the second-level cache: the first one holds what is computed with.
static constexpr unsigned kLocality = 2;
// Steps between one that is packed beside a few rows and one that is fetched:
// far enough for the last cache, and so few that the second one holds them.
static constexpr int64_t kStepsAhead = 16;

// `value + step` if that is below `end`, or else `otherwise`.
static Value advance(ImplicitLocOpBuilder &b, Value value, Value step,
                     Value end, Value otherwise) {
  Value next = arith::AddIOp::create(b, value, step);
  Value isBelow =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, next, end);
  return arith::SelectOp::create(b, isBelow, next, otherwise);
}

// Sets where the block starts that follows one at `position`, and its steps.
// Returns whether it is in the next panel.
static Value skipToBlock(ImplicitLocOpBuilder &b, Value position, int64_t size,
                         NextPanel &next) {
  Value zero = next.step;
  Value step = arith::ConstantIndexOp::create(b, size);
  next.step = advance(b, position, step, next.steps, zero);
  Value rest = arith::SubIOp::create(b, next.steps, next.step);
  next.steps = arith::MinSIOp::create(b, step, rest);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, next.step, zero);
}

std::optional<NextPanel> rope::findNextPanel(RewriterBase &rewriter,
                                             Value panel, DimBlock block,
                                             const Roles &roles,
                                             int64_t steps) {
  bool hasStepsLast = !isLaneContiguous(block.op, roles);
  unsigned laneDim = hasStepsLast ? 0 : 1, stepDim = 1 - laneDim;
  auto slice = panel.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || !slice.hasUnitStride() ||
      slice.getSourceType().getRank() != 2 || slice.getType().getRank() != 2 ||
      !isConstantIntValue(slice.getMixedOffsets()[stepDim], 0))
    return std::nullopt;
  LoopLikeOpInterface loop = getLoopOver(slice.getMixedOffsets()[laneDim]);
  int64_t lanes = slice.getType().getDimSize(laneDim);
  if (!loop || ShapedType::isDynamic(lanes) ||
      !loop.isDefinedOutsideOfLoop(slice.getSource()))
    return std::nullopt;

  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(block.op);
  ImplicitLocOpBuilder b(block.op.getLoc(), rewriter);
  Value lane = *loop.getSingleInductionVar();
  auto create = [&](OpFoldResult bound) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(), bound);
  };
  Value nextLane = advance(b, lane, create(*loop.getSingleStep()),
                           create(*loop.getSingleUpperBound()), lane);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value all = getValueOrCreateConstantIndexOp(
      b, b.getLoc(),
      tensor::getMixedSize(b, b.getLoc(), slice.getSource(), stepDim));
  NextPanel next = {slice.getSource(), hasStepsLast,  zero,
                    nextLane,          all,           lanes,
                    /*panel=*/{},      /*together=*/1};
  if (block.position) {
    Value isLast = skipToBlock(b, block.position, steps, next);
    next.lane = arith::SelectOp::create(b, isLast, nextLane, lane);
  }
  return next;
}

static Value number(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

static Value multiply(ImplicitLocOpBuilder &b, Value x, Value y) {
  return arith::MulIOp::create(b, x, y);
}

static Value divideCeil(ImplicitLocOpBuilder &b, Value x, Value y) {
  return arith::CeilDivUIOp::create(b, x, y);
}

std::optional<NextPanel> rope::findNextStored(RewriterBase &rewriter,
                                              Value panel, DimBlock block,
                                              int64_t steps) {
  if (auto pairs = panel.getDefiningOp<tensor::CollapseShapeOp>())
    panel = pairs.getSrc();
  auto slice = cast<tensor::ExtractSliceOp>(panel.getDefiningOp());
  RankedTensorType type = slice.getSourceType();
  if (type.getDimSize(0) == 1 && !block.position)
    return std::nullopt;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(block.op);
  ImplicitLocOpBuilder b(block.op.getLoc(), rewriter);
  Value current = getValueOrCreateConstantIndexOp(
      b, b.getLoc(), slice.getMixedOffsets().front());
  Value following =
      advance(b, current, number(b, 1), number(b, type.getDimSize(0)), current);
  int64_t lanes = type.getDimSize(2);
  int64_t together = type.getRank() == 4 ? type.getDimSize(3) : 1;
  Value zero = number(b, 0);
  Value all = number(b, type.getDimSize(1) * together);
  NextPanel next = {
      slice.getSource(), /*hasStepsLast=*/false, zero, zero, all, lanes};
  next.panel = following;
  next.together = together;
  if (block.position) {
    Value isLast = skipToBlock(b, block.position, steps, next);
    next.panel = arith::SelectOp::create(b, isLast, following, current);
    next.step = arith::DivUIOp::create(b, next.step, number(b, together));
  }
  return next;
}

// An operand of any layout, in memory.
static Value getBuffer(ImplicitLocOpBuilder &b, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  auto layout =
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, strides);
  return bufferization::ToBufferOp::create(
      b, MemRefType::get(type.getShape(), type.getElementType(), layout),
      tensor, /*read_only=*/true);
}

PanelPrefetch::PanelPrefetch(RewriterBase &rewriter, GenericOp tile,
                             const Roles &roles, const NextPanel &next,
                             int64_t stepsAtOnce)
    : next(next), stepsAtOnce(stepsAtOnce) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(tile);
  ImplicitLocOpBuilder b(tile.getLoc(), rewriter);
  auto loop = tile->getParentOfType<scf::ForOp>();
  findLines(b, loop);
  unsigned left = 1 - roles.panelOperand;
  AffineMap map = tile.getIndexingMapsArray()[left];
  if (map.getNumResults() == 2 && map.getDimPosition(1) == roles.steps.front())
    findRows(b, loop, tile.getDpsInputs()[left]);
}

// Shares the lines of a panel out among the tiles, and of each among the times
// that something is fetched.
void PanelPrefetch::findLines(ImplicitLocOpBuilder &b, scf::ForOp loop) {
  auto type = cast<RankedTensorType>(next.source.getType());
  elementsOfLine =
      kLineBytes * 8 / (type.getElementTypeBitWidth() * next.together);
  buffer = getBuffer(b, next.source);
  Value inLine = number(b, elementsOfLine), lanes = number(b, next.lanes);
  Value steps = divideCeil(b, next.steps, number(b, next.together));
  end = next.hasStepsLast ? multiply(b, lanes, divideCeil(b, steps, inLine))
                          : multiply(b, steps, divideCeil(b, lanes, inLine));
  auto countRows = [&](Value row) -> Value {
    return arith::SubIOp::create(b, row, loop.getLowerBound());
  };
  Value tiles = divideCeil(b, countRows(loop.getUpperBound()), loop.getStep());
  Value times = divideCeil(b, next.steps, number(b, stepsAtOnce * kIterations));
  // A sum of no steps takes none.
  Value all =
      arith::MaxUIOp::create(b, multiply(b, tiles, times), number(b, 1));
  count = divideCeil(b, end, all);
  Value before = arith::DivUIOp::create(b, countRows(loop.getInductionVar()),
                                        loop.getStep());
  first = multiply(b, multiply(b, before, times), count);
}

// The last tile has its own rows for those of the next.
void PanelPrefetch::findRows(ImplicitLocOpBuilder &b, scf::ForOp loop,
                             Value left) {
  auto slice = left.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || slice.getSourceType().getRank() != 2)
    return;
  rowsOfTile = slice.getType().getDimSize(0);
  rows = getBuffer(b, slice.getSource());
  Value row = loop.getInductionVar();
  firstRow = advance(b, row, loop.getStep(), loop.getUpperBound(), row);
}

void PanelPrefetch::fetch(OpBuilder &builder, Location loc,
                          Value position) const {
  ImplicitLocOpBuilder b(loc, builder);
  fetchLines(b, arith::DivUIOp::create(b, position, number(b, kIterations)));
  if (rows)
    fetchRows(b, position);
}

static void prefetch(ImplicitLocOpBuilder &b, Value buffer, ValueRange at) {
  memref::PrefetchOp::create(b, buffer, at, /*isWrite=*/false, kLocality,
                             /*isDataCache=*/true);
}

void PanelPrefetch::fetchLines(ImplicitLocOpBuilder &b, Value times) const {
  Value from = arith::AddIOp::create(b, first, multiply(b, times, count));
  Value to =
      arith::MinUIOp::create(b, arith::AddIOp::create(b, from, count), end);
  auto loop = scf::ForOp::create(b, from, to, number(b, 1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  prefetch(b, buffer, getLine(b, loop.getInductionVar()));
}

// Where a line of the next panel is.
SmallVector<Value> PanelPrefetch::getLine(ImplicitLocOpBuilder &b,
                                          Value line) const {
  int64_t inLine = elementsOfLine;
  int64_t together =
      next.hasStepsLast ? next.lanes : llvm::divideCeil(next.lanes, inLine);
  Value outer = arith::DivUIOp::create(b, line, number(b, together));
  Value inner = arith::RemUIOp::create(b, line, number(b, together));
  // Lines hold elements of one of both.
  Value &along = next.hasStepsLast ? outer : inner;
  along = multiply(b, along, number(b, inLine));
  if (next.hasStepsLast)
    return {arith::AddIOp::create(b, next.lane, inner),
            arith::AddIOp::create(b, next.step, outer)};
  SmallVector<Value> at;
  if (next.panel)
    at.push_back(next.panel);
  at.push_back(arith::AddIOp::create(b, next.step, outer));
  at.push_back(arith::AddIOp::create(b, next.lane, inner));
  if (next.together > 1)
    at.push_back(number(b, 0));
  return at;
}

void PanelPrefetch::fetchRows(ImplicitLocOpBuilder &b, Value position) const {
  Value step = multiply(b, position, number(b, stepsAtOnce));
  for (int64_t row = 0; row < rowsOfTile; ++row)
    prefetch(b, rows,
             {arith::AddIOp::create(b, firstRow, number(b, row)), step});
}

void rope::prefetchStep(OpBuilder &builder, Location loc, Value panel,
                        Value step, Value steps) {
  ImplicitLocOpBuilder b(loc, builder);
  auto type = cast<RankedTensorType>(panel.getType());
  Value buffer = getBuffer(b, panel);
  Value last = arith::SubIOp::create(b, steps, number(b, 1));
  Value ahead = arith::AddIOp::create(b, step, number(b, kStepsAhead));
  ahead = arith::MinUIOp::create(b, ahead, last);
  int64_t inLine = kLineBytes * 8 / type.getElementTypeBitWidth();
  for (int64_t lane = 0; lane < type.getDimSize(1); lane += inLine)
    prefetch(b, buffer, {ahead, number(b, lane)});
}
