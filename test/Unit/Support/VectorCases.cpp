//===- VectorCases.cpp - Cases for vector code of attention ---------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/VectorCases.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::test;
using reference::Window;

using Cases = std::vector<AttentionCase>;

AttentionCase test::makeVectorCase(const VectorCode &code) {
  AttentionCase attention;
  attention.portable = false;
  attention.pipelineOptions = code.options;
  attention.plan = code.plan;
  attention.b = 1;
  attention.h = 2;
  attention.g = 3;
  attention.m = 41;
  attention.n = 151;
  attention.d = 20;
  attention.e = 40;
  attention.lse.letters = "b(hg)m";
  return attention;
}

Cases test::listRotations(AttentionCase attention) {
  Cases cases = {attention};
  // Channels that turn are static.
  attention.dynamic = true;
  attention.rotateQuery = {"m", 10};
  attention.rotateKey = {"n", 10};
  attention.rotateValue = {"n", 5};
  attention.rerotateOutput = {"m", 5};
  cases.push_back(attention);
  attention.causal = true;
  cases.push_back(attention);
  return cases;
}

AttentionCase test::withWholeVectors(AttentionCase attention) {
  attention.n = 128;
  attention.d = attention.e = 64;
  return attention;
}

Cases test::listRanges(AttentionCase attention) {
  Cases cases;
  attention.m = 150;
  for (Window window :
       {Window{-1, 0}, Window{30, 0}, Window{91, 4}, Window{-1, 3}}) {
    attention.window = window;
    attention.keyLength = {std::nullopt, "i32"};
    cases.push_back(attention);
    attention.keyLength.letters = "b";
    cases.push_back(attention);
  }
  return cases;
}

Cases test::listPositions(AttentionCase attention) {
  attention.causal = true;
  attention.b = 2;
  attention.queryPos.letters = "bm";
  Cases cases = {attention};
  attention.keyPos.letters = "bn";
  attention.window = Window{100, -1};
  cases.push_back(attention);
  attention.queryPos.letters = std::nullopt;
  attention.window.reset();
  cases.push_back(attention);
  return cases;
}

Cases test::listMasks(AttentionCase attention, StringRef type) {
  attention.mask = {"1(hg)mn", type.str()};
  Cases cases = {attention};
  attention.causal = true;
  attention.keyLength = {"b", "i32"};
  cases.push_back(attention);
  attention.keyLength.letters = std::nullopt;
  attention.keyPos.letters = "bn";
  cases.push_back(attention);
  return cases;
}

Cases test::listChannels(AttentionCase attention) {
  Cases cases;
  for (int64_t channels : {1, 3, 16}) {
    attention.d = attention.e = channels;
    cases.push_back(attention);
  }
  return cases;
}

//===----------------------------------------------------------------------===//
// Hidden keys
//===----------------------------------------------------------------------===//

/// Odd: one of a pair of keys is hidden.
static constexpr int64_t kFirstHidden = 101;

static void fillHidden(AttentionCase &attention, OperandCase &operand,
                       int64_t channels, double even, double odd) {
  for (int64_t i = 0; i < operand.values.getNumElements(); ++i)
    if (i / channels % attention.n >= kFirstHidden)
      operand.values[i] = i % 2 ? odd : even;
}

/// The case with keys and values that are no numbers, and with values that even
/// the smallest weight would show.
static Cases fillHidden(const AttentionCase &attention) {
  Cases cases(2, attention);
  fillHidden(cases[0], cases[0].key, attention.d, INFINITY, NAN);
  fillHidden(cases[0], cases[0].value, attention.e, INFINITY, NAN);
  fillHidden(cases[1], cases[1].value, attention.e, 3e38, 3e38);
  return cases;
}

Cases test::listHiddenKeys(const AttentionCase &attention,
                           ArrayRef<StringRef> maskTypes, FillCase fill) {
  Cases cases(2, attention);
  cases[0].keyLength = {"index", "index"};
  fill(cases[0]);
  cases[0].keyLength.integers[0] = kFirstHidden;
  cases[1].causal = true;
  fill(cases[1]);
  for (StringRef type : maskTypes) {
    AttentionCase &masked = cases.emplace_back(attention);
    masked.mask = {"mn", type.str()};
    fill(masked);
    for (int64_t i = 0; i < masked.mask.values.getNumElements(); ++i)
      if (i % masked.n >= kFirstHidden)
        masked.mask.values[i] = type == "i1" ? 0.0 : -INFINITY;
  }
  Cases filled;
  for (const AttentionCase &one : cases)
    llvm::append_range(filled, fillHidden(one));
  return filled;
}
