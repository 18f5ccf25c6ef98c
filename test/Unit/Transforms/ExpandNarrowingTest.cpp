//===- ExpandNarrowingTest.cpp - Numbers of f64 narrowed to 16 bits -------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/Numbers.h"
#include "Support/Program.h"
#include "rope/Reference/Rounding.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace mlir::rope;
using namespace mlir::rope::test;
using reference::FloatFormat;

/// All finite numbers of the format, what lies halfway between two, and the
/// neighbours of these in f32 and in f64.
static std::vector<double> getHardNumbers(FloatFormat format) {
  std::vector<double> numbers = {std::nan(""), INFINITY,
                                 std::numeric_limits<double>::max(),
                                 std::numeric_limits<double>::denorm_min()};
  for (uint64_t bits = 0; bits < 0x8000; bits += 7) {
    double value = reference::fromBits(bits, format);
    if (!std::isfinite(value))
      continue;
    double half = value + reference::getUlp(value, format) / 2;
    for (double tie : {value, half})
      for (double step : {0.0, 0x1p-52, 0x1p-24, 0x1p-23})
        for (double sign : {1.0, -1.0})
          numbers.push_back(tie * (1 + sign * step));
  }
  for (size_t i = 0, count = numbers.size(); i < count; ++i)
    numbers.push_back(-numbers[i]);
  return numbers;
}

static bool isSame(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         (a == b && std::signbit(a) == std::signbit(b));
}

static void expectRoundedOnce(DType dtype) {
  FloatFormat format = getFormat(dtype);
  std::vector<double> numbers = getHardNumbers(format);
  auto count = static_cast<int64_t>(numbers.size());
  Program program(llvm::formatv(R"mlir(
    func.func @f(%x: tensor<{0}xf64>) -> tensor<{0}x{1}> {{
      %r = arith.truncf %x : tensor<{0}xf64> to tensor<{0}x{1}>
      return %r : tensor<{0}x{1}>
    })mlir",
                                count, getTypeName(dtype))
                      .str());
  Array x = makeArray(DType::F64, reference::Array({count}, numbers));
  reference::Array got = toReference(program.call("f", x).front());
  for (int64_t i = 0; i < count; ++i)
    EXPECT_TRUE(isSame(got[i], reference::roundTo(numbers[i], format)))
        << numbers[i] << " gives " << got[i];
}

TEST(ExpandNarrowing, RoundsOnce) {
  expectRoundedOnce(DType::F16);
  expectRoundedOnce(DType::BF16);
}
