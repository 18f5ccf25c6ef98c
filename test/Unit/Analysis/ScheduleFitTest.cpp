//===- ScheduleFitTest.cpp - Tests of recognised schedules ----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Analysis/ScheduleFit.h"

#include "mlir/AsmParser/AsmParser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::rope;

namespace {
class ScheduleFitTest : public ::testing::Test {
protected:
  ScheduleFitTest() { context.loadDialect<RopeDialect>(); }

  FrequencyAttrInterface parse(StringRef text) {
    return cast<FrequencyAttrInterface>(parseAttribute(text, &context));
  }

  /// The frequencies of a schedule as a model holds them.
  SmallVector<double> getRounded(FrequencyAttrInterface schedule,
                                 int64_t pairs) {
    SmallVector<double> frequencies;
    for (double w : schedule.computeFrequencies(pairs, std::nullopt))
      frequencies.push_back(static_cast<float>(w));
    return frequencies;
  }

  void expectFit(StringRef text, int64_t pairs) {
    FrequencyAttrInterface schedule = parse(text);
    FailureOr<ScheduleFit> fit = fitSchedule(
        &context, getRounded(schedule, pairs), schedule.computeMagnitude());
    ASSERT_TRUE(succeeded(fit)) << text.str();
    EXPECT_EQ(fit->schedule, schedule) << text.str();
    EXPECT_LE(fit->deviation, 1e-7) << text.str();
  }

  MLIRContext context;
};
} // namespace

TEST_F(ScheduleFitTest, SchedulesOfModels) {
  expectFit("#rope.default<1.0e4>", 64);
  expectFit("#rope.default<5.0e5>", 64);
  expectFit("#rope.default<1.0e2>", 16);
  expectFit("#rope.linear<theta = 1.0e6, factor = 8.0>", 128);
  expectFit("#rope.ntk<theta = 1.0e4, factor = 4.0>", 64);
  expectFit("#rope.llama3<theta = 5.0e5, factor = 8.0, low = 1.0, high = 4.0, "
            "trained = 8192>",
            64);
  expectFit("#rope.llama3<theta = 5.0e5, factor = 3.2e1, low = 1.0, "
            "high = 4.0, trained = 8192>",
            32);
  expectFit("#rope.yarn<theta = 1.0e4, factor = 4.0e1, trained = 4096, "
            "magnitude = 1.0>",
            32);
  expectFit("#rope.yarn<theta = 1.5e5, factor = 3.2e1, trained = 4096, "
            "truncate = false>",
            32);
  expectFit("#rope.proportional<theta = 1.0e6, share = 0.25>", 256);
}

TEST_F(ScheduleFitTest, RoundedFrequenciesKeepTheirSchedule) {
  FrequencyAttrInterface schedule = parse("#rope.default<1.0e4>");
  SmallVector<double> frequencies;
  for (double w : getRounded(schedule, 32)) {
    auto bits = llvm::bit_cast<uint32_t>(static_cast<float>(w));
    frequencies.push_back(
        llvm::bit_cast<float>((bits + 0x8000u) & 0xffff0000u));
  }
  FailureOr<ScheduleFit> fit = fitSchedule(&context, frequencies, 1);
  ASSERT_TRUE(succeeded(fit));
  EXPECT_EQ(fit->schedule, schedule);
  EXPECT_GT(fit->deviation, 1e-4);
}

TEST_F(ScheduleFitTest, OtherListsHaveNone) {
  SmallVector<double> frequencies =
      getRounded(parse("#rope.default<1.0e4>"), 32);
  frequencies[7] *= 1.001;
  EXPECT_TRUE(failed(fitSchedule(&context, frequencies, 1)));
  EXPECT_TRUE(failed(fitSchedule(&context, {0.5, 0.75, 0.1, 0.9}, 1)));
  EXPECT_TRUE(failed(fitSchedule(&context, {0, 0, 0}, 1)));
}
