//===- Rounding.h - Narrow float formats ------------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rounds f64 results to the element types of the dialect, and measures
// distances between values in units of the last place of those types.
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_REFERENCE_ROUNDING_H
#define ROPE_REFERENCE_ROUNDING_H

#include "rope/Reference/Array.h"

namespace mlir::rope::reference {

/// The float element types.
enum class FloatFormat { F64, F32, BF16, F16 };

/// Rounds to the nearest value of the format, ties to even, in one step (not
/// through f32). Subnormals are kept; from half a unit above the largest finite
/// value on the result is infinite, as in IEEE 754.
double roundTo(double value, FloatFormat format);

/// Each element rounded.
Array roundTo(const Array &array, FloatFormat format);

/// The bits of `value` rounded to the format, in the low bits of the result. A
/// NaN becomes the quiet NaN of its sign.
uint64_t toBits(double value, FloatFormat format);

/// The value that the low bits stand for; exact.
double fromBits(uint64_t bits, FloatFormat format);

/// The distance from |value|, rounded down to a value of the format, to the
/// next larger one: the unit in the last place. The smallest subnormal at and
/// around zero; NaN for values which are not finite.
double getUlp(double value, FloatFormat format);

/// How many steps from value to value of the format lie between the two
/// arguments after rounding. Both zeros are one value, infinity follows the
/// largest finite value. NaNs are at distance 0 from each other and at the
/// largest distance, INT64_MAX, from everything else.
int64_t getUlpDistance(double lhs, double rhs, FloatFormat format);

/// |value − exact| in units of the last place of `exact`; 0 for equal values
/// (also infinities) and for two NaNs, infinite when only one is finite.
double getUlpError(double value, double exact, FloatFormat format);

/// The largest |value − exact| over two arrays of one shape. Equal infinities
/// and two NaNs count as 0, any other pair that is not finite as infinite.
double getMaxAbsError(const Array &value, const Array &exact);

} // namespace mlir::rope::reference

#endif // ROPE_REFERENCE_ROUNDING_H
