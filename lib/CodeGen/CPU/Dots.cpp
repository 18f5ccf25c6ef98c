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
// read once, so what counts is that memory is never idle.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

/// Vectors of channels of one iteration.
static constexpr int64_t kUnroll = 8;

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

  int64_t getRows() const { return rows; }
  int64_t getKeys() const { return k.lanes / rows; }
  /// The scores of rows and keys of the panel from the given ones on.
  void compute(int64_t firstRow, Value firstKey, Value buffer);

private:
  Value loadKey(Value key, Value channel);
  void addKey(int64_t firstRow, Value firstKey, int64_t number, Value channel,
              int64_t vector, SmallVector<Value> &sums);
  SmallVector<Value> step(int64_t firstRow, Value firstKey, Value channel,
                          int64_t vectors, ValueRange sums);
  Value getBlockRow(int64_t row) {
    return k.plus(k.times(item.strip, k.tileRows), row);
  }

  AttentionKernel &k;
  const Item &item;
  bool staged;
  int64_t rows;
};
} // namespace

DotTile::DotTile(AttentionKernel &k, const Item &item, bool staged)
    : k(k), item(item), staged(staged), rows(1) {
  while (rows < std::min<int64_t>(4, k.lanes) && k.tileRows % (2 * rows) == 0)
    rows *= 2;
}

Value DotTile::loadKey(Value key, Value channel) {
  if (staged)
    return k.loadVector(k.scratch.keyRows, {key, channel});
  Value inHead = k.plus(k.times(item.panel, k.tileKeys), key);
  Coordinates at = k.getKeyCoordinates(inHead);
  return k.toF32(k.loadVector(k.getOperand(OperandRole::Key),
                              k.getIndices(OperandRole::Key, at, channel)));
}

/// The products of a vector of channels of one key.
void DotTile::addKey(int64_t firstRow, Value firstKey, int64_t number,
                     Value channel, int64_t vector, SmallVector<Value> &sums) {
  Value c = k.plus(channel, vector * k.lanes);
  Value key = loadKey(k.plus(firstKey, number), c);
  prefetchValues(k, item, k.plus(firstKey, number), c, vector);
  for (int64_t r = 0; r < rows; ++r) {
    Value query = k.loadVector(k.scratch.query, {getBlockRow(firstRow + r), c});
    Value &sum = sums[r * getKeys() + number];
    sum = k.fma(query, key, sum);
  }
}

SmallVector<Value> DotTile::step(int64_t firstRow, Value firstKey,
                                 Value channel, int64_t vectors,
                                 ValueRange sums) {
  SmallVector<Value> next(sums);
  // Key by key if there is one row, for memory is fastest when it is read from
  // one end to the other. Queries of several rows take too many registers.
  int64_t keysTogether = rows == 1 ? 1 : getKeys();
  for (int64_t i = 0; i < getKeys(); i += keysTogether)
    for (int64_t v = 0; v < vectors; ++v)
      for (int64_t j = 0; j < keysTogether; ++j)
        addKey(firstRow, firstKey, i + j, channel, v, next);
  return next;
}

void DotTile::compute(int64_t firstRow, Value firstKey, Value buffer) {
  SmallVector<Value> sums(k.lanes, k.numbers(0.0));
  int64_t vectors = k.paddedChannels / k.lanes;
  int64_t whole = vectors / kUnroll * kUnroll;
  auto loop = [&](int64_t from, int64_t to, int64_t unroll) {
    sums = k.loop(from * k.lanes, to * k.lanes, unroll * k.lanes, sums,
                  [&](Value channel, ValueRange carried) {
                    return step(firstRow, firstKey, channel, unroll, carried);
                  });
  };
  loop(0, whole, kUnroll);
  if (whole != vectors)
    loop(whole, vectors, vectors - whole);
  Value scores = sumLanesOfEach(k, sums);
  for (int64_t r = 0; r < rows; ++r) {
    Value ofRow = vector::ExtractStridedSliceOp::create(
        k, scores, ArrayRef<int64_t>{r * getKeys()},
        ArrayRef<int64_t>{getKeys()}, ArrayRef<int64_t>{1});
    if (!k.hasRawScores) {
      Value reference =
          k.load(k.scratch.references, {getBlockRow(firstRow + r)});
      ofRow = k.add(ofRow,
                    vector::BroadcastOp::create(k, ofRow.getType(), reference));
    }
    k.storeVector(ofRow, k.scratch.scores, {buffer, firstRow + r, firstKey});
  }
}

static void computeTiles(AttentionKernel &k, const Item &item, Value buffer,
                         bool staged) {
  DotTile tile(k, item, staged);
  k.loop(0, k.tileKeys, tile.getKeys(), [&](Value key) {
    for (int64_t r = 0; r < k.tileRows; r += tile.getRows())
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
