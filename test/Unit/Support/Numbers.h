//===- Numbers.h - Arrays of programs and of the reference -----*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts between the arrays that compiled programs take and the f64 arrays of
// the reference evaluator, draws random ones, and measures differences. Nothing
// is ever rounded on the way from a program to the reference, so that the
// reference computes on exactly the numbers that the program was given.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_TEST_UNIT_SUPPORT_NUMBERS_H
#define ROPE_TEST_UNIT_SUPPORT_NUMBERS_H

#include "rope/Execution/Array.h"
#include "rope/Execution/Random.h"
#include "rope/Reference/Array.h"
#include "rope/Reference/Rounding.h"

namespace mlir::rope::test {

/// The values, rounded to the type.
Array makeArray(DType dtype, const reference::Array &values);
/// The integers, modulo the width of the type.
Array makeArray(DType dtype, const reference::IntArray &values);
/// An array of one value; NaN is a good choice for what has to be overwritten.
Array makeFilled(DType dtype, const reference::Shape &shape, double value);
/// Independent normal numbers, times `scale`.
Array makeRandom(DType dtype, const reference::Shape &shape,
                 RandomGenerator &random, double scale = 1);

/// The value of an element, in row-major order (its real part, if complex).
inline double at(const Array &array, int64_t index) {
  return array.get(index).real();
}
/// The values of a float array (i1: 0 and 1). Exact.
reference::Array toReference(const Array &array);
/// The values of a signed integer array.
reference::IntArray toIntegers(const Array &array);

/// The float format of a float type.
reference::FloatFormat getFormat(DType dtype);
/// How MLIR spells the type, as a std::string: "bf16".
std::string getTypeName(DType dtype);
/// The text of a tensor type, −1 for `?`: "tensor<2x?x8xf32>".
std::string getTensorType(DType dtype, const reference::Shape &shape);

/// The largest |got − want| in units of the last place that `got`'s type has at
/// |want|, or at `scale` where that is larger. `scale` is of the same shape, or
/// a scalar.
double getMaxUlpError(const Array &got, const reference::Array &want,
                      const reference::Array &scale = reference::Array());

} // namespace mlir::rope::test

#endif // ROPE_TEST_UNIT_SUPPORT_NUMBERS_H
