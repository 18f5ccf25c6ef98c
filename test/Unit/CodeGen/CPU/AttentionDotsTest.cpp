//===- AttentionDotsTest.cpp - Attention by products of pairs of bf16 -----===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs are chosen so that nothing is lost when queries, keys and weights are
// rounded to bf16: queries and keys are -1, 0 or 1, tables turn by quarters,
// and scores are whole numbers of log2. The bounds of the op hold for these.
// For other inputs the bound is that of rope-plan.
//
//===----------------------------------------------------------------------===//

#include "Support/AttentionChecks.h"
#include "Support/VectorCases.h"
#include "llvm/TargetParser/Host.h"
#include "gtest/gtest.h"

using namespace mlir::rope;
using namespace mlir::rope::test;

namespace {
class DotsAttention : public testing::TestWithParam<VectorCode> {
protected:
  void SetUp() override {
    if (!llvm::sys::getHostCPUFeatures().lookup("avx512bf16"))
      GTEST_SKIP() << "this processor has no products of pairs of bf16";
  }

  static AttentionCase makeCase() {
    AttentionCase attention = makeVectorCase(GetParam());
    for (OperandCase *operand :
         {&attention.query, &attention.key, &attention.value})
      operand->type = "bf16";
    attention.scale = 0.69314718055994530942;
    return attention;
  }
};
} // namespace

static void turnByQuarters(reference::Array &table) {
  constexpr double kCosines[] = {1, 0, -1, 0};
  int64_t pairs = table.getShape().back();
  for (int64_t i = 0; i < table.getNumElements(); ++i) {
    int64_t quarters = i / (2 * pairs) + i % pairs;
    bool isSine = i / pairs % 2 == 1;
    table[i] = kCosines[(quarters + (isSine ? 3 : 0)) % 4];
  }
}

static void fillExact(AttentionCase &attention) {
  attention.randomize(1);
  for (reference::Array *operand :
       {&attention.query.values, &attention.key.values})
    for (int64_t i = 0; i < operand->getNumElements(); ++i)
      (*operand)[i] = std::round(1.4 * (*operand)[i]);
  for (auto *rotation : {&attention.rotateQuery, &attention.rotateKey,
                         &attention.rotateValue, &attention.rerotateOutput})
    if (*rotation)
      turnByQuarters((*rotation)->table);
}

static void expectExact(AttentionCase attention) {
  fillExact(attention);
  expectEqual(attention);
}

static void expectAllExact(const std::vector<AttentionCase> &cases) {
  for (const AttentionCase &attention : cases)
    expectExact(attention);
}

INSTANTIATE_TEST_SUITE_P(
    , DotsAttention,
    testing::Values(
        VectorCode{"Native", "", "dots = true"},
        VectorCode{"Groups", "", "dots = true, group = 3, strips = 5"},
        VectorCode{"Apart", "", "dots = true, weave = -1, channels = 2"},
        VectorCode{"FewKeys", "",
                   "dots = true, rows = 3, keys = 5, strips = 2"}),
    testing::PrintToStringParamName());

TEST_P(DotsAttention, Full) {
  expectAllExact(listRotations(makeCase()));
  AttentionCase attention = withWholeVectors(makeCase());
  // It is as exact as its size allows.
  attention.lse.letters = std::nullopt;
  expectExact(attention);
}

TEST_P(DotsAttention, RangesOfKeys) { expectAllExact(listRanges(makeCase())); }

TEST_P(DotsAttention, PositionsInLists) {
  expectAllExact(listPositions(makeCase()));
}

TEST_P(DotsAttention, Masks) { expectAllExact(listMasks(makeCase(), "i1")); }

TEST_P(DotsAttention, FewChannels) { expectAllExact(listChannels(makeCase())); }

TEST_P(DotsAttention, HiddenValuesMayBeAnything) {
  for (const AttentionCase &attention :
       listHiddenKeys(makeCase(), {"i1"}, fillExact))
    expectEqual(attention);
}

/// The last of an odd number of keys has no other to be paired with.
TEST_P(DotsAttention, InfinityOfTheLastKey) {
  AttentionCase attention = makeCase();
  fillExact(attention);
  reference::Array &values = attention.value.values;
  for (int64_t head = 1; head <= attention.h; ++head)
    values[head * attention.n * attention.e - 1] = INFINITY;
  expectEqual(attention);
}

/// Whole numbers of log2 that move the reference.
TEST_P(DotsAttention, ScoresFarFromTheirReference) {
  for (double step : {-64.0, 1.0, 64.0}) {
    AttentionCase attention = makeCase();
    attention.d = 3;
    fillExact(attention);
    for (int64_t i = 0; i < attention.query.values.getNumElements(); i += 3)
      attention.query.values[i] = 1;
    for (int64_t i = 0; i < attention.key.values.getNumElements(); i += 3)
      attention.key.values[i] = step * static_cast<double>(i / 3 % 8);
    attention.lse.letters = std::nullopt;
    expectEqual(attention);
  }
}

//===----------------------------------------------------------------------===//
// The bound that rope-plan states
//===----------------------------------------------------------------------===//

static double getLargest(const reference::Array &x) {
  double largest = 0;
  for (double element : x.getElements())
    largest = std::max(largest, std::fabs(element));
  return largest;
}

/// The largest sum of |q_c·k_c| over channels c of a query [b, h, g, m, d] and
/// a key [b, h, n, d] of the same head.
static double getLargestSum(const reference::Array &query,
                            const reference::Array &key) {
  const reference::Shape &shape = key.getShape();
  int64_t keys = shape[2], channels = shape[3];
  int64_t rows = query.getNumElements() / channels / (shape[0] * shape[1]);
  double largest = 0;
  for (int64_t q = 0; q < query.getNumElements() / channels; ++q)
    for (int64_t k = q / rows * keys; k < (q / rows + 1) * keys; ++k) {
      double sum = 0;
      for (int64_t c = 0; c < channels; ++c)
        sum += std::fabs(query[q * channels + c] * key[k * channels + c]);
      largest = std::max(largest, sum);
    }
  return largest;
}

namespace {
struct StatedBound {
  explicit StatedBound(const AttentionCase &attention);
  double output, lse;
};
} // namespace

StatedBound::StatedBound(const AttentionCase &attention) {
  reference::AttentionInputs inputs = attention.getAttentionInputs();
  auto turn = [](const reference::Array &rows,
                 const std::optional<reference::RoleRotation> &rotation) {
    return rotation ? reference::rotate(rows, *rotation) : rows;
  };
  reference::Array query = turn(inputs.query, inputs.rotateQuery),
                   key = turn(inputs.key, inputs.rotateKey),
                   value = turn(inputs.value, inputs.rotateValue);
  double factors = getLargest(key) + attention.scale * getLargest(query) + 1.0;
  double delta = 0x1p-8 * attention.scale * getLargestSum(query, key) +
                 static_cast<double>(attention.d) * 0x1p-126 * factors;
  output = (3 * 0x1p-8 + 4 * delta) * getLargest(value) +
           static_cast<double>(attention.n) * 0x1p-56;
  if (inputs.rerotateOutput)
    output *= std::sqrt(2.0);
  lse = 1.01 * delta + 0x1p-8;
}

static void expectWithinBound(const AttentionCase &attention) {
  StatedBound bound(attention);
  std::vector<reference::Array> got = attention.run(),
                                want = attention.evaluate();
  for (int64_t i = 0; i < got[0].getNumElements(); ++i)
    ASSERT_NEAR(got[0][i], want[0][i], bound.output) << i;
  for (int64_t i = 0; i < got[1].getNumElements(); ++i)
    ASSERT_NEAR(got[1][i], want[1][i], bound.lse) << i;
}

TEST_P(DotsAttention, StatedBound) {
  AttentionCase attention = makeCase();
  attention.scale = 0.22;
  attention.causal = true;
  attention.randomize(1);
  expectWithinBound(attention);
  attention.rotateQuery = {"m", 10};
  attention.rotateKey = {"n", 10};
  attention.rotateValue = {"n", 20};
  attention.rerotateOutput = {"m", 20};
  attention.randomize(1);
  expectWithinBound(attention);
  attention.softcap = 2.0;
  attention.mask = {"mn", "f32"};
  attention.sink = {"(hg)", "f32"};
  attention.randomize(1);
  expectWithinBound(attention);
}

/// Scaled queries below 2^-126 count as 0, which their keys make much of.
TEST_P(DotsAttention, StatedBoundOfSubnormals) {
  AttentionCase attention = makeCase();
  attention.scale = 0x1p-7;
  attention.d = 1;
  attention.causal = true;
  attention.randomize(1);
  for (int64_t i = 0; i < attention.query.values.getNumElements(); ++i)
    attention.query.values[i] = 0x1p-120;
  for (int64_t i = 0; i < attention.key.values.getNumElements(); ++i)
    attention.key.values[i] *= 0x1p124;
  expectWithinBound(attention);
}

/// What a plan does not say is decided by the pipeline, for bf16 alone.
TEST_P(DotsAttention, AreChosenWhereAllowed) {
  AttentionCase attention = makeCase();
  attention.plan = "";
  attention.scale = 0.22;
  attention.lse.letters = std::nullopt;
  attention.randomize(1);
  auto differs = [&](const char *options) {
    attention.pipelineOptions = options;
    return check(attention).has_value();
  };
  EXPECT_FALSE(differs(""));
  EXPECT_TRUE(differs("relaxed-bf16"));
  attention.value.type = "f32";
  EXPECT_FALSE(differs("relaxed-bf16"));
}
