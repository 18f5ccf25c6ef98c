//===- LayoutTest.cpp - Tests of layouts in dimension letters -------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Reference/Layout.h"
#include "TestUtils.h"

using namespace mlir::rope::reference;

TEST(ReferenceLayout, SplitsAndPermutes) {
  Array query = Random(1).array({2, 3, 8, 5}); // b m (hg) d
  Array canonical = rearrange(query, "bm(hg)d", "bhgmd", {{'g', 4}});
  EXPECT_EQ(canonical.getShape(), Shape({2, 2, 4, 3, 5}));
  EXPECT_EQ(canonical.at({1, 1, 2, 0, 3}), query.at({1, 0, 1 * 4 + 2, 3}));
  Array back = rearrange(canonical, "bhgmd", "bm(hg)d");
  EXPECT_EQ(back.getElements(), query.getElements());
  EXPECT_EQ(back.getShape(), query.getShape());
}

TEST(ReferenceLayout, AddsAndDropsUnitDims) {
  Array key = Random(2).array({3, 5}); // n d
  Array canonical = rearrange(key, "nd", "bhnd");
  EXPECT_EQ(canonical.getShape(), Shape({1, 1, 3, 5}));
  EXPECT_EQ(rearrange(canonical, "bhnd", "1dn").getShape(), Shape({1, 5, 3}));
  EXPECT_EQ(rearrange(canonical, "11nd", "nd").getElements(),
            key.getElements());
}

TEST(ReferenceLayout, RepeatsNewLetters) {
  Array key = Random(3).array({2, 3}); // h d
  Array repeated = rearrange(key, "hd", "(hg)d", {{'g', 2}});
  EXPECT_EQ(repeated.getShape(), Shape({4, 3}));
  for (int64_t row = 0; row < 4; ++row)
    EXPECT_EQ(repeated.at({row, 1}), key.at({row / 2, 1}));
}

TEST(ReferenceLayout, RefusesWhatDoesNotFit) {
  auto find = [](std::string_view from, std::string_view to,
                 const Extents &extents = {}) {
    return findLayoutError({2, 6}, from, to, extents).value_or("");
  };
  EXPECT_EQ(find("b(hg)", "bhg", {{'g', 3}}), "");
  EXPECT_EQ(find("b(hg)", "bhg", {{'g', 4}}), "cannot split extent 6 as (hg)");
  EXPECT_EQ(find("b(hg)", "bhg"), "cannot split extent 6 as (hg)");
  EXPECT_EQ(find("bd", "b"), "dim d of extent 6 cannot be dropped");
  EXPECT_EQ(find("bdm", "bdm"), "layout bdm does not fit the shape [2, 6]");
  EXPECT_EQ(find("bb", "bd"), "a letter occurs twice in a layout");
  EXPECT_EQ(find("b(d", "bd"), "malformed layout b(d");
  EXPECT_EQ(find("bd", "bD"), "malformed layout bD");
  EXPECT_EQ(find("1d", "d"), "cannot split extent 2 as ()");
  EXPECT_DEATH(rearrange(Array({2, 6}), "bd", "b"), "cannot be dropped");
}
