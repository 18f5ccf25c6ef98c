//===- AttentionTest.cpp - Numbers of tiled attention ---------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention ops that are tiled, then compiled by rope-cpu-pipeline, against the
// reference of the whole op. Tile sizes divide no extent evenly unless they
// have to.
//
//===----------------------------------------------------------------------===//

#include "Support/AttentionChecks.h"

#include <random>

using namespace mlir::rope;
using namespace mlir::rope::test;

static void expectCorrect(AttentionCase attention, const std::string &passes,
                          uint64_t seed = 1) {
  attention.passes = passes;
  expectCorrect(std::move(attention), seed);
}

static std::string tile(const std::string &options) {
  return "rope-tile{" + options + "}";
}

//===----------------------------------------------------------------------===//
// rope.attention
//===----------------------------------------------------------------------===//

TEST(TiledAttention, DefaultPositions) {
  // Row m is at position m, also in a tile.
  AttentionCase attention;
  attention.causal = true;
  attention.lse.letters = "b(hg)m";
  for (const char *sizes :
       {"sizes=m:2", "sizes=b:1,h:1,m:3", "sizes=h:1,g:2,m:2 parallel=true"})
    expectCorrect(attention, tile(sizes));
  attention.dynamic = true;
  expectCorrect(attention, tile("sizes=b:1,h:1,m:2"));
  expectCorrect(attention, tile("sizes=h:1,g:2,m:2 parallel=true"));
}

TEST(TiledAttention, Positions) {
  for (auto [query, key] : {std::pair("index", "index"),
                            {"b", "n"},
                            {"bm", "bn"},
                            {"m", "b"},
                            {"1", "1"}}) {
    AttentionCase attention;
    attention.causal = true;
    attention.queryPos = {query,
                          std::string(query) == "index" ? "index" : "i32"};
    attention.keyPos = {key, std::string(key) == "index" ? "index" : "i16"};
    expectCorrect(attention, tile("sizes=b:1,m:2"));
  }
}

TEST(TiledAttention, EverythingAtOnce) {
  AttentionCase attention = makeEverything(AttentionKind::Softmax);
  for (const char *sizes : {"sizes=b:1,h:1,m:2", "sizes=h:1,g:1,m:3 fuse=true"})
    expectCorrect(attention, tile(sizes));
  attention.dynamic = true;
  expectCorrect(attention, tile("sizes=b:1,h:1,g:2,m:2 parallel=true"));
}

TEST(TiledAttention, Layouts) {
  AttentionCase attention;
  attention.causal = true;
  attention.query.letters = "bmhgd";
  attention.key.letters = "nbhd";
  attention.value.letters = "ebhn";
  attention.output.letters = "mb(hg)e";
  attention.lse.letters = "hgbm";
  attention.mask = {"nmg", "f32"};
  attention.rotateQuery = {"hm", 2};
  expectCorrect(attention, tile("sizes=b:1,h:1,g:2,m:2"));
  expectCorrect(attention, tile("sizes=h:1,m:4"));
}

TEST(TiledAttention, Memrefs) {
  AttentionCase attention = makeEverything(AttentionKind::Softmax);
  attention.queryPos = {"index", "index"};
  attention.memrefs = true;
  expectCorrect(attention, tile("sizes=b:1,h:1,m:2"));
  attention.dynamic = true;
  expectCorrect(attention, tile("sizes=b:1,h:1,m:2"));
}

TEST(TiledAttention, EmptyExtents) {
  AttentionCase attention;
  attention.dynamic = true;
  attention.m = 0;
  expectCorrect(attention, tile("sizes=b:1,h:1,m:2"));
  attention.m = 3;
  attention.n = 0;
  expectCorrect(attention, tile("sizes=b:1,h:1,m:2"));
}

//===----------------------------------------------------------------------===//
// The online form
//===----------------------------------------------------------------------===//

static const std::string kToOnline = "rope-convert-to-online,";

TEST(OnlineForm, Converted) {
  AttentionCase attention;
  expectCorrect(attention, "rope-convert-to-online");
  attention = makeEverything(AttentionKind::Softmax);
  expectCorrect(attention, "rope-convert-to-online");
  attention.dynamic = true;
  for (const char *type : {"bf16", "f16", "f64"}) {
    attention.query.type = attention.key.type = attention.value.type =
        attention.output.type = type;
    expectCorrect(attention, "rope-convert-to-online");
  }
  attention.output.letters = "m(hg)be";
  attention.lse.letters = "(hg)1mb";
  expectCorrect(attention, "rope-convert-to-online");
}

TEST(OnlineForm, EmptyRows) {
  // Rows that see no key, with and without a sink.
  for (bool sink : {false, true}) {
    AttentionCase attention;
    attention.lse.letters = "b(hg)m";
    if (sink)
      attention.sink.letters = "(hg)";
    attention.mask = {"b(hg)mn", "i1"};
    attention.n = 2;
    for (const char *passes :
         {"rope-convert-to-online",
          "rope-convert-to-online,rope-tile{sizes=n:1}",
          "rope-convert-to-online,rope-tile{key-splits=2}"})
      expectCorrect(attention, passes);
    attention.n = 0;
    attention.dynamic = true;
    for (const char *passes :
         {"rope-convert-to-online",
          "rope-convert-to-online,rope-tile{key-splits=2}"})
      expectCorrect(attention, passes);
  }
}

TEST(OnlineForm, TiledKeys) {
  for (bool dynamic : {false, true}) {
    AttentionCase attention = makeEverything(AttentionKind::Softmax);
    attention.dynamic = dynamic;
    expectCorrect(attention, kToOnline + tile("sizes=n:3"));
    expectCorrect(attention, kToOnline + tile("sizes=b:1,h:1,m:2,n:3"));
    AttentionCase plain;
    plain.dynamic = dynamic;
    plain.causal = true;
    expectCorrect(plain, kToOnline + tile("sizes=m:2,n:2"));
  }
}

TEST(OnlineForm, SplitKeys) {
  for (bool dynamic : {false, true}) {
    AttentionCase attention = makeEverything(AttentionKind::Softmax);
    attention.dynamic = dynamic;
    // Of 7 keys, 4 splits take 2, 2, 2 and 1; 5 take 2, 2, 2, 1 and none.
    for (const char *splits : {"1", "4", "5"})
      expectCorrect(attention,
                    kToOnline + tile("key-splits=" + std::string(splits)));
    expectCorrect(attention, kToOnline + tile("sizes=b:1,h:1,m:2 parallel=true "
                                              "key-splits=3"));
  }
}

TEST(OnlineForm, SplitsOfOneKey) {
  // All but one of the splits are empty.
  AttentionCase attention;
  attention.n = 1;
  attention.lse.letters = "b(hg)m";
  expectCorrect(attention, kToOnline + tile("key-splits=3"));
  expectCorrect(attention, kToOnline + tile("sizes=n:4"));
}

TEST(OnlineForm, SplitsMergeWithTheStateThatCameIn) {
  AttentionCase attention = makeEverything(AttentionKind::Online);
  for (const char *options :
       {"key-splits=3", "sizes=n:2", "sizes=h:1,g:2,m:2,n:3",
        "sizes=b:1 parallel=true key-splits=2"})
    expectCorrect(attention, tile(options));
  attention.output = {"mb(hg)e", "f64"};
  attention.lse = attention.sum = {"(hg)mb", "f64"};
  expectCorrect(attention, tile("key-splits=3"));
}

//===----------------------------------------------------------------------===//
// rope.linear_attention
//===----------------------------------------------------------------------===//

static AttentionCase makeLinear(bool causal, bool carried) {
  AttentionCase attention;
  attention.kind = AttentionKind::Linear;
  attention.causal = causal;
  attention.m = attention.n = 7;
  attention.normalizerEps = 1e-6;
  attention.rotateQuery = {"m", 2};
  attention.rotateKey = {"bn", 2};
  if (carried) {
    attention.kvState.letters = "bhde";
    attention.kSum.letters = "bhd";
  }
  return attention;
}

TEST(TiledLinearAttention, Chunks) {
  for (bool dynamic : {false, true}) {
    AttentionCase attention = makeLinear(/*causal=*/true, /*carried=*/true);
    attention.dynamic = dynamic;
    for (const char *sizes :
         {"sizes=m:1", "sizes=m:3", "sizes=b:1,h:1,m:2", "sizes=m:16"})
      expectCorrect(attention, tile(sizes));
  }
}

TEST(TiledLinearAttention, IndependentRows) {
  AttentionCase attention = makeLinear(/*causal=*/false, /*carried=*/false);
  expectCorrect(attention, tile("sizes=b:1,h:1,g:2,m:3"));
  attention.dynamic = true;
  expectCorrect(attention, tile("sizes=b:1,h:1,m:3 parallel=true"));
}

TEST(TiledLinearAttention, HeadsOfStates) {
  AttentionCase attention = makeLinear(/*causal=*/false, /*carried=*/true);
  expectCorrect(attention, tile("sizes=b:1,h:1 parallel=true"));
}

//===----------------------------------------------------------------------===//
// Random tiles
//===----------------------------------------------------------------------===//

/// Random sizes of loops; g is cut only where one h is taken.
static std::string drawSizes(std::mt19937_64 &rng, bool keys) {
  std::string sizes = "sizes=m:" + std::to_string(1 + rng() % 6);
  if (rng() % 2)
    sizes += ",b:1";
  bool oneHead = rng() % 2;
  if (oneHead)
    sizes += ",h:1";
  if (oneHead && rng() % 2)
    sizes += ",g:" + std::to_string(1 + rng() % 3);
  if (keys)
    sizes += ",n:" + std::to_string(1 + rng() % 7);
  return sizes;
}

TEST(RandomTiles, AgreeWithTheReference) {
  std::mt19937_64 rng(5);
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    AttentionCase attention = makeEverything(AttentionKind::Softmax);
    attention.dynamic = rng() % 2;
    attention.m = 1 + rng() % 6;
    attention.n = 1 + rng() % 9;
    if (rng() % 2)
      attention.mask.letters = "b(hg)mn";
    if (rng() % 2)
      attention.keyPos.letters.reset();
    if (rng() % 2)
      attention.queryPos = {"bm", "i32"};
    bool online = rng() % 2;
    std::string options = drawSizes(rng, online);
    if (online && rng() % 2)
      options += " key-splits=" + std::to_string(1 + rng() % 4);
    if (rng() % 2)
      options += " parallel=true";
    expectCorrect(attention, (online ? kToOnline : "") + tile(options), seed);
  }
}
