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

#include <numeric>

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

/// Keys of one iteration. Where they lie far away, few: LLVM gathers all that a
/// long one asks for ahead at the top, and mixes the loads.
static constexpr int64_t kUnroll = 4, kStreamUnroll = 2;
/// Sums that hide the latency of one another.
static constexpr int64_t kChains = 16;
/// Sums of a panel that LLVM may move through what registers there are; of
/// more, that is much code for little.
static constexpr int64_t kManySums = 128;
/// Keys whose values are read together, some channels after the others.
static constexpr int64_t kChunk = 8;

namespace {
/// Some keys of a panel and what of them is seen.
struct Chunk {
  Value first;
  int64_t keys;
  KeyRange seen;
};

/// Some channels of an item, one of so many tiles: rows × vectors of sums. With
/// few of them, each is cut into several that take turns.
class ValueTile {
public:
  ValueTile(AttentionKernel &k, const ScoredItem &item, int64_t number,
            int64_t tiles);

  SmallVector<Value> getZeros();
  /// Sums over seen keys of a chunk, and what there was before.
  SmallVector<Value> compute(const Chunk &chunk, ValueRange before);
  void addToOutput(ValueRange sums);
  /// Sums that wait in memory.
  SmallVector<Value> loadSums();
  void storeSums(ValueRange sums);

private:
  void prefetch(const Chunk &chunk, Value first);
  SmallVector<Value> advance(Value first, int64_t count, ValueRange sums);
  SmallVector<Value> joinTurns(ValueRange sums);

  AttentionKernel &k;
  const ScoredItem &item;
  int64_t number, tiles, firstChannel, vectors, turns, unroll;
};
} // namespace

/// Channels of a vector of the values at a step of the panel.
static Value loadValues(AttentionKernel &k, const Item &item, Value step,
                        int64_t channel) {
  Value inHead = k.plus(k.times(item.panel, k.getPanelSteps()), step);
  if (k.packsValues)
    return k.loadVector(k.packed.value, {inHead, channel});
  if (k.stagesValues)
    return k.loadVector(k.scratch.valueRows, {step, channel});
  return loadStreamed(k, OperandRole::Value, k.getKeyCoordinates(inHead), 0,
                      channel / k.lanes);
}

ValueTile::ValueTile(AttentionKernel &k, const ScoredItem &item, int64_t number,
                     int64_t tiles)
    : k(k), item(item), number(number), tiles(tiles), turns(1),
      unroll(k.streams ? kStreamUnroll : kUnroll) {
  // As even as can be.
  int64_t all = k.paddedValueChannels / k.lanes, first = all * number / tiles;
  firstChannel = first * k.lanes;
  vectors = all * (number + 1) / tiles - first;
  while (turns < unroll && 2 * turns * vectors * k.tileRows <= kChains)
    turns *= 2;
}

/// Asks for the keys of the like part of a chunk beside the iteration from
/// `first` on. Tiles share them, but if there are too many of these.
void ValueTile::prefetch(const Chunk &chunk, Value first) {
  int64_t shares = llvm::bit_floor<uint64_t>(tiles);
  int64_t iterations = chunk.keys / unroll;
  if (!k.streams || number >= shares || iterations == 0)
    return;
  Value iteration = k.quotient(k.minus(first, chunk.first), unroll);
  Value part = k.plus(iteration, number * iterations);
  prefetchKeys(k, item, {chunk.first, chunk.keys, part, iterations * shares});
}

SmallVector<Value> ValueTile::advance(Value first, int64_t count,
                                      ValueRange sums) {
  SmallVector<Value> next(sums);
  for (int64_t i = 0; i < count; ++i) {
    Value at = k.plus(first, i);
    SmallVector<Value> values;
    for (int64_t v = 0; v < vectors; ++v)
      values.push_back(loadValues(k, item, at, firstChannel + v * k.lanes));
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

SmallVector<Value> ValueTile::getZeros() {
  return SmallVector<Value>(k.tileRows * vectors, k.numbers(0.0));
}

SmallVector<Value> ValueTile::compute(const Chunk &chunk, ValueRange before) {
  SmallVector<Value> sums(before);
  sums.resize(turns * sums.size(), k.numbers(0.0));
  // The weight of a key beside the range is 0.
  Value begin = k.quotient(chunk.seen.begin, k.productWidth);
  Value end = k.quotientUp(chunk.seen.end, k.productWidth);
  Value length = k.minus(end, begin);
  Value whole = k.plus(begin, k.times(k.quotient(length, unroll), unroll));
  sums =
      k.loop(begin, whole, unroll, sums, [&](Value step, ValueRange carried) {
        prefetch(chunk, step);
        return advance(step, unroll, carried);
      });
  if (IndexLike(length).getNumber().value_or(1) % unroll != 0)
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

SmallVector<Value> ValueTile::loadSums() {
  SmallVector<Value> sums;
  for (int64_t r = 0; r < k.tileRows; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      sums.push_back(
          k.loadVector(k.scratch.panelSums, {r, firstChannel + v * k.lanes}));
  return sums;
}

void ValueTile::storeSums(ValueRange sums) {
  for (int64_t r = 0; r < k.tileRows; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      k.storeVector(sums[r * vectors + v], k.scratch.panelSums,
                    {r, firstChannel + v * k.lanes});
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

static void forEachSum(AttentionKernel &k,
                       function_ref<void(Value, int64_t)> body) {
  k.loop(0, k.tileRows, 1, [&](Value row) {
    for (int64_t c = 0; c < k.paddedValueChannels; c += k.lanes)
      body(row, c);
  });
}

static void clearPanelSums(AttentionKernel &k) {
  forEachSum(k, [&](Value row, int64_t channel) {
    k.storeVector(k.numbers(0.0), k.scratch.panelSums, {row, channel});
  });
}

static void addPanelSums(AttentionKernel &k, const ScoredItem &item) {
  forEachSum(k, [&](Value row, int64_t channel) {
    Value sum = k.loadVector(k.scratch.panelSums, {row, channel});
    Value inBlock = k.plus(k.times(item.strip, k.tileRows), row);
    accumulate(k, sum, k.scratch.output, k.scratch.lostOutput,
               {inBlock, channel});
  });
}

/// Chunk by chunk, so that values of more channels than there are registers for
/// are still read from one end to the other. Sums wait in memory in between.
static void addChunks(AttentionKernel &k, const ScoredItem &item,
                      MutableArrayRef<ValueTile> tiles, const Chunk &panel) {
  bool many = k.tileRows * k.paddedValueChannels / k.lanes > kManySums;
  if (many)
    clearPanelSums(k);
  else
    for (ValueTile &tile : tiles)
      tile.storeSums(tile.getZeros());
  int64_t keys = std::gcd(panel.keys, kChunk);
  bool isWhole = IndexLike(panel.seen.begin).getNumber() == 0 &&
                 IndexLike(panel.seen.end).getNumber() == panel.keys;
  k.loop(0, panel.keys, keys, [&](Value first) {
    Chunk chunk{first, keys, {first, k.plus(first, keys)}};
    if (!isWhole) {
      chunk.seen.begin = k.greater(first, panel.seen.begin);
      chunk.seen.end =
          k.greater(chunk.seen.begin, k.lesser(chunk.seen.end, panel.seen.end));
    }
    for (ValueTile &tile : tiles)
      tile.storeSums(tile.compute(chunk, tile.loadSums()));
  });
  if (many)
    return addPanelSums(k, item);
  for (ValueTile &tile : tiles)
    tile.addToOutput(tile.loadSums());
}

static void addProducts(AttentionKernel &k, const ScoredItem &item) {
  Chunk panel{k.index(0), k.tileKeys, getSeenKeys(k, item)};
  int64_t vectors = k.paddedValueChannels / k.lanes;
  int64_t count = llvm::divideCeil(vectors, k.plan.getChannels());
  SmallVector<ValueTile> tiles;
  for (int64_t i = 0; i < count; ++i)
    tiles.emplace_back(k, item, i, count);
  if (k.scratch.panelSums)
    return addChunks(k, item, tiles, panel);
  for (ValueTile &tile : tiles)
    tile.addToOutput(tile.compute(panel, tile.getZeros()));
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
      for (int64_t c = 0; c < k.paddedValueChannels; c += k.lanes) {
        Value weights = k.broadcast(weight);
        Value values = dropUnweighted(k, weights, loadValues(k, item, step, c));
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
