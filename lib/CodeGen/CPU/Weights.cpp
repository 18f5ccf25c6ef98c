//===- Weights.cpp - From scores to weights -------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// weight = 2^(score − reference). The common case has no maximum, no rescaling
// and no mask; it keeps an eye on the largest score instead, and leaves the
// rest to the careful path.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

/// The row of a block that is `row` of a strip.
static Value getBlockRow(AttentionKernel &k, const Item &item, Value row) {
  return k.plus(k.times(item.strip, k.tileRows), row);
}

/// Where the weights of `row` of an item are.
static Value getWeightRow(AttentionKernel &k, const ScoredItem &item,
                          Value row) {
  return k.plus(k.times(item.slot, k.tileRows), row);
}

namespace {
/// What weights of a row depend on beside its scores.
struct RowMasks {
  RowMasks(AttentionKernel &k, const Item &item, Value row, bool padded);

  /// The float mask in units of log2, before it is made finite.
  Value loadFloats(int64_t vector);
  /// Which keys of a vector the row sees by positions and mask, or null.
  Value getSeen(int64_t vector);
  /// Asks for the mask of the next panel. From row to row of a mask the machine
  /// looks ahead by itself only where these are near each other.
  void prefetch();

  AttentionKernel &k;
  Value panel, blockRow;
  bool padded;
  Coordinates at;
};
} // namespace

RowMasks::RowMasks(AttentionKernel &k, const Item &item, Value row, bool padded)
    : k(k), panel(item.panel), blockRow(getBlockRow(k, item, row)),
      padded(padded) {
  if (k.hasElementMask() || k.mask == MaskKind::Add)
    at = k.getBlockRowCoordinates(blockRow);
}

Value RowMasks::loadFloats(int64_t vector) {
  Value key = k.plus(k.times(panel, k.tileKeys), vector * k.lanes);
  return loadFloatMask(k, at, key, padded);
}

void RowMasks::prefetch() {
  if (!findHolder(k.domain.getLabels(OperandRole::Mask), DomainDim::N))
    return;
  // A boolean takes a byte.
  Type element = k.getElementType(OperandRole::Mask);
  int64_t perLine =
      kLineBytes / std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1);
  Coordinates next = at;
  Value first = k.times(k.plus(panel, 1), k.tileKeys);
  for (int64_t key = 0; key < k.tileKeys; key += perLine) {
    next.n = k.lesser(k.plus(first, key), k.minus(k.numKeys, 1));
    memref::PrefetchOp::create(k, k.getOperand(OperandRole::Mask),
                               k.indices(k.getIndices(OperandRole::Mask, next)),
                               /*isWrite=*/false,
                               /*localityHint=*/2, /*isDataCache=*/true);
  }
}

Value RowMasks::getSeen(int64_t vector) {
  if (!k.hasElementMask())
    return {};
  Value key = k.plus(k.times(panel, k.tileKeys), vector * k.lanes);
  return getElementMask(k, at, key, padded);
}

/// Stores the weights of a row of a panel and the sum of them, not rounded.
static void storeWeights(AttentionKernel &k, ArrayRef<Value> weights,
                         Value weightRow) {
  Value sum = weights.front();
  for (Value weight : weights.drop_front())
    sum = k.add(sum, weight);
  int64_t words = k.lanes / k.productWidth;
  for (auto [v, weight] : llvm::enumerate(weights))
    k.storeVector(toWords(k, weight), k.scratch.weights,
                  {weightRow, static_cast<int64_t>(v) * words});
  k.storeVector(sum, k.scratch.weightSums, {weightRow, 0});
}

/// Loads weights of a row, as they were rounded.
static Value loadWeights(AttentionKernel &k, Value weightRow, int64_t vector) {
  int64_t words = k.lanes / k.productWidth;
  return fromWords(
      k, k.loadVector(k.scratch.weights, {weightRow, vector * words}, words));
}

/// Adds the float mask to a score and takes the reference off.
static Value addMask(AttentionKernel &k, Value score, Value mask,
                     Value reference) {
  return k.add(k.fma(mask, k.numbers(kLog2E), score), reference);
}

/// Whether a float mask leaves keys to be seen: only −∞ hides one, not NaN.
static Value isAdded(AttentionKernel &k, Value mask) {
  Value lowest = k.numbers(-std::numeric_limits<float>::infinity());
  return arith::CmpFOp::create(k, arith::CmpFPredicate::UNE, mask, lowest);
}

Value cpu::computeRowWeights(AttentionKernel &k, const ScoredItem &item,
                             Value row, Value highest, bool padded) {
  RowMasks masks(k, item, row, padded);
  Value reference;
  if (k.mask == MaskKind::Add)
    reference = k.broadcast(k.load(k.scratch.references, {masks.blockRow}));
  if (k.mask != MaskKind::None)
    masks.prefetch();
  SmallVector<Value> weights;
  for (int64_t v = 0; v < k.getKeyVectors(); ++v) {
    Value score =
        k.loadVector(k.scratch.scores, {item.buffer, row, v * k.lanes});
    Value seen = masks.getSeen(v);
    if (reference) {
      Value mask = masks.loadFloats(v);
      score = addMask(k, score, mask, reference);
      seen = k.both(seen, isAdded(k, mask));
    }
    score = k.maxOrSecond(k.numbers(kLowestScore), score);
    highest = k.maxOrSecond(score, highest);
    Value weight = buildExp2(k, score, k.plan.getLookup(),
                             /*rounded=*/k.productWidth > 1);
    if (seen)
      weight = k.select(seen, weight, k.numbers(0.0));
    weights.push_back(weight);
  }
  storeWeights(k, weights, getWeightRow(k, item, row));
  return highest;
}

Value cpu::computeWeights(AttentionKernel &k, const ScoredItem &item,
                          bool padded) {
  Value lowest = k.numbers(kLowestScore);
  return k
      .loop(0, k.tileRows, 1, lowest,
            [&](Value row, ValueRange carried) {
              return SmallVector<Value>{
                  computeRowWeights(k, item, row, carried.front(), padded)};
            })
      .front();
}

Value cpu::hasFaintRow(AttentionKernel &k, const ScoredItem &item) {
  Value allShow;
  for (int64_t r = 0; r < k.tileRows; ++r) {
    Value sums = k.loadVector(k.scratch.weightSums,
                              {getWeightRow(k, item, k.index(r)), 0});
    Value shows = k.any(k.isGreater(sums, k.numbers(kFaintestSum)));
    allShow = k.both(allShow, shows);
  }
  return k.isNot(allShow);
}

void cpu::hideKeys(AttentionKernel &k, const ScoredItem &item) {
  for (int64_t r = 0; r < k.tileRows; ++r) {
    Value row = k.index(r), weightRow = getWeightRow(k, item, row);
    KeyRange seen = getRangeInPanel(
        k, getRowRange(k, getBlockRow(k, item, row)), item.panel);
    SmallVector<Value> weights;
    for (int64_t v = 0; v < k.getKeyVectors(); ++v)
      weights.push_back(k.select(isInRange(k, seen, v * k.lanes),
                                 loadWeights(k, weightRow, v), k.numbers(0.0)));
    storeWeights(k, weights, weightRow);
  }
}

//===----------------------------------------------------------------------===//
// The careful path
//===----------------------------------------------------------------------===//

/// −3e38 · log2 e would be −∞, and hide a key that only −∞ hides.
static constexpr double kLowestMask = -2.3e38;
/// Stands for the score of a hidden key.
static constexpr double kHiddenScore = -3.4e38;

namespace {
/// One row of an item.
class CarefulRow {
public:
  CarefulRow(AttentionKernel &k, const ScoredItem &item, Value row,
             bool padded);

  /// Reads scores, and finds which keys are seen.
  void load();
  /// How far the reference has to go up (or down, if no key was seen before).
  void moveReference();
  /// Brings sums, output and scores at hand to the new reference.
  void rescale(const Item &next);
  void finish();

private:
  void rescaleRow(Value memory, int64_t length, Value factor);

  AttentionKernel &k;
  const ScoredItem &item;
  Value row;
  RowMasks masks;
  SmallVector<Value> scores, seen;
  /// The largest score seen, and the step of the reference.
  Value highest, step;
};
} // namespace

CarefulRow::CarefulRow(AttentionKernel &k, const ScoredItem &item, Value row,
                       bool padded)
    : k(k), item(item), row(row), masks(k, item, row, padded) {}

void CarefulRow::load() {
  KeyRange range =
      getRangeInPanel(k, getRowRange(k, masks.blockRow), item.panel);
  Value hidden = k.numbers(kHiddenScore), largest = hidden;
  for (int64_t v = 0; v < k.getKeyVectors(); ++v) {
    Value score =
        k.loadVector(k.scratch.scores, {item.buffer, row, v * k.lanes});
    Value isSeen = k.both(isInRange(k, range, v * k.lanes), masks.getSeen(v));
    if (k.mask == MaskKind::Add) {
      Value mask = masks.loadFloats(v);
      isSeen = k.both(isSeen, isAdded(k, mask));
      mask = k.maxOrSecond(k.numbers(kLowestMask), mask);
      Value reference =
          k.broadcast(k.load(k.scratch.references, {masks.blockRow}));
      score = addMask(k, score, mask, reference);
    }
    scores.push_back(score);
    seen.push_back(isSeen);
    Value counted = k.select(isSeen, score, hidden);
    largest = k.maxOrSecond(counted, largest);
  }
  highest = k.maxOfLanes(largest);
}

void CarefulRow::moveReference() {
  auto isAbove = [&](Value x, double bound) -> Value {
    return arith::CmpFOp::create(k, arith::CmpFPredicate::OGT, x,
                                 k.number(bound));
  };
  Value sum = k.sumOfLanes(k.loadVector(k.scratch.sums, {masks.blockRow, 0}));
  Value isFirst =
      arith::CmpFOp::create(k, arith::CmpFPredicate::OEQ, sum, k.number(0.0));
  Value found = isAbove(highest, kHiddenScore);
  Value moves = k.either(isAbove(highest, 0.0), k.both(isFirst, found));
  step = k.select(moves, highest, k.number(0.0));
}

void CarefulRow::rescaleRow(Value memory, int64_t length, Value factor) {
  for (int64_t i = 0; i < length; i += k.lanes) {
    Value x = k.loadVector(memory, {masks.blockRow, i});
    k.storeVector(k.mul(x, factor), memory, {masks.blockRow, i});
  }
}

void CarefulRow::rescale(const Item &next) {
  Value reference = k.load(k.scratch.references, {masks.blockRow});
  reference = arith::SubFOp::create(k, reference, step);
  k.store(reference, k.scratch.references, {masks.blockRow});
  // A step down finds nothing to rescale.
  Value up = k.maxOrSecond(k.broadcast(step), k.numbers(0.0));
  Value factor = buildCarefulExp2(k, k.sub(k.numbers(0.0), up));
  rescaleRow(k.scratch.output, k.paddedValueChannels, factor);
  rescaleRow(k.scratch.sums, k.lanes, factor);
  if (k.scratch.lostOutput) {
    rescaleRow(k.scratch.lostOutput, k.paddedValueChannels, factor);
    rescaleRow(k.scratch.lostSums, k.lanes, factor);
  }
  if (k.mask == MaskKind::Add)
    return;
  // Scores of the next item were computed with the old reference.
  k.when(k.isEqual(next.strip, item.strip), [&] {
    Value other = k.minus(1, item.buffer);
    for (int64_t v = 0; v < k.getKeyVectors(); ++v) {
      Value score = k.loadVector(k.scratch.scores, {other, row, v * k.lanes});
      k.storeVector(k.sub(score, k.broadcast(step)), k.scratch.scores,
                    {other, row, v * k.lanes});
    }
  });
}

void CarefulRow::finish() {
  SmallVector<Value> weights;
  for (int64_t v = 0; v < k.getKeyVectors(); ++v) {
    Value score = k.sub(scores[v], k.broadcast(step));
    weights.push_back(
        k.select(seen[v], buildCarefulExp2(k, score), k.numbers(0.0)));
  }
  storeWeights(k, weights, getWeightRow(k, item, row));
}

void cpu::computeCarefulWeights(AttentionKernel &k, const ScoredItem &item,
                                const Item &next) {
  bool padded = isPanelWhole(k, item.panel) != nullptr;
  k.loop(0, k.tileRows, 1, [&](Value i) {
    CarefulRow row(k, item, i, padded);
    row.load();
    row.moveReference();
    row.rescale(next);
    row.finish();
  });
}
