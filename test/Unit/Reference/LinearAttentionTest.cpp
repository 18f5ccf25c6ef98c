//===- LinearAttentionTest.cpp - Tests of linear attention ----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Reference/LinearAttention.h"
#include "TestUtils.h"
#include <cmath>

using namespace mlir::rope::reference;

static RoleRotation makeRotation(int64_t start, int64_t n, int64_t dim) {
  Rotary rotary;
  rotary.along = {dim};
  return {tableAt(start, 1, n, 4), rotary};
}

/// Random inputs with b = 2, h = 2, g = 3, m = n = 6, d = 8, e = 5, rotated and
/// normalised.
static LinearAttentionInputs makeInputs(uint64_t seed) {
  Random random(seed);
  LinearAttentionInputs inputs;
  inputs.query = random.array({2, 2, 3, 6, 8});
  inputs.key = random.array({2, 2, 6, 8});
  inputs.value = random.array({2, 2, 6, 5});
  inputs.normalizerEps = 1e-6;
  inputs.rotateQuery = makeRotation(0, 6, 3);
  inputs.rotateKey = makeRotation(0, 6, 2);
  return inputs;
}

static void expectSame(const LinearAttentionResult &lhs,
                       const LinearAttentionResult &rhs, double tolerance) {
  EXPECT_ARRAY_NEAR(lhs.output, rhs.output, tolerance);
  EXPECT_ARRAY_NEAR(lhs.kvState, rhs.kvState, tolerance);
  EXPECT_ARRAY_NEAR(lhs.kSum, rhs.kSum, tolerance);
}

TEST(ReferenceLinearAttention, FeatureMapsByHand) {
  LinearAttentionInputs inputs;
  inputs.query = Array({1, 1, 1, 1, 2}, {0.5, -1.0});
  inputs.key = Array({1, 1, 1, 2}, {-2.0, 3.0});
  inputs.value = Array({1, 1, 1, 1}, {10.0});
  std::vector<std::pair<FeatureMap, double>> cases = {
      {FeatureMap::Identity, 0.5 * -2.0 + -1.0 * 3.0},
      {FeatureMap::EluPlusOne, 1.5 * std::exp(-2.0) + std::exp(-1.0) * 4.0},
      {FeatureMap::Relu, 0.0},
      {FeatureMap::Exp, std::exp(-1.5) + std::exp(2.0)}};
  for (auto [map, product] : cases) {
    inputs.featureMap = map;
    inputs.normalizerEps = std::nullopt;
    EXPECT_NEAR(linearAttention(inputs).output[0], 10.0 * product, 1e-13);
    inputs.normalizerEps = 0.25;
    EXPECT_NEAR(linearAttention(inputs).output[0],
                10.0 * product / (product + 0.25), 1e-13);
  }
  inputs.featureMap = FeatureMap::Relu;
  inputs.query = Array({1, 1, 1, 1, 2}, {-0.5, 2.0});
  inputs.normalizerEps = std::nullopt;
  EXPECT_EQ(linearAttention(inputs).output[0], 60.0);
}

TEST(ReferenceLinearAttention, IdentityWithoutNormaliserIsTwoProducts) {
  LinearAttentionInputs inputs = makeInputs(81);
  inputs.featureMap = FeatureMap::Identity;
  inputs.normalizerEps = std::nullopt;
  LinearAttentionResult result = linearAttention(inputs);
  Array q = rotate(inputs.query, *inputs.rotateQuery);
  Array k = rotate(inputs.key, *inputs.rotateKey);
  double sum = 0.0;
  for (int64_t n = 0; n < 6; ++n)
    for (int64_t c = 0; c < 8; ++c)
      sum += q.at({1, 0, 2, 4, c}) * k.at({1, 0, n, c}) *
             inputs.value.at({1, 0, n, 3});
  EXPECT_NEAR(result.output.at({1, 0, 2, 4, 3}), sum, 1e-13);
}

TEST(ReferenceLinearAttention, OnlyTheNumeratorTurns) {
  // Values of 1: numerator over denominator is below 1 by the rotation alone.
  LinearAttentionInputs inputs = makeInputs(82);
  inputs.value = Array::filled(inputs.value.getShape(), 1.0);
  inputs.normalizerEps = 0.0;
  Array rotated = linearAttention(inputs).output;
  inputs.rotateQuery = inputs.rotateKey = std::nullopt;
  Array plain = linearAttention(inputs).output;
  for (int64_t i = 0; i < plain.getNumElements(); ++i) {
    EXPECT_NEAR(plain[i], 1.0, 1e-14);
    EXPECT_LT(rotated[i], 1.0);
  }
}

TEST(ReferenceLinearAttention, RotationComesAfterTheFeatures) {
  LinearAttentionInputs inputs = makeInputs(83);
  LinearAttentionInputs before = inputs;
  before.query = rotate(inputs.query, *inputs.rotateQuery);
  before.key = rotate(inputs.key, *inputs.rotateKey);
  before.rotateQuery = before.rotateKey = std::nullopt;
  EXPECT_GT(getMaxAbsError(linearAttention(before).output,
                           linearAttention(inputs).output),
            1e-2);
  // For the identity map the order does not matter, in the numerator.
  for (LinearAttentionInputs *x : {&inputs, &before}) {
    x->featureMap = FeatureMap::Identity;
    x->normalizerEps = std::nullopt;
  }
  EXPECT_ARRAY_NEAR(linearAttention(before).output,
                    linearAttention(inputs).output, 0.0);
}

TEST(ReferenceLinearAttention, DependsOnDistances) {
  LinearAttentionInputs inputs = makeInputs(84);
  LinearAttentionInputs moved = inputs;
  moved.rotateQuery = makeRotation(5000, 6, 3);
  moved.rotateKey = makeRotation(5000, 6, 2);
  EXPECT_ARRAY_NEAR(linearAttention(moved).output,
                    linearAttention(inputs).output, 1e-13);
}

TEST(ReferenceLinearAttention, CausalRowsSeeTheirPast) {
  LinearAttentionInputs inputs = makeInputs(85);
  inputs.causal = true;
  Array output = linearAttention(inputs).output;
  for (int64_t m = 0; m < 6; ++m) {
    LinearAttentionInputs past = inputs;
    past.causal = false;
    past.query = inputs.query.slice(3, m, 1);
    past.key = inputs.key.slice(2, 0, m + 1);
    past.value = inputs.value.slice(2, 0, m + 1);
    past.rotateQuery = makeRotation(m, 1, 3);
    past.rotateKey = makeRotation(0, m + 1, 2);
    EXPECT_ARRAY_NEAR(output.slice(3, m, 1), linearAttention(past).output,
                      1e-14);
  }
}

TEST(ReferenceLinearAttention, ChunksEqualTheWhole) {
  for (FeatureMap map : {FeatureMap::Identity, FeatureMap::EluPlusOne,
                         FeatureMap::Relu, FeatureMap::Exp}) {
    LinearAttentionInputs inputs = makeInputs(86);
    inputs.causal = true;
    inputs.featureMap = map;
    if (map == FeatureMap::Identity)
      inputs.normalizerEps = std::nullopt; // its denominators may vanish
    LinearAttentionResult whole = linearAttention(inputs);
    for (int64_t chunk : {1, 2, 4}) {
      LinearAttentionResult last;
      std::vector<Array> outputs;
      LinearAttentionInputs part = inputs;
      for (int64_t start = 0; start < 6; start += chunk) {
        int64_t size = std::min(chunk, 6 - start);
        part.query = inputs.query.slice(3, start, size);
        part.key = inputs.key.slice(2, start, size);
        part.value = inputs.value.slice(2, start, size);
        part.rotateQuery = makeRotation(start, size, 3);
        part.rotateKey = makeRotation(start, size, 2);
        last = linearAttention(part);
        outputs.push_back(last.output);
        part.kvState = last.kvState;
        part.kSum = last.kSum;
      }
      last.output = Array::concat(outputs, 3);
      expectSame(last, whole, 1e-12);
    }
  }
}

TEST(ReferenceLinearAttention, StatesHoldRotatedAndPlainSums) {
  LinearAttentionInputs inputs = makeInputs(87);
  inputs.featureMap = FeatureMap::Exp;
  inputs.kvState = Array::filled({2, 2, 8, 5}, 0.5);
  inputs.kSum = Array::filled({2, 2, 8}, 0.25);
  LinearAttentionResult result = linearAttention(inputs);
  Array features = inputs.key;
  for (int64_t i = 0; i < features.getNumElements(); ++i)
    features[i] = std::exp(features[i]);
  Array rotated = rotate(features, *inputs.rotateKey);
  double state = 0.5, sum = 0.25;
  for (int64_t n = 0; n < 6; ++n) {
    state += rotated.at({1, 0, n, 6}) * inputs.value.at({1, 0, n, 2});
    sum += features.at({1, 0, n, 6});
  }
  EXPECT_NEAR(result.kvState.at({1, 0, 6, 2}), state, 1e-14);
  EXPECT_NEAR(result.kSum.at({1, 0, 6}), sum, 1e-14);
}

TEST(ReferenceLinearAttention, KeysAndQueriesOfDifferentNumber) {
  LinearAttentionInputs inputs = makeInputs(88);
  inputs.query = inputs.query.slice(3, 0, 2);
  inputs.rotateQuery = makeRotation(0, 2, 3);
  EXPECT_EQ(linearAttention(inputs).output.getShape(), Shape({2, 2, 3, 2, 5}));
  // No keys at all: 0 / (0 + eps).
  inputs.key = Array({2, 2, 0, 8});
  inputs.value = Array({2, 2, 0, 5});
  inputs.rotateKey = std::nullopt;
  EXPECT_ARRAY_NEAR(linearAttention(inputs).output, Array({2, 2, 3, 2, 5}),
                    0.0);
}

TEST(ReferenceLinearAttention, RefusesWhatDoesNotFit) {
  EXPECT_FALSE(findError(makeInputs(89)));
  auto isRefused = [](auto change) {
    LinearAttentionInputs inputs = makeInputs(89);
    change(inputs);
    return findError(inputs).has_value();
  };
  using Inputs = LinearAttentionInputs;
  EXPECT_TRUE(isRefused([](Inputs &x) { x.query = Array({6, 8}); }));
  EXPECT_TRUE(isRefused([](Inputs &x) { x.key = Array({2, 2, 6, 7}); }));
  EXPECT_TRUE(isRefused([](Inputs &x) { x.value = Array({2, 2, 5, 5}); }));
  EXPECT_TRUE(isRefused([](Inputs &x) { x.kvState = Array({2, 2, 8, 4}); }));
  EXPECT_TRUE(isRefused([](Inputs &x) { x.kSum = Array({2, 2, 5}); }));
  EXPECT_TRUE(isRefused([](Inputs &x) { x.rotateQuery->rotary.along = {2}; }));
  EXPECT_TRUE(isRefused([](Inputs &x) { x.rotateKey->rotary.offset = 1; }));
  LinearAttentionInputs inputs = makeInputs(89);
  inputs.kSum = Array({1});
  EXPECT_DEATH(linearAttention(inputs), "k sum has shape");
}
