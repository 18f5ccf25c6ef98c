//===- Draw.h - Random choices ----------------------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The choices of which a random case is made, the same on every platform.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_TEST_UNIT_FUZZ_DRAW_H
#define ROPE_TEST_UNIT_FUZZ_DRAW_H

#include "rope/Reference/Array.h"

#include <algorithm>
#include <random>
#include <vector>

namespace mlir::rope::test {

/// A seeded source of choices.
class Draw {
public:
  explicit Draw(uint64_t seed) : engine(seed) {}

  /// An integer in [low, high].
  int64_t range(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine() % (high - low + 1));
  }
  /// A number in [low, high).
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(engine() >> 11) * 0x1p-53;
  }
  bool chance(double probability) { return uniform(0, 1) < probability; }

  /// One of the values.
  template <typename T> T pick(std::initializer_list<T> values) {
    return values.begin()[range(0, values.size() - 1)];
  }
  template <typename T> const T &pick(const std::vector<T> &values) {
    return values[range(0, values.size() - 1)];
  }

  template <typename T> void shuffle(std::vector<T> &values) {
    for (size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[range(0, i - 1)]);
  }

  /// Numbers in [low, high).
  reference::Array array(const reference::Shape &shape, double low = -1,
                         double high = 1) {
    reference::Array values(shape);
    for (int64_t i = 0; i < values.getNumElements(); ++i)
      values[i] = uniform(low, high);
    return values;
  }

private:
  std::mt19937_64 engine;
};

} // namespace mlir::rope::test

#endif // ROPE_TEST_UNIT_FUZZ_DRAW_H
