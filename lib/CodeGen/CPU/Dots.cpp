//===- Dots.cpp - Scores of keys where they lie ---------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With few rows, packing keys would take longer than all else. Here a lane has
// a channel, and not a key: each score is the sum of the lanes of a vector, and
// the sums of as many vectors as there are lanes are taken together. Keys are
// read once, so what counts is that memory is never idle. It is fastest when it
// is read from one end to the other: so keys come one after the other, and
// queries again for each.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"
#include "Transpose.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

/// Lines of keys that one iteration reads. In long ones LLVM gathers all that
/// is asked for ahead at the top, and mixes the loads.
static constexpr int64_t kLines = 4;

/// The sums of the lanes of each row, for as many rows as lanes.
static Value sumLanesOfEach(KernelBuilder &b, ArrayRef<Value> rows) {
  auto count = static_cast<int64_t>(rows.size());
  if (count == 1)
    return rows.front();
  Value first = sumLanesOfEach(b, rows.take_front(count / 2));
  Value second = sumLanesOfEach(b, rows.drop_front(count / 2));
  // Each of them has equal shares for its rows, whose halves are added.
  int64_t width = b.lanes / count;
  auto takeHalves = [&](int64_t half) -> Value {
    SmallVector<int64_t> mask;
    for (int64_t share = 0; share < count; ++share)
      for (int64_t i = 0; i < width; ++i)
        mask.push_back((2 * share + half) * width + i);
    return vector::ShuffleOp::create(b, first, second, mask);
  };
  return b.add(takeHalves(0), takeHalves(1));
}

namespace {
/// Some rows of a strip and some keys of a panel: one score for each lane.
class DotTile {
public:
  DotTile(AttentionKernel &k, const Item &item, bool staged);

  /// The scores of rows and of as many keys as lanes, from the given ones on.
  void compute(int64_t firstRow, Value firstKey, Value buffer);

private:
  int64_t getKeys() const { return k.lanes / k.dotRows; }
  Value loadKey(Value key, Value firstChannel, int64_t vector);
  /// Adds the products of the vectors of channels of one iteration.
  SmallVector<Value> addProducts(int64_t firstRow, Value firstKey, Value part,
                                 ValueRange sums);
  /// The products of keys of one iteration from a key on, the `number`-th of
  /// the tile.
  void storeProducts(int64_t firstRow, Value firstKey, Value number);
  Value sumProducts(int64_t firstRow, Value firstKey);
  SmallVector<Value> computeRows(int64_t firstRow, Value firstKey);
  Value getBlockRow(int64_t row) {
    return k.plus(k.times(item.strip, k.tileRows), row);
  }

  AttentionKernel &k;
  const Item &item;
  bool staged;
  /// Keys of one iteration, the vectors of their channels that it takes, and
  /// how many iterations take all.
  int64_t keys, vectors, parts;
};
} // namespace

DotTile::DotTile(AttentionKernel &k, const Item &item, bool staged)
    : k(k), item(item), staged(staged) {
  int64_t bits = k.getElementType(OperandRole::Key).getIntOrFloatBitWidth();
  int64_t together = k.splitsKeys ? 2 : 1;
  int64_t all = k.paddedChannels / k.lanes / together;
  int64_t wanted = std::max<int64_t>(
      kLines * kLineBytes * 8 / (bits * k.lanes * together), 1);
  keys = llvm::bit_floor<uint64_t>(
      std::clamp<int64_t>(wanted / all, 1, getKeys()));
  parts = llvm::divideCeil(all, wanted);
  while (all % parts != 0)
    ++parts;
  vectors = all / parts * together;
}

Value DotTile::loadKey(Value key, Value firstChannel, int64_t vector) {
  if (staged)
    return k.loadVector(k.scratch.keyRows,
                        {key, k.plus(firstChannel, vector * k.lanes)});
  Value inHead = k.plus(k.times(item.panel, k.tileKeys), key);
  return loadStreamed(k, OperandRole::Key, k.getKeyCoordinates(inHead),
                      firstChannel, vector);
}

SmallVector<Value> DotTile::addProducts(int64_t firstRow, Value firstKey,
                                        Value part, ValueRange sums) {
  SmallVector<Value> next(sums);
  Value firstChannel = k.times(part, vectors * k.lanes);
  for (int64_t i = 0; i < keys; ++i)
    for (int64_t v = 0; v < vectors; ++v) {
      Value channel = k.plus(firstChannel, v * k.lanes);
      Value key = loadKey(k.plus(firstKey, i), firstChannel, v);
      for (int64_t r = 0; r < k.dotRows; ++r) {
        Value query =
            k.loadVector(k.scratch.query, {getBlockRow(firstRow + r), channel});
        Value &sum = next[r * keys + i];
        sum = k.fma(query, key, sum);
      }
    }
  return next;
}

void DotTile::storeProducts(int64_t firstRow, Value firstKey, Value number) {
  SmallVector<Value> sums(k.dotRows * keys, k.numbers(0.0));
  sums = k.loop(0, parts, 1, sums, [&](Value part, ValueRange carried) {
    // Once for all rows.
    if (firstRow == 0)
      prefetchValues(k, item, {firstKey, keys, part, parts});
    return addProducts(firstRow, firstKey, part, carried);
  });
  for (int64_t r = 0; r < k.dotRows; ++r)
    for (int64_t i = 0; i < keys; ++i)
      k.storeVector(sums[r * keys + i], k.scratch.keyProducts,
                    {k.plus(number, r * getKeys() + i), 0});
}

/// [row · key] scores of as many keys as make one for each lane.
Value DotTile::sumProducts(int64_t firstRow, Value firstKey) {
  k.loop(0, getKeys(), keys, [&](Value number) {
    storeProducts(firstRow, k.plus(firstKey, number), number);
  });
  SmallVector<Value> products;
  for (int64_t i = 0; i < k.lanes; ++i)
    products.push_back(k.loadVector(k.scratch.keyProducts, {i, 0}));
  return sumLanesOfEach(k, products);
}

/// [row][key] scores of as many keys as lanes.
SmallVector<Value> DotTile::computeRows(int64_t firstRow, Value firstKey) {
  if (k.dotRows == 1)
    return {sumProducts(firstRow, firstKey)};
  // Whole vectors go to memory and come back: a vector that was stored in
  // pieces would have to wait for these.
  k.loop(0, k.dotRows, 1, [&](Value tile) {
    Value key = k.plus(firstKey, k.times(tile, getKeys()));
    k.storeVector(sumProducts(firstRow, key), k.scratch.keySums, {tile, 0});
  });
  SmallVector<Value> sums;
  for (int64_t tile = 0; tile < k.dotRows; ++tile)
    sums.push_back(k.loadVector(k.scratch.keySums, {tile, 0}));
  return transposeGroups(k, sums, getKeys());
}

void DotTile::compute(int64_t firstRow, Value firstKey, Value buffer) {
  for (auto [r, scores] : llvm::enumerate(computeRows(firstRow, firstKey))) {
    int64_t row = firstRow + static_cast<int64_t>(r);
    if (!k.hasRawScores)
      scores =
          k.add(scores,
                k.broadcast(k.load(k.scratch.references, {getBlockRow(row)})));
    k.storeVector(scores, k.scratch.scores, {buffer, row, firstKey});
  }
}

static void computeTiles(AttentionKernel &k, const Item &item, Value buffer,
                         bool staged) {
  DotTile tile(k, item, staged);
  k.loop(0, k.tileKeys, k.lanes, [&](Value key) {
    for (int64_t r = 0; r < k.tileRows; r += k.dotRows)
      tile.compute(r, key, buffer);
  });
}

void cpu::computeDots(AttentionKernel &k, const Item &item, Value buffer) {
  auto compute = [&](bool staged) {
    return [&, staged] {
      if (staged)
        stageKeys(k, item.panel);
      computeTiles(k, item, buffer, staged);
      return SmallVector<Value>();
    };
  };
  if (k.stagesKeys) {
    compute(true)();
    return;
  }
  // Beyond the last key there is nothing to read.
  Value end = k.times(k.plus(item.panel, 1), k.tileKeys);
  std::optional<int64_t> keys = IndexLike(k.head.keys).getNumber();
  if (keys && *keys % k.tileKeys == 0)
    compute(false)();
  else
    k.choose(k.isLess(k.head.keys, end), {}, compute(true), compute(false));
}
