//===- ThreadsTest.cpp - Vector code on several threads -------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Heads, rows and keys that threads share, on any number of these: each result
// is that of one thread, to the last bit.
//
//===----------------------------------------------------------------------===//

#include "Support/Threads.h"
#include "Support/AttentionCase.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::test;

static void expectEqual(ArrayRef<reference::Array> got,
                        ArrayRef<reference::Array> want, int count) {
  ASSERT_EQ(got.size(), want.size());
  for (auto [one, other] : llvm::zip_equal(got, want))
    EXPECT_EQ(one.getElements(), other.getElements()) << count << " threads";
}

/// Enough heads and products to be shared.
static AttentionCase makeCase() {
  AttentionCase attention;
  attention.portable = false;
  attention.b = 2;
  attention.h = 3;
  attention.m = 41;
  attention.n = 70;
  attention.d = 20;
  attention.e = 40;
  return attention;
}

static void expectSame(AttentionCase attention, bool splitsKeys = false) {
  attention.randomize(1);
  std::vector<reference::Array> want = attention.run();
  attention.pipelineOptions = "threads";
  // The first run brings the runtime.
  (void)attention.run();
  if (splitsKeys) {
    setThreads(1);
    want = attention.run();
    reference::MaybeError error = check(attention);
    EXPECT_FALSE(error) << *error;
  }
  for (int count : kThreadCounts) {
    setThreads(count);
    expectEqual(attention.run(), want, count);
  }
}

TEST(Threads, Attention) {
  AttentionCase attention = makeCase();
  attention.causal = true;
  attention.rotateKey = {"n", 10};
  attention.keyLength = {"b", "i64"};
  attention.lse.letters = "b(hg)m";
  expectSame(attention);
  // Several parts of each head.
  attention.b = 1;
  attention.h = 2;
  attention.m = attention.n = 170;
  expectSame(attention);
  // One row for each head: keys are read where they lie.
  attention = makeCase();
  attention.g = 1;
  attention.m = 1;
  attention.n = 3000;
  expectSame(attention, /*splitsKeys=*/true);
  attention.dynamic = true;
  attention.keyLength = {"b", "i64"};
  attention.lse.letters = "b(hg)m";
  expectSame(attention, /*splitsKeys=*/true);
}

TEST(Threads, LinearAttention) {
  AttentionCase attention = makeCase();
  attention.kind = AttentionKind::Linear;
  attention.causal = true;
  attention.n = attention.m;
  attention.normalizerEps = 1e-6;
  attention.kvState.letters = "bhde";
  attention.kSum.letters = "bhd";
  expectSame(attention);
}

/// Rows in blocks, rows in order and, with the option, rows past the caches.
TEST(Threads, Rotations) {
  constexpr llvm::StringLiteral text = R"mlir(
    func.func @blocks(%x: tensor<9x?x64xf32>, %t: tensor<?x2x32xf32>, %y: tensor<9x?x64xf32>) -> tensor<9x?x64xf32> {
      %r = rope.rotate <half along [1]> ins(%x, %t : tensor<9x?x64xf32>, tensor<?x2x32xf32>) outs(%y : tensor<9x?x64xf32>) -> tensor<9x?x64xf32>
      return %r : tensor<9x?x64xf32>
    }
    func.func @rows(%x: tensor<9x?x64xf32>, %t: tensor<9x?x2x32xf32>, %y: tensor<9x?x64xf32>) -> tensor<9x?x64xf32> {
      %r = rope.rotate <half along [0, 1]> ins(%x, %t : tensor<9x?x64xf32>, tensor<9x?x2x32xf32>) outs(%y : tensor<9x?x64xf32>) -> tensor<9x?x64xf32>
      return %r : tensor<9x?x64xf32>
    })mlir";
  int64_t rows = 1000;
  RandomGenerator random({4});
  Array x = makeRandom(DType::F32, {9, rows, 64}, random);
  Array t = makeRandom(DType::F32, {rows, 2, 32}, random);
  Array u = makeRandom(DType::F32, {9, rows, 2, 32}, random);
  Array y = makeFilled(DType::F32, {9, rows, 64}, 0);
  auto run = [&](const Program &program) -> std::vector<reference::Array> {
    return {toReference(program.call("blocks", x, t, y).front()),
            toReference(program.call("rows", x, u, y).front())};
  };
  std::vector<reference::Array> want = run(Program(text));
  for (const char *options : {"threads", "threads stream-bytes=1"}) {
    ProgramOptions shared;
    shared.compile.pipelineOptions = options;
    Program program(text, shared);
    for (int count : kThreadCounts) {
      setThreads(count);
      expectEqual(run(program), want, count);
    }
  }
}
