//===- Scores.cpp - The score tile ----------------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Queries of a strip times keys of a panel, in vectors that the loop over
// channels carries. Beside the products of one item the loop computes the
// weights of another: products leave the other pipes of the machine idle, and
// out-of-order execution alone does not look far enough ahead to fill them.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

/// Steps of the plain loop.
static constexpr int64_t kUnroll = 4;
/// Sums of a tile that no weights are computed beside: enough to hide their
/// latency, and few enough for any machine's registers.
static constexpr int64_t kMostSumsApart = 16;

namespace {
/// The tile of one item, or its vectors of keys from `first` on.
class ScoreTile {
public:
  ScoreTile(AttentionKernel &k, const Item &item, Value first, int64_t vectors);

  SmallVector<Value> getInits();
  /// The sums after `count` more steps from `from` on.
  SmallVector<Value> advance(Value from, int64_t count, ValueRange sums);
  /// The sums after steps from `from` to the last.
  SmallVector<Value> finish(IndexLike from, ValueRange sums);
  void store(ValueRange sums, Value buffer);

private:
  Value getKey(int64_t vector) { return k.plus(first, vector * k.lanes); }

  AttentionKernel &k;
  Value panel, first;
  int64_t vectors;
  SmallVector<Value> rows;
};
} // namespace

ScoreTile::ScoreTile(AttentionKernel &k, const Item &item, Value first,
                     int64_t vectors)
    : k(k), panel(item.panel), first(first), vectors(vectors) {
  Value row = k.times(item.strip, k.tileRows);
  for (int64_t i = 0; i < k.tileRows; ++i)
    rows.push_back(k.plus(row, i));
}

SmallVector<Value> ScoreTile::getInits() {
  SmallVector<Value> sums;
  for (Value row : rows)
    sums.append(vectors,
                k.hasRawScores
                    ? k.numbers(0.0)
                    : k.broadcast(k.load(k.scratch.references, {row})));
  return sums;
}

SmallVector<Value> ScoreTile::advance(Value from, int64_t count,
                                      ValueRange sums) {
  SmallVector<Value> next(sums);
  for (int64_t i = 0; i < count; ++i) {
    Value step = k.plus(from, i);
    SmallVector<Value> keys;
    for (int64_t v = 0; v < vectors; ++v)
      keys.push_back(k.loadVector(k.packed.key, {panel, step, getKey(v)}));
    for (auto [r, row] : llvm::enumerate(rows)) {
      Value query = k.broadcast(k.load(k.scratch.query, {row, step}));
      for (int64_t v = 0; v < vectors; ++v) {
        Value &sum = next[r * vectors + v];
        sum = addProduct(k, query, keys[v], sum);
      }
    }
  }
  return next;
}

SmallVector<Value> ScoreTile::finish(IndexLike from, ValueRange sums) {
  return k.loop(from, k.getScoreSteps(), kUnroll, sums,
                [&](Value step, ValueRange carried) {
                  return advance(step, kUnroll, carried);
                });
}

void ScoreTile::store(ValueRange sums, Value buffer) {
  for (int64_t r = 0; r < k.tileRows; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      k.storeVector(sums[r * vectors + v], k.scratch.scores,
                    {buffer, r, getKey(v)});
}

/// One row of weights beside some steps of a tile: the sums, and the largest
/// score. Which of them comes first does not matter; LLVM and the machine mix
/// what is in one block.
static SmallVector<Value> weaveRow(AttentionKernel &k, ScoreTile &tile,
                                   const ScoredItem &current, Value row,
                                   ValueRange carried) {
  Value highest =
      computeRowWeights(k, current, row, carried.back(), /*padded=*/false);
  SmallVector<Value> results =
      tile.advance(k.times(row, k.weave), k.weave, carried.drop_back());
  results.push_back(highest);
  return results;
}

/// How many of `vectors` of keys make a tile apart from weights: as many as
/// there are sums for, but all tiles are alike.
static int64_t chooseApart(AttentionKernel &k, int64_t vectors) {
  int64_t size = vectors;
  while (size > 1 &&
         (size * k.tileRows > kMostSumsApart || vectors % size != 0))
    --size;
  return size;
}

/// Scores by packed keys, apart from any weights.
static void computeApart(AttentionKernel &k, const Item &item, Value buffer,
                         int64_t vectors) {
  int64_t size = chooseApart(k, vectors);
  k.loop(0, vectors * k.lanes, size * k.lanes, [&](Value first) {
    ScoreTile tile(k, item, first, size);
    tile.store(tile.finish(0, tile.getInits()), buffer);
  });
}

/// Scores by packed keys beside the weights of another item. Returns the
/// largest score of these.
static Value computeBeside(AttentionKernel &k, const Item &item, Value buffer,
                           const ScoredItem &current) {
  ScoreTile tile(k, item, k.index(0), k.getKeyVectors());
  SmallVector<Value> sums = tile.getInits();
  sums.push_back(k.numbers(kLowestScore));
  sums = k.loop(0, k.tileRows, 1, sums, [&](Value row, ValueRange carried) {
    return weaveRow(k, tile, current, row, carried);
  });
  Value highest = sums.pop_back_val();
  tile.store(tile.finish(k.tileRows * k.weave, sums), buffer);
  return highest;
}

Value cpu::computeScores(AttentionKernel &k, const Item &item, Value buffer,
                         const ScoredItem *current, bool halfWidth) {
  Value highest;
  if (k.streams)
    computeDots(k, item, buffer);
  else if (current)
    highest = computeBeside(k, item, buffer, *current);
  else
    computeApart(k, item, buffer, k.getKeyVectors() / (halfWidth ? 2 : 1));
  if (k.op.getSoftcap())
    capScores(k, item, buffer);
  return highest;
}

/// s = softcap · tanh(s / softcap); queries were divided by the softcap.
void cpu::capScores(AttentionKernel &k, const Item &item, Value buffer) {
  double softcap = k.op.getSoftcap()->convertToDouble() * kLog2E;
  k.loop(0, k.tileRows, 1, [&](Value row) {
    Value position = k.plus(k.times(item.strip, k.tileRows), row);
    // With a float mask the reference is taken off after that was added.
    Value reference =
        k.mask == MaskKind::Add
            ? k.numbers(0.0)
            : k.broadcast(k.load(k.scratch.references, {position}));
    for (int64_t v = 0; v < k.getKeyVectors(); ++v) {
      Value score = k.loadVector(k.scratch.scores, {buffer, row, v * k.lanes});
      score = k.fma(buildTanh(k, score), k.numbers(softcap), reference);
      k.storeVector(score, k.scratch.scores, {buffer, row, v * k.lanes});
    }
  });
}
