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

namespace {
/// The tile of one item.
class ScoreTile {
public:
  ScoreTile(AttentionKernel &k, const Item &item, int64_t vectors);

  SmallVector<Value> getInits();
  /// The sums after `count` more steps from `first` on.
  SmallVector<Value> advance(Value first, int64_t count, ValueRange sums);
  /// The sums after steps from `from` to the last.
  SmallVector<Value> finish(IndexLike from, ValueRange sums);
  void store(ValueRange sums, Value buffer);

private:
  AttentionKernel &k;
  Value panel;
  int64_t vectors;
  SmallVector<Value> rows;
};
} // namespace

ScoreTile::ScoreTile(AttentionKernel &k, const Item &item, int64_t vectors)
    : k(k), panel(item.panel), vectors(vectors) {
  Value first = k.times(item.strip, k.tileRows);
  for (int64_t i = 0; i < k.tileRows; ++i)
    rows.push_back(k.plus(first, i));
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

SmallVector<Value> ScoreTile::advance(Value first, int64_t count,
                                      ValueRange sums) {
  SmallVector<Value> next(sums);
  for (int64_t i = 0; i < count; ++i) {
    Value step = k.plus(first, i);
    SmallVector<Value> keys;
    for (int64_t v = 0; v < vectors; ++v)
      keys.push_back(k.loadVector(k.packed.key, {panel, step, v * k.lanes}));
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
                    {buffer, r, v * k.lanes});
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

/// Scores by packed keys.
static Value computeProducts(AttentionKernel &k, const Item &item, Value buffer,
                             const ScoredItem *current, bool halfWidth) {
  int64_t vectors = halfWidth ? k.getKeyVectors() / 2 : k.getKeyVectors();
  ScoreTile tile(k, item, vectors);
  SmallVector<Value> sums = tile.getInits();
  IndexLike step = 0;
  Value highest;
  if (current) {
    sums.push_back(k.numbers(kLowestScore));
    sums = k.loop(0, k.tileRows, 1, sums, [&](Value row, ValueRange carried) {
      return weaveRow(k, tile, *current, row, carried);
    });
    highest = sums.pop_back_val();
    step = k.tileRows * k.weave;
  }
  tile.store(tile.finish(step, sums), buffer);
  return highest;
}

Value cpu::computeScores(AttentionKernel &k, const Item &item, Value buffer,
                         const ScoredItem *current, bool halfWidth) {
  Value highest;
  if (k.streams)
    computeDots(k, item, buffer);
  else
    highest = computeProducts(k, item, buffer, current, halfWidth);
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
