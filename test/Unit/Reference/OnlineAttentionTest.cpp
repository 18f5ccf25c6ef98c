//===- OnlineAttentionTest.cpp - Tests of attention with carried state ----===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Reference/OnlineAttention.h"
#include "TestUtils.h"
#include <cmath>

using namespace mlir::rope::reference;

/// Inputs with every option that the online form has: b = 2, h = 2, g = 3, m =
/// 4, n = 7, d = 8, e = 10.
static AttentionInputs makeInputs(uint64_t seed) {
  Random random(seed);
  AttentionInputs inputs;
  inputs.query = random.array({2, 2, 3, 4, 8});
  inputs.key = random.array({2, 2, 7, 8});
  inputs.value = random.array({2, 2, 7, 10});
  inputs.scale = 3.0;
  inputs.softcap = 4.0;
  inputs.mask = random.array({2, 1, 3, 4, 7});
  inputs.maskKind = MaskKind::Additive;
  inputs.queryPositions = IntArray({2, 4}, {1, 3, 4, 5, 4, 5, 6, 7});
  inputs.keyPositions = IntArray::concat(
      {IntArray::iota(7).reshape({1, 7}), IntArray::iota(7, 1).reshape({1, 7})},
      0);
  inputs.keyLength = IntArray({2}, {7, 5});
  inputs.causal = true;
  inputs.window = Window{4, 0};
  Rotary rotary;
  rotary.along = {3};
  inputs.rotateQuery = RoleRotation{tableAt(0, 1, 4, 4), rotary};
  rotary.along = {2};
  inputs.rotateKey = RoleRotation{tableAt(0, 1, 7, 4), rotary};
  inputs.rotateValue = RoleRotation{tableAt(0, 1, 7, 3), rotary};
  return inputs;
}

/// The inputs with keys start … start + size − 1 only.
static AttentionInputs sliceKeys(AttentionInputs inputs, int64_t start,
                                 int64_t size) {
  inputs.key = inputs.key.slice(2, start, size);
  inputs.value = inputs.value.slice(2, start, size);
  inputs.mask = inputs.mask->slice(4, start, size);
  inputs.keyPositions = inputs.keyPositions->slice(1, start, size);
  for (int64_t b = 0; b < 2; ++b)
    (*inputs.keyLength)[b] -= start;
  inputs.rotateKey->table = inputs.rotateKey->table.slice(0, start, size);
  inputs.rotateValue->table = inputs.rotateValue->table.slice(0, start, size);
  return inputs;
}

static OnlineState makeEmpty() { return makeEmptyState({2, 2, 3, 4}, 10); }

static void expectSame(const AttentionResult &lhs, const AttentionResult &rhs) {
  EXPECT_ARRAY_NEAR(lhs.output, rhs.output, 1e-14);
  EXPECT_ARRAY_NEAR(lhs.lse, rhs.lse, 1e-14);
}

TEST(ReferenceOnlineAttention, StateByHand) {
  AttentionInputs inputs;
  inputs.query = Array({1, 1, 1, 1, 1}, {1.0});
  inputs.key = Array({1, 1, 2, 1}, {1.0, 3.0});
  inputs.value = Array({1, 1, 2, 1}, {10.0, 100.0});
  OnlineState state = onlineAttention(inputs, makeEmptyState({1, 1, 1, 1}, 1));
  EXPECT_EQ(state.max[0], 3.0);
  EXPECT_NEAR(state.sum[0], 1.0 + std::exp(-2.0), 1e-15);
  EXPECT_NEAR(state.acc[0], 100.0 + 10.0 * std::exp(-2.0), 1e-13);
  inputs.key = Array({1, 1, 1, 1}, {4.0});
  inputs.value = Array({1, 1, 1, 1}, {7.0});
  state = onlineAttention(inputs, state);
  EXPECT_EQ(state.max[0], 4.0);
  EXPECT_NEAR(state.sum[0], 1.0 + std::exp(-1.0) + std::exp(-3.0), 1e-15);
  EXPECT_NEAR(state.acc[0],
              7.0 + 100.0 * std::exp(-1.0) + 10.0 * std::exp(-3.0), 1e-13);
}

TEST(ReferenceOnlineAttention, BlocksEqualTheWhole) {
  AttentionInputs inputs = makeInputs(71);
  AttentionResult whole = attention(inputs);
  for (int64_t block : {1, 2, 3, 7}) {
    OnlineState state = makeEmpty();
    for (int64_t start = 0; start < 7; start += block) {
      int64_t size = std::min(block, 7 - start);
      state = onlineAttention(sliceKeys(inputs, start, size), state);
    }
    expectSame(finalize(state), whole);
  }
}

TEST(ReferenceOnlineAttention, MergedPartsEqualTheWhole) {
  AttentionInputs inputs = makeInputs(72);
  auto part = [&](int64_t start, int64_t size) {
    return onlineAttention(sliceKeys(inputs, start, size), makeEmpty());
  };
  OnlineState a = part(0, 2), b = part(2, 3), c = part(5, 2);
  AttentionResult whole = attention(inputs);
  expectSame(finalize(merge(merge(a, b), c)), whole);
  expectSame(finalize(merge(c, merge(b, a))), whole);
}

TEST(ReferenceOnlineAttention, SinkAndOutputRotationComeAtTheEnd) {
  AttentionInputs inputs = makeInputs(73);
  OnlineState state = onlineAttention(inputs, makeEmpty());
  inputs.sink = Random(74).array({2, 3});
  Rotary rotary;
  rotary.along = {3};
  inputs.rerotateOutput = RoleRotation{tableAt(0, 1, 4, 3), rotary};
  expectSame(finalize(state, inputs.sink, inputs.rerotateOutput),
             attention(inputs));
  // A sink far above all scores takes all the weight.
  inputs.sink = Array::filled({2, 3}, 1e4);
  AttentionResult result = finalize(state, inputs.sink);
  EXPECT_EQ(result.lse[0], 1e4);
  EXPECT_ARRAY_NEAR(result.output, Array({2, 2, 3, 4, 10}), 0.0);
}

TEST(ReferenceOnlineAttention, EmptyStates) {
  OnlineState empty = makeEmpty();
  OnlineState both = merge(empty, empty);
  EXPECT_ARRAY_NEAR(both.acc, empty.acc, 0.0);
  EXPECT_ARRAY_NEAR(both.max, empty.max, 0.0);
  EXPECT_ARRAY_NEAR(both.sum, empty.sum, 0.0);
  AttentionResult result = finalize(both);
  EXPECT_ARRAY_NEAR(result.output, Array({2, 2, 3, 4, 10}), 0.0);
  EXPECT_ARRAY_NEAR(result.lse, empty.max, 0.0);
  EXPECT_EQ(finalize(both, Array::filled({2, 3}, 2.5)).lse[0], 2.5);

  AttentionInputs inputs = makeInputs(75);
  OnlineState state = onlineAttention(inputs, empty);
  for (const OnlineState &merged : {merge(empty, state), merge(state, empty)}) {
    EXPECT_ARRAY_NEAR(merged.acc, state.acc, 0.0);
    EXPECT_ARRAY_NEAR(merged.max, state.max, 0.0);
    EXPECT_ARRAY_NEAR(merged.sum, state.sum, 0.0);
  }
  // A block whose keys are all hidden changes nothing.
  inputs.keyLength = IntArray::filled({2}, 0);
  OnlineState same = onlineAttention(inputs, state);
  EXPECT_ARRAY_NEAR(same.acc, state.acc, 0.0);
  EXPECT_ARRAY_NEAR(same.max, state.max, 0.0);
  EXPECT_ARRAY_NEAR(same.sum, state.sum, 0.0);
}

TEST(ReferenceOnlineAttention, NansShow) {
  AttentionInputs inputs = makeInputs(76);
  inputs.key[0] = quietNan; // key 0 of batch 0, visible to query 0 there
  OnlineState state = onlineAttention(inputs, makeEmpty());
  AttentionResult result = finalize(merge(makeEmpty(), state));
  EXPECT_TRUE(std::isnan(result.output[0]));
  EXPECT_TRUE(std::isnan(result.lse[0]));
  EXPECT_TRUE(std::isfinite(result.lse.at({1, 0, 0, 0})));
  // Also when no other key is visible: the row is not empty.
  inputs.key[8] = quietNan;
  state = onlineAttention(inputs, makeEmpty());
  EXPECT_TRUE(std::isnan(finalize(state).output[0]));
  EXPECT_TRUE(std::isnan(finalize(merge(makeEmpty(), state)).output[0]));
}

TEST(ReferenceOnlineAttention, RefusesWhatDoesNotFit) {
  AttentionInputs inputs = makeInputs(77);
  EXPECT_FALSE(findError(inputs, makeEmpty()));
  EXPECT_TRUE(findError(inputs, makeEmptyState({2, 2, 3, 4}, 9)));
  EXPECT_TRUE(findError(inputs, makeEmptyState({2, 2, 3}, 10)));
  OnlineState torn = makeEmpty();
  torn.sum = Array({2, 2, 3, 3});
  EXPECT_TRUE(findError(inputs, torn));
  EXPECT_TRUE(findMergeError(makeEmpty(), torn));
  EXPECT_TRUE(findMergeError(makeEmpty(), makeEmptyState({2, 2, 3, 4}, 9)));
  EXPECT_TRUE(findFinalizeError(makeEmpty(), Array({3}), std::nullopt));
  RoleRotation misfit{Array({5, 2, 4}), Rotary()};
  EXPECT_TRUE(findFinalizeError(makeEmpty(), std::nullopt, misfit));
  inputs.sink = Array({2, 3});
  EXPECT_EQ(findError(inputs, makeEmpty()).value_or(""),
            "the sink and the output's rotation come at the end");
  EXPECT_DEATH(onlineAttention(inputs, makeEmpty()), "come at the end");
  EXPECT_DEATH(merge(makeEmpty(), torn), "max of shape");
  EXPECT_DEATH(finalize(torn), "max of shape");
}
