//===- ElementFunctionsTest.cpp - Numbers of functions of elements --------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles functions of single numbers, alone and in the steps of a sum, and
// compares them with the same in C++.
//
//===----------------------------------------------------------------------===//

#include "Support/Numbers.h"
#include "Support/Program.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace mlir::rope;
using namespace mlir::rope::test;

namespace {
/// One step c ← step(a, b, c) of a sum, in IR and in C++.
struct Step {
  const char *inputs, *body;
  double (*compute)(double a, double b, double c);
};
} // namespace

// Upstream calls all of these contractions.
static const Step kSteps[] = {
    {"f32",
     "%e = math.exp %a : f32 %m = arith.mulf %e, %b : f32 %r = arith.addf %m, "
     "%c : f32",
     [](double a, double b, double c) { return c + std::exp(a) * b; }},
    {"f32",
     "%m = arith.mulf %a, %b : f32 %e = arith.negf %m : f32 %r = arith.addf "
     "%c, %e : f32",
     [](double a, double b, double c) { return c - a * b; }},
    {"f32",
     "%m = arith.mulf %a, %b : f32 %e = arith.negf %c : f32 %r = arith.addf "
     "%m, %e : f32",
     [](double a, double b, double c) { return a * b - c; }},
    {"f32",
     "%m = arith.mulf %a, %b : f32 %e = arith.addf %m, %c : f32 %r = "
     "arith.negf %e : f32",
     [](double a, double b, double c) { return -(a * b + c); }},
    {"f64",
     "%m = arith.mulf %a, %b : f64 %e = arith.truncf %m : f64 to f32 %r = "
     "arith.addf %e, %c : f32",
     [](double a, double b, double c) { return c + a * b; }},
};

TEST(ElementFunctions, AroundProducts) {
  constexpr int64_t rows = 32, steps = 24, columns = 48;
  for (const Step &step : kSteps) {
    std::string text = R"mlir(
    !A = tensor<32x24xELEMENT>
    !B = tensor<24x48xELEMENT>
    !C = tensor<32x48xf32>
    func.func @f(%x: !A, %y: !B, %z: !C) -> !C {
      %w = linalg.generic {
          indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
          iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : !A, !B) outs(%z : !C) {
      ^bb0(%a: ELEMENT, %b: ELEMENT, %c: f32):
        BODY
        linalg.yield %r : f32
      } -> !C
      return %w : !C
    })mlir";
    for (size_t first; (first = text.find("ELEMENT")) != std::string::npos;)
      text.replace(first, 7, step.inputs);
    text.replace(text.find("BODY"), 4, step.body);
    Program program(text);
    RandomGenerator random({4});
    DType dtype = step.inputs[1] == '6' ? DType::F64 : DType::F32;
    Array a = makeRandom(dtype, {rows, steps}, random);
    Array b = makeRandom(dtype, {steps, columns}, random);
    Array c = makeRandom(DType::F32, {rows, columns}, random);
    Array r = std::move(program.call("f", a, b, c).front());
    double worst = 0;
    for (int64_t i = 0; i < rows * columns; ++i) {
      double want = at(c, i);
      for (int64_t k = 0; k < steps; ++k)
        want = step.compute(at(a, i / columns * steps + k),
                            at(b, k * columns + i % columns), want);
      worst = std::max(worst, std::fabs(at(r, i) - want));
    }
    EXPECT_LT(worst, 1e-4) << step.body;
  }
}

TEST(ElementFunctions, SpecialValuesSurvive) {
  Program program(R"mlir(
    func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
      %half = arith.constant 0.5 : f32
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?xf32>
      %e = tensor.empty(%n) : tensor<?xf32>
      %h = linalg.fill ins(%half : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      %r = arith.mulf %x, %h : tensor<?xf32>
      return %r : tensor<?xf32>
    })mlir");
  constexpr float infinity = std::numeric_limits<float>::infinity();
  float values[] = {1e-40f,        -3e-42f,   infinity, -infinity,
                    std::nanf(""), 1.18e-38f, -0.0f};
  Array x = makeFilled(DType::F32, {40}, 0);
  for (int64_t i = 0; i < 40; ++i)
    x.set(i, values[i % 7]);
  Array y = std::move(program.call("f", x).front());
  for (int64_t i = 0; i < 40; ++i) {
    float got = at(y, i), want = values[i % 7] * 0.5f;
    EXPECT_TRUE(std::isnan(want) ? std::isnan(got) : got == want) << want;
    EXPECT_EQ(std::signbit(got), std::signbit(want));
  }
}

TEST(ElementFunctions, ExpIsWithinItsBound) {
  Program program(R"mlir(
    func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
      %r = math.exp %x : tensor<?xf32>
      return %r : tensor<?xf32>
    })mlir");
  constexpr int64_t count = 1 << 20;
  Array x = makeFilled(DType::F32, {count}, 0);
  // Every 4096th float: all exponents, NaNs and both infinities.
  auto *bits = reinterpret_cast<uint32_t *>(x.getData());
  for (int64_t i = 0; i < count; ++i)
    bits[i] = static_cast<uint32_t>(i << 12);
  Array y = std::move(program.call("f", x).front());
  double worst = 0;
  for (int64_t i = 0; i < count; ++i) {
    double want = std::exp(at(x, i)), got = at(y, i);
    if (std::isnan(want) || std::isinf(static_cast<float>(want))) {
      EXPECT_TRUE(std::isnan(want) ? std::isnan(got) : std::isinf(got))
          << at(x, i);
      continue;
    }
    int exponent;
    std::frexp(want, &exponent);
    double unit = std::ldexp(1.0, std::max(exponent, -125) - 24);
    worst = std::max(worst, std::fabs(got - want) / unit);
  }
  EXPECT_LT(worst, 1.1);
  EXPECT_GT(worst, 0.5);
}
