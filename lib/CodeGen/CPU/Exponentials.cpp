//===- Exponentials.cpp - 2^x and tanh x in vectors -----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adding 1.5 · 2^23 / 2^b leaves x, rounded to multiples of 2^−b, in the low
// bits of the sum. Those above the lowest b are the exponent of 2^x, and the
// rest of x is at most 2^(−b−1), so that a short polynomial will do. Additions
// and integer operations run beside products; multiplications do not, so the
// best form is the one with the fewest of these.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

namespace {
/// x = whole + fraction, the bits of whole · 2^b in the low end of `bits`.
struct Rounded {
  Value bits, fraction;
};
} // namespace

static Rounded roundToMultiple(KernelBuilder &b, Value x, int fractionBits) {
  Value shift = b.numbers(std::ldexp(1.5, 23 - fractionBits));
  Value shifted = b.add(x, shift);
  Value fraction = b.sub(x, b.sub(shifted, shift));
  return {b.toBits(shifted), fraction};
}

/// 2^x by a polynomial of degree 5 on [−1/2, 1/2].
static Value buildByPolynomial(KernelBuilder &b, Value x) {
  Rounded rounded = roundToMultiple(b, x, 0);
  Value p = b.numbers(1.32647286e-3);
  for (double c :
       {9.67151369e-3, 5.55073375e-2, 2.40222421e-1, 6.93146978e-1, 1.0})
    p = b.fma(p, rounded.fraction, b.numbers(c));
  return b.fromBits(b.addInts(b.toBits(p), b.shiftLeft(rounded.bits, 23)));
}

/// 2^(j/32) of half the table, as bits from which j steps of the exponent
/// below were taken.
static Value getTable(KernelBuilder &b, int first) {
  SmallVector<float> entries;
  for (int j = first; j < first + 16; ++j) {
    auto entry = static_cast<float>(std::exp2(j / 32.0));
    uint32_t bits = llvm::bit_cast<uint32_t>(entry);
    entries.push_back(llvm::bit_cast<float>(bits - (uint32_t(j) << 18)));
  }
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(b.getFloats(), ArrayRef<float>(entries)));
}

/// 2^x by 32 values of 2^(j/32) in two registers: the hardware looks at the low
/// five bits alone. What is left is at most 1/64, and 2^f = 1 + f·(c0 + c1·f).
/// A bf16 does not show the last term.
static Value buildByTable(KernelBuilder &b, Value x, bool rounded) {
  Rounded whole = roundToMultiple(b, x, 5);
  Value entry = LLVM::CallIntrinsicOp::create(
                    b, b.getFloats(),
                    b.getStringAttr("llvm.x86.avx512.vpermi2var.ps.512"),
                    ValueRange{getTable(b, 0), whole.bits, getTable(b, 16)})
                    .getResult(0);
  Value power =
      b.fromBits(b.addInts(b.toBits(entry), b.shiftLeft(whole.bits, 18)));
  Value slope = b.numbers(0.69315733);
  if (!rounded)
    slope = b.fma(whole.fraction, b.numbers(0.24022698), slope);
  return b.fma(b.mul(whole.fraction, power), slope, power);
}

Value cpu::buildExp2(KernelBuilder &b, Value x, bool lookup, bool rounded) {
  if (lookup)
    return buildByTable(b, x, rounded);
  // What a NaN has in its low bits is no exponent.
  return b.fma(x, b.numbers(0.0), buildByPolynomial(b, x));
}

Value cpu::buildCarefulExp2(KernelBuilder &b, Value x) {
  Value lowest = b.numbers(-125.0);
  Value isLow = b.isGreater(lowest, x);
  Value power = buildByPolynomial(b, b.maxOrSecond(lowest, x));
  // The bits of a NaN are no exponent.
  Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
  power = b.select(isLow, b.numbers(0.0), power);
  return b.select(isNaN, x, power);
}

/// x·p(x²)/q(x²), within 4 units in the last place; beyond the bounds the
/// result rounds to ±1.
Value cpu::buildTanh(KernelBuilder &b, Value x) {
  Value bound = b.numbers(7.90531110763549805);
  Value least = b.numbers(-7.90531110763549805);
  x = b.maxOrSecond(least, x);
  Value isHigh = b.isGreater(x, bound);
  x = b.select(isHigh, bound, x);
  Value square = b.mul(x, x);
  Value p = b.numbers(-2.76076847742355e-16);
  for (double c :
       {2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08,
        1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03})
    p = b.fma(p, square, b.numbers(c));
  Value q = b.numbers(1.19825839466702e-06);
  for (double c :
       {1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03})
    q = b.fma(q, square, b.numbers(c));
  return arith::DivFOp::create(b, b.mul(x, p), q);
}
