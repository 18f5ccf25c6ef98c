//===- AttentionTest.cpp - Numbers of rope.attention ----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// rope.attention compiled by rope-cpu-pipeline against the reference: each
// option alone and with others. The bounds are those of test::compare.
//
//===----------------------------------------------------------------------===//

#include "Support/AttentionChecks.h"

using namespace mlir::rope;
using namespace mlir::rope::test;
using reference::Pairing;
using reference::Window;

//===----------------------------------------------------------------------===//
// One option
//===----------------------------------------------------------------------===//

TEST(Attention, Plain) { expectCorrectBothWays(withLse({})); }

TEST(Attention, DefaultLayout) {
  AttentionCase attention = withLse({});
  attention.writeLayout = false;
  attention.mask = {"b(hg)mn", "i1"};
  attention.queryPos.letters = "bm";
  attention.keyPos.letters = "bn";
  attention.keyLength.letters = "b";
  attention.sink.letters = "(hg)";
  attention.causal = true;
  expectCorrectBothWays(attention);
}

TEST(Attention, DefaultLayoutOfFewerDims) {
  // One head: rows and channels alone, as in a tile.
  AttentionCase attention;
  attention.b = attention.h = attention.g = 1;
  attention.writeLayout = false;
  attention.query.letters = "md";
  attention.key.letters = "nd";
  attention.value.letters = "ne";
  attention.output.letters = "me";
  attention.lse.letters = "m";
  expectCorrectBothWays(attention);
}

TEST(Attention, Layouts) {
  for (auto [query, key, value, output, lse] :
       {std::tuple("bm(hg)d", "bnhd", "bnhe", "bm(hg)e", "bm(hg)"),
        {"bhgmd", "bhdn", "hbne", "hgbme", "mhgb"},
        {"(hg)bmd", "nbhd", "nbhe", "mb(hg)e", "b(hg)m"},
        {"dm(hg)b", "dnhb", "bhen", "bmhge", "bhgm"},
        {"1(hg)bmd", "bhn1d", "b1hne", "1b(hg)m1e", "b(hg)1m"}}) {
    AttentionCase attention;
    attention.query.letters = query;
    attention.key.letters = key;
    attention.value.letters = value;
    attention.output.letters = output;
    attention.lse.letters = lse;
    attention.causal = true;
    expectCorrectBothWays(attention);
  }
}

TEST(Attention, MissingLettersAreBroadcast) {
  // Keys and values shared by all heads, queries shared by all batches.
  AttentionCase attention = withLse({});
  attention.h = 1;
  attention.g = 4;
  attention.query.letters = "(hg)md";
  attention.key.letters = "bnd";
  attention.value.letters = "ne";
  expectCorrectBothWays(attention);
  // One query row for all.
  attention = withLse({});
  attention.query.letters = "d";
  attention.causal = true;
  expectCorrectBothWays(attention);
}

TEST(Attention, HeadsFromTheirGroup) {
  // Only the mask tells how the group splits.
  AttentionCase attention = withLse({});
  attention.key.letters = "bnd";
  attention.value.letters = "ne";
  attention.mask = {"gmn", "f32"};
  expectCorrectBothWays(attention);
}

TEST(Attention, Causal) {
  AttentionCase attention = withLse({});
  attention.causal = true;
  expectCorrectBothWays(attention);
  attention.m = 9;
  attention.n = 3;
  expectCorrectBothWays(attention);
}

static void expectCorrectPositions(OperandCase query, OperandCase key) {
  AttentionCase attention = withLse({});
  attention.causal = true;
  attention.queryPos = std::move(query);
  attention.keyPos = std::move(key);
  expectCorrect(attention);
}

TEST(Attention, Positions) {
  for (auto [query, key] : {std::pair("b", "n"),
                            {"bm", "bn"},
                            {"m", "b"},
                            {"1m", "n"},
                            {"b1", "1n"}})
    expectCorrectPositions({query, "i64"}, {key, "i64"});
  for (const char *type : {"i32", "i16", "i8", "index"})
    expectCorrectPositions({"mb", type}, {"bn", type});
  expectCorrectPositions({"index", "index"}, {"index", "index"});
  expectCorrectPositions({"m", "i32"}, {"index", "index"});
}

TEST(Attention, Windows) {
  for (Window window : {Window{2, 0}, Window{0, 2}, Window{1, 1}, Window{-1, 0},
                        Window{0, -1}, Window{-1, -1}, Window{0, 0}})
    for (bool causal : {false, true}) {
      AttentionCase attention = withLse({});
      attention.window = window;
      attention.causal = causal;
      if (causal) {
        attention.queryPos.letters = "bm";
        attention.keyPos.letters = "bn";
      }
      expectCorrect(attention);
    }
}

TEST(Attention, FarPositions) {
  // The differences overflow; padding slots are at the largest position.
  constexpr int64_t largest = std::numeric_limits<int64_t>::max();
  AttentionCase attention = withLse({});
  attention.window = Window{3, 3};
  attention.queryPos.letters = "m";
  attention.keyPos.letters = "n";
  attention.randomize(1);
  // The reference takes positions by way of f64: keep to powers of 2.
  attention.queryPos.integers[0] = -largest - 1;
  attention.queryPos.integers[1] = -(int64_t(1) << 62);
  attention.keyPos.integers[0] = int64_t(1) << 62;
  attention.keyPos.integers[1] = -largest - 1;
  expectEqual(attention);
}

TEST(Attention, Softcap) {
  for (double softcap : {0.1, 2.0, 50.0}) {
    AttentionCase attention = withLse({});
    attention.softcap = softcap;
    attention.mask = {"b(hg)mn", "f32"};
    expectCorrect(attention);
  }
}

TEST(Attention, NumbersThatF32CannotHold) {
  for (const char *type : {"f32", "f64"}) {
    AttentionCase attention = withLse({});
    attention.query.type = type;
    for (double softcap : {1e300, 1e-300, 5e-324}) {
      attention.softcap = softcap;
      expectCorrect(attention);
    }
    attention.softcap.reset();
    attention.scale = 1e-60;
    expectCorrect(attention);
    // Scores that f32 cannot hold either, though their softmax it can.
    attention.lse.letters.reset();
    attention.scale = 1e60;
    expectCorrect(attention);
  }
}

static void expectCorrectMask(const char *letters, const char *type) {
  AttentionCase attention = withLse({});
  attention.mask = {letters, type};
  expectCorrect(attention);
}

TEST(Attention, Masks) {
  for (const char *letters : {"b(hg)mn", "11mn", "bhgmn", "(hg)1n", "nm"}) {
    expectCorrectMask(letters, "i1");
    expectCorrectMask(letters, "f32");
  }
  for (const char *type : {"bf16", "f16", "f64"})
    expectCorrectMask("b1mn", type);
}

TEST(Attention, MasksOfDynamicExtents) {
  for (const char *type : {"i1", "f32"})
    for (const char *letters : {"b(hg)mn", "11mn", "m"}) {
      AttentionCase attention = withLse({});
      attention.dynamic = true;
      attention.mask = {letters, type};
      expectCorrect(attention);
    }
}

TEST(Attention, KeyLength) {
  for (auto [letters, type] : {std::pair("index", "index"),
                               {"b", "i64"},
                               {"b", "i32"},
                               {"1", "i8"},
                               {"", "index"}}) {
    AttentionCase attention = withLse({});
    attention.keyLength = {letters, type};
    expectCorrect(attention, 5);
    attention.dynamic = true;
    expectCorrect(attention, 6);
  }
}

TEST(Attention, Sink) {
  for (const char *letters : {"(hg)", "hg", "gh", "h", "1"}) {
    AttentionCase attention = withLse({});
    attention.sink.letters = letters;
    attention.keyLength.letters = "b";
    expectCorrectBothWays(attention);
  }
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

TEST(Attention, ElementTypes) {
  for (auto [query, key, value, output, lse] :
       {std::tuple("f32", "f32", "f32", "f32", "f64"),
        {"f64", "f64", "f64", "f64", "f64"},
        {"bf16", "bf16", "bf16", "bf16", "f32"},
        {"f16", "f16", "f16", "f16", "f32"},
        {"bf16", "f16", "f32", "f32", "f32"},
        {"f32", "bf16", "bf16", "f16", "f32"},
        {"f64", "f32", "bf16", "bf16", "f32"},
        {"f16", "f16", "f64", "f16", "f64"}}) {
    AttentionCase attention;
    attention.n = 33;
    attention.d = attention.e = 16;
    attention.query.type = query;
    attention.key.type = key;
    attention.value.type = value;
    attention.output.type = output;
    attention.lse = {"b(hg)m", lse};
    attention.sink = {"(hg)", query};
    attention.causal = true;
    attention.scale = 0.25;
    expectCorrect(attention);
    attention.rotateQuery = {"m", 8};
    attention.rotateKey = {"n", 8};
    attention.rotateValue = {"n", 8};
    attention.rerotateOutput = {"m", 8};
    expectCorrect(attention);
  }
}

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

TEST(Attention, Rotations) {
  AttentionCase attention = withLse({});
  attention.rotateQuery = {"m", 2};
  expectCorrectBothWays(attention);
  attention.rotateKey = {"bn", 2};
  attention.causal = true;
  expectCorrectBothWays(attention);
  // RoPER, with another share of channels.
  attention.rotateValue = {"n", 3};
  attention.rerotateOutput = {"m", 3};
  expectCorrectBothWays(attention);
}

TEST(Attention, RotationsOfEveryKind) {
  reference::Rotary partial, crossed, full;
  partial.offset = 2;
  partial.distance = 3;
  crossed.read = Pairing::Interleaved;
  crossed.write = Pairing::Half;
  full.full = true;
  for (const auto &rotary : {partial, crossed, full}) {
    AttentionCase attention = withLse({});
    attention.d = attention.e = 8;
    attention.query.letters = "bm(hg)d";
    attention.key.letters = "nhbd";
    attention.output.letters = "mhbge";
    attention.rotateQuery = {"b(hg)m", 2, rotary};
    attention.rotateKey = {"hn", 2, rotary};
    attention.rotateValue = {"bn", 3, rotary, "f64"};
    attention.rerotateOutput = {"mb", 3, rotary, "bf16"};
    expectCorrectBothWays(attention);
  }
}

//===----------------------------------------------------------------------===//
// Together
//===----------------------------------------------------------------------===//

TEST(Attention, EverythingAtOnce) {
  AttentionCase attention = makeEverything(AttentionKind::Softmax);
  for (uint64_t seed : {1, 2, 3})
    expectCorrect(attention, seed);
  attention.mask = {"(hg)mn", "f16"};
  attention.dynamic = true;
  for (uint64_t seed : {1, 2, 3})
    expectCorrect(attention, seed);
}

TEST(Attention, TilesAndVectors) {
  // Extents that are no multiples of a vector.
  AttentionCase attention = makeEverything(AttentionKind::Softmax);
  attention.portable = false;
  attention.m = 19;
  attention.n = 37;
  attention.d = attention.e = 18;
  expectCorrectBothWays(attention);
  for (int64_t AttentionCase::*extent :
       {&AttentionCase::n, &AttentionCase::m, &AttentionCase::b}) {
    AttentionCase empty = makeEverything(AttentionKind::Softmax);
    empty.portable = false;
    empty.*extent = 0;
    expectCorrect(empty);
  }
}

TEST(Attention, Memrefs) {
  AttentionCase attention = makeEverything(AttentionKind::Softmax);
  attention.memrefs = true;
  expectCorrectBothWays(attention);
  attention.query.type = attention.output.type = "bf16";
  expectCorrectBothWays(attention);
}

TEST(Attention, LongSequence) {
  // The bound of the whole range: S = 4096, scale 1/√D.
  AttentionCase attention = withLse({});
  attention.b = attention.h = 1;
  attention.g = 2;
  attention.m = 64;
  attention.n = 4096;
  attention.d = attention.e = 64;
  attention.scale = 0.125;
  attention.dynamic = true;
  attention.portable = false;
  attention.rotateQuery = {"m", 32};
  attention.rotateKey = {"n", 32};
  expectCorrect(attention);
  attention.causal = true;
  attention.queryPos.letters = "index";
  attention.queryPos.type = "index";
  attention.randomize(2);
  attention.queryPos.integers[0] = 4032;
  expectEqual(attention);
}
