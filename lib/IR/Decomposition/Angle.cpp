//===- Angle.cpp - Angles of rotations, reduced ---------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All of this maps to plain vector instructions: rounding to integers is an
// addition of 1.5·2^52, whose last bits are the integer.
//
//===----------------------------------------------------------------------===//

#include "Angle.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/APInt.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope::detail;
using llvm::APInt;

//===----------------------------------------------------------------------===//
// Frequencies in turns
//===----------------------------------------------------------------------===//

/// Fractional bits of 1/2π: enough for the largest f64 (2^1024), whose lowest
/// bit in use is 2^-64 of a turn, and two significands to spare.
static constexpr unsigned kFraction = 1280;
/// Room for the integer part of products, and for 2^(2·kFraction).
static constexpr unsigned kWidth = 2 * kFraction + 64;

/// atan(1/n)·2^kFraction, by its series.
static APInt getInverseTangent(uint64_t n) {
  APInt term = APInt::getOneBitSet(kWidth, kFraction).udiv(n);
  APInt sum = term;
  for (uint64_t k = 3; !term.isZero(); k += 2) {
    term = term.udiv(n * n);
    APInt next = term.udiv(k);
    if (k % 4 == 3)
      sum -= next;
    else
      sum += next;
  }
  return sum;
}

/// 2^kFraction/2π, with Machin's formula for π.
static const APInt &getInverseTwoPi() {
  static const APInt result = [] {
    APInt pi = (getInverseTangent(5) * 4 - getInverseTangent(239)) * 4;
    return APInt::getOneBitSet(kWidth, 2 * kFraction).udiv(pi * 2);
  }();
  return result;
}

/// The significand m of |ω| = m·2^exponent, an integer below 2^53.
static uint64_t getSignificand(double frequency, int &exponent) {
  double fraction = std::frexp(std::fabs(frequency), &exponent);
  exponent -= 53;
  return static_cast<uint64_t>(std::ldexp(fraction, 53));
}

uint64_t rope::detail::getFixedPointTurns(double frequency) {
  int exponent;
  APInt turns = getInverseTwoPi() * getSignificand(frequency, exponent);
  int shift = static_cast<int>(kFraction) - 64 - exponent;
  turns += APInt::getOneBitSet(kWidth, shift - 1);
  uint64_t fixed = turns.lshr(shift).extractBitsAsZExtValue(64, 0);
  return frequency < 0 ? -fixed : fixed;
}

SplitDouble rope::detail::getQuarterTurns(double frequency) {
  int exponent;
  APInt turns = getInverseTwoPi() * getSignificand(frequency, exponent);
  if (turns.isZero())
    return {0, 0};
  int shift = static_cast<int>(turns.getActiveBits()) - 53;
  APInt high = turns.lshr(shift);
  APInt rest = turns - high.shl(shift);
  int restShift = shift - 53;
  exponent += 2 - static_cast<int>(kFraction);
  double sign = frequency < 0 ? -1 : 1;
  return {sign * std::ldexp(high.getZExtValue(), shift + exponent),
          sign * std::ldexp(rest.lshr(restShift).getZExtValue(),
                            restShift + exponent)};
}

//===----------------------------------------------------------------------===//
// Constants and small steps
//===----------------------------------------------------------------------===//

Value rope::detail::createFloat(ImplicitLocOpBuilder &b, Type type,
                                double value) {
  return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
}

static Value createInteger(ImplicitLocOpBuilder &b, Type type, int64_t value) {
  return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
}

static Value createF64(ImplicitLocOpBuilder &b, double value) {
  return createFloat(b, b.getF64Type(), value);
}

/// 2/π and π/2, each in two f64.
static constexpr SplitDouble kTwoOverPi = {0x1.45f306dc9c883p-1,
                                           -0x1.6b01ec5417056p-55};
static constexpr SplitDouble kHalfPi = {0x1.921fb54442d18p+0,
                                        0x1.1a62633145c07p-54};

namespace {
/// A number rounded to an integer, which stands in the last bits of `shifted`.
struct RoundedNumber {
  Value shifted;
  Value integer;
};
} // namespace

/// Rounds an f64 below 2^51 to the nearest integer.
static RoundedNumber createRound(ImplicitLocOpBuilder &b, Value number) {
  Value shift = createF64(b, 0x1.8p52);
  Value shifted = arith::AddFOp::create(b, number, shift);
  return {shifted, arith::SubFOp::create(b, shifted, shift)};
}

static Value createLastBits(ImplicitLocOpBuilder &b, RoundedNumber number) {
  Value bits = arith::BitcastOp::create(b, b.getI64Type(), number.shifted);
  return arith::TruncIOp::create(b, b.getI32Type(), bits);
}

//===----------------------------------------------------------------------===//
// Angles
//===----------------------------------------------------------------------===//

ReducedAngle rope::detail::createFixedPointAngle(ImplicitLocOpBuilder &b,
                                                 Value position, Value turns) {
  Type i64 = b.getI64Type(), i32 = b.getI32Type();
  // The product modulo 2^64 is the angle modulo a turn.
  Value angle = arith::MulIOp::create(b, position, turns);
  Value half = createInteger(b, i64, int64_t(1) << 61);
  Value quarter = arith::ShRUIOp::create(
      b, arith::AddIOp::create(b, angle, half), createInteger(b, i64, 62));
  // Bits 30 to 61 are what is left of the nearest quarter, as a signed number.
  Value rest = arith::ShRUIOp::create(b, angle, createInteger(b, i64, 30));
  rest = arith::SIToFPOp::create(b, b.getF64Type(),
                                 arith::TruncIOp::create(b, i32, rest));
  rest = arith::MulFOp::create(b, rest, createF64(b, std::ldexp(M_PI, -33)));
  return {arith::TruncIOp::create(b, i32, quarter), rest};
}

ReducedAngle rope::detail::createProductAngle(ImplicitLocOpBuilder &b,
                                              Value position, Value high,
                                              Value low) {
  Value product = arith::MulFOp::create(b, position, high);
  Value error =
      math::FmaOp::create(b, position, high, arith::NegFOp::create(b, product));
  error = math::FmaOp::create(b, position, low, error);
  RoundedNumber quarter = createRound(b, product);
  Value rest = arith::SubFOp::create(b, product, quarter.integer);
  rest = arith::AddFOp::create(b, rest, error);
  rest = arith::MulFOp::create(b, rest, createF64(b, kHalfPi.high));
  return {createLastBits(b, quarter), rest};
}

ReducedAngle rope::detail::createGivenAngle(ImplicitLocOpBuilder &b,
                                            Value angle) {
  RoundedNumber quarter = createRound(
      b, arith::MulFOp::create(b, angle, createF64(b, kTwoOverPi.high)));
  Value minus = arith::NegFOp::create(b, quarter.integer);
  // The first step is exact (Cody and Waite): what it leaves is a multiple of
  // the last bit of π/2, and less than 1.
  Value rest = math::FmaOp::create(b, minus, createF64(b, kHalfPi.high), angle);
  rest = math::FmaOp::create(b, minus, createF64(b, kHalfPi.low), rest);
  return {createLastBits(b, quarter), rest};
}

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

/// Σ coefficients[k]·x^k by Horner's rule.
static Value createPolynomial(ImplicitLocOpBuilder &b, Value x,
                              ArrayRef<double> coefficients) {
  auto contract = arith::FastMathFlags::contract;
  Type type = x.getType();
  Value sum = createFloat(b, type, coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back())) {
    sum = arith::MulFOp::create(b, sum, x, contract);
    sum = arith::AddFOp::create(b, sum, createFloat(b, type, coefficient),
                                contract);
  }
  return sum;
}

// For |x| ≤ π/4, in powers of x²: (sin x − x)/x³ and cos x. From Cephes
// (sinf.c) and FreeBSD's msun (k_sin.c, k_cos.c).
static constexpr double kSinF32[] = {-1.6666654611e-1, 8.3321608736e-3,
                                     -1.9515295891e-4};
static constexpr double kCosF32[] = {
    1, -0.5, 4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5};
static constexpr double kSinF64[] = {
    -1.66666666666666324348e-01, 8.33333333332248946124e-03,
    -1.98412698298579493134e-04, 2.75573137070700676789e-06,
    -2.50507602534068634195e-08, 1.58969099521155010221e-10};
static constexpr double kCosF64[] = {1,
                                     -0.5,
                                     4.16666666666666019037e-02,
                                     -1.38888888888741095749e-03,
                                     2.48015872894767294178e-05,
                                     -2.75573143513906633035e-07,
                                     2.08757232129817482790e-09,
                                     -1.13596475577881948265e-11};

/// Whether a bit of `value` is set.
static Value createBitTest(ImplicitLocOpBuilder &b, Value value, int64_t bit) {
  Value masked =
      arith::AndIOp::create(b, value, createInteger(b, value.getType(), bit));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, masked,
                               createInteger(b, value.getType(), 0));
}

static Value createNegatedIf(ImplicitLocOpBuilder &b, Value condition,
                             Value value) {
  return arith::SelectOp::create(b, condition, arith::NegFOp::create(b, value),
                                 value);
}

std::pair<Value, Value> rope::detail::createCosSin(ImplicitLocOpBuilder &b,
                                                   ReducedAngle angle,
                                                   FloatType type) {
  bool wide = type.isF64();
  Value x = angle.rest;
  if (!wide)
    x = arith::TruncFOp::create(b, type, x);
  Value square = arith::MulFOp::create(b, x, x);
  Value cos = createPolynomial(b, square, wide ? ArrayRef(kCosF64) : kCosF32);
  Value sin = createPolynomial(b, square, wide ? ArrayRef(kSinF64) : kSinF32);
  auto contract = arith::FastMathFlags::contract;
  sin = arith::MulFOp::create(b, sin, square);
  sin = arith::MulFOp::create(b, sin, x, contract);
  sin = arith::AddFOp::create(b, sin, x, contract);

  Value odd = createBitTest(b, angle.quarter, 1);
  Value turnedCos = arith::SelectOp::create(b, odd, sin, cos);
  Value turnedSin = arith::SelectOp::create(b, odd, cos, sin);
  Value next = arith::AddIOp::create(
      b, angle.quarter, createInteger(b, angle.quarter.getType(), 1));
  return {createNegatedIf(b, createBitTest(b, next, 2), turnedCos),
          createNegatedIf(b, createBitTest(b, angle.quarter, 2), turnedSin)};
}

//===----------------------------------------------------------------------===//
// Frequencies known at run time
//===----------------------------------------------------------------------===//

/// ω·factor in two f64.
static std::pair<Value, Value> createSplitProduct(ImplicitLocOpBuilder &b,
                                                  Value frequency,
                                                  SplitDouble factor) {
  Value high = createF64(b, factor.high), low = createF64(b, factor.low);
  Value product = arith::MulFOp::create(b, frequency, high);
  Value error = math::FmaOp::create(b, frequency, high,
                                    arith::NegFOp::create(b, product));
  return {product, math::FmaOp::create(b, frequency, low, error)};
}

std::pair<Value, Value>
rope::detail::createQuarterTurns(ImplicitLocOpBuilder &b, Value frequency) {
  return createSplitProduct(b, frequency, kTwoOverPi);
}

Value rope::detail::createFixedPointTurns(ImplicitLocOpBuilder &b,
                                          Value frequency) {
  Type i64 = b.getI64Type();
  auto [quarters, error] = createSplitProduct(b, frequency, kTwoOverPi);
  Value scale = createF64(b, 0x1p31);
  Value turn =
      createRound(b, arith::MulFOp::create(b, quarters, createF64(b, 0.25)))
          .integer;
  Value fraction = arith::SubFOp::create(
      b, quarters, arith::MulFOp::create(b, turn, createF64(b, 4)));
  // Bits 62 to 31 of the fixed-point number, then those below, each from an
  // exact product.
  Value upperProduct = arith::MulFOp::create(b, fraction, scale);
  Value upper = createRound(b, upperProduct).integer;
  Value lower = arith::SubFOp::create(b, upperProduct, upper);
  lower =
      arith::AddFOp::create(b, lower, arith::MulFOp::create(b, error, scale));
  lower = arith::MulFOp::create(b, lower, scale);
  lower = createRound(b, lower).integer;
  Value sum = arith::ShLIOp::create(b, arith::FPToSIOp::create(b, i64, upper),
                                    createInteger(b, i64, 31));
  return arith::AddIOp::create(b, sum, arith::FPToSIOp::create(b, i64, lower));
}
