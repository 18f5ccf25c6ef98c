//===- AttentionChecks.h - Expectations on attention ops --------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tests of attention ops expect of a case, and the case of all options
// at once.
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_TEST_UNIT_SUPPORT_ATTENTIONCHECKS_H
#define ROPE_TEST_UNIT_SUPPORT_ATTENTIONCHECKS_H

#include "Support/AttentionCase.h"
#include "gtest/gtest.h"

namespace mlir::rope::test {

/// The case as plain loops and as tiles and vectors, where these are code of
/// their own; else as it is.
inline std::vector<AttentionCase> onAllPaths(const AttentionCase &attention) {
  std::vector<AttentionCase> cases = {attention};
  if (attention.kind != AttentionKind::Online && attention.portable) {
    cases.push_back(attention);
    cases.back().portable = false;
  }
  return cases;
}

/// Operands as they are.
inline void expectEqual(const AttentionCase &attention) {
  for (const AttentionCase &onPath : onAllPaths(attention)) {
    reference::MaybeError error = check(onPath);
    EXPECT_FALSE(error) << (onPath.portable ? "portable, " : "") << *error;
  }
}

/// Random operands.
inline void expectCorrect(AttentionCase attention, uint64_t seed = 1) {
  attention.randomize(seed);
  expectEqual(attention);
}

/// With static extents, and with dynamic ones.
inline void expectCorrectBothWays(AttentionCase attention) {
  expectCorrect(attention);
  attention.dynamic = true;
  expectCorrect(attention, 2);
}

inline AttentionCase withLse(AttentionCase attention) {
  attention.lse.letters = "b(hg)m";
  return attention;
}

/// An op with softmax and all of its options.
inline AttentionCase makeEverything(AttentionKind kind) {
  AttentionCase attention = withLse({});
  attention.kind = kind;
  attention.causal = true;
  attention.window = reference::Window{4, 0};
  attention.softcap = 3.0;
  attention.mask = {"b1mn", "i1"};
  attention.queryPos = {"b", "i8"};
  attention.keyPos = {"n", "i64"};
  attention.keyLength = {"b", "i32"};
  attention.rotateQuery = {"m", 2};
  attention.rotateKey = {"bn", 2};
  attention.rotateValue = {"n", 3};
  if (kind == AttentionKind::Online) {
    attention.sum.letters = "b(hg)m";
  } else {
    attention.sink = {"(hg)", "bf16"};
    attention.rerotateOutput = {"m", 3};
  }
  return attention;
}

} // namespace mlir::rope::test

#endif // ROPE_TEST_UNIT_SUPPORT_ATTENTIONCHECKS_H
