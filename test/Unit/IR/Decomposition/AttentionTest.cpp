//===- AttentionTest.cpp - Numbers of rope.attention ----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// rope.attention compiled by rope-cpu-pipeline against the reference: each
// option alone and with others.
//
//===----------------------------------------------------------------------===//

#include "Support/AttentionCase.h"
#include "gtest/gtest.h"

using namespace mlir::rope;
using namespace mlir::rope::test;
using reference::MaybeError;
using reference::Pairing;
using reference::Window;

static void expectCorrect(AttentionCase attention, uint64_t seed = 1) {
  attention.randomize(seed);
  MaybeError error = check(attention);
  EXPECT_FALSE(error) << *error;
}

/// The case itself, and with dynamic extents.
static void expectCorrectBothWays(AttentionCase attention) {
  expectCorrect(attention);
  attention.dynamic = true;
  expectCorrect(attention);
}

TEST(Attention, Plain) { expectCorrectBothWays({}); }
