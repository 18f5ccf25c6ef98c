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
