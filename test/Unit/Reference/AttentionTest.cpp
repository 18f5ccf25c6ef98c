//===- AttentionTest.cpp - Tests of softmax attention ---------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Reference/Attention.h"
#include "TestUtils.h"
#include "rope/Reference/Layout.h"
#include <cmath>
#include <functional>

using namespace mlir::rope::reference;

/// Random inputs with b = 2, h = 2, g = 3, m = 4, n = 6, d = 8, e = 10.
static AttentionInputs makeInputs(uint64_t seed) {
  Random random(seed);
  AttentionInputs inputs;
  inputs.query = random.array({2, 2, 3, 4, 8});
  inputs.key = random.array({2, 2, 6, 8});
  inputs.value = random.array({2, 2, 6, 10});
  inputs.scale = 0.7;
  return inputs;
}

/// A keep mask [b, 1, 1, m, n] of what `visible` says.
static Array
makeMask(const std::function<bool(int64_t b, int64_t m, int64_t n)> &visible,
         int64_t b = 2, int64_t m = 4, int64_t n = 6) {
  Array mask({b, 1, 1, m, n});
  for (int64_t i = 0; i < mask.getNumElements(); ++i)
    mask[i] = visible(i / (m * n), i / n % m, i % n);
  return mask;
}

static void expectSame(const AttentionInputs &lhs, const AttentionInputs &rhs,
                       double tolerance = 0.0) {
  AttentionResult left = attention(lhs), right = attention(rhs);
  EXPECT_ARRAY_NEAR(left.output, right.output, tolerance);
  EXPECT_ARRAY_NEAR(left.lse, right.lse, tolerance);
}

/// Checks that the inputs give what the keep mask alone gives, and that hiding
/// these keys makes a difference.
static void expectMasked(const AttentionInputs &inputs, const Array &mask) {
  AttentionInputs plain = inputs;
  plain.causal = false;
  plain.window = std::nullopt;
  plain.keyLength = std::nullopt;
  AttentionInputs masked = plain;
  masked.mask = mask;
  expectSame(inputs, masked);
  EXPECT_GT(getMaxAbsError(attention(plain).lse, attention(masked).lse), 1e-3);
}

static Rotary makeRotary(std::vector<int64_t> along) {
  Rotary rotary;
  rotary.along = std::move(along);
  return rotary;
}

TEST(ReferenceAttention, ByHand) {
  // Scores ln 1 and ln 3: weights 1/4 and 3/4.
  AttentionInputs inputs;
  inputs.query = Array({1, 1, 1, 1, 1}, {2.0});
  inputs.key = Array({1, 1, 2, 1}, {0.0, std::log(3.0)});
  inputs.value = Array({1, 1, 2, 2}, {4.0, 8.0, 12.0, -8.0});
  inputs.scale = 0.5;
  AttentionResult result = attention(inputs);
  EXPECT_EQ(result.output.getShape(), Shape({1, 1, 1, 1, 2}));
  EXPECT_EQ(result.lse.getShape(), Shape({1, 1, 1, 1}));
  EXPECT_NEAR(result.output[0], 10.0, 1e-14);
  EXPECT_NEAR(result.output[1], -4.0, 1e-14);
  EXPECT_NEAR(result.lse[0], std::log(4.0), 1e-15);
}

TEST(ReferenceAttention, GroupsShareTheirKeyHead) {
  AttentionInputs grouped = makeInputs(41);
  AttentionInputs repeated = grouped;
  repeated.query = rearrange(grouped.query, "bhgmd", "b(hg)1md");
  repeated.key = rearrange(grouped.key, "bhnd", "b(hg)nd", {{'g', 3}});
  repeated.value = rearrange(grouped.value, "bhne", "b(hg)ne", {{'g', 3}});
  EXPECT_ARRAY_NEAR(
      rearrange(attention(repeated).output, "b(hg)1me", "bhgme", {{'g', 3}}),
      attention(grouped).output, 0.0);
}

TEST(ReferenceAttention, ScaleMultipliesTheProduct) {
  AttentionInputs inputs = makeInputs(42), scaled = inputs;
  inputs.scale = 0.25;
  scaled.scale = 1.0;
  for (int64_t i = 0; i < scaled.query.getNumElements(); ++i)
    scaled.query[i] *= 0.25;
  expectSame(inputs, scaled, 1e-15);
}

TEST(ReferenceAttention, CausalCountsFromZero) {
  AttentionInputs inputs = makeInputs(43);
  inputs.causal = true;
  expectMasked(inputs,
               makeMask([](int64_t, int64_t m, int64_t n) { return n <= m; }));
}

TEST(ReferenceAttention, CausalFollowsPositions) {
  AttentionInputs inputs = makeInputs(44);
  inputs.causal = true;
  inputs.queryPositions = IntArray({2, 4}, {2, 3, 4, 5, 0, 7, 1, 3});
  inputs.keyPositions = IntArray({2, 6}, {5, 4, 3, 2, 1, 0, 0, 0, 2, 2, 9, 1});
  const IntArray &q = *inputs.queryPositions, &k = *inputs.keyPositions;
  expectMasked(inputs, makeMask([&](int64_t b, int64_t m, int64_t n) {
                 return k.at({b, n}) <= q.at({b, m});
               }));
}

TEST(ReferenceAttention, WindowBoundsAreInclusive) {
  AttentionInputs inputs = makeInputs(45);
  // Distances qpos − kpos of query 3: 3, 2, 1, 0, −1, −2.
  std::vector<std::pair<Window, std::vector<bool>>> cases = {
      {{1, 0}, {false, false, true, true, false, false}},
      {{0, 2}, {false, false, false, true, true, true}},
      {{2, 1}, {false, true, true, true, true, false}},
      {{-1, 0}, {true, true, true, true, false, false}},
      {{1, -1}, {false, false, true, true, true, true}}};
  for (const auto &entry : cases) {
    inputs.window = entry.first;
    // A query further left sees the same pattern moved left.
    expectMasked(inputs, makeMask([&](int64_t, int64_t m, int64_t n) {
                   int64_t at = n + 3 - m;
                   return at < 6 ? entry.second[at] : entry.first.right == -1;
                 }));
  }
  inputs.window = Window{-1, -1};
  expectSame(inputs, makeInputs(45));
}

TEST(ReferenceAttention, WindowSurvivesExtremePositions) {
  AttentionInputs inputs = makeInputs(46);
  int64_t lowest = std::numeric_limits<int64_t>::min();
  inputs.queryPositions = IntArray::filled({2, 4}, lowest);
  inputs.keyPositions =
      IntArray::filled({2, 6}, std::numeric_limits<int64_t>::max());
  inputs.window = Window{0, 5};
  EXPECT_EQ(attention(inputs).lse[0], -infinity);
  inputs.window = Window{0, -1};
  expectSame(inputs, makeInputs(46));
}

TEST(ReferenceAttention, KeyLengthCutsTheCache) {
  AttentionInputs inputs = makeInputs(47);
  inputs.keyLength = IntArray({2}, {3, 5});
  expectMasked(inputs, makeMask([](int64_t b, int64_t, int64_t n) {
                 return n < (b ? 5 : 3);
               }));
  // It counts slots, whatever their positions are.
  AttentionInputs moved = inputs;
  moved.keyPositions = IntArray::filled({2, 6}, 100);
  expectSame(inputs, moved);
}

TEST(ReferenceAttention, MaskBroadcastsEachDim) {
  AttentionInputs inputs = makeInputs(48);
  Random random(49);
  Shape full = {2, 2, 3, 4, 6};
  for (int64_t dim = 0; dim < 5; ++dim)
    for (MaskKind kind : {MaskKind::Keep, MaskKind::Additive}) {
      Shape shape = full;
      shape[dim] = 1;
      Array mask = random.array(shape);
      if (kind == MaskKind::Keep)
        for (int64_t i = 0; i < mask.getNumElements(); ++i)
          mask[i] = mask[i] > 0.0;
      inputs.mask = mask;
      inputs.maskKind = kind;
      AttentionInputs wide = inputs;
      wide.mask = mask.broadcastTo(full);
      expectSame(inputs, wide);
    }
}

TEST(ReferenceAttention, AdditiveMaskMultipliesWeights) {
  AttentionInputs inputs = makeInputs(50);
  inputs.query = Array(inputs.query.getShape());
  inputs.maskKind = MaskKind::Additive;
  inputs.mask = Array({1, 1, 1, 1, 6},
                      {0.0, std::log(2.0), -infinity, 0.0, -infinity, 0.0});
  AttentionResult result = attention(inputs);
  for (int64_t c = 0; c < 10; ++c) {
    auto v = [&](int64_t n) { return inputs.value.at({1, 0, n, c}); };
    EXPECT_NEAR(result.output.at({1, 0, 2, 3, c}),
                (v(0) + 2.0 * v(1) + v(3) + v(5)) / 5.0, 1e-15);
  }
  EXPECT_NEAR(result.lse[7], std::log(5.0), 1e-15);
}

TEST(ReferenceAttention, LowestMaskKeepsARowUniform) {
  // A finite minimum is a number like others: a row of it stays uniform.
  AttentionInputs inputs = makeInputs(51);
  inputs.query = Array(inputs.query.getShape());
  inputs.maskKind = MaskKind::Additive;
  inputs.mask = Array::filled({1, 1, 1, 1, 1}, -3.4028234663852886e38);
  AttentionInputs plain = inputs;
  plain.mask = std::nullopt;
  EXPECT_ARRAY_NEAR(attention(inputs).output, attention(plain).output, 1e-15);
}

TEST(ReferenceAttention, SoftcapComesBeforeTheMask) {
  AttentionInputs inputs;
  inputs.query = Array({1, 1, 1, 1, 1}, {1.0});
  inputs.key = Array({1, 1, 2, 1}, {3.0, -1.0});
  inputs.value = Array({1, 1, 2, 1}, {1.0, 0.0});
  inputs.softcap = 2.0;
  inputs.maskKind = MaskKind::Additive;
  inputs.mask = Array({1, 1, 1, 1, 2}, {-10.0, 0.0});
  double first = std::exp(2.0 * std::tanh(1.5) - 10.0);
  double second = std::exp(2.0 * std::tanh(-0.5));
  AttentionResult result = attention(inputs);
  EXPECT_NEAR(result.output[0], first / (first + second), 1e-18);
  EXPECT_NEAR(result.lse[0], std::log(first + second), 1e-14);
}

TEST(ReferenceAttention, SinkIsAKeyWithoutValue) {
  AttentionInputs inputs = makeInputs(52);
  inputs.sink = Random(53).array({2, 3});
  AttentionInputs extended = makeInputs(52);
  extended.key = Array::concat({inputs.key, Array({2, 2, 1, 8})}, 2);
  extended.value = Array::concat({inputs.value, Array({2, 2, 1, 10})}, 2);
  extended.maskKind = MaskKind::Additive;
  Array sink =
      rearrange(*inputs.sink, "hg", "bhgmn", {{'b', 2}, {'m', 4}, {'n', 1}});
  extended.mask = Array::concat({Array({2, 2, 3, 4, 6}), sink}, 4);
  expectSame(inputs, extended, 1e-14);
}

TEST(ReferenceAttention, EmptyRows) {
  AttentionInputs inputs = makeInputs(54);
  inputs.mask = makeMask([](int64_t, int64_t m, int64_t) { return m != 1; });
  AttentionResult result = attention(inputs);
  EXPECT_EQ(result.lse.at({1, 1, 2, 1}), -infinity);
  for (int64_t c = 0; c < 10; ++c)
    EXPECT_EQ(result.output.at({1, 1, 2, 1, c}), 0.0);
  EXPECT_TRUE(std::isfinite(result.lse.at({1, 1, 2, 2})));

  inputs.sink = Array({2, 3}, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0});
  result = attention(inputs);
  EXPECT_EQ(result.lse.at({1, 1, 2, 1}), 6.0);
  EXPECT_EQ(result.output.at({1, 1, 2, 1, 0}), 0.0);
  // Turned back, nothing is still nothing.
  inputs.rerotateOutput = RoleRotation{tableAt(3, 1, 4, 5), makeRotary({3})};
  EXPECT_EQ(attention(inputs).output.at({1, 1, 2, 1, 0}), 0.0);
}

TEST(ReferenceAttention, NoKeysNoQueries) {
  AttentionInputs inputs;
  inputs.query = Array::filled({1, 1, 1, 2, 4}, 1.0);
  inputs.key = Array({1, 1, 0, 4});
  inputs.value = Array({1, 1, 0, 3});
  AttentionResult result = attention(inputs);
  EXPECT_EQ(result.output.getElements(), std::vector<double>(6, 0.0));
  EXPECT_EQ(result.lse.getElements(), std::vector<double>(2, -infinity));
  inputs.query = Array({1, 1, 1, 0, 4});
  EXPECT_EQ(attention(inputs).output.getShape(), Shape({1, 1, 1, 0, 3}));
}

TEST(ReferenceAttention, MaskedKeysAreSelectedAway) {
  AttentionInputs clean = makeInputs(55);
  clean.maskKind = MaskKind::Additive;
  clean.mask = makeMask([](int64_t, int64_t, int64_t) { return false; });
  for (int64_t i = 0; i < clean.mask->getNumElements(); ++i)
    if (i % 6 == 2 || i % 6 == 5)
      (*clean.mask)[i] = -infinity;
  AttentionInputs dirty = clean;
  for (int64_t head = 0; head < 4; ++head) {
    dirty.key[(head * 6 + 2) * 8 + 1] = quietNan;
    dirty.key[(head * 6 + 5) * 8] = infinity;
    dirty.value[(head * 6 + 2) * 10] = -infinity;
    dirty.value[(head * 6 + 5) * 10 + 3] = quietNan;
  }
  expectSame(clean, dirty);
  // The same keys hidden in other ways, also with a rotation of all of them.
  for (AttentionInputs *inputs : {&clean, &dirty}) {
    inputs->mask = std::nullopt;
    inputs->queryPositions = IntArray::filled({2, 4}, 7);
    inputs->keyPositions =
        IntArray({2, 6}, {0, 1, 8, 2, 3, 9, 0, 1, 8, 2, 3, 9});
    inputs->causal = true;
    inputs->rotateKey = RoleRotation{tableAt(0, 1, 6, 4), makeRotary({2})};
    inputs->rotateValue = RoleRotation{tableAt(0, 1, 6, 5), makeRotary({2})};
  }
  expectSame(clean, dirty);
  // Visible, they show.
  dirty.causal = false;
  EXPECT_TRUE(std::isnan(attention(dirty).lse[0]));
}

TEST(ReferenceAttention, ScoresOfMinusInfinityHideTheirKeys) {
  AttentionInputs inputs;
  inputs.query = Array({1, 1, 1, 1, 1}, {1.0});
  inputs.key = Array({1, 1, 2, 1}, {-infinity, 0.0});
  inputs.value = Array({1, 1, 2, 1}, {quietNan, 3.0});
  AttentionResult result = attention(inputs);
  EXPECT_EQ(result.output[0], 3.0);
  EXPECT_EQ(result.lse[0], 0.0);
  inputs.key[1] = -infinity;
  result = attention(inputs);
  EXPECT_EQ(result.output[0], 0.0);
  EXPECT_EQ(result.lse[0], -infinity);
}

TEST(ReferenceAttention, RowsOfNansAreNotEmpty) {
  AttentionInputs inputs;
  inputs.query = Array({1, 1, 1, 1, 1}, {1.0});
  inputs.key = Array({1, 1, 1, 1}, {quietNan});
  inputs.value = Array({1, 1, 1, 1}, {3.0});
  AttentionResult result = attention(inputs);
  EXPECT_TRUE(std::isnan(result.output[0]));
  EXPECT_TRUE(std::isnan(result.lse[0]));
  inputs.key[0] = infinity;
  EXPECT_TRUE(std::isnan(attention(inputs).output[0]));
}

TEST(ReferenceAttention, LargeScoresDoNotOverflow) {
  AttentionInputs inputs = makeInputs(56);
  for (int64_t i = 0; i < inputs.query.getNumElements(); ++i)
    inputs.query[i] *= 1e15;
  for (int64_t i = 0; i < inputs.key.getNumElements(); ++i)
    inputs.key[i] *= 1e15;
  AttentionResult result = attention(inputs);
  for (int64_t i = 0; i < result.output.getNumElements(); ++i)
    EXPECT_LE(std::fabs(result.output[i]), 1.0);
}

TEST(ReferenceAttention, RotatedScoresDependOnDistances) {
  AttentionInputs inputs = makeInputs(57);
  auto rotated = [&](int64_t offset) {
    AttentionInputs result = inputs;
    result.rotateQuery =
        RoleRotation{tableAt(2 + offset, 1, 4, 3), makeRotary({3})};
    result.rotateKey = RoleRotation{tableAt(offset, 1, 6, 3), makeRotary({2})};
    return result;
  };
  expectSame(rotated(0), rotated(5000), 1e-13);
  AttentionInputs first = rotated(0);
  first.query = rotate(first.query, *first.rotateQuery);
  first.key = rotate(first.key, *first.rotateKey);
  first.rotateQuery = first.rotateKey = std::nullopt;
  expectSame(first, rotated(0));
  EXPECT_GT(getMaxAbsError(attention(inputs).output, attention(first).output),
            1e-3);
}

TEST(ReferenceAttention, TablesMayFollowBatchAndHeads) {
  AttentionInputs inputs = makeInputs(58);
  Random random(59);
  inputs.rotateQuery =
      RoleRotation{random.array({2, 2, 4, 2, 4}), makeRotary({0, 1, 3})};
  inputs.rotateQuery->rotary.read = Pairing::Interleaved;
  AttentionInputs first = inputs;
  first.query = rotate(inputs.query, *inputs.rotateQuery);
  first.rotateQuery = std::nullopt;
  expectSame(inputs, first);
}

TEST(ReferenceAttention, RoperTurnsValuesByTheDistance) {
  // R(−m) Σ a_mn R(n) v_n = Σ a_mn R(n − m) v_n, with another share of channels
  // (4 pairs of 10 channels) than queries and keys (3 pairs of 8) have.
  AttentionInputs inputs = makeInputs(60);
  inputs.causal = true;
  inputs.rotateQuery = RoleRotation{tableAt(0, 1, 4, 3), makeRotary({3})};
  inputs.rotateKey = RoleRotation{tableAt(0, 1, 6, 3), makeRotary({2})};
  AttentionInputs plain = inputs;
  inputs.rotateValue = RoleRotation{tableAt(0, 1, 6, 4), makeRotary({2})};
  inputs.rerotateOutput = RoleRotation{tableAt(0, 1, 4, 4), makeRotary({3})};
  Array output = attention(inputs).output;
  for (int64_t m = 0; m < 4; ++m) {
    AttentionInputs relative = plain;
    relative.value =
        rotate(plain.value, {tableAt(-m, 1, 6, 4), makeRotary({2})});
    EXPECT_ARRAY_NEAR(output.slice(3, m, 1),
                      attention(relative).output.slice(3, m, 1), 1e-14);
  }
  EXPECT_GT(getMaxAbsError(output, attention(plain).output), 1e-2);
}

TEST(ReferenceAttention, RefusesWhatDoesNotFit) {
  auto getError = [](const std::function<void(AttentionInputs &)> &change) {
    AttentionInputs inputs = makeInputs(61);
    change(inputs);
    return findError(inputs).value_or("");
  };
  EXPECT_EQ(getError([](AttentionInputs &) {}), "");
  EXPECT_NE(getError([](AttentionInputs &x) { x.query = Array({2, 4}); }), "");
  EXPECT_EQ(getError([](AttentionInputs &x) { x.key = Array({2, 2, 6, 7}); }),
            "key has shape [2, 2, 6, 7], expected [2, 2, 6, 8]");
  EXPECT_NE(getError([](AttentionInputs &x) { x.value = Array({2, 2, 5, 3}); }),
            "");
  EXPECT_EQ(
      getError([](AttentionInputs &x) { x.mask = Array({2, 1, 1, 4, 5}); }),
      "mask of shape [2, 1, 1, 4, 5] does not broadcast to "
      "[2, 2, 3, 4, 6]");
  EXPECT_NE(getError([](AttentionInputs &x) { x.mask = Array({4, 6}); }), "");
  EXPECT_NE(
      getError([](AttentionInputs &x) { x.queryPositions = IntArray({4}); }),
      "");
  EXPECT_NE(
      getError([](AttentionInputs &x) { x.keyPositions = IntArray({2, 5}); }),
      "");
  EXPECT_NE(getError([](AttentionInputs &x) { x.keyLength = IntArray({1}); }),
            "");
  EXPECT_EQ(getError([](AttentionInputs &x) { x.sink = Array({6}); }),
            "sink has shape [6], expected [2, 3]");
  EXPECT_EQ(getError([](AttentionInputs &x) { x.softcap = 0.0; }),
            "softcap must be positive, not 0.000000");
  EXPECT_NE(getError([](AttentionInputs &x) { x.window = Window{-2, 0}; }), "");
  RoleRotation misfit{Array({5, 2, 4}), makeRotary({2})};
  for (auto role :
       {&AttentionInputs::rotateQuery, &AttentionInputs::rotateKey,
        &AttentionInputs::rotateValue, &AttentionInputs::rerotateOutput})
    EXPECT_NE(getError([&](AttentionInputs &x) { x.*role = misfit; }), "");
  AttentionInputs inputs = makeInputs(61);
  inputs.softcap = -1.0;
  EXPECT_DEATH(attention(inputs), "softcap must be positive");
}
