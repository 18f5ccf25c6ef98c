//===- Pack.cpp - Keys and values as tiles want them ----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Once for each key-value head: keys are rotated and transposed into panels of
// [channel][key], and values are copied if they need a rotation, a conversion
// or padding. Keys beyond the last are zeros.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

//===----------------------------------------------------------------------===//
// Transposition in registers
//===----------------------------------------------------------------------===//

/// In each 4 words: those from 2·`half` on of x and of y, `width` at a time in
/// turn. One instruction of x86.
static Value unpack(KernelBuilder &b, Value x, Value y, int64_t width,
                    int64_t half) {
  SmallVector<int64_t> mask;
  for (int64_t quad = 0; quad < b.lanes; quad += 4)
    for (int64_t i = 0; i < 2; i += width)
      for (int64_t source : {int64_t(0), b.lanes})
        for (int64_t j = 0; j < width; ++j)
          mask.push_back(source + quad + 2 * half + i + j);
  return vector::ShuffleOp::create(b, x, y, mask);
}

/// Every other group of `width` words of x and then of y, from `parity` on.
static Value takeGroups(KernelBuilder &b, Value x, Value y, int64_t width,
                        int64_t parity) {
  SmallVector<int64_t> mask;
  for (int64_t i = 0; i < b.lanes; ++i)
    mask.push_back((2 * (i / width) + parity) * width + i % width);
  return vector::ShuffleOp::create(b, x, y, mask);
}

SmallVector<Value> cpu::transposeGroups(KernelBuilder &b, ArrayRef<Value> rows,
                                        int64_t width) {
  if (rows.size() == 1)
    return {rows.front()};
  SmallVector<Value> results(rows.size());
  for (int64_t parity : {0, 1}) {
    SmallVector<Value> halves;
    for (size_t i = 0; i < rows.size(); i += 2)
      halves.push_back(takeGroups(b, rows[i], rows[i + 1], width, parity));
    for (auto [i, row] : llvm::enumerate(transposeGroups(b, halves, width)))
      results[2 * i + parity] = row;
  }
  return results;
}

SmallVector<Value> cpu::transpose(KernelBuilder &b, ArrayRef<Value> rows) {
  if (b.lanes == 1)
    return SmallVector<Value>(rows);
  if (b.lanes == 2)
    return {
        vector::ShuffleOp::create(b, rows[0], rows[1], ArrayRef<int64_t>{0, 2}),
        vector::ShuffleOp::create(b, rows[0], rows[1],
                                  ArrayRef<int64_t>{1, 3})};
  // Squares of 4 by 4 words, of all quads at once.
  SmallVector<SmallVector<Value>> columns(4);
  for (int64_t i = 0; i < b.lanes; i += 4) {
    for (int64_t half : {0, 1}) {
      Value x = unpack(b, rows[i], rows[i + 1], 1, half);
      Value y = unpack(b, rows[i + 2], rows[i + 3], 1, half);
      columns[2 * half].push_back(unpack(b, x, y, 2, 0));
      columns[2 * half + 1].push_back(unpack(b, x, y, 2, 1));
    }
  }
  SmallVector<Value> results(b.lanes);
  for (int64_t i = 0; i < 4; ++i)
    for (auto [quad, row] : llvm::enumerate(transposeGroups(b, columns[i], 4)))
      results[4 * quad + i] = row;
  return results;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static Value allocate(AttentionKernel &k, ArrayRef<int64_t> shape, Type element,
                      Value extent) {
  auto type = MemRefType::get(shape, element);
  return memref::AllocOp::create(k, type, extent, k.getI64IntegerAttr(64));
}

void cpu::allocatePacked(AttentionKernel &k) {
  Value panels = k.quotientUp(k.numKeys, k.tileKeys);
  Type f32 = k.getF32Type();
  if (!k.streams)
    k.packed.key = allocate(
        k, {ShapedType::kDynamic, k.getScoreSteps(), k.tileKeys}, f32, panels);
  if (k.packsValues)
    k.packed.value = allocate(k, {ShapedType::kDynamic, k.paddedValueChannels},
                              f32, k.quotientUp(k.numKeys, k.productWidth));
  if (k.hasKeyList)
    k.packed.positions = allocate(k, {ShapedType::kDynamic}, k.getI64Type(),
                                  k.times(panels, k.tileKeys));
}

void cpu::deallocatePacked(AttentionKernel &k) {
  for (Value memory : {k.packed.key, k.packed.value, k.packed.positions})
    if (memory)
      memref::DeallocOp::create(k, memory);
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// The keys of a panel that there are.
static Value countKeys(AttentionKernel &k, Value panel) {
  Value first = k.times(panel, k.tileKeys);
  return k.lesser(k.tileKeys, k.minus(k.head.keys, first));
}

/// Puts the first `count` rows of a panel's keys or values into scratch memory.
static void stageRows(AttentionKernel &k, OperandRole role, Value panel,
                      Value count, Value memory) {
  int64_t steps = cast<MemRefType>(memory.getType()).getDimSize(1);
  Value first = k.times(panel, k.tileKeys);
  k.loop(0, count, 1, [&](Value i) {
    Value row = loadRow(k, role, k.getKeyCoordinates(k.plus(first, i)));
    if (role == OperandRole::Key && k.splitsKeys)
      row = splitPairs(k, row);
    row = k.pad(row, steps * k.productWidth);
    k.storeVector(toWords(k, row), memory, {i, 0});
  });
}

void cpu::stageKeys(AttentionKernel &k, Value panel) {
  Value memory = k.scratch.keyRows, count = countKeys(k, panel);
  stageRows(k, OperandRole::Key, panel, count, memory);
  int64_t length = cast<MemRefType>(memory.getType()).getDimSize(1);
  Value zeros = arith::ConstantOp::create(
      k, k.getZeroAttr(VectorType::get(length, k.getF32Type())));
  auto clearRow = [&](Value i) { k.storeVector(zeros, memory, {i, 0}); };
  k.loop(count, k.tileKeys, 1, clearRow);
}

void cpu::stageValues(AttentionKernel &k, Value panel) {
  stageRows(k, OperandRole::Value, panel, countKeys(k, panel),
            k.scratch.valueRows);
}

/// Transposes a square of keys and steps; stores `count` steps.
static void packSquare(AttentionKernel &k, Value panel, Value firstKey,
                       IndexLike firstStep, int64_t count) {
  SmallVector<Value> rows;
  for (int64_t i = 0; i < k.lanes; ++i)
    rows.push_back(
        k.loadVector(k.scratch.keyRows, {k.plus(firstKey, i), firstStep}));
  SmallVector<Value> columns = transpose(k, rows);
  for (int64_t i = 0; i < count; ++i)
    k.storeVector(columns[i], k.packed.key,
                  {panel, k.plus(firstStep, i), firstKey});
}

static void packKeys(AttentionKernel &k) {
  int64_t steps = k.getScoreSteps(), whole = steps / k.lanes * k.lanes;
  k.loop(0, k.head.panels, 1, [&](Value panel) {
    stageKeys(k, panel);
    k.loop(0, k.tileKeys, k.lanes, [&](Value key) {
      k.loop(0, whole, k.lanes,
             [&](Value step) { packSquare(k, panel, key, step, k.lanes); });
      if (whole != steps)
        packSquare(k, panel, key, whole, steps - whole);
    });
  });
}

static void packPositions(AttentionKernel &k) {
  Value positions = k.getOperand(OperandRole::KeyPos);
  k.loop(0, k.head.keys, 1, [&](Value key) {
    Value position = k.load(
        positions, k.getIndices(OperandRole::KeyPos, k.getKeyCoordinates(key)));
    if (position.getType().isIndex())
      position = arith::IndexCastOp::create(k, k.getI64Type(), position);
    else if (position.getType() != k.getI64Type())
      position = arith::ExtSIOp::create(k, k.getI64Type(), position);
    k.store(position, k.packed.positions, {key});
  });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static Value loadValueRow(AttentionKernel &k, Value key) {
  Value row = loadRow(k, OperandRole::Value, k.getKeyCoordinates(key));
  return k.pad(row, k.paddedValueChannels);
}

/// The values of two keys in turn. Beside a last key that is alone stands the
/// same again: whatever weighs nothing may be anything.
static Value loadValuePair(AttentionKernel &k, Value pair) {
  Value first = k.times(pair, 2);
  Value second = k.lesser(k.plus(first, 1), k.minus(k.head.keys, 1));
  Value firstRow = loadValueRow(k, first);
  return pairRows(k, firstRow, loadValueRow(k, second));
}

static void packValues(AttentionKernel &k) {
  Value steps = k.quotientUp(k.head.keys, k.productWidth);
  k.loop(0, steps, 1, [&](Value step) {
    Value row =
        k.productWidth == 1 ? loadValueRow(k, step) : loadValuePair(k, step);
    k.storeVector(row, k.packed.value, {step, 0});
  });
}

void cpu::packHead(AttentionKernel &k) {
  if (!k.streams)
    packKeys(k);
  if (k.hasKeyList)
    packPositions(k);
  if (k.packsValues)
    packValues(k);
}
