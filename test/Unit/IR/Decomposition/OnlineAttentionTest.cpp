//===- OnlineAttentionTest.cpp - Numbers of rope.online_attention ---------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// rope.online_attention compiled by rope-cpu-pipeline against the reference.
// What it shares with rope.attention is tested there.
//
//===----------------------------------------------------------------------===//

#include "Support/AttentionChecks.h"

using namespace mlir::rope;
using namespace mlir::rope::test;
using reference::MaybeError;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

static AttentionCase makeOnline() {
  AttentionCase attention;
  attention.kind = AttentionKind::Online;
  attention.lse.letters = attention.sum.letters = "b(hg)m";
  return attention;
}

TEST(OnlineAttention, CarriedState) {
  AttentionCase attention = makeOnline();
  expectCorrectBothWays(attention);
  attention.portable = false;
  expectCorrectBothWays(attention);
}

TEST(OnlineAttention, Layouts) {
  AttentionCase attention = makeOnline();
  attention.output.letters = "mb(hg)e";
  attention.lse.letters = attention.sum.letters = "(hg)1mb";
  expectCorrectBothWays(attention);
}

TEST(OnlineAttention, Options) {
  AttentionCase attention = makeEverything(AttentionKind::Online);
  attention.mask.type = "f32";
  attention.keyPos = {"index", "index"};
  attention.keyLength = {"index", "index"};
  expectCorrectBothWays(attention);
  attention.memrefs = true;
  expectCorrectBothWays(attention);
}

TEST(OnlineAttention, ElementTypes) {
  for (auto [input, acc, max, sum] : {std::tuple("bf16", "f32", "f32", "f32"),
                                      {"f16", "f64", "f32", "f32"},
                                      {"f64", "f32", "f32", "f32"},
                                      {"f64", "f64", "f64", "f64"}}) {
    AttentionCase attention = makeOnline();
    attention.query.type = attention.key.type = attention.value.type = input;
    attention.output.type = acc;
    attention.lse.type = max;
    attention.sum.type = sum;
    expectCorrectBothWays(attention);
  }
}

TEST(OnlineAttention, FirstBlock) {
  // Some rows see nothing, so their state stays (0, −inf, 0).
  AttentionCase attention = makeOnline();
  attention.mask = {"b(hg)mn", "i1"};
  attention.n = 2;
  attention.randomize(1);
  attention.inits[0] = reference::Array(attention.inits[0].getShape());
  attention.inits[1] =
      reference::Array::filled(attention.inits[1].getShape(), -kInfinity);
  attention.inits[2] = reference::Array(attention.inits[2].getShape());
  expectEqual(attention);
  attention.n = 0;
  attention.randomize(1);
  expectEqual(attention);
}

/// The keys from `start` on, `size` of them, of an operand of which they are
/// dim 2.
static void takeKeys(OperandCase &operand, int64_t start, int64_t size) {
  operand.values = operand.values.slice(2, start, size);
}

TEST(OnlineAttention, BlocksAddUpToAttention) {
  AttentionCase whole;
  whole.lse.letters = "b(hg)m";
  whole.causal = true;
  whole.n = 12;
  whole.m = 10;
  whole.randomize(1);

  AttentionCase block = makeOnline();
  block.causal = true;
  block.m = whole.m;
  block.n = 4;
  block.keyPos = {"index", "index"};
  block.randomize(1);
  block.query = whole.query;
  block.inits[0] = reference::Array(block.inits[0].getShape());
  block.inits[1] =
      reference::Array::filled(block.inits[1].getShape(), -kInfinity);
  block.inits[2] = reference::Array(block.inits[2].getShape());
  std::vector<reference::Array> state;
  for (int64_t start : {8, 0, 4}) {
    block.key = whole.key;
    block.value = whole.value;
    takeKeys(block.key, start, 4);
    takeKeys(block.value, start, 4);
    block.keyPos.integers[0] = start;
    state = block.run();
    for (auto [i, init] : llvm::enumerate(block.getInits()))
      block.inits[i] = state[i].reshape(block.inits[i].getShape());
  }
  reference::AttentionResult result =
      reference::finalize({state[0], state[1], state[2]});
  std::vector<reference::Array> exact = whole.evaluate();
  MaybeError error = compare(result.output, exact[0], "f32");
  EXPECT_FALSE(error) << *error;
  error = compare(result.lse, exact[1], "f32");
  EXPECT_FALSE(error) << *error;
}
