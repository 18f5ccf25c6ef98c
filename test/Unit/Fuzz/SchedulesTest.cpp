//===- SchedulesTest.cpp - Random schedules against the reference ---------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The frequencies that attributes compute, for any parameters, are those that
// the reference computes in a longer type.
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::test;

TEST(Schedules, AgreeWithTheReference) {
  constexpr double kError = 1e-13;
  MLIRContext context;
  context.loadDialect<RopeDialect>();
  for (uint64_t seed = 1; seed <= 20000; ++seed) {
    Draw draw(seed);
    int64_t pairs = draw.range(1, 64);
    DrawnSchedule drawn = drawSchedule(draw, &context, pairs);
    SmallVector<double> computed =
        drawn.attr.computeFrequencies(pairs, drawn.length);
    const std::vector<double> &want = drawn.frequencies.values;
    ASSERT_EQ(computed.size(), want.size());
    ASSERT_EQ(drawn.attr.dependsOnLength(), drawn.length.has_value());
    for (auto [i, number] : llvm::enumerate(computed))
      ASSERT_NEAR(number, want[i], kError * std::fabs(want[i]))
          << "pair " << i << " of seed " << seed;
    double magnitude = drawn.frequencies.magnitude;
    ASSERT_NEAR(drawn.attr.computeMagnitude(), magnitude, kError * magnitude)
        << "seed " << seed;
  }
}
