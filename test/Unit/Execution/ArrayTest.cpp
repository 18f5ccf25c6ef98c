//===- ArrayTest.cpp - Tests of arrays and comparisons --------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Execution/Compare.h"
#include "gmock/gmock.h"
#include <cmath>

using namespace mlir::rope;
using testing::HasSubstr;

static Array makeArray(std::vector<double> values, DType dtype = DType::F64) {
  Array array = llvm::cantFail(
      Array::create(dtype, {static_cast<int64_t>(values.size())}));
  for (auto [index, value] : llvm::enumerate(values))
    array.set(index, value);
  return array;
}

static std::string getError(llvm::Error error) {
  return llvm::toString(std::move(error));
}

TEST(Array, RefusesSizesThatOverflow) {
  EXPECT_THAT(
      getError(Array::create(DType::F64, {int64_t(1) << 61}).takeError()),
      HasSubstr("too large"));
  EXPECT_THAT(getError(Array::create(DType::F32, {-1}).takeError()),
              HasSubstr("an array of shape ? is too large"));
}

TEST(Array, RoundsShortFloatsToNearestEven) {
  // 1 + 2^-8 lies halfway between two bf16, 1 + 3·2^-8 too.
  Array array = makeArray({1 + 0x1p-8, 1 + 3 * 0x1p-8}, DType::BF16);
  EXPECT_EQ(array.get(0), 1.0);
  EXPECT_EQ(array.get(1), 1 + 4 * 0x1p-8);
  EXPECT_EQ(makeArray({1 + 0x1p-11}, DType::F16).get(0), 1.0);
}

TEST(Array, HasNoIntegerForNaN) {
  Array array = makeArray({NAN, INFINITY, -1e30, -2.75}, DType::I32);
  for (int64_t i = 0; i != 3; ++i)
    EXPECT_EQ(array.get(i), 0.0);
  EXPECT_EQ(array.get(3), -2.0);
}

TEST(Array, ReadsIntegersAndBitsAsEachOther) {
  EXPECT_TRUE(isReadableAs(DType::U8, DType::I8));
  EXPECT_TRUE(isReadableAs(DType::U16, DType::BF16));
  EXPECT_FALSE(isReadableAs(DType::I16, DType::BF16));
  EXPECT_FALSE(isReadableAs(DType::F32, DType::I32));
  EXPECT_FALSE(isReadableAs(DType::I8, DType::I1));
  EXPECT_FALSE(isReadableAs(DType::C64, DType::I64));
}

TEST(Compare, MeasuresTheLargestDifference) {
  Difference difference = llvm::cantFail(
      compare(makeArray({1, 2, -4.5}), makeArray({1, 2.25, -4})));
  EXPECT_EQ(difference.maxAbs, 0.5);
  EXPECT_EQ(difference.maxRel, 0.125);
  EXPECT_TRUE(difference.isWithin(0.125));
  EXPECT_FALSE(difference.isWithin(0.12));
}

TEST(Compare, CountsWhatIsFiniteOnOneSide) {
  Difference difference = llvm::cantFail(
      compare(makeArray({NAN, INFINITY, NAN, 1, INFINITY, -INFINITY}),
              makeArray({NAN, INFINITY, 1, INFINITY, -INFINITY, -INFINITY})));
  EXPECT_EQ(difference.mismatched, 3);
  EXPECT_FALSE(difference.isWithin(1));
}

TEST(Compare, RefusesOtherShapes) {
  EXPECT_EQ(getError(compare(makeArray({1}), makeArray({1, 2})).takeError()),
            "has the shape [1], expected [2]");
}

TEST(Compare, LooksAtPlaces) {
  Array got = makeArray({1, 2, 3});
  Difference difference = llvm::cantFail(
      compareSample(got, makeArray({2, 0}, DType::I64), makeArray({3, 1.5})));
  EXPECT_EQ(difference.maxAbs, 0.5);
  EXPECT_THAT(
      getError(compareSample(got, makeArray({3}, DType::I64), makeArray({3}))
                   .takeError()),
      HasSubstr("position 0 of the sample is none of 3 elements"));
  EXPECT_THAT(
      getError(compareSample(got, makeArray({1, 2}, DType::I64), makeArray({3}))
                   .takeError()),
      HasSubstr("2 positions and 1 values"));
}
