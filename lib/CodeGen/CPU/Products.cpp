//===- Products.cpp - What products take ----------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of f32, or of pairs of bf16: the machine has an instruction that
// adds the products of two bf16 in each 32 bits to an f32, twice as many as of
// f32. The pairs are words of f32 to all that moves them, so that kernels of
// both kinds move them in the same way.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"

#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

/// The same bits as a vector of another element type.
static Value viewAs(KernelBuilder &b, Value x, Type element) {
  auto type = cast<VectorType>(x.getType());
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  auto viewed =
      VectorType::get(bits / element.getIntOrFloatBitWidth(), element);
  return b.createOrFold<vector::BitCastOp>(viewed, x);
}

/// Rounds vectors by the instruction for it. It takes numbers below 2^-126 for
/// zeros, as products do.
static Value roundToBF16(KernelBuilder &b, Value numbers) {
  int64_t length = cast<VectorType>(numbers.getType()).getNumElements();
  if (length % b.lanes != 0)
    return b.fromF32(numbers, b.getBF16Type());
  auto type = VectorType::get(b.lanes, b.getBF16Type());
  Value rounded = arith::ConstantOp::create(
      b, b.getZeroAttr(VectorType::get(length, b.getBF16Type())));
  for (int64_t i = 0; i < length; i += b.lanes) {
    Value part = b.createOrFold<vector::ExtractStridedSliceOp>(
        numbers, ArrayRef<int64_t>{i}, ArrayRef<int64_t>{b.lanes},
        ArrayRef<int64_t>{1});
    part = x86vector::CvtPackedF32ToBF16Op::create(b, type, part);
    rounded = b.createOrFold<vector::InsertStridedSliceOp>(
        part, rounded, ArrayRef<int64_t>{i}, ArrayRef<int64_t>{1});
  }
  return rounded;
}

/// The place of each channel of a row among those that are split.
static SmallVector<int64_t> getSplitOrder(AttentionKernel &k, int64_t length) {
  SmallVector<int64_t> order;
  for (int64_t first = 0; first < length; first += 2 * k.lanes)
    for (int64_t parity : {0, 1})
      for (int64_t i = 0; i < k.lanes; ++i)
        order.push_back(first + 2 * i + parity);
  return order;
}

Value cpu::splitPairs(AttentionKernel &k, Value row) {
  int64_t length = cast<VectorType>(row.getType()).getNumElements();
  return vector::ShuffleOp::create(k, row, row, getSplitOrder(k, length));
}

Value cpu::joinPairs(AttentionKernel &k, Value row) {
  int64_t length = cast<VectorType>(row.getType()).getNumElements();
  SmallVector<int64_t> order = getSplitOrder(k, length), inverse(length);
  for (auto [to, from] : llvm::enumerate(order))
    inverse[from] = static_cast<int64_t>(to);
  return vector::ShuffleOp::create(k, row, row, inverse);
}

Value cpu::loadStreamed(AttentionKernel &k, OperandRole role,
                        const Coordinates &at, IndexLike firstChannel,
                        int64_t vector) {
  Value memory = k.getOperand(role);
  auto load = [&](int64_t offset, int64_t count) {
    return k.loadVector(
        memory, k.getIndices(role, at, k.plus(firstChannel, offset)), count);
  };
  if (!(role == OperandRole::Key ? k.splitsKeys : k.splitsValues))
    return k.toF32(load(vector * k.lanes, k.lanes));
  Value pairs = load(vector / 2 * 2 * k.lanes, 2 * k.lanes);
  Value words = k.toBits(viewAs(k, pairs, k.getF32Type()));
  // The first of a pair is in the low half of its word.
  Value wide = vector % 2 == 0
                   ? k.shiftLeft(words, 16)
                   : k.andInts(words, k.integers(int32_t(0xFFFF0000)));
  return k.fromBits(wide);
}

Value cpu::toWords(AttentionKernel &k, Value numbers) {
  if (k.productWidth == 1)
    return numbers;
  return viewAs(k, roundToBF16(k, numbers), k.getF32Type());
}

Value cpu::fromWords(AttentionKernel &k, Value words) {
  if (k.productWidth == 1)
    return words;
  return k.toF32(viewAs(k, words, k.getBF16Type()));
}

Value cpu::pairRows(AttentionKernel &k, Value first, Value second) {
  Value pairs = vector::InterleaveOp::create(k, roundToBF16(k, first),
                                             roundToBF16(k, second));
  return viewAs(k, pairs, k.getF32Type());
}

Value cpu::addProduct(AttentionKernel &k, Value a, Value b, Value sum) {
  if (k.productWidth == 1)
    return k.fma(a, b, sum);
  // It takes numbers below 2^-126 for zeros.
  return x86vector::DotBF16Op::create(k, sum.getType(), sum,
                                      viewAs(k, a, k.getBF16Type()),
                                      viewAs(k, b, k.getBF16Type()));
}

Value cpu::dropUnweighted(AttentionKernel &k, Value weights, Value values) {
  if (k.productWidth == 1)
    return values;
  Type half = k.getI16Type();
  Value bits = viewAs(k, values, half);
  Value zeros = arith::ConstantOp::create(k, k.getZeroAttr(bits.getType()));
  Value isWeighted = arith::CmpIOp::create(k, arith::CmpIPredicate::ne,
                                           viewAs(k, weights, half), zeros);
  return viewAs(k, k.select(isWeighted, bits, zeros), k.getF32Type());
}
