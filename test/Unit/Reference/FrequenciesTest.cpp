//===- FrequenciesTest.cpp - Tests of the frequency schedules -------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Numbers of nine digits are the f32 `inv_freq` of Hugging Face transformers;
// those of seventeen were computed by mpmath from the papers' formulas.
#include "TestUtils.h"
#include <cmath>

using namespace mlir::rope::reference;

/// Frequencies as f32 code holds them, after a power function in f32.
static void expectFloats(const Frequencies &frequencies,
                         const std::vector<double> &expected) {
  ASSERT_EQ(frequencies.values.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(frequencies.values[i] / expected[i], 1.0, 2e-7) << i;
}

/// The number of f64 values between ω_i and the expected one is at most 1.
static void expectAt(const Frequencies &frequencies,
                     const std::vector<std::pair<int64_t, double>> &expected) {
  for (auto [i, value] : expected)
    EXPECT_LE(getUlpDistance(frequencies.values[i], value, FloatFormat::F64), 1)
        << i;
}

TEST(ReferenceFrequencies, Default) {
  Frequencies frequencies = getFrequencies(DefaultSchedule{10000.0}, 8);
  expectFloats(frequencies,
               {1.0, 0.316227764, 0.100000001, 0.0316227786, 0.00999999978,
                0.00316227786, 0.00100000005, 0.000316227786});
  EXPECT_EQ(frequencies.magnitude, 1.0);
  expectAt(getFrequencies(DefaultSchedule{10000.0}, 24),
           {{0, 1.0},
            {1, 0.6812920690579612},
            {5, 0.14677992676220694},
            {23, 0.00014677992676220695}});
  expectAt(getFrequencies(DefaultSchedule{1e7}, 48),
           {{1, 0.7147705767941857}, {47, 1.3990503141372937e-07}});
  EXPECT_EQ(getFrequencies(DefaultSchedule{}, 0).getNumPairs(), 0);
}

TEST(ReferenceFrequencies, LinearDividesByTheFactor) {
  Frequencies frequencies = getFrequencies(LinearSchedule{10000.0, 4.0}, 8);
  Frequencies base = getFrequencies(DefaultSchedule{10000.0}, 8);
  for (int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(frequencies.values[i], base.values[i] / 4.0);
  EXPECT_EQ(frequencies.magnitude, 1.0);
}

TEST(ReferenceFrequencies, Ntk) {
  Frequencies frequencies = getFrequencies(NtkSchedule{10000.0, 4.0}, 64);
  expectAt(frequencies, {{0, 1.0},
                         {1, 0.8471171851512068},
                         {32, 0.004945289840680367},
                         {63, 2.8869549617236455e-05}});
  // What the scheme is made for: the slowest pair is interpolated by f.
  Frequencies base = getFrequencies(DefaultSchedule{10000.0}, 64);
  EXPECT_NEAR(base.values[63] / frequencies.values[63], 4.0, 1e-14);
  EXPECT_EQ(getFrequencies(NtkSchedule{10000.0, 4.0}, 1).values[0], 1.0);
}

TEST(ReferenceFrequencies, DynamicNtk) {
  DynamicNtkSchedule schedule{10000.0, 2.0, 4096, 6000};
  expectAt(getFrequencies(schedule, 64), {{0, 1.0},
                                          {1, 0.8569756075131864},
                                          {32, 0.007161281383087038},
                                          {63, 5.9842953052733053e-05}});
  Frequencies base = getFrequencies(DefaultSchedule{10000.0}, 64);
  for (int64_t length : {0, 17, 4096}) {
    schedule.length = length;
    EXPECT_EQ(getFrequencies(schedule, 64).values, base.values);
  }
}

TEST(ReferenceFrequencies, YarnOfDeepSeek) {
  YarnSchedule schedule;
  schedule.factor = 8.0;
  schedule.trainedLength = 32;
  schedule.mscale = 1.0;
  schedule.mscaleAllDim = 1.0;
  Frequencies frequencies = getFrequencies(schedule, 8);
  expectFloats(frequencies,
               {1.0, 0.177878112, 0.0125000002, 0.00395284733, 0.00124999997,
                0.000395284733, 0.000125000006, 3.95284733e-05});
  EXPECT_EQ(frequencies.magnitude, 1.0);

  // DeepSeek-V3 itself: low = 10, high = 23.
  schedule.factor = 40.0;
  schedule.trainedLength = 4096;
  schedule.mscale = 0.707;
  frequencies = getFrequencies(schedule, 32);
  expectAt(frequencies, {{10, 0.05623413251903491},
                         {11, 0.03900692656714386},
                         {16, 0.0055},
                         {22, 0.00017782794100389227},
                         {23, 3.33380358040831e-05},
                         {31, 3.33380358040831e-06}});
  EXPECT_NEAR(frequencies.magnitude, 0.9210423553163399, 1e-15);
}

TEST(ReferenceFrequencies, YarnWithoutTruncation) {
  YarnSchedule schedule;
  schedule.theta = 150000.0;
  schedule.factor = 8.0;
  schedule.trainedLength = 32;
  schedule.truncate = false;
  Frequencies frequencies = getFrequencies(schedule, 8);
  expectFloats(frequencies,
               {1.0, 0.0449053943, 0.00635165907, 0.00143177831, 0.000322748616,
                7.27533479e-05, 1.63999139e-05, 3.69683585e-06});
  EXPECT_NEAR(frequencies.magnitude, 1.20794415, 1e-8);

  // gpt-oss itself: low = 8.0928, high = 17.398.
  schedule.factor = 32.0;
  schedule.trainedLength = 4096;
  frequencies = getFrequencies(schedule, 32);
  expectAt(frequencies, {{8, 0.050813274815461475},
                         {9, 0.03170569618466377},
                         {13, 0.0038603593171920663},
                         {17, 0.00012931870124506273},
                         {18, 3.8308812373753384e-05},
                         {31, 3.0235114281192144e-07}});
  EXPECT_NEAR(frequencies.magnitude, 1.3465735902799727, 1e-15);
}

TEST(ReferenceFrequencies, YarnOptions) {
  YarnSchedule schedule;
  schedule.factor = 16.0;
  schedule.trainedLength = 4096;
  double derived = 0.1 * std::log(16.0) + 1.0;
  EXPECT_NEAR(getFrequencies(schedule, 32).magnitude, derived, 1e-15);
  // One of the two scales alone, or a zero, changes nothing.
  schedule.mscale = 0.5;
  EXPECT_NEAR(getFrequencies(schedule, 32).magnitude, derived, 1e-15);
  schedule.mscaleAllDim = 0.0;
  EXPECT_NEAR(getFrequencies(schedule, 32).magnitude, derived, 1e-15);
  schedule.attentionFactor = 1.25;
  EXPECT_EQ(getFrequencies(schedule, 32).magnitude, 1.25);
  schedule.attentionFactor = std::nullopt;
  schedule.factor = 0.5;
  EXPECT_EQ(getFrequencies(schedule, 32).magnitude, 1.0);

  // Wider β: the pair at 4096 / (2π·64) turns is still extrapolated, so more of
  // the pairs are interpolated than with β_fast = 32.
  schedule.factor = 16.0;
  Frequencies narrow = getFrequencies(schedule, 32);
  schedule.betaFast = 64.0;
  schedule.betaSlow = 4.0;
  Frequencies wide = getFrequencies(schedule, 32);
  double base = std::pow(10000.0, -9.0 / 32.0);
  EXPECT_NEAR(narrow.values[9], base, 1e-15);
  EXPECT_LT(wide.values[9], base * 0.99);
}

TEST(ReferenceFrequencies, YarnClampsTheUpperBound) {
  // dim(β_slow) = 10.4 is beyond channel 7, and low = 0: the ramp is i / 7.
  YarnSchedule schedule;
  schedule.theta = 100.0;
  schedule.factor = 4.0;
  schedule.trainedLength = 1000000;
  schedule.betaFast = 1e6;
  Frequencies frequencies = getFrequencies(schedule, 4);
  double base = std::pow(100.0, -0.75), ramp = 3.0 / 7.0;
  EXPECT_NEAR(frequencies.values[3], base / 4.0 * ramp + base * (1.0 - ramp),
              1e-16);
}

TEST(ReferenceFrequencies, YarnWithEqualBounds) {
  // Both corrections lie below pair 0, so low = 0 and high = 0.001.
  YarnSchedule schedule;
  schedule.factor = 8.0;
  schedule.trainedLength = 6;
  schedule.betaFast = 1.0;
  Frequencies frequencies = getFrequencies(schedule, 4);
  EXPECT_EQ(frequencies.values[0], 1.0);
  EXPECT_NEAR(frequencies.values[1], 0.1 / 8.0, 1e-16);
}

TEST(ReferenceFrequencies, Llama3) {
  Llama3Schedule schedule;
  schedule.trainedLength = 32;
  expectFloats(getFrequencies(schedule, 8),
               {1.0, 0.0242403448, 0.00470075384, 0.000911583134,
                0.000176776681, 3.42810235e-05, 6.64786967e-06,
                1.28917316e-06});
  // Llama-3.1-8B: pairs 29 … 35 are blended.
  Frequencies frequencies = getFrequencies(Llama3Schedule{}, 64);
  expectAt(frequencies, {{0, 1.0},
                         {1, 0.8146172338565447},
                         {28, 0.003211445994752591},
                         {29, 0.0021665707635033587},
                         {32, 0.0005248461609929547},
                         {35, 9.556212353964683e-05},
                         {36, 7.78465527393245e-05},
                         {63, 3.068925988914511e-07}});
  EXPECT_EQ(frequencies.magnitude, 1.0);
}

TEST(ReferenceFrequencies, Llama3Bounds) {
  Llama3Schedule schedule;
  Frequencies base = getFrequencies(DefaultSchedule{schedule.theta}, 64);
  // No wavelength reaches the bounds: nothing changes.
  schedule.lowFactor = 1e-12;
  schedule.highFactor = 1e-11;
  EXPECT_EQ(getFrequencies(schedule, 64).values, base.values);
  // Every wavelength is beyond them.
  schedule.lowFactor = 1e11;
  schedule.highFactor = 1e12;
  for (int64_t i = 0; i < 64; ++i)
    EXPECT_EQ(getFrequencies(schedule, 64).values[i], base.values[i] / 8.0);
}

TEST(ReferenceFrequencies, Longrope) {
  LongropeSchedule schedule;
  for (int64_t i = 0; i < 8; ++i) {
    schedule.shortFactors.push_back(1.0 + 0.05 * i);
    schedule.longFactors.push_back(1.0 + 0.3 * i);
  }
  schedule.trainedLength = 32;
  schedule.factor = 4.0;
  std::vector<double> shortRegime = {
      1.0,           0.301169306,   0.0909090936,  0.0274980683,
      0.00833333284, 0.00252982229, 0.00076923077, 0.000234242791};
  schedule.length = 16;
  expectFloats(getFrequencies(schedule, 8), shortRegime);
  schedule.length = 32;
  expectFloats(getFrequencies(schedule, 8), shortRegime);
  schedule.length = 33;
  expectFloats(getFrequencies(schedule, 8),
               {1.0, 0.243252137, 0.0624999991, 0.0166435668, 0.00454545445,
                0.00126491106, 0.000357142863, 0.00010200896});

  EXPECT_NEAR(getFrequencies(schedule, 8).magnitude, 1.1832159566199232, 1e-15);
  schedule.magnitude = 1.19;
  EXPECT_EQ(getFrequencies(schedule, 8).magnitude, 1.19);
  schedule.magnitude = std::nullopt;
  schedule.factor = 1.0;
  EXPECT_EQ(getFrequencies(schedule, 8).magnitude, 1.0);
}

TEST(ReferenceFrequencies, ProportionalKeepsTheDenominator) {
  // A quarter of 16 channels: two pairs turn, by exponents over 16.
  Frequencies frequencies = getFrequencies(ProportionalSchedule{1e4, 0.25}, 8);
  Frequencies base = getFrequencies(DefaultSchedule{1e4}, 8);
  EXPECT_EQ(frequencies.values,
            std::vector<double>({base.values[0], base.values[1], 0.0, 0.0, 0.0,
                                 0.0, 0.0, 0.0}));
  // ⌊0.3 · 8⌋ = 2.
  EXPECT_EQ(getFrequencies(ProportionalSchedule{1e4, 0.3}, 8).values,
            frequencies.values);
  EXPECT_EQ(getFrequencies(ProportionalSchedule{1e4, 1.0}, 8).values,
            base.values);
  EXPECT_EQ(getFrequencies(ProportionalSchedule{1e4, 0.0}, 2).values,
            std::vector<double>({0.0, 0.0}));
}

template <typename Schedule>
static std::string getError(const Schedule &schedule, int64_t pairs = 4) {
  return findError(schedule, pairs).value_or("");
}

TEST(ReferenceFrequencies, RefusesWrongParameters) {
  EXPECT_EQ(getError(DefaultSchedule{}, -1), "negative number of pairs -1");
  EXPECT_EQ(getError(DefaultSchedule{0.0}),
            "theta must be positive and finite, not 0.000000");
  EXPECT_NE(getError(LinearSchedule{1e4, quietNan}), "");
  EXPECT_NE(getError(NtkSchedule{1e4, -2.0}), "");
  EXPECT_NE(getError(DynamicNtkSchedule{1e4, 2.0, 0, 5}), "");
  YarnSchedule yarn;
  EXPECT_NE(getError(yarn), "");
  yarn.trainedLength = 32;
  EXPECT_EQ(getError(yarn), "");
  yarn.theta = 1.0;
  EXPECT_EQ(getError(yarn), "theta must not be 1");
  yarn.theta = 1e4;
  yarn.betaSlow = 0.0;
  EXPECT_NE(getError(yarn), "");
  Llama3Schedule llama;
  llama.highFactor = 1.0;
  EXPECT_EQ(getError(llama), "the high factor must exceed the low factor");
  LongropeSchedule longrope;
  longrope.trainedLength = 32;
  EXPECT_EQ(getError(longrope), "0 short factors for 4 pairs");
  longrope.shortFactors = {1.0, 1.0, 1.0, 1.0};
  longrope.longFactors = {1.0, 1.0, 0.0, 1.0};
  EXPECT_EQ(getError(longrope),
            "long factors must be positive and finite, not 0.000000");
  longrope.longFactors[2] = 1.0;
  longrope.trainedLength = 1;
  EXPECT_EQ(getError(longrope), "");
  longrope.factor = 2.0;
  EXPECT_NE(getError(longrope), "");
  EXPECT_NE(getError(ProportionalSchedule{1e4, 1.5}), "");
  EXPECT_DEATH(getFrequencies(DefaultSchedule{-1.0}, 4), "theta must be");
}
