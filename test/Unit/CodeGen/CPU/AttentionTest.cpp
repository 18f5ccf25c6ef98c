//===- AttentionTest.cpp - Numbers of attention as vector code ------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// rope.attention over several panels, strips and blocks, by vector code of
// several shapes, against the reference; and what makes that code leave its
// common path: scores far from their reference, and values out of the ordinary.
// Single options and edges are tested with the decomposition, on both paths.
//
//===----------------------------------------------------------------------===//

#include "Support/AttentionChecks.h"
#include "Support/VectorCases.h"
#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"

using namespace mlir::rope;
using namespace mlir::rope::test;
using reference::MaybeError;
using reference::Pairing;
using reference::Window;

namespace {
class VectorAttention : public testing::TestWithParam<VectorCode> {
protected:
  static AttentionCase makeCase() {
    AttentionCase attention = makeVectorCase(GetParam());
    attention.scale = 0.22;
    return attention;
  }
};
} // namespace

/// Random numbers in each.
static void expectAllCorrect(const std::vector<AttentionCase> &cases) {
  for (const AttentionCase &attention : cases)
    expectCorrect(attention);
}

INSTANTIATE_TEST_SUITE_P(
    , VectorAttention,
    testing::Values(
        VectorCode{"Native", "", ""},
        VectorCode{"Groups", "", "group = 3, strips = 5"},
        VectorCode{"Apart", "lookup=false",
                   "weave = -1, keys = 6, channels = 2"},
        VectorCode{"Narrow", "lanes=8 registers=16 lookup=false", ""},
        VectorCode{"Narrowest", "lanes=4 lookup=false",
                   "rows = 3, keys = 5, strips = 2"},
        VectorCode{"Streams", "", "stream = 1000"},
        VectorCode{"StreamsRows", "", "stream = 1000, rows = 1"},
        VectorCode{"StreamsChunks", "lanes=4 lookup=false",
                   "stream = 1000, rows = 2, keys = 4, channels = 1"},
        VectorCode{"StreamsNarrow", "lanes=8 registers=16 lookup=false",
                   "stream = 1000, rows = 6, keys = 3"},
        VectorCode{"Splits", "threads", "stream = 1000, rows = 3, keys = 1"}),
    testing::PrintToStringParamName());

//===----------------------------------------------------------------------===//
// Panels, strips and blocks
//===----------------------------------------------------------------------===//

TEST_P(VectorAttention, Full) {
  expectAllCorrect(listRotations(makeCase()));
  expectCorrect(withWholeVectors(makeCase()));
}

/// Which version of the code runs depends on the number of rows.
TEST_P(VectorAttention, DynamicRows) {
  for (int64_t positions : {0, 1, 5, 6}) {
    AttentionCase attention = makeCase();
    attention.plan = "";
    attention.dynamic = true;
    attention.m = positions;
    attention.causal = true;
    expectCorrect(attention);
  }
}

/// Of panels that are as long as the target makes them, sums that all keys add
/// to lose little.
TEST(PlannedAttention, ErrorOfManyKeys) {
  for (const char *options :
       {"", "lanes=8 registers=16 lookup=false", "lanes=4 lookup=false"}) {
    AttentionCase attention = makeVectorCase({"Planned", options, ""});
    attention.b = attention.h = attention.g = 1;
    attention.m = 32;
    attention.n = 4096;
    attention.d = attention.e = 64;
    attention.scale = 0.125;
    attention.randomize(1);
    reference::Array got = attention.run().front(),
                     want = attention.evaluate().front();
    double error = 0, largest = 0;
    for (int64_t i = 0; i < want.getNumElements(); ++i) {
      error = std::max(error, std::fabs(got[i] - want[i]));
      largest = std::max(largest, std::fabs(want[i]));
    }
    EXPECT_LE(error, 6e-7 * largest) << options;
  }
}

TEST_P(VectorAttention, Causal) {
  AttentionCase attention = makeCase();
  attention.causal = true;
  attention.m = 150;
  expectCorrect(attention);
  // Rows far beyond the first key, as in a chunk of a prompt.
  attention.m = 41;
  attention.queryPos = {"index", "index"};
  attention.randomize(1);
  attention.queryPos.integers[0] = 100;
  expectEqual(attention);
}

TEST_P(VectorAttention, RangesOfKeys) {
  expectAllCorrect(listRanges(makeCase()));
}

TEST_P(VectorAttention, PositionsInLists) {
  expectAllCorrect(listPositions(makeCase()));
}

TEST_P(VectorAttention, Masks) {
  for (const char *type : {"i1", "f32", "bf16"})
    expectAllCorrect(listMasks(makeCase(), type));
}

TEST_P(VectorAttention, EverythingAtOnce) {
  AttentionCase attention = makeCase();
  attention.b = 2;
  attention.query = {"bm(hg)d", "bf16"};
  attention.key = {"bnhd", "bf16"};
  attention.value = {"bnhe", "f16"};
  attention.output = {"bm(hg)e", "f32"};
  attention.causal = true;
  attention.window = Window{80, 0};
  attention.softcap = 3.0;
  attention.mask = {"b1mn", "i1"};
  attention.queryPos = {"b", "i32"};
  attention.keyPos = {"b", "i64"};
  attention.keyLength = {"b", "i32"};
  attention.sink = {"(hg)", "f32"};
  reference::Rotary crossed, partial;
  crossed.read = Pairing::Interleaved;
  crossed.write = Pairing::Half;
  partial.offset = 3;
  attention.rotateQuery = {"m", 10, crossed};
  attention.rotateKey = {"bn", 10, crossed};
  attention.rotateValue = {"n", 7, partial};
  attention.rerotateOutput = {"bm", 7, partial};
  for (uint64_t seed : {1, 2}) {
    expectCorrect(attention, seed);
    attention.dynamic = true;
  }
}

/// Pairs of channels may be split where they are read where they lie, whichever
/// of keys and values are.
TEST_P(VectorAttention, CachesOfBF16) {
  AttentionCase attention = withWholeVectors(makeCase());
  attention.key.type = attention.value.type = "bf16";
  attention.n = 75;
  attention.causal = true;
  attention.queryPos = {"index", "index"};
  attention.rotateQuery = attention.rerotateOutput = {"m", 30};
  AttentionCase keysTurn = attention, valuesTurn = attention, odd = attention;
  keysTurn.rotateKey = valuesTurn.rotateValue = {"n", 30};
  odd.d = 80;
  odd.e = 72;
  expectAllCorrect({attention, keysTurn, valuesTurn, odd});
}

TEST_P(VectorAttention, FewChannels) {
  expectAllCorrect(listChannels(makeCase()));
}

//===----------------------------------------------------------------------===//
// Scores far from their reference
//===----------------------------------------------------------------------===//

/// Queries and keys are multiples of 1/8 and products are units of log2, so
/// that large scores are exact, too, and the usual bounds hold. Row m has the
/// score that `getScore` gives plus up to 4 more.
template <typename GetScore>
static AttentionCase makeExact(AttentionCase attention, GetScore getScore) {
  attention.scale = 0.69314718055994530942;
  attention.d = 3;
  // It is as exact as its size allows.
  attention.lse.letters = std::nullopt;
  attention.randomize(1);
  auto toGrid = [](double &x) { x = std::round(8 * x) / 8; };
  for (int64_t i = 0; i < attention.query.values.getNumElements(); ++i) {
    toGrid(attention.query.values[i]);
    if (i % 3 == 0)
      attention.query.values[i] = 1;
  }
  for (int64_t i = 0; i < attention.key.values.getNumElements(); ++i) {
    if (i % 3 == 0)
      attention.key.values[i] = getScore(i / 3 % attention.n);
    toGrid(attention.key.values[i]);
  }
  return attention;
}

TEST_P(VectorAttention, LowScores) {
  for (double score : {-50.0, -100.0, -1000.0})
    expectEqual(makeExact(makeCase(), [=](int64_t) { return score; }));
}

TEST_P(VectorAttention, HighScores) {
  for (double score : {30.0, 100.0, 1000.0})
    expectEqual(makeExact(makeCase(), [=](int64_t) { return score; }));
}

TEST_P(VectorAttention, RisingScores) {
  // Each panel moves the reference.
  for (double step : {1.0, 50.0}) {
    AttentionCase attention = makeCase();
    expectEqual(makeExact(
        attention, [=](int64_t n) { return step * static_cast<double>(n); }));
    attention.causal = true;
    attention.m = 150;
    expectEqual(makeExact(
        attention, [=](int64_t n) { return step * static_cast<double>(n); }));
  }
}

TEST_P(VectorAttention, FallingScores) {
  expectEqual(makeExact(makeCase(), [](int64_t n) {
    return 300.0 - 20.0 * static_cast<double>(n);
  }));
}

TEST_P(VectorAttention, WidelySpreadScores) {
  for (double spread : {40.0, 400.0})
    expectEqual(makeExact(makeCase(), [=](int64_t n) {
      return spread * std::sin(static_cast<double>(n * n));
    }));
}

/// Scores of one size; every other row sees none of the first keys.
static AttentionCase hideFirstKeys(AttentionCase attention, const char *type,
                                   double score) {
  attention.mask = {"mn", type};
  attention = makeExact(attention, [=](int64_t) { return score; });
  bool isBoolean = std::string(type) == "i1";
  for (int64_t i = 0; i < attention.mask.values.getNumElements(); ++i) {
    bool hidden = i / attention.n % 2 == 0 && i % attention.n < 90;
    attention.mask.values[i] = isBoolean ? !hidden : hidden ? -INFINITY : 0.0;
  }
  return attention;
}

TEST_P(VectorAttention, LowScoresAfterHiddenKeys) {
  // The first panel says nothing of a row that sees none of it. The bits of
  // 2^128 would be those of infinity.
  for (const char *type : {"i1", "f32"})
    for (double score : {-400.0, -128.0})
      expectEqual(hideFirstKeys(makeCase(), type, score));
}

//===----------------------------------------------------------------------===//
// Values out of the ordinary
//===----------------------------------------------------------------------===//

TEST_P(VectorAttention, HugeAndTinyValues) {
  for (double size : {1e30, 1e-30}) {
    AttentionCase attention = makeExact(
        makeCase(), [](int64_t n) { return n % 7 == 0 ? 25.0 : 0.0; });
    for (int64_t i = 0; i < attention.value.values.getNumElements(); ++i)
      attention.value.values[i] =
          static_cast<float>(attention.value.values[i] * size);
    reference::Array got = attention.run()[0], want = attention.evaluate()[0];
    for (int64_t i = 0; i < got.getNumElements(); ++i) {
      got[i] /= size;
      want[i] /= size;
    }
    MaybeError error = compare(got, want, "f32");
    EXPECT_FALSE(error) << *error;
  }
}

TEST_P(VectorAttention, HiddenValuesMayBeAnything) {
  auto fill = [](AttentionCase &attention) { attention.randomize(1); };
  for (const AttentionCase &attention :
       listHiddenKeys(makeCase(), {"i1", "f32"}, fill))
    expectEqual(attention);
}

TEST_P(VectorAttention, NaNReachesTheRowsThatSeeIt) {
  for (bool inKey : {false, true}) {
    AttentionCase attention = makeCase();
    attention.lse.letters = std::nullopt;
    attention.causal = true;
    attention.m = 150;
    attention.randomize(1);
    OperandCase &operand = inKey ? attention.key : attention.value;
    int64_t channels = inKey ? attention.d : attention.e;
    for (int64_t i = 0; i < operand.values.getNumElements(); ++i)
      if (i % (attention.n * channels) == 70 * channels)
        operand.values[i] = NAN;
    expectEqual(attention);
  }
}

/// Where nothing is hidden, nothing is looked at twice.
TEST_P(VectorAttention, InfinityReachesAllRows) {
  AttentionCase attention = makeCase();
  attention.lse.letters = std::nullopt;
  attention.m = 5;
  attention.n = 960;
  attention.randomize(1);
  int64_t channels = attention.e;
  for (int64_t i = 0; i < attention.value.values.getNumElements(); ++i)
    if (i % (attention.n * channels) == 70 * channels)
      attention.value.values[i] = INFINITY;
  expectEqual(attention);
}

/// What models add to hide a key is finite: rows of nothing else are means.
TEST_P(VectorAttention, RowsOfLowestMasks) {
  AttentionCase attention = makeCase();
  attention.lse.letters = std::nullopt;
  attention.mask = {"mn", "f32"};
  attention.randomize(1);
  for (int64_t i = 0; i < attention.mask.values.getNumElements(); ++i)
    attention.mask.values[i] =
        i / attention.n % 3 == 0 ? std::numeric_limits<float>::lowest() : 0.0;
  expectEqual(attention);
}

/// One with a payload, too: bits that are no exponent.
TEST_P(VectorAttention, NaNOfAMask) {
  double payload = llvm::bit_cast<double>(uint64_t(0x7FF8000FF0000000));
  for (double nan : {double(NAN), payload}) {
    AttentionCase attention = makeCase();
    attention.lse.letters = std::nullopt;
    attention.mask = {"mn", "f32"};
    attention.randomize(1);
    attention.mask.values[7 * attention.n + 70] = nan;
    expectEqual(attention);
  }
}
