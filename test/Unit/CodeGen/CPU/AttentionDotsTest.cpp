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

#include "Support/AttentionCase.h"
#include "llvm/TargetParser/Host.h"
#include "gtest/gtest.h"

using namespace mlir::rope;
using namespace mlir::rope::test;
using reference::MaybeError;
using reference::Window;

namespace {
class DotsAttention : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    if (!llvm::sys::getHostCPUFeatures().lookup("avx512bf16"))
      GTEST_SKIP() << "this processor has no products of pairs of bf16";
  }

  /// More than a panel of keys and a block of rows, and multiples of nothing.
  static AttentionCase makeCase() {
    AttentionCase attention;
    attention.portable = false;
    attention.plan = GetParam();
    attention.b = 1;
    attention.h = 2;
    attention.g = 3;
    attention.m = 41;
    attention.n = 151;
    attention.d = 20;
    attention.e = 40;
    for (OperandCase *operand :
         {&attention.query, &attention.key, &attention.value})
      operand->type = "bf16";
    attention.lse.letters = "b(hg)m";
    attention.scale = 0.69314718055994530942;
    return attention;
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

  static void expectEqual(const AttentionCase &attention) {
    MaybeError error = check(attention);
    EXPECT_FALSE(error) << *error;
  }

  static void expectExact(AttentionCase attention) {
    fillExact(attention);
    expectEqual(attention);
  }

private:
  static void turnByQuarters(reference::Array &table) {
    constexpr double kCosines[] = {1, 0, -1, 0};
    int64_t pairs = table.getShape().back();
    for (int64_t i = 0; i < table.getNumElements(); ++i) {
      int64_t quarters = i / (2 * pairs) + i % pairs;
      bool isSine = i / pairs % 2 == 1;
      table[i] = kCosines[(quarters + (isSine ? 3 : 0)) % 4];
    }
  }
};
} // namespace

INSTANTIATE_TEST_SUITE_P(
    , DotsAttention,
    testing::Values("dots = true", "dots = true, group = 3, strips = 5",
                    "dots = true, weave = -1, channels = 2",
                    "dots = true, rows = 3, keys = 5, strips = 2"));

TEST_P(DotsAttention, Full) {
  AttentionCase attention = makeCase();
  expectExact(attention);
  attention.dynamic = true;
  attention.rotateQuery = {"m", 10};
  attention.rotateKey = {"n", 10};
  attention.rotateValue = {"n", 5};
  attention.rerotateOutput = {"m", 5};
  expectExact(attention);
  attention.causal = true;
  expectExact(attention);
  attention = makeCase();
  attention.n = 128;
  attention.d = attention.e = 64;
  // It is as exact as its size allows.
  attention.lse.letters = std::nullopt;
  expectExact(attention);
}

TEST_P(DotsAttention, RangesOfKeys) {
  for (Window window : {Window{-1, 0}, Window{30, 0}, Window{91, 4}}) {
    AttentionCase attention = makeCase();
    attention.m = 150;
    attention.window = window;
    expectExact(attention);
    attention.keyLength = {"b", "i32"};
    expectExact(attention);
  }
}

TEST_P(DotsAttention, MasksAndLists) {
  AttentionCase attention = makeCase();
  attention.mask = {"1(hg)mn", "i1"};
  expectExact(attention);
  attention.causal = true;
  attention.keyPos.letters = "bn";
  expectExact(attention);
}

TEST_P(DotsAttention, FewChannels) {
  for (int64_t channels : {1, 3, 16}) {
    AttentionCase attention = makeCase();
    attention.d = attention.e = channels;
    expectExact(attention);
  }
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

/// One of a pair may be hidden.
TEST_P(DotsAttention, HiddenValuesMayBeAnything) {
  for (int hidden : {0, 1, 2}) {
    AttentionCase attention = makeCase();
    if (hidden == 0)
      attention.keyLength = {"index", "index"};
    else if (hidden == 1)
      attention.causal = true;
    else
      attention.mask = {"mn", "i1"};
    fillExact(attention);
    if (hidden == 0)
      attention.keyLength.integers[0] = 101;
    for (int64_t i = 0; i < attention.mask.values.getNumElements(); ++i)
      if (i % attention.n >= 101)
        attention.mask.values[i] = 0.0;
    for (OperandCase *operand : {&attention.key, &attention.value}) {
      int64_t channels = operand == &attention.key ? attention.d : attention.e;
      for (int64_t i = 0; i < operand->values.getNumElements(); ++i)
        if (i / channels % attention.n >= 101)
          operand->values[i] = i % 2 ? NAN : INFINITY;
    }
    expectEqual(attention);
  }
}

static double getLargestNorm(const reference::Array &rows, int64_t channels) {
  double largest = 0;
  for (int64_t i = 0; i < rows.getNumElements(); i += channels) {
    double square = 0;
    for (int64_t c = i; c < i + channels; ++c)
      square += rows[c] * rows[c];
    largest = std::max(largest, square);
  }
  return std::sqrt(largest);
}

/// A rotation keeps norms, whose product is not less than the sum of products.
static double getBound(const AttentionCase &attention) {
  double sum = attention.scale *
               getLargestNorm(attention.query.values, attention.d) *
               getLargestNorm(attention.key.values, attention.d);
  return 0x1p-8 * (3 + 4 * sum) * std::sqrt(2.0);
}

TEST_P(DotsAttention, StatedBound) {
  for (int options = 0; options < 3; ++options) {
    AttentionCase attention = makeCase();
    attention.scale = 0.22;
    attention.causal = true;
    attention.lse.letters = std::nullopt;
    if (options > 0) {
      attention.rotateQuery = {"m", 10};
      attention.rotateKey = {"n", 10};
      attention.rotateValue = {"n", 20};
      attention.rerotateOutput = {"m", 20};
    }
    if (options > 1) {
      attention.softcap = 2.0;
      attention.mask = {"mn", "f32"};
      attention.sink = {"(hg)", "f32"};
    }
    attention.randomize(1);
    reference::Array got = attention.run()[0], want = attention.evaluate()[0];
    for (int64_t i = 0; i < got.getNumElements(); ++i)
      ASSERT_NEAR(got[i], want[i], getBound(attention)) << options << " " << i;
  }
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
