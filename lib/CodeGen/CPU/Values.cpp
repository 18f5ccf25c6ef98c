//===- Values.cpp - The value tile ----------------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights of an item times values. Sums of a panel start at zero, and are added
// to the output at their end: sums of sums are several times more exact than
// one long chain, and the loop need not wait for the output.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

/// Keys of one iteration.
static constexpr int64_t kUnroll = 4;
/// Sums that hide the latency of one another.
static constexpr int64_t kChains = 16;

namespace {
/// Some channels of an item: rows × vectors of sums. With few of them, each is
/// cut into several that take turns.
class ValueTile {
public:
  ValueTile(AttentionKernel &k, const ScoredItem &item, int64_t firstChannel,
            int64_t vectors);

  /// Sums over keys of the panel in a range.
  SmallVector<Value> compute(const KeyRange &range);
  void addToOutput(ValueRange sums);
  /// Channels of a vector of the values at a step of the panel.
  Value loadValues(Value step, int64_t vector);

private:
  SmallVector<Value> advance(Value first, int64_t count, ValueRange sums);
  SmallVector<Value> joinTurns(ValueRange sums);

  AttentionKernel &k;
  const ScoredItem &item;
  int64_t firstChannel, vectors, turns;
};
} // namespace

ValueTile::ValueTile(AttentionKernel &k, const ScoredItem &item,
                     int64_t firstChannel, int64_t vectors)
    : k(k), item(item), firstChannel(firstChannel), vectors(vectors), turns(1) {
  while (turns < kUnroll && 2 * turns * vectors * k.tileRows <= kChains)
    turns *= 2;
}

Value ValueTile::loadValues(Value step, int64_t vector) {
  Value inHead = k.plus(k.times(item.panel, k.getPanelSteps()), step);
  int64_t channel = firstChannel + vector * k.lanes;
  if (k.packsValues)
    return k.loadVector(k.packed.value, {inHead, channel});
  if (k.stagesValues)
    return k.loadVector(k.scratch.valueRows, {step, channel});
  prefetchKeys(k, item, step, channel, vector);
  return k.toF32(k.loadVector(
      k.getOperand(OperandRole::Value),
      k.getIndices(OperandRole::Value, k.getKeyCoordinates(inHead), channel)));
}

SmallVector<Value> ValueTile::advance(Value first, int64_t count,
                                      ValueRange sums) {
  SmallVector<Value> next(sums);
  for (int64_t i = 0; i < count; ++i) {
    Value at = k.plus(first, i);
    SmallVector<Value> values;
    for (int64_t v = 0; v < vectors; ++v)
      values.push_back(loadValues(at, v));
    for (int64_t r = 0; r < k.tileRows; ++r) {
      Value row = k.plus(k.times(item.slot, k.tileRows), r);
      Value weight = k.broadcast(k.load(k.scratch.weights, {row, at}));
      for (int64_t v = 0; v < vectors; ++v) {
        Value &sum = next[((i % turns) * k.tileRows + r) * vectors + v];
        sum = addProduct(k, weight, values[v], sum);
      }
    }
  }
  return next;
}

SmallVector<Value> ValueTile::joinTurns(ValueRange sums) {
  int64_t size = k.tileRows * vectors;
  SmallVector<Value> joined(sums.take_front(size));
  for (int64_t turn = 1; turn < turns; ++turn)
    for (int64_t i = 0; i < size; ++i)
      joined[i] = k.add(joined[i], sums[turn * size + i]);
  return joined;
}

SmallVector<Value> ValueTile::compute(const KeyRange &range) {
  SmallVector<Value> sums(turns * k.tileRows * vectors, k.numbers(0.0));
  // The weight of a key beside the range is 0.
  Value begin = k.quotient(range.begin, k.productWidth);
  Value end = k.quotientUp(range.end, k.productWidth);
  Value length = k.minus(end, begin);
  Value whole = k.plus(begin, k.times(k.quotient(length, kUnroll), kUnroll));
  sums =
      k.loop(begin, whole, kUnroll, sums, [&](Value step, ValueRange carried) {
        return advance(step, kUnroll, carried);
      });
  if (IndexLike(length).getNumber().value_or(1) % kUnroll != 0)
    sums = k.loop(whole, end, 1, sums, [&](Value step, ValueRange carried) {
      return advance(step, 1, carried);
    });
  return joinTurns(sums);
}

void ValueTile::addToOutput(ValueRange sums) {
  for (int64_t r = 0; r < k.tileRows; ++r)
    for (int64_t v = 0; v < vectors; ++v) {
      Value row = k.plus(k.times(item.strip, k.tileRows), r);
      int64_t channel = firstChannel + v * k.lanes;
      accumulate(k, sums[r * vectors + v], k.scratch.output,
                 k.scratch.lostOutput, {row, channel});
    }
}

/// Adds the sums of an item's weights to those of its rows.
static void addSums(AttentionKernel &k, const ScoredItem &item) {
  for (int64_t r = 0; r < k.tileRows; ++r) {
    Value row = k.plus(k.times(item.strip, k.tileRows), r);
    Value weightRow = k.plus(k.times(item.slot, k.tileRows), r);
    accumulate(k, k.loadVector(k.scratch.weightSums, {weightRow, 0}),
               k.scratch.sums, k.scratch.lostSums, {row, 0});
  }
}

/// The keys of a panel that some row of the strip sees.
static KeyRange getSeenKeys(AttentionKernel &k, const Item &item) {
  if (!isPartial(k, item.panel, item.strip))
    return {k.index(0), k.index(k.tileKeys)};
  KeyRange range =
      getRangeInPanel(k, getStripRange(k, item.strip).outer, item.panel);
  return range;
}

static void addProducts(AttentionKernel &k, const ScoredItem &item) {
  KeyRange range = getSeenKeys(k, item);
  int64_t vectors = k.paddedValueChannels / k.lanes;
  int64_t tiles = llvm::divideCeil(vectors, k.plan.getChannels());
  for (int64_t i = 0; i < tiles; ++i) {
    // As even as can be.
    int64_t first = vectors * i / tiles, last = vectors * (i + 1) / tiles;
    ValueTile tile(k, item, first * k.lanes, last - first);
    tile.addToOutput(tile.compute(range));
  }
}

/// The same, but keys of weight 0 add nothing, whatever their values are: slots
/// of a cache that were never written, for example.
static void addVisibleProducts(AttentionKernel &k, const ScoredItem &item) {
  KeyRange range = getSeenKeys(k, item);
  auto addStep = [&](Value r, Value step) {
    Value weightRow = k.plus(k.times(item.slot, k.tileRows), r);
    Value weight = k.load(k.scratch.weights, {weightRow, step});
    // Of a pair one may be 0.
    Value bits = arith::BitcastOp::create(k, k.getI32Type(), weight);
    Value zero = arith::ConstantOp::create(k, k.getI32IntegerAttr(0));
    Value isSeen =
        arith::CmpIOp::create(k, arith::CmpIPredicate::ne, bits, zero);
    k.when(isSeen, [&] {
      Value row = k.plus(k.times(item.strip, k.tileRows), r);
      ValueTile tile(k, item, 0, 1);
      for (int64_t c = 0; c < k.paddedValueChannels; c += k.lanes) {
        Value weights = k.broadcast(weight);
        Value values =
            dropUnweighted(k, weights, tile.loadValues(step, c / k.lanes));
        Value sum = addProduct(k, weights, values,
                               k.loadVector(k.scratch.output, {row, c}));
        k.storeVector(sum, k.scratch.output, {row, c});
      }
    });
  };
  k.loop(0, k.tileRows, 1, [&](Value row) {
    k.loop(k.quotient(range.begin, k.productWidth),
           k.quotientUp(range.end, k.productWidth), 1,
           [&](Value step) { addStep(row, step); });
  });
}

void cpu::addValues(AttentionKernel &k, const ScoredItem &item) {
  addSums(k, item);
  if (k.streams && k.stagesValues)
    stageValues(k, item.panel);
  if (!k.mayHideKeys())
    return addProducts(k, item);
  k.choose(
      k.block.skipsHidden, {},
      [&] {
        addVisibleProducts(k, item);
        return SmallVector<Value>();
      },
      [&] {
        addProducts(k, item);
        return SmallVector<Value>();
      });
}
