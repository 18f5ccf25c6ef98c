//===- Rounding.cpp - Narrow float formats --------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All formats are handled as IEEE 754 binary formats of some exponent and
// fraction width, by scaling in f64, which is exact.
//
//===----------------------------------------------------------------------===//

#include "rope/Reference/Rounding.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir::rope::reference;

namespace {
/// Widths of a binary format.
struct Widths {
  int fraction;
  int exponent;

  int getBias() const { return (1 << (exponent - 1)) - 1; }
  /// The exponent of the smallest normal value.
  int getMinExponent() const { return 1 - getBias(); }
  int getMaxExponent() const { return getBias(); }
};
} // namespace

static Widths getWidths(FloatFormat format) {
  switch (format) {
  case FloatFormat::F64:
    return {52, 11};
  case FloatFormat::F32:
    return {23, 8};
  case FloatFormat::BF16:
    return {7, 8};
  case FloatFormat::F16:
    return {10, 5};
  }
  return {52, 11};
}

/// The binary exponent of the unit in the last place at a finite value.
static int getUlpExponent(double value, Widths widths) {
  int exponent = widths.getMinExponent();
  if (value != 0.0)
    exponent = std::max(exponent, std::ilogb(value));
  return exponent - widths.fraction;
}

double mlir::rope::reference::roundTo(double value, FloatFormat format) {
  if (format == FloatFormat::F64 || !std::isfinite(value))
    return value;
  Widths widths = getWidths(format);
  int ulpExponent = getUlpExponent(value, widths);
  // The default rounding mode makes nearbyint round to nearest even.
  double rounded =
      std::ldexp(std::nearbyint(std::ldexp(value, -ulpExponent)), ulpExponent);
  if (std::fabs(rounded) >= std::ldexp(1.0, widths.getMaxExponent() + 1))
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  return rounded;
}

Array mlir::rope::reference::roundTo(const Array &array, FloatFormat format) {
  Array result = array;
  for (int64_t i = 0; i < result.getNumElements(); ++i)
    result[i] = roundTo(result[i], format);
  return result;
}

uint64_t mlir::rope::reference::toBits(double value, FloatFormat format) {
  uint64_t bits;
  if (format == FloatFormat::F64) {
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  }
  Widths widths = getWidths(format);
  uint64_t hidden = uint64_t(1) << widths.fraction;
  uint64_t maxExponent = (uint64_t(1) << widths.exponent) - 1;
  uint64_t sign = uint64_t(std::signbit(value))
                  << (widths.fraction + widths.exponent);
  double magnitude = std::fabs(roundTo(value, format));
  if (std::isnan(value))
    return sign | maxExponent << widths.fraction | hidden >> 1;
  if (std::isinf(magnitude))
    return sign | maxExponent << widths.fraction;
  int ulpExponent = getUlpExponent(magnitude, widths);
  auto significand = static_cast<uint64_t>(std::ldexp(magnitude, -ulpExponent));
  if (significand < hidden)
    return sign | significand;
  uint64_t biased = ulpExponent + widths.fraction + widths.getBias();
  return sign | biased << widths.fraction | (significand - hidden);
}

double mlir::rope::reference::fromBits(uint64_t bits, FloatFormat format) {
  if (format == FloatFormat::F64) {
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  Widths widths = getWidths(format);
  uint64_t hidden = uint64_t(1) << widths.fraction;
  uint64_t maxExponent = (uint64_t(1) << widths.exponent) - 1;
  uint64_t fraction = bits & (hidden - 1);
  uint64_t biased = (bits >> widths.fraction) & maxExponent;
  double magnitude;
  if (biased == maxExponent)
    magnitude = fraction ? std::numeric_limits<double>::quiet_NaN()
                         : std::numeric_limits<double>::infinity();
  else
    magnitude =
        std::ldexp(static_cast<double>(biased ? fraction + hidden : fraction),
                   std::max(static_cast<int>(biased), 1) - widths.getBias() -
                       widths.fraction);
  bool negative = (bits >> (widths.fraction + widths.exponent)) & 1;
  return negative ? -magnitude : magnitude;
}

double mlir::rope::reference::getUlp(double value, FloatFormat format) {
  if (!std::isfinite(value))
    return std::numeric_limits<double>::quiet_NaN();
  return std::ldexp(1.0, getUlpExponent(value, getWidths(format)));
}

/// Numbers the values of the format in order, 0 for both zeros. The magnitude
/// bits of IEEE formats are in order already.
static int64_t getOrdinal(double value, FloatFormat format) {
  auto magnitude = static_cast<int64_t>(toBits(std::fabs(value), format));
  return std::signbit(value) ? -magnitude : magnitude;
}

int64_t mlir::rope::reference::getUlpDistance(double lhs, double rhs,
                                              FloatFormat format) {
  constexpr int64_t largest = std::numeric_limits<int64_t>::max();
  if (std::isnan(lhs) || std::isnan(rhs))
    return std::isnan(lhs) && std::isnan(rhs) ? 0 : largest;
  // Of f64 values of opposite sign the distance can exceed the range.
  double distance = std::fabs(static_cast<double>(getOrdinal(lhs, format)) -
                              static_cast<double>(getOrdinal(rhs, format)));
  if (distance >= static_cast<double>(largest))
    return largest;
  return std::abs(getOrdinal(lhs, format) - getOrdinal(rhs, format));
}

double mlir::rope::reference::getUlpError(double value, double exact,
                                          FloatFormat format) {
  if (value == exact || (std::isnan(value) && std::isnan(exact)))
    return 0.0;
  if (!std::isfinite(value) || !std::isfinite(exact))
    return std::numeric_limits<double>::infinity();
  return std::fabs(value - exact) / getUlp(exact, format);
}

double mlir::rope::reference::getMaxAbsError(const Array &value,
                                             const Array &exact) {
  if (value.getShape() != exact.getShape())
    reportInvalid("comparing shape " + toString(value.getShape()) + " with " +
                  toString(exact.getShape()));
  double largest = 0.0;
  for (int64_t i = 0; i < value.getNumElements(); ++i) {
    if (value[i] == exact[i] || (std::isnan(value[i]) && std::isnan(exact[i])))
      continue;
    double error = std::fabs(value[i] - exact[i]);
    largest = std::isfinite(error) ? std::max(largest, error)
                                   : std::numeric_limits<double>::infinity();
  }
  return largest;
}
