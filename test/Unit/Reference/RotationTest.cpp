//===- RotationTest.cpp - Tests of channel rotation -----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"
#include <cmath>

using namespace mlir::rope::reference;

static Rotary make(Pairing read, std::vector<int64_t> along = {}) {
  Rotary rotary;
  rotary.read = read;
  rotary.along = std::move(along);
  return rotary;
}

/// A table of two pairs which can be told from each other: (c, s) = (2, 3) and
/// (5, 7).
static const Array twoPairs({2, 2}, {2.0, 5.0, 3.0, 7.0});

TEST(ReferenceRotation, Half) {
  Array x({4}, {1.0, 10.0, 100.0, 1000.0});
  EXPECT_EQ(rotate(x, {twoPairs, make(Pairing::Half)}).getElements(),
            std::vector<double>(
                {2.0 - 300.0, 50.0 - 7000.0, 200.0 + 3.0, 5000.0 + 70.0}));
  EXPECT_EQ(rerotate(x, {twoPairs, make(Pairing::Half)}).getElements(),
            std::vector<double>(
                {2.0 + 300.0, 50.0 + 7000.0, 200.0 - 3.0, 5000.0 - 70.0}));
}

TEST(ReferenceRotation, Interleaved) {
  Array x({4}, {1.0, 10.0, 100.0, 1000.0});
  EXPECT_EQ(rotate(x, {twoPairs, make(Pairing::Interleaved)}).getElements(),
            std::vector<double>(
                {2.0 - 30.0, 20.0 + 3.0, 500.0 - 7000.0, 5000.0 + 700.0}));
}

TEST(ReferenceRotation, ReadsOnePairingAndWritesTheOther) {
  Array x({4}, {1.0, 10.0, 100.0, 1000.0});
  Rotary rotary = make(Pairing::Interleaved);
  rotary.write = Pairing::Half;
  EXPECT_EQ(rotate(x, {twoPairs, rotary}).getElements(),
            std::vector<double>({-28.0, -6500.0, 23.0, 5700.0}));
  rotary = make(Pairing::Half);
  rotary.write = Pairing::Interleaved;
  EXPECT_EQ(rotate(x, {twoPairs, rotary}).getElements(),
            std::vector<double>({-298.0, 203.0, -6950.0, 5070.0}));
}

TEST(ReferenceRotation, PassesOtherChannelsThrough) {
  Array x({7}, {-1.0, 1.0, 10.0, -2.0, 100.0, 1000.0, -3.0});
  Rotary rotary = make(Pairing::Half);
  rotary.offset = 1;
  rotary.distance = 3;
  EXPECT_EQ(
      rotate(x, {twoPairs, rotary}).getElements(),
      std::vector<double>({-1.0, -298.0, -6950.0, -2.0, 203.0, 5070.0, -3.0}));
  rotary = make(Pairing::Interleaved);
  rotary.offset = 3;
  Array y = rotate(x, {twoPairs, rotary});
  EXPECT_EQ(
      y.getElements(),
      std::vector<double>({-1.0, 1.0, 10.0, -2.0 * 2.0 - 100.0 * 3.0,
                           100.0 * 2.0 - 2.0 * 3.0, 1000.0 * 5.0 + 3.0 * 7.0,
                           -3.0 * 5.0 + 1000.0 * 7.0}));
}

TEST(ReferenceRotation, FullTablesHaveAnEntryPerChannel) {
  Array x({4}, {1.0, 10.0, 100.0, 1000.0});
  Array table({2, 4}, {2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0});
  Rotary rotary = make(Pairing::Half);
  rotary.full = true;
  EXPECT_EQ(rotate(x, {table, rotary}).getElements(),
            std::vector<double>(
                {2.0 - 1100.0, 30.0 - 13000.0, 500.0 + 17.0, 7000.0 + 190.0}));
  EXPECT_EQ(rerotate(x, {table, rotary}).getElements(),
            std::vector<double>(
                {2.0 + 1100.0, 30.0 + 13000.0, 500.0 - 17.0, 7000.0 - 190.0}));
  rotary.read = Pairing::Interleaved;
  std::vector<double> interleaved = {2.0 - 110.0, 30.0 + 13.0, 500.0 - 17000.0,
                                     7000.0 + 1900.0};
  EXPECT_EQ(rotate(x, {table, rotary}).getElements(), interleaved);
  // Entries go by the channels read, wherever the results go.
  rotary.write = Pairing::Half;
  EXPECT_EQ(rotate(x, {table, rotary}).getElements(),
            std::vector<double>({interleaved[0], interleaved[2], interleaved[1],
                                 interleaved[3]}));
}

TEST(ReferenceRotation, FullTableOfEqualHalvesIsAnOrdinaryOne) {
  Random random(31);
  Array x = random.array({3, 5, 8}), table = random.array({5, 2, 4});
  Rotary rotary = make(Pairing::Half, {1});
  Array expected = rotate(x, {table, rotary});
  rotary.full = true;
  Array doubled = Array::concat({table, table}, 2);
  EXPECT_ARRAY_NEAR(rotate(x, {doubled, rotary}), expected, 0.0);
}

TEST(ReferenceRotation, FollowsTheDimsNamed) {
  Random random(32);
  Array x = random.array({2, 3, 5, 4});
  Array table = random.array({5, 2, 2, 2});
  Array y = rotate(x, {table, make(Pairing::Half, {2, 0})});
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t h = 0; h < 3; ++h)
      for (int64_t m = 0; m < 5; ++m)
        for (int64_t i = 0; i < 2; ++i) {
          double c = table.at({m, b, 0, i}), s = table.at({m, b, 1, i});
          double u = x.at({b, h, m, i}), v = x.at({b, h, m, i + 2});
          EXPECT_EQ(y.at({b, h, m, i}), u * c - v * s);
          EXPECT_EQ(y.at({b, h, m, i + 2}), v * c + u * s);
        }
}

TEST(ReferenceRotation, PositionsAdd) {
  // R(m)R(n) = R(m + n), for both pairings.
  Array x = Random(33).array({6, 16});
  for (Pairing pairing : {Pairing::Half, Pairing::Interleaved}) {
    Rotary rotary = make(pairing, {0});
    Array twice = rotate(rotate(x, {tableAt(5, 11, 6, 8), rotary}),
                         {tableAt(-300, 7, 6, 8), rotary});
    EXPECT_ARRAY_NEAR(twice, rotate(x, {tableAt(-295, 18, 6, 8), rotary}),
                      2e-15);
    EXPECT_ARRAY_NEAR(rotate(x, {tableAt(0, 0, 6, 8), rotary}), x, 0.0);
  }
}

TEST(ReferenceRotation, KeepsNormsAndIsUndone) {
  Array x = Random(34).array({6, 16});
  RoleRotation rotation{tableAt(1000, 7, 6, 8), make(Pairing::Half, {0})};
  Array y = rotate(x, rotation);
  EXPECT_NEAR(sumOfProducts(y, y), sumOfProducts(x, x), 1e-13);
  EXPECT_ARRAY_NEAR(rerotate(y, rotation), x, 1e-15);
  // With a magnitude the two together give a²x.
  rotation.table = tableAt(1000, 7, 6, 8, 100.0, 1.5);
  Array back = rerotate(rotate(x, rotation), rotation);
  for (int64_t i = 0; i < x.getNumElements(); ++i)
    EXPECT_NEAR(back[i], 2.25 * x[i], 1e-14);
}

TEST(ReferenceRotation, GradientIsTheOppositeTurn) {
  // ⟨w, R x⟩ = ⟨R* w, x⟩, for any magnitude.
  Random random(35);
  Array x = random.array({6, 18}), w = random.array({6, 18});
  Rotary rotary = make(Pairing::Half, {0});
  rotary.offset = 1;
  rotary.distance = 9;
  RoleRotation rotation{tableAt(-20, 7, 6, 8, 100.0, 1.3), rotary};
  EXPECT_NEAR(sumOfProducts(w, rotate(x, rotation)),
              sumOfProducts(rerotate(w, rotation), x), 1e-13);
  // Reading one pairing and writing the other, the gradient swaps them.
  rotary = make(Pairing::Interleaved, {0});
  rotary.write = Pairing::Half;
  Rotary swapped = make(Pairing::Half, {0});
  swapped.write = Pairing::Interleaved;
  EXPECT_NEAR(sumOfProducts(w, rotate(x, {rotation.table, rotary})),
              sumOfProducts(rerotate(w, {rotation.table, swapped}), x), 1e-13);
}

TEST(ReferenceRotation, ProductsDependOnTheDistance) {
  Random random(36);
  Array q = random.array({1, 16}), k = random.array({1, 16});
  Rotary rotary = make(Pairing::Interleaved, {0});
  auto score = [&](int64_t m, int64_t n) {
    return sumOfProducts(rotate(q, {tableAt(m, 1, 1, 8), rotary}),
                         rotate(k, {tableAt(n, 1, 1, 8), rotary}));
  };
  EXPECT_NEAR(score(7, 3), score(1007, 1003), 1e-13);
  EXPECT_NEAR(score(7, 3), score(4, 0), 1e-13);
  EXPECT_GT(std::fabs(score(7, 3) - score(3, 7)), 1e-3);
}

TEST(ReferenceRotation, EmptyExtents) {
  RoleRotation rotation{Array({0, 2, 4}), make(Pairing::Half, {0})};
  EXPECT_EQ(rotate(Array({0, 8}), rotation).getShape(), Shape({0, 8}));
  rotation = {Array({2, 0}), make(Pairing::Half)};
  EXPECT_EQ(rotate(Array({3}, {1.0, 2.0, 3.0}), rotation).getElements(),
            std::vector<double>({1.0, 2.0, 3.0}));
}

TEST(ReferenceRotation, RefusesWhatDoesNotFit) {
  auto getError = [](const Shape &input, const Shape &table,
                     const Rotary &rotary) {
    return findError(input, RoleRotation{Array(table), rotary}).value_or("");
  };
  Rotary half = make(Pairing::Half, {0});
  EXPECT_EQ(getError({3, 8}, {3, 2, 4}, half), "");
  EXPECT_EQ(getError({3, 7}, {3, 2, 4}, half),
            "4 pairs do not fit into 7 channels");
  EXPECT_NE(getError({}, {2, 4}, half), "");
  EXPECT_NE(getError({3, 8}, {3, 3, 4}, half), "");
  EXPECT_NE(getError({3, 8}, {4, 2, 4}, half), "");
  EXPECT_NE(getError({3, 8}, {2, 4}, half), "");
  EXPECT_NE(getError({3, 3, 8}, {3, 3, 2, 4}, make(Pairing::Half, {0, 0})), "");
  EXPECT_NE(getError({3, 8}, {8, 2, 4}, make(Pairing::Half, {1})), "");
  Rotary changed = half;
  changed.offset = 1;
  EXPECT_NE(getError({3, 8}, {3, 2, 4}, changed), "");
  EXPECT_EQ(getError({3, 9}, {3, 2, 4}, changed), "");
  changed.offset = -1;
  EXPECT_EQ(getError({3, 8}, {3, 2, 4}, changed), "negative offset -1");
  changed.offset = std::numeric_limits<int64_t>::max();
  EXPECT_NE(getError({3, 8}, {3, 2, 4}, changed), "");
  changed = half;
  changed.distance = 3;
  EXPECT_EQ(getError({3, 8}, {3, 2, 4}, changed),
            "distance 3 below the number 4 of pairs");
  changed.distance = 5;
  EXPECT_NE(getError({3, 8}, {3, 2, 4}, changed), "");
  EXPECT_EQ(getError({3, 9}, {3, 2, 4}, changed), "");
  changed.write = Pairing::Interleaved;
  EXPECT_EQ(getError({3, 9}, {3, 2, 4}, changed),
            "only the half pairing has a distance");
  changed = half;
  changed.full = true;
  EXPECT_EQ(getError({3, 4}, {3, 2, 4}, changed), "");
  EXPECT_EQ(getError({3, 4}, {3, 2, 3}, changed),
            "a full table of odd width 3");
  EXPECT_DEATH(rotate(Array({3, 7}), {Array({3, 2, 4}), half}), "do not fit");
}
