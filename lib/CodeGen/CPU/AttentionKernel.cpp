//===- AttentionKernel.cpp - What the code of attention is made of --------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The description of a kernel.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

/// Whether an operand of positions lists one for each of `dim`.
static bool isList(AttentionLikeOpInterface op, OperandRole role,
                   DomainDim dim) {
  return op.getRoleOperand(role) && findHolder(op.getLabels(role), dim);
}

static MaskKind getMaskKind(AttentionOp op) {
  if (!op.getMask())
    return MaskKind::None;
  return getElementTypeOrSelf(op.getMask().getType()).isInteger(1)
             ? MaskKind::Keep
             : MaskKind::Add;
}

std::optional<int64_t> cpu::findNumRows(AttentionOp op) {
  AttentionLikeOpInterface self = op;
  int64_t positions = self.getStaticExtent(DomainDim::M);
  int64_t group = self.getStaticExtent(DomainDim::G);
  if (ShapedType::isDynamic(positions) || ShapedType::isDynamic(group))
    return std::nullopt;
  return positions * group;
}

bool cpu::isStreamed(AttentionOp op, int64_t stream) {
  std::optional<int64_t> rows = findNumRows(op);
  return rows ? *rows <= stream : stream > 0;
}

AttentionKernel::AttentionKernel(AttentionOp op, CPUPlanAttr plan,
                                 OpBuilder &builder)
    : DomainKernel(op, plan.getLanes(), builder), op(op), plan(plan) {
  tileRows = plan.getRows();
  tileKeys = plan.getKeys() * lanes;
  streams = isStreamed(op, plan.getStream());
  productWidth = plan.getDots() && !streams ? 2 : 1;
  // Memory is slower than products.
  if (streams)
    manyProducts = 1 << 13;
  // Product loops are unrolled by 4 steps, or take vectors of channels.
  paddedChannels = llvm::alignTo(channels, streams ? lanes : 4 * productWidth);
  paddedValueChannels = llvm::alignTo(valueChannels, lanes);
  // Woven steps are as many as there are, and whole iterations of the rest.
  weave = streams ? -1 : std::min(plan.getWeave(), getScoreSteps() / tileRows);
  while (weave > 0 && weave * tileRows % 4 != 0)
    --weave;
  dotRows = 1;
  while (dotRows < std::min<int64_t>(4, lanes) && tileRows % (2 * dotRows) == 0)
    dotRows *= 2;
  blockStrips = plan.getStrips();
  blockRows = blockStrips * tileRows;
  mask = getMaskKind(op);
  bool ordersKeys = op.getCausal() || op.getWindow();
  hasKeyList = ordersKeys && isList(op, OperandRole::KeyPos, DomainDim::N);
  hasRanges = ordersKeys && !hasKeyList;
  hasBegins = hasRanges && op.getWindow() && op.getWindow()->front() >= 0;
  stagesKeys = op.getKeyTable() || channels != paddedChannels;
  stagesValues = op.getValueTable() || valueChannels != paddedValueChannels;
  // Half of a word is widened in place by one instruction, with no shuffle.
  auto isSplit = [&](OperandRole role, bool stages, int64_t length) {
    return streams && !stages && getElementType(role).isBF16() &&
           length % (2 * lanes) == 0;
  };
  splitsKeys = isSplit(OperandRole::Key, stagesKeys, channels);
  splitsValues = isSplit(OperandRole::Value, stagesValues, valueChannels);
  packsValues = !streams && (stagesValues || productWidth > 1 ||
                             !getElementType(OperandRole::Value).isF32());
  hasRawScores = op.getSoftcap() || mask == MaskKind::Add;
  numRows = times(numPositions, numGroups);
}

bool AttentionKernel::mayHideKeys() {
  if (hasRanges || hasElementMask() || mask == MaskKind::Add ||
      op.getKeyLength())
    return true;
  std::optional<int64_t> keys = IndexLike(numKeys).getNumber();
  return !keys || *keys % tileKeys != 0;
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

Coordinates AttentionKernel::getRowCoordinates(Value row) {
  Coordinates at{head.b, head.h, index(0), row, {}};
  if (IndexLike(numGroups).getNumber() == 1)
    return at;
  at.g = remainder(row, numGroups);
  at.m = quotient(row, numGroups);
  return at;
}

Coordinates AttentionKernel::getBlockRowCoordinates(Value rowOfBlock) {
  Value last = minus(block.rows, 1);
  return getRowCoordinates(plus(block.first, lesser(rowOfBlock, last)));
}

Coordinates AttentionKernel::getKeyCoordinates(Value key) {
  return {head.b, head.h, {}, {}, key};
}
