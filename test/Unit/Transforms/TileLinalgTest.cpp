//===- TileLinalgTest.cpp - Numbers of tiled and vectorized ops -----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles products and softmaxes of many sizes and compares them with plain
// loops in f64.
//
//===----------------------------------------------------------------------===//

#include "Support/Numbers.h"
#include "Support/Products.h"
#include "Support/Program.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace mlir::rope;
using namespace mlir::rope::test;

TEST(TileLinalg, DynamicProducts) {
  Program program(R"mlir(
    !T = tensor<?x?x?xf32>
    func.func @f(%a: !T, %b: !T, %c: !T) -> !T {
      %r = linalg.batch_matmul ins(%a, %b : !T, !T) outs(%c : !T) -> !T
      return %r : !T
    })mlir");
  RandomGenerator random({1});
  for (Sizes s :
       {Sizes{1, 1, 1, 1}, Sizes{2, 5, 3, 7}, Sizes{1, 17, 67, 33},
        Sizes{3, 6, 64, 64}, Sizes{1, 13, 79, 16}, Sizes{2, 1, 130, 64},
        Sizes{1, 20, 70, 0}, Sizes{1, 0, 8, 4}, Sizes{0, 3, 8, 4},
        Sizes{1, 23, 127, 1}, Sizes{1, 19, 70, 2100}}) {
    Array a = makeRandom(DType::F32, {s.batch, s.rows, s.steps}, random);
    Array b = makeRandom(DType::F32, {s.batch, s.steps, s.columns}, random);
    Array c = makeRandom(DType::F32, {s.batch, s.rows, s.columns}, random);
    Array r = std::move(program.call("f", a, b, c).front());
    EXPECT_LT(getProductError(a, b, c, r, s, false), 4e-7)
        << s.batch << " " << s.rows << " " << s.columns << " " << s.steps;
  }
}

// Sums start from a constant, and so do those of no terms.
TEST(TileLinalg, DynamicProductsOverAFill) {
  Program program(R"mlir(
    !T = tensor<?x?xf32>
    func.func @f(%a: !T, %b: !T, %c: !T) -> !T {
      %start = arith.constant 0.5 : f32
      %f = linalg.fill ins(%start : f32) outs(%c : !T) -> !T
      %r = linalg.matmul ins(%a, %b : !T, !T) outs(%f : !T) -> !T
      return %r : !T
    })mlir");
  RandomGenerator random({6});
  for (Sizes s : {Sizes{1, 1, 1, 1}, Sizes{1, 17, 67, 33}, Sizes{1, 20, 70, 0},
                  Sizes{1, 13, 80, 1024}, Sizes{1, 7, 129, 2050}}) {
    Array a = makeRandom(DType::F32, {s.rows, s.steps}, random);
    Array b = makeRandom(DType::F32, {s.steps, s.columns}, random);
    Array nan = makeFilled(DType::F32, {s.rows, s.columns}, std::nan(""));
    Array start = makeFilled(DType::F32, {s.rows, s.columns}, 0.5);
    Array r = std::move(program.call("f", a, b, nan).front());
    EXPECT_LT(getProductError(a, b, start, r, s, false), 4e-7)
        << s.rows << " " << s.columns << " " << s.steps;
  }
}

// Few rows by a weight that is stored along many columns.
TEST(TileLinalg, StreamedProducts) {
  RandomGenerator random({7});
  for (Sizes s : {Sizes{1, 1, 300, 9}, Sizes{1, 3, 257, 66},
                  Sizes{1, 4, 5000, 4}, Sizes{1, 2, 400, 1}}) {
    Program program(llvm::formatv(R"mlir(
      !A = tensor<{0}x?xf32>
      !B = tensor<?x{1}xf32>
      !C = tensor<{0}x{1}xf32>
      func.func @f(%a: !A, %b: !B, %c: !C) -> !C {{
        %start = arith.constant 0.5 : f32
        %f = linalg.fill ins(%start : f32) outs(%c : !C) -> !C
        %r = linalg.matmul ins(%a, %b : !A, !B) outs(%f : !C) -> !C
        return %r : !C
      })mlir",
                                  s.rows, s.columns)
                        .str());
    Array a = makeRandom(DType::F32, {s.rows, s.steps}, random);
    Array b = makeRandom(DType::F32, {s.steps, s.columns}, random);
    Array nan = makeFilled(DType::F32, {s.rows, s.columns}, std::nan(""));
    Array start = makeFilled(DType::F32, {s.rows, s.columns}, 0.5);
    Array r = std::move(program.call("f", a, b, nan).front());
    EXPECT_LT(getProductError(a, b, start, r, s, false), 4e-7)
        << s.rows << " " << s.columns << " " << s.steps;
  }
}

static std::string getLinear(DType dtype, Sizes s) {
  return llvm::formatv(R"mlir(
    !A = tensor<{0}x{2}x{4}>
    !B = tensor<{1}x{2}x{4}>
    !C = tensor<{0}x{1}x{4}>
    func.func @f(%a: !A, %b: !B, %c: !C) -> !C {{
      %r = linalg.generic {{
          indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
                           affine_map<(i, j, k) -> (j, k)>,
                           affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : !A, !B) outs(%c : !C) {{
      ^bb0(%x: {4}, %y: {4}, %o: {4}):
        %0 = arith.mulf %x, %y : {4}
        %1 = arith.addf %0, %o : {4}
        linalg.yield %1 : {4}
      } -> !C
      return %r : !C
    })mlir",
                       s.rows, s.columns, s.steps, 0, getTypeName(dtype))
      .str();
}

TEST(TileLinalg, TransposedProductsOfStaticSize) {
  RandomGenerator random({2});
  for (auto [dtype, bound] :
       {std::pair(DType::F32, 4e-7), std::pair(DType::F64, 8e-16),
        std::pair(DType::F16, 6e-4), std::pair(DType::BF16, 4e-3)})
    for (Sizes s :
         {Sizes{1, 1, 67, 65}, Sizes{1, 3, 130, 24}, Sizes{1, 33, 70, 65},
          Sizes{1, 20, 5, 16}, Sizes{1, 16, 40, 1100}}) {
      Program program(getLinear(dtype, s));
      Array a = makeRandom(dtype, {s.rows, s.steps}, random);
      Array b = makeRandom(dtype, {s.columns, s.steps}, random);
      Array c = makeRandom(dtype, {s.rows, s.columns}, random);
      Array r = std::move(program.call("f", a, b, c).front());
      EXPECT_LT(getProductError(a, b, c, r, s, true), bound)
          << getTypeName(dtype) << " " << s.rows << " " << s.columns << " "
          << s.steps;
    }
}

// Few rows by a weight that is stored along the sum, of any size.
TEST(TileLinalg, DotsOfFewRows) {
  RandomGenerator random({8});
  for (Sizes s : {Sizes{1, 1, 7, 70}, Sizes{1, 5, 9, 129}, Sizes{1, 2, 4, 64},
                  Sizes{1, 15, 3, 5}, Sizes{1, 3, 6, 0}}) {
    Program program(llvm::formatv(R"mlir(
      !A = tensor<{0}x?xf32>
      !B = tensor<?x?xf32>
      !C = tensor<{0}x?xf32>
      func.func @f(%a: !A, %b: !B, %c: !C) -> !C {{
        %r = linalg.generic {{
            indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
                             affine_map<(i, j, k) -> (j, k)>,
                             affine_map<(i, j, k) -> (i, j)>],
            iterator_types = ["parallel", "parallel", "reduction"]}
            ins(%a, %b : !A, !B) outs(%c : !C) {{
        ^bb0(%x: f32, %y: f32, %o: f32):
          %0 = arith.mulf %x, %y : f32
          %1 = arith.addf %0, %o : f32
          linalg.yield %1 : f32
        } -> !C
        return %r : !C
      })mlir",
                                  s.rows)
                        .str());
    Array a = makeRandom(DType::F32, {s.rows, s.steps}, random);
    Array b = makeRandom(DType::F32, {s.columns, s.steps}, random);
    Array c = makeRandom(DType::F32, {s.rows, s.columns}, random);
    Array r = std::move(program.call("f", a, b, c).front());
    EXPECT_LT(getProductError(a, b, c, r, s, true), 4e-7)
        << s.rows << " " << s.columns << " " << s.steps;
  }
}

static std::string getNarrowProduct(bool transposed, const std::string &rows,
                                    const std::string &init) {
  return llvm::formatv(R"mlir(
    !A = tensor<{0}x?xbf16>
    !B = tensor<?x?xbf16>
    !C = tensor<{0}x?xf32>
    func.func @f(%a: !A, %b: !B, %c: !C) -> !C {{
      %start = arith.constant 0.5 : f32
      %f = linalg.fill ins(%start : f32) outs(%c : !C) -> !C
      %r = linalg.generic {{
          indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
                           affine_map<(i, j, k) -> ({1})>,
                           affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : !A, !B) outs({2} : !C) {{
      ^bb0(%x: bf16, %y: bf16, %o: f32):
        %0 = arith.extf %x : bf16 to f32
        %1 = arith.extf %y : bf16 to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %2, %o : f32
        linalg.yield %3 : f32
      } -> !C
      return %r : !C
    })mlir",
                       rows, transposed ? "j, k" : "k, j", init)
      .str();
}

// Products of bf16 are exact in f32: what rounds is their sum, as in f32.
static void checkNarrowProduct(const Program &program, Sizes s, bool transposed,
                               bool startsFromInit) {
  RandomGenerator random({9});
  Array a = makeRandom(DType::BF16, {s.rows, s.steps}, random);
  Array b = transposed ? makeRandom(DType::BF16, {s.columns, s.steps}, random)
                       : makeRandom(DType::BF16, {s.steps, s.columns}, random);
  Array c = makeRandom(DType::F32, {s.rows, s.columns}, random);
  Array start = makeFilled(DType::F32, {s.rows, s.columns}, 0.5);
  Array r = std::move(program.call("f", a, b, c).front());
  EXPECT_LT(getProductError(a, b, startsFromInit ? c : start, r, s, transposed),
            4e-7)
      << s.rows << " " << s.columns << " " << s.steps
      << (transposed ? " transposed" : "");
}

// Sums of odd length, of several blocks and of no terms.
TEST(TileLinalg, NarrowProductsOfDynamicSize) {
  for (bool transposed : {false, true})
    for (bool startsFromInit : {false, true}) {
      Program program(
          getNarrowProduct(transposed, "?", startsFromInit ? "%c" : "%f"));
      for (Sizes s :
           {Sizes{1, 1, 1, 1}, Sizes{1, 17, 67, 33}, Sizes{1, 3, 300, 71},
            Sizes{1, 13, 64, 64}, Sizes{1, 20, 70, 0}, Sizes{1, 19, 131, 4101}})
        checkNarrowProduct(program, s, transposed, startsFromInit);
    }
}

TEST(TileLinalg, NarrowProductsOfFewRows) {
  for (bool transposed : {false, true})
    for (int64_t rows : {1, 3, 5, 12}) {
      Program program(getNarrowProduct(transposed, std::to_string(rows), "%c"));
      for (Sizes s : {Sizes{1, rows, 70, 130}, Sizes{1, rows, 300, 33},
                      Sizes{1, rows, 3, 1}, Sizes{1, rows, 5, 0}})
        checkNarrowProduct(program, s, transposed, true);
    }
}

// What follows the last step of a row is the next row, which has no part in it.
// There are infinities in all rows of one operand but the first.
TEST(TileLinalg, NarrowProductsReadNoFurtherThanTheirRows) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (auto [transposed, inWeight] :
       {std::pair(false, false), {true, false}, {true, true}})
    for (int64_t rows : {2, 20}) {
      Program program(getNarrowProduct(transposed, std::to_string(rows), "%f"));
      Array a = makeFilled(DType::BF16, {rows, 3}, 1);
      Array b = transposed ? makeFilled(DType::BF16, {5, 3}, 2)
                           : makeFilled(DType::BF16, {3, 5}, 2);
      Array &operand = inWeight ? b : a;
      for (int64_t i = 3; i < operand.getNumElements(); i += 3)
        operand.set(i, kInfinity);
      Array c = makeFilled(DType::F32, {rows, 5}, std::nan(""));
      Array r = std::move(program.call("f", a, b, c).front());
      for (int64_t i = 0; i < 5 * rows; ++i)
        EXPECT_EQ(at(r, i), (inWeight ? i % 5 : i / 5) == 0 ? 6.5 : kInfinity);
    }
}

// The sum of two products, which one loop over panels computes. Those of bf16
// are sums of pairs, where the processor has these.
static void expectSumOfProducts(const std::string &name, DType type) {
  std::string text = "!E = tensor<?x?x" + name + R"mlir(>
    !T = tensor<?x?xf32>
    func.func @f(%a: !E, %b: !E, %c: !E, %init: !T) -> !T {
      %zero = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %m = tensor.dim %a, %c0 : !E
      %n = tensor.dim %b, %c1 : !E
      %e = tensor.empty(%m, %n) : !T
      %f = linalg.fill ins(%zero : f32) outs(%e : !T) -> !T
      %p = linalg.matmul ins(%a, %b : !E, !E) outs(%f : !T) -> !T
      %q = linalg.matmul ins(%a, %c : !E, !E) outs(%f : !T) -> !T
      %r = linalg.add ins(%p, %q : !T, !T) outs(%init : !T) -> !T
      return %r : !T
    })mlir";
  Program program(text);
  RandomGenerator random({10});
  for (Sizes s : {Sizes{1, 7, 40, 9}, Sizes{1, 13, 64, 5},
                  Sizes{1, 20, 131, 1100}, Sizes{1, 3, 70, 0}}) {
    Array a = makeRandom(type, {s.rows, s.steps}, random);
    Array b = makeRandom(type, {s.steps, s.columns}, random);
    Array c = makeRandom(type, {s.steps, s.columns}, random);
    Array init = makeFilled(DType::F32, {s.rows, s.columns}, std::nan(""));
    Array r = std::move(program.call("f", a, b, c, init).front());
    for (int64_t i = 0; i < s.rows; ++i)
      for (int64_t j = 0; j < s.columns; ++j) {
        double want = 0, magnitude = 0;
        for (int64_t k = 0; k < s.steps; ++k)
          for (const Array *weight : {&b, &c}) {
            double term =
                at(a, i * s.steps + k) * at(*weight, k * s.columns + j);
            want += term;
            magnitude += std::fabs(term);
          }
        EXPECT_NEAR(at(r, i * s.columns + j), want, 4e-7 * magnitude);
      }
  }
}

TEST(TileLinalg, TwoProductsPanelByPanel) {
  expectSumOfProducts("f32", DType::F32);
  expectSumOfProducts("bf16", DType::BF16);
}

TEST(TileLinalg, DynamicSoftmax) {
  Program program(R"mlir(
    !T = tensor<?x?x?xf32>
    func.func @f(%x: !T, %init: !T) -> !T {
      %r = linalg.softmax dimension(2) ins(%x : !T) outs(%init : !T) -> !T
      return %r : !T
    })mlir");
  RandomGenerator random({3});
  for (int64_t n : {1, 3, 16, 64, 65, 100, 199}) {
    Array x = makeRandom(DType::F32, {2, 3, n}, random, 5);
    Array init = makeFilled(DType::F32, {2, 3, n}, std::nan(""));
    Array y = std::move(program.call("f", x, init).front());
    for (int64_t row = 0; row < 6; ++row) {
      double sum = 0;
      for (int64_t j = 0; j < n; ++j)
        sum += std::exp(at(x, row * n + j));
      for (int64_t j = 0; j < n; ++j)
        EXPECT_NEAR(at(y, row * n + j), std::exp(at(x, row * n + j)) / sum,
                    4e-7);
    }
  }
}

// Attention as imported: products and softmax share a loop over heads.
TEST(TileLinalg, ProductsThroughOneLoopOverHeads) {
  Program program(R"mlir(
    !T = tensor<3x?x16xf32>
    !S = tensor<3x?x?xf32>
    func.func @f(%q: !T, %k: !T, %v: !T) -> !T {
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %n = tensor.dim %q, %c1 : !T
      %e = tensor.empty(%n) : tensor<3x16x?xf32>
      %kt = linalg.transpose ins(%k : !T) outs(%e : tensor<3x16x?xf32>) permutation = [0, 2, 1]
      %e0 = tensor.empty(%n, %n) : !S
      %f0 = linalg.fill ins(%zero : f32) outs(%e0 : !S) -> !S
      %s = linalg.batch_matmul ins(%q, %kt : !T, tensor<3x16x?xf32>) outs(%f0 : !S) -> !S
      %p = linalg.softmax dimension(2) ins(%s : !S) outs(%e0 : !S) -> !S
      %e1 = tensor.empty(%n) : !T
      %f1 = linalg.fill ins(%zero : f32) outs(%e1 : !T) -> !T
      %o = linalg.batch_matmul ins(%p, %v : !S, !T) outs(%f1 : !T) -> !T
      return %o : !T
    })mlir");
  RandomGenerator random({4});
  for (int64_t n : {1, 7, 37, 80}) {
    Array q = makeRandom(DType::F32, {3, n, 16}, random, 0.5);
    Array k = makeRandom(DType::F32, {3, n, 16}, random);
    Array v = makeRandom(DType::F32, {3, n, 16}, random);
    Array o = std::move(program.call("f", q, k, v).front());
    for (int64_t row = 0; row < 3 * n; ++row) {
      int64_t first = row / n * n;
      std::vector<double> weights(n);
      double sum = 0;
      for (int64_t j = 0; j < n; ++j) {
        double score = 0;
        for (int64_t c = 0; c < 16; ++c)
          score += at(q, row * 16 + c) * at(k, (first + j) * 16 + c);
        sum += weights[j] = std::exp(score);
      }
      for (int64_t c = 0; c < 16; ++c) {
        double want = 0;
        for (int64_t j = 0; j < n; ++j)
          want += weights[j] / sum * at(v, (first + j) * 16 + c);
        EXPECT_NEAR(at(o, row * 16 + c), want, 2e-6);
      }
    }
  }
}
