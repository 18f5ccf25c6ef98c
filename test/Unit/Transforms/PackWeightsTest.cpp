//===- PackWeightsTest.cpp - Numbers of products by packed weights --------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packs a weight by the function that rope-pack-weights makes, and compares
// products by it with plain loops in f64.
//
//===----------------------------------------------------------------------===//

#include "Support/Numbers.h"
#include "Support/Products.h"
#include "Support/Program.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TargetParser/Host.h"
#include "gtest/gtest.h"

using namespace mlir::rope;
using namespace mlir::rope::test;

// A product of bf16 or of f32, whose weight is declared to be one.
static std::string getProduct(const std::string &rows, Sizes s, DType dtype,
                              bool transposed) {
  bool isNarrow = dtype == DType::BF16;
  return llvm::formatv(
             R"mlir(
    !A = tensor<{0}x{2}x{3}>
    !B = tensor<{4}x{5}x{3}>
    !C = tensor<{0}x{1}xf32>
    func.func @f(%a: !A, %b: !B {{rope.weight}, %c: !C) -> !C {{
      %r = linalg.generic {{
          indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
                           affine_map<(i, j, k) -> ({6})>,
                           affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : !A, !B) outs(%c : !C) {{
      ^bb0(%x: {3}, %y: {3}, %o: f32):
        {7}
        %3 = arith.addf %2, %o : f32
        linalg.yield %3 : f32
      } -> !C
      return %r : !C
    })mlir",
             rows, s.columns, s.steps, isNarrow ? "bf16" : "f32",
             transposed ? s.columns : s.steps, transposed ? s.steps : s.columns,
             transposed ? "j, k" : "k, j",
             isNarrow ? "%0 = arith.extf %x : bf16 to f32 "
                        "%1 = arith.extf %y : bf16 to f32 "
                        "%2 = arith.mulf %0, %1 : f32"
                      : "%2 = arith.mulf %x, %y : f32")
      .str();
}

static void checkProduct(const std::string &rows, Sizes s, DType dtype,
                         bool transposed, const std::string &options,
                         const std::string &packing) {
  ProgramOptions compile;
  compile.passes = "builtin.module(rope-normalize-linalg,rope-pack-weights{" +
                   packing + "})";
  compile.compile.pipelineOptions = options;
  Program program(getProduct(rows, s, dtype, transposed), compile);
  RandomGenerator random({4});
  Array a = makeRandom(dtype, {s.rows, s.steps}, random);
  Array b = transposed ? makeRandom(dtype, {s.columns, s.steps}, random)
                       : makeRandom(dtype, {s.steps, s.columns}, random);
  Array c = makeRandom(DType::F32, {s.rows, s.columns}, random);
  Array packed = std::move(program.call("pack_weights_of_f", b).front());
  Array r = std::move(program.call("f", a, packed, c).front());
  EXPECT_LT(getProductError(a, b, c, r, s, transposed), 4e-7)
      << rows << " rows, " << s.columns << " columns, " << s.steps << " steps"
      << (transposed ? ", transposed " : " ") << options;
}

static void checkProducts(DType dtype, const std::string &options,
                          const std::string &packing) {
  for (bool transposed : {false, true}) {
    for (int64_t rows : {1, 3, 15, 50})
      checkProduct(std::to_string(rows), {1, rows, 192, 66}, dtype, transposed,
                   options, packing);
    // One panel, sums in blocks, and none at all.
    for (Sizes s : {Sizes{1, 49, 64, 4098}, Sizes{1, 17, 128, 2},
                    Sizes{1, 0, 128, 6}, Sizes{1, 7, 128, 70}})
      checkProduct("?", s, dtype, transposed, options, packing);
  }
}

TEST(PackWeights, Products) { checkProducts(DType::F32, "", ""); }

TEST(PackWeights, ProductsOfNarrowVectors) {
  checkProducts(DType::F32, "lanes=8 registers=16", "lanes=8 registers=16");
}

TEST(PackWeights, ProductsOfPairs) {
  if (!llvm::sys::getHostCPUFeatures().lookup("avx512bf16"))
    GTEST_SKIP() << "the machine does not multiply pairs of bf16";
  checkProducts(DType::BF16, "", "dots");
}

// Panels of another width than the code has are put together again.
TEST(PackWeights, PanelsOfAnotherWidth) {
  checkProducts(DType::F32, "lanes=8 registers=16", "");
  checkProducts(DType::F32, "portable", "");
  checkProducts(DType::BF16, "dots=false", "dots");
}

namespace {
/// A matrix [256, 256] that is written otherwise than products want to read it,
/// and a part of it.
struct Unpacked {
  const char *packed, *layout, *offsets, *sizes, *part;
  int64_t lanes, steps;
};
} // namespace

static std::string getProduct(const Unpacked &u) {
  return llvm::formatv(R"mlir(
    !A = tensor<32x{6}xf32>
    !C = tensor<32x{5}xf32>
    func.func @f(%a: !A, %p: tensor<{0}xf32> {{rope.weight}, %c: !C) -> !C {{
      %e = tensor.empty() : tensor<256x256xf32>
      %w = linalg.unpack %p {1} into %e
          : tensor<{0}xf32> -> tensor<256x256xf32>
      %s = tensor.extract_slice %w[{2}] [{3}] [1, 1]
          : tensor<256x256xf32> to tensor<{4}xf32>
      %r = linalg.matmul
          indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
                           affine_map<(i, j, k) -> (j, k)>,
                           affine_map<(i, j, k) -> (i, j)>]
          ins(%a, %s : !A, tensor<{4}xf32>) outs(%c : !C) -> !C
      return %r : !C
    })mlir",
                       u.packed, u.layout, u.offsets, u.sizes, u.part, u.lanes,
                       u.steps)
      .str();
}

// Only whole panels of all steps, in their order, are read where they lie.
TEST(PackWeights, MatricesUnpackedFromOtherLayouts) {
  const char *panels =
      "outer_dims_perm = [0, 1] inner_dims_pos = [0] inner_tiles = [64]";
  for (const Unpacked &u :
       {Unpacked{"256x4x64", "inner_dims_pos = [1] inner_tiles = [64]", "0, 0",
                 "256, 256", "256x256", 256, 256},
        Unpacked{"256x4x64",
                 "outer_dims_perm = [1, 0] inner_dims_pos = [0] "
                 "inner_tiles = [64]",
                 "0, 0", "256, 256", "256x256", 256, 256},
        Unpacked{"4x256x64", panels, "32, 0", "64, 256", "64x256", 64, 256},
        Unpacked{"4x256x64", panels, "64, 128", "64, 128", "64x128", 64, 128},
        Unpacked{"4x256x64", panels, "64, 0", "128, 256", "128x256", 128,
                 256}}) {
    ProgramOptions plain;
    plain.compile.portable = true;
    std::string text = getProduct(u);
    RandomGenerator random({5});
    Array a = makeRandom(DType::F32, {32, u.steps}, random);
    Array c = makeRandom(DType::F32, {32, u.lanes}, random);
    Array p = u.packed[0] == '4' ? makeRandom(DType::F32, {4, 256, 64}, random)
                                 : makeRandom(DType::F32, {256, 4, 64}, random);
    Array r = std::move(Program(text).call("f", a, p, c).front());
    Array want = std::move(Program(text, plain).call("f", a, p, c).front());
    for (int64_t i = 0; i < 32 * u.lanes; ++i)
      ASSERT_NEAR(at(r, i), at(want, i), 1e-4) << u.layout << " " << u.offsets;
  }
}
