//===- RandomTest.cpp - Tests of the random numbers -----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All expected numbers come from NumPy 2.4's Generator(PCG64([...])).
//
//===----------------------------------------------------------------------===//

#include "rope/Execution/Random.h"
#include "gmock/gmock.h"
#include <cmath>

using namespace mlir::rope;
using testing::ElementsAre;

TEST(Random, SeedsAsNumPy) {
  RandomGenerator generator(llvm::ArrayRef<uint32_t>{5});
  EXPECT_EQ(generator.next64(), 0xce14abeeabb8e5a8);
  EXPECT_EQ(generator.next64(), 0xced5352505cc99f5);
  EXPECT_EQ(generator.next64(), 0x83ec603f7806adc0);
  RandomGenerator longer({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(longer.next64(), 0x9f2e9b7b6e265292);
  EXPECT_EQ(longer.next64(), 0x1e9114dcb6eb4a21);
}

TEST(Random, DrawsNormals) {
  RandomGenerator generator({7, 3});
  double first[] = {-1.667279001670178, 0.06387511169027424, 1.4946322078314938,
                    -1.128395246104112};
  for (double expected : first)
    EXPECT_DOUBLE_EQ(generator.nextNormal(), expected);
  // Far along, so that the wedges and the tail (528 of these) are in step too.
  double last = 0, largest = 0;
  for (int i = 4; i != 2000000; ++i) {
    last = generator.nextNormal();
    largest = std::max(largest, std::abs(last));
  }
  EXPECT_DOUBLE_EQ(last, -1.2674307719117661);
  EXPECT_DOUBLE_EQ(largest, 4.848095765874495);
}

TEST(Random, DrawsIntegers) {
  RandomGenerator generator({7, 3});
  std::vector<uint64_t> values;
  for (int i = 0; i != 12; ++i)
    values.push_back(generator.nextBelow(10));
  EXPECT_THAT(values, ElementsAre(7, 9, 5, 8, 3, 2, 1, 7, 0, 4, 0, 8));
  EXPECT_EQ(generator.nextDouble(), 0.9831499653279526);
}
