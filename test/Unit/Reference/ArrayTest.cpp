//===- ArrayTest.cpp - Tests of the reference's arrays --------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

using namespace mlir::rope::reference;

TEST(ReferenceArray, HoldsScalarsAndEmptyExtents) {
  Array scalar;
  EXPECT_EQ(scalar.getRank(), 0);
  EXPECT_EQ(scalar.getNumElements(), 1);
  scalar.at({}) = 3.0;
  EXPECT_EQ(scalar[0], 3.0);

  Array empty({2, 0, 3});
  EXPECT_EQ(empty.getNumElements(), 0);
  EXPECT_EQ(empty.permute({2, 0, 1}).getShape(), Shape({3, 2, 0}));
  EXPECT_EQ(empty.broadcastTo({4, 2, 0, 3}).getShape(), Shape({4, 2, 0, 3}));
}

TEST(ReferenceArray, IndexesInRowMajorOrder) {
  IntArray array = IntArray::iota(6, 10).reshape({2, 3});
  EXPECT_EQ(array.at({0, 2}), 12);
  EXPECT_EQ(array.at({1, 0}), 13);
  EXPECT_DEATH(array.at({2, 0}),
               "index \\[2, 0\\] outside of shape \\[2, 3\\]");
  EXPECT_DEATH(array.at({1}), "outside");
  EXPECT_DEATH(Array({2, 2}, {1.0, 2.0}), "2 elements");
  EXPECT_DEATH(Array(Shape{-1}), "negative extent");
}

TEST(ReferenceArray, Permutes) {
  IntArray array = IntArray::iota(24).reshape({2, 3, 4});
  IntArray permuted = array.permute({2, 0, 1});
  EXPECT_EQ(permuted.getShape(), Shape({4, 2, 3}));
  EXPECT_EQ(permuted.at({3, 1, 2}), array.at({1, 2, 3}));
  EXPECT_EQ(permuted.at({1, 0, 2}), array.at({0, 2, 1}));
  EXPECT_DEATH(array.permute({0, 0, 1}), "no permutation");
  EXPECT_DEATH(array.permute({0, 1}), "no permutation");
}

TEST(ReferenceArray, ReshapesAndInfers) {
  IntArray array = IntArray::iota(24);
  EXPECT_EQ(array.reshape({2, -1, 4}).getShape(), Shape({2, 3, 4}));
  EXPECT_EQ(array.reshape({4, 6}).at({1, 0}), 6);
  EXPECT_DEATH(array.reshape({5, -1}), "24 elements");
}

TEST(ReferenceArray, Broadcasts) {
  IntArray column({2, 1}, {5, 7});
  IntArray wide = column.broadcastTo({3, 2, 2});
  EXPECT_EQ(wide.getElements(),
            std::vector<int64_t>({5, 5, 7, 7, 5, 5, 7, 7, 5, 5, 7, 7}));
  EXPECT_DEATH(column.broadcastTo({3, 2}), "cannot broadcast");
  EXPECT_DEATH(column.broadcastTo({2}), "cannot broadcast");
}

TEST(ReferenceArray, SlicesAndConcatenates) {
  IntArray array = IntArray::iota(24).reshape({2, 3, 4});
  IntArray slice = array.slice(1, 1, 2);
  EXPECT_EQ(slice.getShape(), Shape({2, 2, 4}));
  EXPECT_EQ(slice.at({1, 1, 3}), array.at({1, 2, 3}));
  for (int64_t dim = 0; dim < 3; ++dim) {
    int64_t rest = array.getDim(dim) - 1;
    IntArray whole = IntArray::concat(
        {array.slice(dim, 0, 1), array.slice(dim, 1, rest)}, dim);
    EXPECT_EQ(whole.getShape(), array.getShape());
    EXPECT_EQ(whole.getElements(), array.getElements());
  }
  EXPECT_DEATH(array.slice(1, 2, 2), "outside of shape");
  EXPECT_DEATH(IntArray::concat({array, slice}, 0), "cannot concatenate");
}
