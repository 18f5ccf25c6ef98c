//===- LinearAttentionTest.cpp - Numbers of rope.linear_attention ---------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// rope.linear_attention compiled by rope-cpu-pipeline against the reference.
//
//===----------------------------------------------------------------------===//

#include "Support/AttentionChecks.h"

using namespace mlir::rope;
using namespace mlir::rope::test;
using reference::FeatureMap;

static constexpr FeatureMap kFeatureMaps[] = {
    FeatureMap::Identity, FeatureMap::EluPlusOne, FeatureMap::Relu,
    FeatureMap::Exp};

static AttentionCase makeLinear(bool causal) {
  AttentionCase attention;
  attention.kind = AttentionKind::Linear;
  attention.causal = causal;
  attention.m = attention.n = 5;
  return attention;
}

/// Both states, and so a normaliser.
static AttentionCase withStates(AttentionCase attention) {
  attention.normalizerEps = 1e-6;
  attention.kvState.letters = "bhde";
  attention.kSum.letters = "bhd";
  return attention;
}

TEST(LinearAttention, FeatureMaps) {
  for (bool causal : {false, true})
    for (FeatureMap map : kFeatureMaps) {
      AttentionCase attention = makeLinear(causal);
      attention.featureMap = map;
      expectCorrectBothWays(attention);
      // Sums of features of any sign may come near 0.
      if (map == FeatureMap::Identity || map == FeatureMap::Relu)
        continue;
      attention.normalizerEps = 1e-6;
      expectCorrectBothWays(attention);
    }
}

TEST(LinearAttention, States) {
  for (bool causal : {false, true}) {
    AttentionCase attention = makeLinear(causal);
    attention.kvState.letters = "bhde";
    expectCorrectBothWays(attention);
    attention = withStates(makeLinear(causal));
    expectCorrectBothWays(attention);
    attention.portable = false;
    expectCorrectBothWays(attention);
  }
}

TEST(LinearAttention, RotationsTurnTheNumeratorAlone) {
  for (bool causal : {false, true}) {
    AttentionCase attention = withStates(makeLinear(causal));
    attention.rotateQuery = {"m", 2};
    expectCorrectBothWays(attention);
    attention.rotateKey = {"bn", 1};
    expectCorrectBothWays(attention);
    attention.rotateQuery.reset();
    attention.memrefs = true;
    expectCorrectBothWays(attention);
  }
}

TEST(LinearAttention, Layouts) {
  for (bool causal : {false, true}) {
    AttentionCase attention = withStates(makeLinear(causal));
    attention.query.letters = "bm(hg)d";
    attention.key.letters = "nhbd";
    attention.value.letters = "ebhn";
    attention.output.letters = "hgmbe";
    attention.kvState.letters = "hbed";
    attention.kSum.letters = "d1hb";
    attention.rotateQuery = {"m", 2};
    attention.rotateKey = {"n", 2};
    expectCorrectBothWays(attention);
    // Keys and values shared by all batches, but not their states.
    attention.key.letters = "nhd";
    attention.value.letters = "en";
    expectCorrectBothWays(attention);
  }
}

TEST(LinearAttention, ElementTypes) {
  for (bool causal : {false, true})
    for (auto [input, output, state] : {std::tuple("bf16", "bf16", "f32"),
                                        {"f16", "f16", "f32"},
                                        {"f64", "f64", "f64"},
                                        {"f64", "bf16", "f32"},
                                        {"f32", "f32", "f64"}}) {
      AttentionCase attention = withStates(makeLinear(causal));
      attention.query.type = attention.key.type = attention.value.type = input;
      attention.output.type = output;
      attention.kvState.type = attention.kSum.type = state;
      expectCorrect(attention);
      attention.rotateQuery = {"m", 2};
      attention.rotateKey = {"n", 2};
      expectCorrect(attention);
    }
}

TEST(LinearAttention, EmptyExtents) {
  for (bool causal : {false, true}) {
    AttentionCase attention = withStates(makeLinear(causal));
    attention.m = attention.n = 0;
    expectCorrectBothWays(attention);
  }
  AttentionCase attention = withStates(makeLinear(false));
  attention.n = 0;
  expectCorrectBothWays(attention);
}

TEST(LinearAttention, LaterKeysMayHoldAnything) {
  AttentionCase attention = withStates(makeLinear(true));
  attention.randomize(1);
  // The last key and value of all.
  for (OperandCase *operand : {&attention.key, &attention.value}) {
    int64_t channels = operand == &attention.key ? attention.d : attention.e;
    for (int64_t i = 0; i < operand->values.getNumElements(); ++i)
      if (i / channels % attention.n == attention.n - 1)
        operand->values[i] = NAN;
  }
  expectEqual(attention);
}

TEST(LinearAttention, EpsilonThatF32CannotHold) {
  // Features are 0, and so is the sum that the smallest number is added to.
  for (double eps : {1e-300, 1e300}) {
    AttentionCase attention = makeLinear(false);
    attention.featureMap = reference::FeatureMap::Relu;
    attention.normalizerEps = eps;
    attention.randomize(1);
    for (int64_t i = 0; i < attention.key.values.getNumElements(); ++i)
      attention.key.values[i] = -1;
    expectEqual(attention);
  }
}
