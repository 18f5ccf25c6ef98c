//===- Ranges.cpp - Which keys a row sees ---------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where keys are at consecutive positions, length, causality and window leave a
// range of keys to each row. It is computed once a block, so that the loop over
// panels only compares: most panels are seen by all rows of a strip or by none.
// What is no range (a mask, or positions of keys in a list) is asked for key by
// key.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

//===----------------------------------------------------------------------===//
// Positions and lengths
//===----------------------------------------------------------------------===//

static Value toIndex(KernelBuilder &b, Value integer) {
  if (integer.getType().isIndex())
    return integer;
  return arith::IndexCastOp::create(b, b.getIndexType(), integer);
}

/// The number that an operand of positions has at `at`; null without operand.
static Value loadSlot(AttentionKernel &k, OperandRole role,
                      const Coordinates &at) {
  Value operand = k.getOperand(role);
  if (!operand || operand.getType().isIndex())
    return operand;
  return toIndex(k, k.load(operand, k.getIndices(role, at)));
}

void cpu::setUpKeys(AttentionKernel &k) {
  Coordinates batch{k.head.b, k.head.h, {}, {}, {}};
  k.head.keys = k.numKeys;
  if (Value length = loadSlot(k, OperandRole::KeyLength, batch))
    k.head.keys = k.greater(k.lesser(length, k.numKeys), 0);
  k.head.panels = k.quotientUp(k.head.keys, k.tileKeys);
  if (!k.hasRanges)
    return;
  k.head.firstPosition = loadSlot(k, OperandRole::KeyPos, batch);
  if (!k.head.firstPosition)
    k.head.firstPosition = k.index(0);
}

/// The position of a row.
static Value getQueryPosition(AttentionKernel &k, const Coordinates &row) {
  Value position = loadSlot(k, OperandRole::QueryPos, row);
  if (!position)
    return row.m;
  bool isList =
      !k.getOperand(OperandRole::QueryPos).getType().isIndex() &&
      findHolder(k.domain.getLabels(OperandRole::QueryPos), DomainDim::M);
  return isList ? position : k.plus(position, row.m);
}

/// How far to one side a window reaches; nullopt if there is no bound.
static std::optional<int64_t> getReach(AttentionKernel &k, unsigned side) {
  std::optional<ArrayRef<int64_t>> window = k.op.getWindow();
  if (!window || (*window)[side] < 0)
    return std::nullopt;
  return (*window)[side];
}

//===----------------------------------------------------------------------===//
// Ranges of rows and strips
//===----------------------------------------------------------------------===//

/// More than there can be keys, and little enough to add two of them.
static constexpr int64_t kFar = int64_t(1) << 61;

/// a − b, or ±kFar if it is farther than that. Positions may be any numbers.
static Value getDistance(AttentionKernel &k, Value a, Value b) {
  auto bound = [&](Value distance) -> Value {
    return arith::MinUIOp::create(k, distance, k.index(kFar));
  };
  Value below = k.minus(0, bound(k.minus(b, a)));
  return k.select(k.isLess(a, b), below, bound(k.minus(a, b)));
}

/// The keys that a row sees by its position.
static KeyRange computeRange(AttentionKernel &k, Value rowOfBlock) {
  Value position = getQueryPosition(k, k.getBlockRowCoordinates(rowOfBlock));
  // The key at the row's own position, be there one or not.
  Value own = getDistance(k, position, k.head.firstPosition);
  Value zero = k.index(0);
  auto clamp = [&](Value key) {
    return k.lesser(k.greater(key, zero), k.head.keys);
  };
  std::optional<int64_t> left = getReach(k, 0), right = getReach(k, 1);
  if (k.op.getCausal())
    right = 0;
  KeyRange range{zero, k.head.keys};
  if (left)
    range.begin = clamp(k.minus(own, std::min(*left, kFar)));
  if (right)
    range.end = clamp(k.plus(own, std::min(*right, kFar) + 1));
  return range;
}

static StripRange loadStripRange(AttentionKernel &k, Value strip) {
  auto load = [&](int64_t i) {
    return k.load(k.scratch.stripRanges, {strip, i});
  };
  auto loadBegin = [&](int64_t i) {
    return k.hasBegins ? load(i) : k.index(0);
  };
  return {{loadBegin(0), load(1)}, {loadBegin(2), load(3)}};
}

/// Computes the ranges of a strip's rows and their hull and intersection.
static void setUpStrip(AttentionKernel &k, Value strip) {
  Value first = k.times(strip, k.tileRows);
  SmallVector<Value> inits = {k.index(0), k.numKeys, k.numKeys, k.index(0)};
  SmallVector<Value> range =
      k.loop(0, k.tileRows, 1, inits, [&](Value i, ValueRange carried) {
        Value row = k.plus(first, i);
        KeyRange seen = computeRange(k, row);
        if (k.hasBegins)
          k.store(seen.begin, k.scratch.rowBegins, {row});
        k.store(seen.end, k.scratch.rowEnds, {row});
        return SmallVector<Value>{
            k.greater(carried[0], seen.begin), k.lesser(carried[1], seen.end),
            k.lesser(carried[2], seen.begin), k.greater(carried[3], seen.end)};
      });
  for (auto [i, bound] : llvm::enumerate(range))
    k.store(bound, k.scratch.stripRanges, {strip, static_cast<int64_t>(i)});
}

void cpu::setUpRanges(AttentionKernel &k) {
  k.block.firstPanel = k.index(0);
  k.block.endPanel = k.head.panels;
  if (!k.hasRanges)
    return;
  SmallVector<Value> inits = {k.head.keys, k.index(0)};
  SmallVector<Value> outer =
      k.loop(0, k.block.strips, 1, inits, [&](Value strip, ValueRange carried) {
        setUpStrip(k, strip);
        KeyRange range = loadStripRange(k, strip).outer;
        return SmallVector<Value>{k.lesser(carried[0], range.begin),
                                  k.greater(carried[1], range.end)};
      });
  k.block.firstPanel = k.quotient(outer[0], k.tileKeys);
  k.block.endPanel = k.quotientUp(outer[1], k.tileKeys);
}

StripRange cpu::getStripRange(AttentionKernel &k, Value strip) {
  if (!k.hasRanges)
    return {{k.index(0), k.head.keys}, {k.index(0), k.head.keys}};
  return loadStripRange(k, strip);
}

KeyRange cpu::getRowRange(AttentionKernel &k, Value rowOfBlock) {
  if (!k.hasRanges)
    return {k.index(0), k.head.keys};
  Value begin =
      k.hasBegins ? k.load(k.scratch.rowBegins, {rowOfBlock}) : k.index(0);
  return {begin, k.load(k.scratch.rowEnds, {rowOfBlock})};
}

//===----------------------------------------------------------------------===//
// Ranges and panels
//===----------------------------------------------------------------------===//

Value cpu::isDead(AttentionKernel &k, Value panel, Value strip) {
  KeyRange outer = getStripRange(k, strip).outer;
  Value first = k.times(panel, k.tileKeys);
  Value after = k.isLess(outer.end, k.plus(first, 1));
  if (!k.hasBegins)
    return after;
  return k.either(after, k.isLess(k.plus(first, k.tileKeys - 1), outer.begin));
}

Value cpu::isPartial(AttentionKernel &k, Value panel, Value strip) {
  std::optional<int64_t> keys = IndexLike(k.head.keys).getNumber();
  if (!k.hasRanges && keys && *keys % k.tileKeys == 0)
    return {};
  KeyRange inner = getStripRange(k, strip).inner;
  Value first = k.times(panel, k.tileKeys);
  Value ends = k.isLess(inner.end, k.plus(first, k.tileKeys));
  return k.hasBegins ? k.either(ends, k.isLess(first, inner.begin)) : ends;
}

KeyRange cpu::getRangeInPanel(AttentionKernel &k, const KeyRange &range,
                              Value panel) {
  Value first = k.times(panel, k.tileKeys);
  auto clamp = [&](Value key) {
    Value inPanel = k.minus(key, first);
    return k.lesser(k.greater(inPanel, 0), k.tileKeys);
  };
  Value zero = k.index(0);
  return {k.hasBegins ? clamp(range.begin) : zero, clamp(range.end)};
}

/// An index below 2^31 in all lanes.
static Value broadcastIndex(KernelBuilder &b, Value x) {
  return b.broadcast(arith::IndexCastOp::create(b, b.getI32Type(), x));
}

Value cpu::isInRange(AttentionKernel &k, const KeyRange &range, int64_t first) {
  auto compare = [&](arith::CmpIPredicate predicate, Value bound) -> Value {
    return arith::CmpIOp::create(k, predicate, k.iota(first),
                                 broadcastIndex(k, bound));
  };
  Value inside = compare(arith::CmpIPredicate::slt, range.end);
  if (IndexLike(range.begin).getNumber() == 0)
    return inside;
  return k.both(inside, compare(arith::CmpIPredicate::sge, range.begin));
}

//===----------------------------------------------------------------------===//
// Key by key
//===----------------------------------------------------------------------===//

/// Whether keys are at positions that a row sees. Differences may overflow.
static Value isAtSeenPosition(AttentionKernel &k, const Coordinates &row,
                              Value key) {
  Value position =
      arith::IndexCastOp::create(k, k.getI64Type(), getQueryPosition(k, row));
  Value query = k.broadcast(position);
  Value keys = k.loadVector(k.packed.positions, {key});
  auto compare = [&](arith::CmpIPredicate predicate, Value a,
                     Value b) -> Value {
    return arith::CmpIOp::create(k, predicate, a, b);
  };
  // a ≤ b, or a − b ≤ reach.
  auto isWithin = [&](Value a, Value b, int64_t reach) {
    Value limit =
        k.broadcast(arith::ConstantOp::create(k, k.getI64IntegerAttr(reach)));
    Value distance = arith::SubIOp::create(k, a, b);
    return k.either(compare(arith::CmpIPredicate::sle, a, b),
                    compare(arith::CmpIPredicate::ule, distance, limit));
  };
  Value seen;
  if (k.op.getCausal())
    seen = compare(arith::CmpIPredicate::sle, keys, query);
  if (std::optional<int64_t> left = getReach(k, 0))
    seen = k.both(seen, isWithin(query, keys, *left));
  if (std::optional<int64_t> right = getReach(k, 1))
    seen = k.both(seen, isWithin(keys, query, *right));
  return seen;
}

/// Elements of a mask, in bytes if they are booleans; beyond the last key, with
/// `padded`, zeros.
static Value loadMask(AttentionKernel &k, Value memory, const Coordinates &row,
                      Value key, bool padded) {
  Coordinates at = row;
  at.n = key;
  SmallVector<IndexLike> indices = k.getIndices(OperandRole::Mask, at);
  if (!findHolder(k.domain.getLabels(OperandRole::Mask), DomainDim::N))
    return k.broadcast(k.load(memory, indices));
  if (!padded)
    return k.loadVector(memory, indices);
  auto type = VectorType::get(
      k.lanes, cast<MemRefType>(memory.getType()).getElementType());
  KeyRange rest{k.index(0), k.lesser(k.minus(k.numKeys, key), k.lanes)};
  Value zeros = arith::ConstantOp::create(k, k.getZeroAttr(type));
  return vector::MaskedLoadOp::create(k, type, memory, k.indices(indices),
                                      isInRange(k, rest, 0), zeros);
}

/// The mask as bytes: that is what a boolean in memory is, while a vector of i1
/// would be bits.
static Value getMaskBytes(AttentionKernel &k) {
  Value mask = k.getOperand(OperandRole::Mask);
  auto type = cast<MemRefType>(mask.getType());
  auto bytes = MemRefType::get(type.getShape(), k.getI8Type(), type.getLayout(),
                               type.getMemorySpace());
  return UnrealizedConversionCastOp::create(k, bytes, mask).getResult(0);
}

Value cpu::getElementMask(AttentionKernel &k, const Coordinates &row, Value key,
                          bool padded) {
  Value seen;
  if (k.hasKeyList)
    seen = isAtSeenPosition(k, row, key);
  if (k.mask != MaskKind::Keep)
    return seen;
  Value bytes = loadMask(k, getMaskBytes(k), row, key, padded);
  Value zeros = arith::ConstantOp::create(k, k.getZeroAttr(bytes.getType()));
  return k.both(
      seen, arith::CmpIOp::create(k, arith::CmpIPredicate::ne, bytes, zeros));
}

Value cpu::loadFloatMask(AttentionKernel &k, const Coordinates &row, Value key,
                         bool padded) {
  return k.toF32(
      loadMask(k, k.getOperand(OperandRole::Mask), row, key, padded));
}

Value cpu::isPanelWhole(AttentionKernel &k, Value panel) {
  std::optional<int64_t> keys = IndexLike(k.numKeys).getNumber();
  if (k.mask == MaskKind::None || (keys && *keys % k.tileKeys == 0))
    return {};
  return k.isLess(k.times(k.plus(panel, 1), k.tileKeys), k.plus(k.numKeys, 1));
}
