//===- RotationTest.cpp - Numbers of tiled tables and rotations -----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each entry is computed from the same numbers in the same way, so tiles give
// the very bits of the whole.
//
//===----------------------------------------------------------------------===//

#include "Support/Numbers.h"
#include "Support/Program.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::test;

static SmallVector<Array> run(StringRef text, const std::string &passes,
                              MutableArrayRef<Array> arguments) {
  ProgramOptions options;
  options.passes = passes;
  // Vectors of another width may contract or order differently.
  options.compile.portable = true;
  SmallVector<ArrayView> views;
  for (Array &argument : arguments)
    views.push_back(argument.view());
  return Program(text, options).call("f", views);
}

static void expectSameBits(StringRef text, const std::string &options,
                           std::vector<Array> arguments) {
  SmallVector<Array> whole = run(text, "", arguments);
  SmallVector<Array> tiled =
      run(text, "builtin.module(rope-tile{" + options + "})", arguments);
  for (auto [want, got] : llvm::zip_equal(whole, tiled)) {
    ASSERT_EQ(want.getShape(), got.getShape());
    for (int64_t i = 0; i < want.getNumElements(); ++i)
      ASSERT_EQ(want.get(i), got.get(i)) << "element " << i;
  }
}

/// Tables of consecutive and of listed positions of three axes, and their
/// quotient; what comes of it turns a key forth and another back.
static constexpr StringRef kProgram = R"mlir(
func.func @f(%x: tensor<2x3x?x8xf32>, %ids: tensor<3x2x?xi64>, %cos: tensor<2x?x4xf32>) -> (tensor<2x3x?x8xf32>, tensor<2x3x?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c100 = arith.constant 100 : index
  %n = tensor.dim %x, %c2 : tensor<2x3x?x8xf32>
  %e1 = tensor.empty(%n) : tensor<?x2x4xf32>
  %e2 = tensor.empty(%n) : tensor<2x?x2x4xf32>
  %ex = tensor.empty(%n) : tensor<2x3x?x8xf32>
  %start = rope.table #rope.default<1.0e4> ins(%c100 : index) outs(%e1 : tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
  %listed = rope.table #rope.default<1.0e4> ins(%ids : tensor<3x2x?xi64>) axes [0, 1, 2, 0] f32_angle outs(%e2 : tensor<2x?x2x4xf32>) -> tensor<2x?x2x4xf32>
  %own = rope.assemble ins(%cos, %cos : tensor<2x?x4xf32>, tensor<2x?x4xf32>) outs(%e2 : tensor<2x?x2x4xf32>) -> tensor<2x?x2x4xf32>
  %both = rope.compose ins(%own, inverse %listed : tensor<2x?x2x4xf32>, tensor<2x?x2x4xf32>) outs(%e2 : tensor<2x?x2x4xf32>) -> tensor<2x?x2x4xf32>
  %y = rope.rotate <half along [2]> ins(%x, %start : tensor<2x3x?x8xf32>, tensor<?x2x4xf32>) outs(%ex : tensor<2x3x?x8xf32>) -> tensor<2x3x?x8xf32>
  %z = rope.rerotate <interleaved to half along [0, 2]> ins(%x, %both : tensor<2x3x?x8xf32>, tensor<2x?x2x4xf32>) outs(%ex : tensor<2x3x?x8xf32>) -> tensor<2x3x?x8xf32>
  return %y, %z : tensor<2x3x?x8xf32>, tensor<2x3x?x8xf32>
}
)mlir";

static std::vector<Array> makeArguments(int64_t rows) {
  RandomGenerator random{{3}};
  reference::IntArray ids({3, 2, rows});
  for (int64_t i = 0; i < ids.getNumElements(); ++i)
    ids[i] = (i * 7919) % 1000 - 100;
  std::vector<Array> arguments;
  arguments.push_back(makeRandom(DType::F32, {2, 3, rows, 8}, random));
  arguments.push_back(makeArray(DType::I64, ids));
  arguments.push_back(makeRandom(DType::F32, {2, rows, 4}, random));
  return arguments;
}

TEST(TiledRotations, GiveTheBitsOfTheWhole) {
  for (const char *options :
       {"dims=1", "dims=1,2", "dims=1,2,3", "dims=2,1,4 parallel=true",
        "dims=1,0,2 fuse=true", "dims=0,0,3 parallel=true fuse=true"})
    expectSameBits(kProgram, options, makeArguments(7));
}

TEST(TiledRotations, NoRows) {
  expectSameBits(kProgram, "dims=1,2,3", makeArguments(0));
}
