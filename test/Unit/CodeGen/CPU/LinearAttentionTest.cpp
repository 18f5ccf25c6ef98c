//===- LinearAttentionTest.cpp - Numbers of its vector code ---------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// rope.linear_attention over several chunks, by vector code of several shapes,
// against the reference. Single options and edges are tested with the
// decomposition, on both paths.
//
//===----------------------------------------------------------------------===//

#include "Support/AttentionChecks.h"
#include "Support/VectorCases.h"
#include "gtest/gtest.h"

using namespace mlir::rope;
using namespace mlir::rope::test;
using reference::FeatureMap;
using reference::Pairing;

namespace {
class VectorLinearAttention : public testing::TestWithParam<VectorCode> {
protected:
  /// More than two chunks, and multiples of nothing.
  static AttentionCase makeCase(bool causal) {
    AttentionCase attention;
    attention.kind = AttentionKind::Linear;
    attention.portable = false;
    attention.pipelineOptions = GetParam().options;
    attention.plan = GetParam().plan;
    attention.causal = causal;
    attention.staticChannels = true;
    attention.b = 1;
    attention.m = 41;
    attention.n = causal ? 41 : 50;
    attention.d = 22;
    attention.e = 40;
    attention.normalizerEps = 0.25;
    return attention;
  }
};
} // namespace

INSTANTIATE_TEST_SUITE_P(
    , VectorLinearAttention,
    testing::Values(
        VectorCode{"Native", "", ""},
        VectorCode{"Chunks", "", "keys = 2, rows = 3, channels = 2"},
        VectorCode{"Narrow", "lanes=8 registers=16 lookup=false", ""},
        VectorCode{"Narrowest", "lanes=4 lookup=false",
                   "rows = 5, keys = 3, channels = 1"}),
    testing::PrintToStringParamName());

TEST_P(VectorLinearAttention, Rotations) {
  for (bool causal : {false, true}) {
    AttentionCase attention = makeCase(causal);
    expectCorrectBothWays(attention);
    attention.rotateQuery = {"m", 11};
    attention.rotateKey = {"n", 11};
    expectCorrectBothWays(attention);
    reference::Rotary rotary;
    rotary.read = Pairing::Interleaved;
    rotary.offset = 4;
    attention.rotateQuery = {"bm", 3, rotary, "f16"};
    attention.rotateKey = {"hn", 3, rotary};
    expectCorrectBothWays(attention);
  }
}

TEST_P(VectorLinearAttention, States) {
  for (bool causal : {false, true}) {
    AttentionCase attention = makeCase(causal);
    attention.rotateKey = {"n", 11};
    attention.kvState.letters = "bhde";
    attention.kSum.letters = "bhd";
    expectCorrectBothWays(attention);
    // The state is stored the other way round: loops over channels.
    attention.kvState.letters = "hdbe";
    attention.kSum.letters = "hbd";
    expectCorrectBothWays(attention);
  }
}

TEST_P(VectorLinearAttention, Types) {
  for (bool causal : {false, true}) {
    AttentionCase attention = makeCase(causal);
    attention.query.type = attention.output.type = "bf16";
    attention.key.type = "f16";
    attention.e = 32;
    attention.memrefs = true;
    expectCorrectBothWays(attention);
    attention.normalizerEps.reset();
    attention.value.type = "bf16";
    attention.featureMap = FeatureMap::Relu;
    expectCorrectBothWays(attention);
  }
}

/// Rows of keys that later rows see only, in the middle of a chunk and at its
/// end.
TEST_P(VectorLinearAttention, LaterKeysMayHoldAnything) {
  AttentionCase attention = makeCase(true);
  attention.randomize(1);
  for (OperandCase *operand : {&attention.key, &attention.value}) {
    int64_t channels = operand == &attention.key ? attention.d : attention.e;
    for (int64_t i = 0; i < operand->values.getNumElements(); ++i)
      if (i / channels % attention.n >= 18)
        operand->values[i] = NAN;
  }
  expectEqual(attention);
}

/// No terms cancel, so that the sum of their magnitudes is the result.
TEST_P(VectorLinearAttention, StatedBoundOfManyKeys) {
  AttentionCase attention = makeCase(false);
  attention.h = attention.g = 1;
  attention.m = 2;
  attention.n = 20000;
  attention.kvState.letters = "bhde";
  attention.kSum.letters = "bhd";
  attention.randomize(1);
  for (reference::Array *terms :
       {&attention.value.values, &attention.inits[1], &attention.inits[2]})
    for (int64_t i = 0; i < terms->getNumElements(); ++i)
      (*terms)[i] = std::fabs((*terms)[i]);
  auto keys = static_cast<double>(attention.n);
  auto channels = static_cast<double>(attention.d);
  double ofState = (keys + 16) * 0x1p-24;
  double bounds[] = {(keys + channels + 16) * 0x1p-23, ofState, ofState};
  std::vector<reference::Array> got = attention.run(),
                                want = attention.evaluate();
  for (auto [result, bound] : llvm::enumerate(bounds))
    for (int64_t i = 0; i < got[result].getNumElements(); ++i)
      ASSERT_NEAR(got[result][i], want[result][i], bound * want[result][i])
          << result << " " << i;
}
