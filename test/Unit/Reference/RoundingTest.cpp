//===- RoundingTest.cpp - Tests of rounding to narrow floats --------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"
#include <cmath>

using namespace mlir::rope::reference;

TEST(ReferenceRounding, F32IsTheCast) {
  Random random(11);
  for (int i = 0; i < 100000; ++i) {
    double value =
        std::ldexp(random.next(), static_cast<int>(random.next() * 160));
    EXPECT_EQ(roundTo(value, FloatFormat::F32), static_cast<float>(value));
  }
  for (double value : {0.0, 1e-46, 0x1p-150, 0x1.8p-149, 3.5e38, -3.5e38})
    EXPECT_EQ(roundTo(value, FloatFormat::F32), static_cast<float>(value));
  EXPECT_TRUE(std::signbit(roundTo(-1e-60, FloatFormat::F32)));
  EXPECT_TRUE(std::isnan(roundTo(quietNan, FloatFormat::F32)));
}

TEST(ReferenceRounding, TiesGoToEven) {
  // Eight significant bits: 257 and 259 lie halfway.
  EXPECT_EQ(roundTo(257.0, FloatFormat::BF16), 256.0);
  EXPECT_EQ(roundTo(259.0, FloatFormat::BF16), 260.0);
  EXPECT_EQ(roundTo(-257.0, FloatFormat::BF16), -256.0);
  EXPECT_EQ(roundTo(2049.0, FloatFormat::F16), 2048.0);
  EXPECT_EQ(roundTo(2051.0, FloatFormat::F16), 2052.0);
}

TEST(ReferenceRounding, RoundsOnlyOnce) {
  // Through f32 this would become the tie 257 and then 256.
  double value = 257.0 + 0x1p-30;
  EXPECT_EQ(roundTo(static_cast<float>(value), FloatFormat::BF16), 256.0);
  EXPECT_EQ(roundTo(value, FloatFormat::BF16), 258.0);
}

TEST(ReferenceRounding, RangeOfF16) {
  EXPECT_EQ(roundTo(65519.99, FloatFormat::F16), 65504.0);
  EXPECT_EQ(roundTo(65520.0, FloatFormat::F16), infinity);
  EXPECT_EQ(roundTo(-65520.0, FloatFormat::F16), -infinity);
  EXPECT_EQ(roundTo(0x1.8p-24, FloatFormat::F16), 0x1p-23);
  EXPECT_EQ(roundTo(0x1p-25, FloatFormat::F16), 0.0);
  EXPECT_EQ(roundTo(0x1.1p-25, FloatFormat::F16), 0x1p-24);
  EXPECT_EQ(roundTo(0x1p200, FloatFormat::F64), 0x1p200);
  EXPECT_EQ(roundTo(Array({2}, {1.0, 1e6}), FloatFormat::F16).getElements(),
            std::vector<double>({1.0, infinity}));
}

TEST(ReferenceRounding, BitsGoThereAndBack) {
  for (FloatFormat format : {FloatFormat::BF16, FloatFormat::F16})
    for (uint64_t bits = 0; bits < 0x10000; ++bits) {
      double value = fromBits(bits, format);
      if (!std::isnan(value)) {
        EXPECT_EQ(toBits(value, format), bits);
      }
    }
  EXPECT_EQ(toBits(1.0, FloatFormat::BF16), 0x3f80u);
  EXPECT_EQ(toBits(-2.0, FloatFormat::F16), 0xc000u);
  EXPECT_EQ(toBits(1.0, FloatFormat::F32), 0x3f800000u);
  EXPECT_EQ(toBits(quietNan, FloatFormat::F16), 0x7e00u);
  EXPECT_EQ(fromBits(0x3ff8000000000000, FloatFormat::F64), 1.5);
  EXPECT_EQ(toBits(1.5, FloatFormat::F64), 0x3ff8000000000000u);
}

TEST(ReferenceRounding, UnitsInTheLastPlace) {
  EXPECT_EQ(getUlp(1.0, FloatFormat::F32), 0x1p-23);
  EXPECT_EQ(getUlp(1.99, FloatFormat::BF16), 0x1p-7);
  EXPECT_EQ(getUlp(-4.0, FloatFormat::F16), 0x1p-8);
  EXPECT_EQ(getUlp(0.0, FloatFormat::F16), 0x1p-24);
  EXPECT_EQ(getUlp(0.0, FloatFormat::F64), 0x1p-1074);
  EXPECT_TRUE(std::isnan(getUlp(infinity, FloatFormat::F32)));
}

TEST(ReferenceRounding, Distances) {
  FloatFormat f32 = FloatFormat::F32;
  EXPECT_EQ(getUlpDistance(1.0, 1.0 + 0x1p-23, f32), 1);
  EXPECT_EQ(getUlpDistance(1.0 - 0x1p-24, 1.0 + 0x1p-23, f32), 2);
  EXPECT_EQ(getUlpDistance(-0x1p-149, 0x1p-149, f32), 2);
  EXPECT_EQ(getUlpDistance(-0.0, 0.0, f32), 0);
  EXPECT_EQ(getUlpDistance(65504.0, infinity, FloatFormat::F16), 1);
  EXPECT_EQ(getUlpDistance(quietNan, quietNan, f32), 0);
  EXPECT_EQ(getUlpDistance(quietNan, 1.0, f32),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(getUlpDistance(-infinity, infinity, FloatFormat::F64),
            std::numeric_limits<int64_t>::max());
}

TEST(ReferenceRounding, Errors) {
  EXPECT_EQ(getUlpError(1.0 + 0x1p-24, 1.0, FloatFormat::F32), 0.5);
  EXPECT_EQ(getUlpError(infinity, infinity, FloatFormat::F32), 0.0);
  EXPECT_EQ(getUlpError(quietNan, quietNan, FloatFormat::F32), 0.0);
  EXPECT_EQ(getUlpError(quietNan, 1.0, FloatFormat::F32), infinity);
  EXPECT_EQ(getMaxAbsError(Array({3}, {1.0, -infinity, quietNan}),
                           Array({3}, {1.5, -infinity, quietNan})),
            0.5);
  EXPECT_EQ(getMaxAbsError(Array({1}, {quietNan}), Array({1}, {1.0})),
            infinity);
  EXPECT_EQ(getMaxAbsError(Array({1}, {1.0}), Array({1}, {infinity})),
            infinity);
}
