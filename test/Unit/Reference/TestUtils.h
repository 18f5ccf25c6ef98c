//===- TestUtils.h - Random arrays for the tests ----------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_TEST_UNIT_REFERENCE_TESTUTILS_H
#define ROPE_TEST_UNIT_REFERENCE_TESTUTILS_H

#include "rope/Reference/Rotation.h"
#include "rope/Reference/Rounding.h"
#include "rope/Reference/Table.h"
#include "gtest/gtest.h"
#include <limits>
#include <random>

namespace mlir::rope::reference {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double quietNan = std::numeric_limits<double>::quiet_NaN();

/// Seeded source of random arrays, the same on every platform.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  /// A number in [−1, 1).
  double next() {
    return static_cast<double>(static_cast<int64_t>(engine())) * 0x1p-63;
  }

  Array array(const Shape &shape) {
    Array result(shape);
    for (int64_t i = 0; i < result.getNumElements(); ++i)
      result[i] = next();
    return result;
  }

private:
  std::mt19937_64 engine;
};

/// A table [n, 2, pairs] of the default schedule for positions `start`, start
/// + step, …
inline Array tableAt(int64_t start, int64_t step, int64_t n, int64_t pairs,
                     double theta = 100.0, double magnitude = 1.0) {
  IntArray positions({n});
  for (int64_t i = 0; i < n; ++i)
    positions[i] = start + step * i;
  TableInputs inputs{positions, getFrequencies(DefaultSchedule{theta}, pairs)};
  inputs.frequencies.magnitude = magnitude;
  return makeTable(inputs);
}

inline double sumOfProducts(const Array &lhs, const Array &rhs) {
  double sum = 0.0;
  for (int64_t i = 0; i < lhs.getNumElements(); ++i)
    sum += lhs[i] * rhs[i];
  return sum;
}

#define EXPECT_ARRAY_NEAR(value, exact, tolerance)                             \
  EXPECT_LE(getMaxAbsError(value, exact), tolerance)

} // namespace mlir::rope::reference

#endif // ROPE_TEST_UNIT_REFERENCE_TESTUTILS_H
