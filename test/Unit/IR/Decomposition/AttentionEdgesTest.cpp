//===- AttentionEdgesTest.cpp - Edges of rope.attention -------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Empty and unit extents, rows that see nothing, and numbers that are no
// numbers, by rope-cpu-pipeline against the reference.
//
//===----------------------------------------------------------------------===//

#include "Support/AttentionChecks.h"

using namespace mlir::rope;
using namespace mlir::rope::test;

TEST(AttentionEdges, SmallestExtents) {
  AttentionCase attention = withLse({});
  attention.b = attention.h = attention.g = attention.m = attention.n = 1;
  attention.d = attention.e = 2;
  attention.rotateQuery = {"m", 1};
  attention.rotateKey = {"n", 1};
  expectCorrectBothWays(attention);
}

TEST(AttentionEdges, EmptyExtents) {
  for (int64_t AttentionCase::*extent :
       {&AttentionCase::n, &AttentionCase::m, &AttentionCase::b,
        &AttentionCase::h, &AttentionCase::d, &AttentionCase::e}) {
    AttentionCase attention = withLse({});
    attention.*extent = 0;
    attention.causal = true;
    expectCorrectBothWays(attention);
  }
}

/// The results of a case in which no row sees a key, on each path.
static std::vector<std::vector<reference::Array>>
runHidden(AttentionCase attention) {
  attention.randomize(1);
  attention.keyLength.integers = reference::IntArray({attention.b});
  std::vector<std::vector<reference::Array>> results;
  for (const AttentionCase &onPath : onAllPaths(attention))
    results.push_back(onPath.run());
  return results;
}

TEST(AttentionEdges, RowsThatSeeNothing) {
  AttentionCase attention = withLse({});
  attention.keyLength.letters = "b";
  for (const auto &results : runHidden(attention)) {
    for (double value : results[0].getElements())
      EXPECT_EQ(value, 0.0);
    for (double value : results[1].getElements())
      EXPECT_EQ(value, -std::numeric_limits<double>::infinity());
  }
  // RoPER turns a zero into a zero.
  attention.rerotateOutput = {"m", 3};
  for (const auto &results : runHidden(attention))
    for (double value : results[0].getElements())
      EXPECT_EQ(value, 0.0);
}

TEST(AttentionEdges, RowsThatSeeOnlyTheSink) {
  AttentionCase attention = withLse({});
  attention.keyLength.letters = "b";
  attention.sink.letters = "(hg)";
  attention.randomize(1);
  int64_t heads = attention.h * attention.g;
  for (const auto &results : runHidden(attention)) {
    for (double value : results[0].getElements())
      EXPECT_EQ(value, 0.0);
    for (int64_t i = 0; i < results[1].getNumElements(); ++i)
      EXPECT_EQ(results[1][i], attention.sink.values[i / attention.m % heads]);
  }
}

TEST(AttentionEdges, HiddenKeysMayHoldAnything) {
  // Slots of a cache that were never written, hidden by the length, by the
  // positions, by a mask, or by a window.
  for (int hidden : {0, 1, 2, 3, 4}) {
    AttentionCase attention = withLse({});
    attention.m = 3;
    if (hidden == 0)
      attention.keyLength = {"index", "index"};
    else if (hidden == 1)
      attention.causal = true;
    else if (hidden == 4)
      attention.window = reference::Window{-1, 1};
    else
      attention.mask = {"mn", hidden == 2 ? "i1" : "f32"};
    attention.randomize(1);
    if (hidden == 0)
      attention.keyLength.integers[0] = 4;
    for (int64_t i = 0; i < attention.mask.values.getNumElements(); ++i)
      if (hidden >= 2 && i % attention.n >= 4)
        attention.mask.values[i] = hidden == 2 ? 0.0 : -INFINITY;
    for (OperandCase *operand : {&attention.key, &attention.value})
      for (int64_t i = 0; i < operand->values.getNumElements(); ++i) {
        int64_t channels =
            operand == &attention.key ? attention.d : attention.e;
        if (i / channels % attention.n >= 4)
          operand->values[i] = i % 2 ? NAN : INFINITY;
      }
    expectEqual(attention);
  }
}

TEST(AttentionEdges, LowestMask) {
  // The type's lowest value is finite: it does not mask, and a row of it is
  // uniform. That of f16 leaves too little of the scores to compare such rows.
  for (auto [type, lowest] : {std::pair("f32", -3.4028234663852886e38),
                              {"bf16", -3.3895313892515355e38},
                              {"f16", -65504.0},
                              {"f64", -1.7976931348623157e308}}) {
    AttentionCase attention;
    attention.mask = {"b(hg)mn", type};
    attention.randomize(1);
    for (int64_t i = 0; i < attention.mask.values.getNumElements(); ++i) {
      bool isRowOfIt =
          std::string(type) != "f16" && i / attention.n % attention.m == 0;
      if (i % 3 || isRowOfIt)
        attention.mask.values[i] = lowest;
      else
        attention.mask.values[i] = 0.5;
    }
    expectEqual(attention);
  }
}

TEST(AttentionEdges, LargeInputsAreNotNaN) {
  for (double size : {1e4, 1e10, 1e15})
    for (const char *mask : {"i1", "f32"}) {
      AttentionCase attention = withLse({});
      attention.mask = {"b(hg)mn", mask};
      attention.sink.letters = "(hg)";
      attention.randomize(1);
      for (OperandCase *operand :
           {&attention.query, &attention.key, &attention.value})
        for (int64_t i = 0; i < operand->values.getNumElements(); ++i)
          operand->values[i] *= size;
      for (const AttentionCase &onPath : onAllPaths(attention))
        for (const reference::Array &result : onPath.run())
          for (double value : result.getElements())
            EXPECT_FALSE(std::isnan(value));
    }
}

TEST(AttentionEdges, NaNOfAVisibleKeyReachesItsRows) {
  AttentionCase attention;
  attention.causal = true;
  attention.m = attention.n = 4;
  attention.randomize(1);
  // The first key of all; channel 0 of its value.
  for (int64_t i = 0; i < attention.value.values.getNumElements(); ++i)
    if (i % (attention.n * attention.e) == 2 * attention.e)
      attention.value.values[i] = NAN;
  expectEqual(attention);
}
