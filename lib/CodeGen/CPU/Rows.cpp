//===- Rows.cpp - Rows of operands ----------------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads, rotates and stores all channels of an operand at once. A row is one
// vector of f32, however long; LLVM cuts it into registers.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

static int64_t getNumChannels(AttentionKernel &k, OperandRole role) {
  bool ofValues = role == OperandRole::Value || role == OperandRole::Output;
  return ofValues ? k.valueChannels : k.channels;
}

/// Elements of `a` followed by those of `b`, of which −1 may be anything.
static Value shuffle(KernelBuilder &b, Value x, Value y,
                     ArrayRef<int64_t> mask) {
  return vector::ShuffleOp::create(b, x, y, mask);
}

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

/// One plane of the row of a role's table that belongs to `at`, in f32.
static Value loadTableRow(AttentionKernel &k, OperandRole role,
                          const Coordinates &at, int64_t plane) {
  Rotation rotation = k.getInterface().getRotation(role);
  DimLabels labels = k.getInterface().getLabels(role);
  SmallVector<IndexLike> indices;
  for (int64_t dim : rotation.getRotary().getAlong())
    indices.push_back(k.getDimIndex(labels[dim], at));
  indices.append({plane, 0});
  int64_t width = cast<MemRefType>(rotation.table.getType()).getShape().back();
  return k.toF32(k.loadVector(rotation.table, indices, width));
}

static Value multiplyAdd(KernelBuilder &b, Value x, Value y, Value z) {
  return vector::FMAOp::create(b, x, y, z);
}

Value cpu::rotateRow(AttentionKernel &k, Value row, OperandRole role,
                     const Coordinates &at) {
  Rotation rotation = k.getInterface().getRotation(role);
  if (!rotation)
    return row;
  RotaryAttr rotary = rotation.getRotary();
  Pairs pairs(rotary,
              cast<MemRefType>(rotation.table.getType()).getShape().back());
  Value cosines = loadTableRow(k, role, at, 0);
  Value sines = loadTableRow(k, role, at, 1);
  // The output turns the opposite way.
  if (role == OperandRole::Output)
    sines = arith::NegFOp::create(k, sines);
  Value u = shuffle(k, row, row, pairs.firstRead);
  Value v = shuffle(k, row, row, pairs.secondRead);
  auto entries = [&](Value plane, ArrayRef<int64_t> which) {
    return rotary.getFull() ? shuffle(k, plane, plane, which) : plane;
  };
  Value minusSine = arith::NegFOp::create(k, entries(sines, pairs.firstEntry));
  Value first = multiplyAdd(k, v, minusSine,
                            k.mul(u, entries(cosines, pairs.firstEntry)));
  Value second = multiplyAdd(k, u, entries(sines, pairs.secondEntry),
                             k.mul(v, entries(cosines, pairs.secondEntry)));
  SmallVector<int64_t> written = pairs.getWritten(getNumChannels(k, role));
  Value turned = shuffle(k, first, second, written);
  // Other channels pass through.
  for (auto [channel, source] : llvm::enumerate(written))
    source = source == -1 ? static_cast<int64_t>(written.size() + channel)
                          : static_cast<int64_t>(channel);
  return shuffle(k, turned, row, written);
}

Value cpu::loadRow(AttentionKernel &k, OperandRole role,
                   const Coordinates &at) {
  Value row = k.loadVector(k.getOperand(role), k.getIndices(role, at),
                           getNumChannels(k, role));
  return rotateRow(k, k.toF32(row), role, at);
}

void cpu::storeRow(AttentionKernel &k, Value row, OperandRole role,
                   const Coordinates &at) {
  k.storeVector(k.fromF32(row, k.getElementType(role)), k.getOperand(role),
                k.getIndices(role, at));
}
