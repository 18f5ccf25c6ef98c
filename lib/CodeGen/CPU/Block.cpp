//===- Block.cpp - A block of rows over all keys --------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loop over items. While the weights of one item are computed, so are the
// scores of the next; values follow once a group of strips has its weights.
// Items that no row sees are passed over.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

//===----------------------------------------------------------------------===//
// The next item
//===----------------------------------------------------------------------===//

/// The item after another, seen or not.
static Item getSuccessor(AttentionKernel &k, Value panel, Value strip) {
  Value next = k.plus(strip, 1);
  Value wraps = k.isEqual(next, k.block.strips);
  return {k.select(wraps, k.plus(panel, 1), panel),
          k.select(wraps, k.index(0), next)};
}

static Value isItem(AttentionKernel &k, Value panel) {
  return k.isLess(panel, k.block.endPanel);
}

/// The first item that some row sees after another. Beyond the last one the
/// panel is the end.
static Item findNext(AttentionKernel &k, Value panel, Value strip) {
  if (!k.hasRanges)
    return getSuccessor(k, panel, strip);
  SmallVector<Value> found =
      k.repeat({panel, strip}, [&](ValueRange at) -> SmallVector<Value> {
        Item next = getSuccessor(k, at[0], at[1]);
        Value isPassed =
            k.both(isItem(k, next.panel), isDead(k, next.panel, next.strip));
        return {isPassed, next.panel, next.strip};
      });
  return {found[0], found[1]};
}

//===----------------------------------------------------------------------===//
// One item
//===----------------------------------------------------------------------===//

/// Whether a tile of half the width has all keys of an item that are seen: not
/// worth weaving. Null if it never has.
static Value isNarrow(AttentionKernel &k, const Item &item) {
  if (k.streams || !k.hasRanges || k.getKeyVectors() % 2 != 0)
    return {};
  Value end = getStripRange(k, item.strip).outer.end;
  Value middle = k.plus(k.times(item.panel, k.tileKeys), k.tileKeys / 2);
  return k.isLess(end, k.plus(middle, 1));
}

/// Computes scores of `next`, if it is an item, apart from any weights.
static void computeNextScores(AttentionKernel &k, const Item &next,
                              Value buffer, Value isNext) {
  auto compute = [&](bool half) {
    return [&, half] {
      computeScores(k, next, buffer, /*current=*/nullptr, half);
      return SmallVector<Value>();
    };
  };
  k.when(isNext, [&] {
    if (Value narrow = isNarrow(k, next))
      k.choose(narrow, {}, compute(true), compute(false));
    else
      compute(false)();
  });
}

/// The weights of an item, and beside them the scores of the next one. Returns
/// the largest score of the weights.
static Value advance(AttentionKernel &k, const ScoredItem &item,
                     const Item &next) {
  Value isNext = isItem(k, next.panel);
  Value buffer = k.minus(1, item.buffer);
  Value isWhole = isPanelWhole(k, item.panel);
  auto apart = [&]() -> SmallVector<Value> {
    Value highest = computeWeights(k, item, isWhole != nullptr);
    computeNextScores(k, next, buffer, isNext);
    return {highest};
  };
  if (k.weave <= 0)
    return apart().front();
  Value weaves = k.both(isNext, isWhole);
  if (Value narrow = isNarrow(k, next))
    weaves = k.both(weaves, k.isNot(narrow));
  return k
      .choose(
          weaves, k.getFloats(),
          [&]() -> SmallVector<Value> {
            return {computeScores(k, next, buffer, &item)};
          },
          apart)
      .front();
}

/// Whether a row's float mask has moved its reference so far that f32 cannot
/// tell masks from it: the sum of both may be infinite. Null if there is no
/// such mask.
static Value hasFarReference(AttentionKernel &k, const ScoredItem &item) {
  Value isFar;
  if (k.mask != MaskKind::Add)
    return isFar;
  for (int64_t r = 0; r < k.tileRows; ++r) {
    Value row = k.plus(k.times(item.strip, k.tileRows), r);
    Value minusReference = k.load(k.scratch.references, {row});
    Value isRowFar = arith::CmpFOp::create(k, arith::CmpFPredicate::OGT,
                                           minusReference, k.number(0x1p100));
    isFar = isFar ? k.either(isFar, isRowFar) : isRowFar;
  }
  return isFar;
}

/// Whether weights of an item need the careful path.
static Value needsCare(AttentionKernel &k, const ScoredItem &item,
                       Value highest) {
  Value isHigh = k.any(k.isGreater(highest, k.numbers(kHighestScore)));
  Value care = k.either(k.block.careful, isHigh);
  if (Value isFar = hasFarReference(k, item))
    care = k.either(care, isFar);
  // A reference of 0 may be far too high for a row, which shows at its start.
  return k
      .choose(
          k.isEqual(item.panel, k.block.firstPanel), care.getType(),
          [&]() -> SmallVector<Value> {
            return {k.either(care, hasFaintRow(k, item))};
          },
          [&]() -> SmallVector<Value> { return {care}; })
      .front();
}

/// Mends the weights of an item whose scores are out of the ordinary, or which
/// not all rows see.
static void correctWeights(AttentionKernel &k, const ScoredItem &item,
                           const Item &next, Value highest) {
  Value care = needsCare(k, item, highest);
  k.choose(
      care, {},
      [&] {
        computeCarefulWeights(k, item, next);
        return SmallVector<Value>();
      },
      [&] {
        if (Value partial = isPartial(k, item.panel, item.strip))
          k.when(partial, [&] { hideKeys(k, item); });
        return SmallVector<Value>();
      });
}

/// Adds values of the strips in the group, if it is complete or `next` is in
/// another panel. Returns the slots then taken.
static Value finishGroup(AttentionKernel &k, const ScoredItem &item,
                         const Item &next) {
  Value taken = k.plus(item.slot, 1);
  if (k.plan.getGroup() == 1) {
    addValues(k, item);
    return k.index(0);
  }
  k.store(item.strip, k.scratch.slots, {item.slot});
  Value isFull = k.isEqual(taken, k.plan.getGroup());
  Value moves = k.isNot(k.isEqual(next.panel, item.panel));
  Value finished = k.either(isFull, moves);
  k.when(finished, [&] {
    k.loop(0, taken, 1, [&](Value slot) {
      ScoredItem member = item;
      member.slot = slot;
      member.strip = k.load(k.scratch.slots, {slot});
      addValues(k, member);
    });
  });
  return k.select(finished, k.index(0), taken);
}

//===----------------------------------------------------------------------===//
// The block
//===----------------------------------------------------------------------===//

/// Goes over all items.
static void computeItems(AttentionKernel &k) {
  Value before = k.index(-1), zero = k.index(0);
  Item first = k.hasRanges ? findNext(k, k.block.firstPanel, before)
                           : Item{k.block.firstPanel, zero};
  Value isFirst = isItem(k, first.panel);
  k.when(isFirst, [&] {
    computeScores(k, first, zero);
    SmallVector<Value> inits = {first.panel, first.strip, zero, zero};
    k.repeat(inits, [&](ValueRange at) -> SmallVector<Value> {
      ScoredItem item{{at[0], at[1]}, at[2], at[3]};
      Item next = findNext(k, item.panel, item.strip);
      Value highest = advance(k, item, next);
      correctWeights(k, item, next, highest);
      if (!k.streams)
        prefetchRows(k, item);
      Value slot = finishGroup(k, item, next);
      return {isItem(k, next.panel), next.panel, next.strip,
              k.minus(1, item.buffer), slot};
    });
  });
}

void cpu::computeBlock(AttentionKernel &k) {
  k.block.strips = k.quotientUp(k.block.rows, k.tileRows);
  loadQueries(k);
  setUpRanges(k);
  if (k.splits.count)
    takeSplit(k);
  // Once more with care if results are in doubt.
  Value no = k.condition(false);
  k.repeat(SmallVector<Value>{no, no},
           [&](ValueRange mode) -> SmallVector<Value> {
             k.block.careful = mode[0];
             k.block.skipsHidden = mode[1];
             resetState(k);
             computeItems(k);
             Doubts doubts = findDoubts(k);
             Value again = k.both(k.either(doubts.faint, doubts.odd),
                                  k.isNot(k.block.careful));
             return {again, k.condition(true), doubts.odd};
           });
  if (k.splits.count)
    storeState(k);
  else
    storeOutputs(k);
}
