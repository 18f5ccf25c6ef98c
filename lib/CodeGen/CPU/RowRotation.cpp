//===- RowRotation.cpp - Turns the pairs of a row of channels -------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowRotation.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

namespace {
/// The channels of a rotation's pairs.
struct Pairs {
  Pairs(RotaryAttr rotary, int64_t width);

  SmallVector<int64_t> firstRead, secondRead, firstEntry, secondEntry;
  /// For each channel of a row of `channels`: the element of (first, second)
  /// that is written there, or −1.
  SmallVector<int64_t> getWritten(int64_t channels) const;

private:
  RotaryAttr rotary;
  int64_t count;
};
} // namespace

Pairs::Pairs(RotaryAttr rotary, int64_t width)
    : rotary(rotary), count(rotary.getNumPairs(width)) {
  for (int64_t i = 0; i < count; ++i) {
    auto [first, second] = rotary.getReadChannels(i, count);
    firstRead.push_back(first);
    secondRead.push_back(second);
    auto [firstOfTable, secondOfTable] = rotary.getTableEntries(i, count);
    firstEntry.push_back(firstOfTable);
    secondEntry.push_back(secondOfTable);
  }
}

SmallVector<int64_t> Pairs::getWritten(int64_t channels) const {
  SmallVector<int64_t> written(channels, -1);
  for (int64_t i = 0; i < count; ++i) {
    auto [first, second] = rotary.getWrittenChannels(i, count);
    written[first] = i;
    written[second] = count + i;
  }
  return written;
}

TableRow cpu::loadTableRow(KernelBuilder &b, Value table,
                           ArrayRef<IndexLike> at) {
  int64_t width = cast<MemRefType>(table.getType()).getShape().back();
  auto loadPlane = [&](int64_t plane) {
    SmallVector<IndexLike> indices(at);
    indices.append({plane, 0});
    return b.toF32(b.loadVector(table, indices, width));
  };
  return {loadPlane(0), loadPlane(1)};
}

/// Elements of `x` followed by those of `y`, of which −1 may be anything.
static Value shuffle(KernelBuilder &b, Value x, Value y,
                     ArrayRef<int64_t> mask) {
  return vector::ShuffleOp::create(b, x, y, mask);
}

Value cpu::turnRow(KernelBuilder &b, Value row, RotaryAttr rotary,
                   const TableRow &entries, bool opposite) {
  Pairs pairs(rotary, cast<VectorType>(entries.sines.getType()).getDimSize(0));
  Value sines = entries.sines;
  if (opposite)
    sines = arith::NegFOp::create(b, sines);
  Value u = shuffle(b, row, row, pairs.firstRead);
  Value v = shuffle(b, row, row, pairs.secondRead);
  auto select = [&](Value plane, ArrayRef<int64_t> which) {
    return rotary.getFull() ? shuffle(b, plane, plane, which) : plane;
  };
  Value minusSine = arith::NegFOp::create(b, select(sines, pairs.firstEntry));
  Value first =
      b.fma(v, minusSine, b.mul(u, select(entries.cosines, pairs.firstEntry)));
  Value second = b.fma(u, select(sines, pairs.secondEntry),
                       b.mul(v, select(entries.cosines, pairs.secondEntry)));
  SmallVector<int64_t> written =
      pairs.getWritten(cast<VectorType>(row.getType()).getDimSize(0));
  Value turned = shuffle(b, first, second, written);
  // Other channels pass through.
  for (auto [channel, source] : llvm::enumerate(written))
    source = source == -1 ? static_cast<int64_t>(written.size() + channel)
                          : static_cast<int64_t>(channel);
  return shuffle(b, turned, row, written);
}
