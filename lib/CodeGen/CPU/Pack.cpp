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
#include "Transpose.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

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
