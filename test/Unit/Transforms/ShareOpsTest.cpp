//===- ShareOpsTest.cpp - Numbers of ops that threads share ---------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products, rows and elementwise ops that are large enough to be shared, on any
// number of threads: each result is that without threads, to the last bit.
//
//===----------------------------------------------------------------------===//

#include "Support/Numbers.h"
#include "Support/Products.h"
#include "Support/Program.h"
#include "Support/Threads.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir::rope;
using namespace mlir::rope::test;

static void expectSame(const std::string &text, std::vector<Array> &args,
                       const std::string &options = "") {
  llvm::SmallVector<ArrayView> views;
  for (Array &arg : args)
    views.push_back(arg.view());
  ProgramOptions alone, shared;
  alone.compile.pipelineOptions = options;
  shared.compile.pipelineOptions = options + " threads";
  reference::Array want =
      toReference(Program(text, alone).call("f", views).front());
  Program program(text, shared);
  for (int count : kThreadCounts) {
    setThreads(count);
    reference::Array got = toReference(program.call("f", views).front());
    EXPECT_EQ(got.getElements(), want.getElements())
        << count << " threads, " << text;
  }
}

// a [batch, rows, steps] by b [batch, steps, columns], or transposed, and what
// is done with each element.
static std::string getProduct(Sizes s, bool isDynamic, DType dtype,
                              bool transposed, const std::string &after) {
  auto type = [&](int64_t x, int64_t y, const std::string &element) {
    return isDynamic ? "tensor<?x?x?x" + element + ">"
                     : llvm::formatv("tensor<{0}x{1}x{2}x{3}>", s.batch, x, y,
                                     element)
                           .str();
  };
  std::string element = getTypeName(dtype);
  bool isNarrow = dtype == DType::BF16;
  return llvm::formatv(
             R"mlir(
    #rows = affine_map<(b, i, j, k) -> (b, i, k)>
    #columns = affine_map<(b, i, j, k) -> (b, {0})>
    #result = affine_map<(b, i, j, k) -> (b, i, j)>
    #id = affine_map<(b, i, j) -> (b, i, j)>
    !A = {1}
    !B = {2}
    !C = {3}
    func.func @f(%a: !A, %b: !B, %c: !C) -> !C {{
      %start = arith.constant 0.5 : f32
      %fill = linalg.fill ins(%start : f32) outs(%c : !C) -> !C
      %p = linalg.generic {{
          indexing_maps = [#rows, #columns, #result],
          iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
          ins(%a, %b : !A, !B) outs(%fill : !C) {{
      ^bb0(%x: {4}, %y: {4}, %o: f32):
        {5}
        %1 = arith.addf %o, %0 : f32
        linalg.yield %1 : f32
      } -> !C
      %r = linalg.generic {{indexing_maps = [#id, #id],
          iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%p : !C) outs(%c : !C) {{
      ^bb0(%x: f32, %o: f32):
        {6}
        linalg.yield %y : f32
      } -> !C
      return %r : !C
    })mlir",
             transposed ? "j, k" : "k, j", type(s.rows, s.steps, element),
             transposed ? type(s.columns, s.steps, element)
                        : type(s.steps, s.columns, element),
             type(s.rows, s.columns, "f32"), element,
             isNarrow ? "%u = arith.extf %x : bf16 to f32 "
                        "%v = arith.extf %y : bf16 to f32 "
                        "%0 = arith.mulf %u, %v : f32"
                      : "%0 = arith.mulf %x, %y : f32",
             after)
      .str();
}

static void expectSameProduct(Sizes s, bool isDynamic, DType dtype,
                              bool transposed,
                              const std::string &options = "") {
  RandomGenerator random({11});
  std::vector<Array> args;
  args.push_back(makeRandom(dtype, {s.batch, s.rows, s.steps}, random));
  args.push_back(
      transposed ? makeRandom(dtype, {s.batch, s.columns, s.steps}, random)
                 : makeRandom(dtype, {s.batch, s.steps, s.columns}, random));
  args.push_back(
      makeFilled(DType::F32, {s.batch, s.rows, s.columns}, std::nan("")));
  expectSame(
      getProduct(s, isDynamic, dtype, transposed, "%y = math.absf %x : f32"),
      args, options);
}

// Panels, whole ones or not; blocks of rows; batches.
TEST(ShareOps, Products) {
  for (Sizes s :
       {Sizes{1, 48, 320, 64}, Sizes{1, 37, 333, 129}, Sizes{1, 700, 64, 21},
        Sizes{18, 17, 40, 33}, Sizes{3, 20, 200, 30}, Sizes{1, 65, 64, 256},
        Sizes{1, 257, 64, 256}, Sizes{1, 1025, 7, 99}})
    for (bool transposed : {false, true})
      for (bool isDynamic : {false, true})
        expectSameProduct(s, isDynamic, DType::F32, transposed);
}

// Few rows: sums in lanes, and weights that are read row by row.
TEST(ShareOps, ProductsOfFewRows) {
  for (Sizes s : {Sizes{1, 1, 1100, 300}, Sizes{1, 3, 2100, 70}})
    for (bool transposed : {false, true})
      expectSameProduct(s, false, DType::F32, transposed);
}

TEST(ShareOps, ProductsOfPairs) {
  for (Sizes s : {Sizes{1, 50, 200, 67}, Sizes{1, 1, 900, 301}})
    for (bool transposed : {false, true})
      expectSameProduct(s, false, DType::BF16, transposed);
}

// Norms and softmaxes share rows with what surrounds them; sums along columns,
// transpositions and elementwise ops are cut by themselves.
TEST(ShareOps, OtherOps) {
  constexpr llvm::StringLiteral text = R"mlir(
    #id = affine_map<(i, j) -> (i, j)>
    #first = affine_map<(i, j) -> (i)>
    #last = affine_map<(i, j) -> (j)>
    #swapped = affine_map<(i, j) -> (j, i)>
    !M = tensor<{0}x{1}xf32>
    !T = tensor<{1}x{0}xf32>
    !V = tensor<{0}xf32>
    !W = tensor<{1}xf32>
    func.func @f(%x: !M, %m: !M, %t: !T, %v: !V, %w: !W) -> !T {{
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%v : !V) -> !V
      %sum = linalg.generic {{indexing_maps = [#id, #first],
          iterator_types = ["parallel", "reduction"]}
          ins(%x : !M) outs(%f : !V) {{
      ^bb0(%a: f32, %o: f32):
        %0 = arith.addf %a, %o : f32
        linalg.yield %0 : f32
      } -> !V
      %scaled = linalg.generic {{indexing_maps = [#id, #first, #id],
          iterator_types = ["parallel", "parallel"]}
          ins(%x, %sum : !M, !V) outs(%m : !M) {{
      ^bb0(%a: f32, %s: f32, %o: f32):
        %0 = arith.divf %a, %s : f32
        linalg.yield %0 : f32
      } -> !M
      %g = linalg.fill ins(%zero : f32) outs(%w : !W) -> !W
      %columns = linalg.generic {{indexing_maps = [#id, #last],
          iterator_types = ["reduction", "parallel"]}
          ins(%scaled : !M) outs(%g : !W) {{
      ^bb0(%a: f32, %o: f32):
        %0 = arith.addf %a, %o : f32
        linalg.yield %0 : f32
      } -> !W
      %turned = linalg.generic {{indexing_maps = [#swapped, #first, #id],
          iterator_types = ["parallel", "parallel"]}
          ins(%scaled, %columns : !M, !W) outs(%t : !T) {{
      ^bb0(%a: f32, %c: f32, %o: f32):
        %0 = arith.subf %a, %c : f32
        linalg.yield %0 : f32
      } -> !T
      return %turned : !T
    })mlir";
  RandomGenerator random({12});
  for (auto [rows, columns] : {std::pair(300, 333), std::pair(40, 5000)})
    for (bool isDynamic : {false, true}) {
      auto size = [&](int extent) {
        return isDynamic ? "?" : std::to_string(extent);
      };
      std::vector<Array> args;
      args.push_back(makeRandom(DType::F32, {rows, columns}, random));
      args.push_back(makeFilled(DType::F32, {rows, columns}, std::nan("")));
      args.push_back(makeFilled(DType::F32, {columns, rows}, std::nan("")));
      args.push_back(makeFilled(DType::F32, {rows}, std::nan("")));
      args.push_back(makeFilled(DType::F32, {columns}, std::nan("")));
      expectSame(llvm::formatv(text.data(), size(rows), size(columns)).str(),
                 args);
    }
}
