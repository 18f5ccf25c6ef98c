//===- ComposeTest.cpp - Numbers of rope.assemble and rope.compose --------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each combination of element types, on tensors and on memrefs, against the
// reference.
//
//===----------------------------------------------------------------------===//

#include "Support/Numbers.h"
#include "Support/Program.h"
#include "rope/Reference/Table.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::test;

static const DType kTypes[] = {DType::F32, DType::BF16, DType::F16, DType::F64};

/// One rounding, or two where f64 is narrowed to 16 bits by way of f32.
static double getBound(DType type) { return type == DType::F64 ? 3 : 0.51; }

static std::string getType(DType dtype, const reference::Shape &shape,
                           bool onMemrefs) {
  std::string type = getTensorType(dtype, shape);
  return onMemrefs ? "memref" + type.substr(strlen("tensor")) : type;
}

/// @f<index>(%a, %b, %init) with the op in place of `OP(…)`.
static std::string getFunction(StringRef op, StringRef second,
                               ArrayRef<std::string> types, bool onMemrefs,
                               size_t index) {
  std::string result = onMemrefs ? "" : " -> " + types[2];
  std::string text;
  llvm::raw_string_ostream(text)
      << "func.func @f" << index << "(%a: " << types[0] << ", %b: " << types[1]
      << ", %init: " << types[2] << ")" << result << " {\n"
      << (onMemrefs ? "  " : "  %y = ") << op << " ins(%a, " << second
      << "%b : " << types[0] << ", " << types[1]
      << ") outs(%init : " << types[2] << ")" << result << "\n  return"
      << (onMemrefs ? "" : " %y : " + types[2]) << "\n}\n";
  return text;
}

namespace {
/// The types of one op.
struct Config {
  DType a, b, init;
  bool inverse, onMemrefs;
};
} // namespace

static std::vector<Config> getConfigs() {
  std::vector<Config> configs;
  for (DType a : kTypes)
    for (DType b : kTypes)
      for (DType init : kTypes) {
        bool odd = configs.size() % 2;
        configs.push_back({a, b, init, odd, configs.size() % 3 == 0});
      }
  return configs;
}

TEST(Compose, EachTypeIsRoundedOnce) {
  std::vector<Config> configs = getConfigs();
  std::string text;
  reference::Shape shape = {-1, 3, 2, 5};
  for (auto [index, c] : llvm::enumerate(configs))
    text += getFunction("rope.compose", c.inverse ? "inverse " : "",
                        {getType(c.a, shape, c.onMemrefs),
                         getType(c.b, shape, c.onMemrefs),
                         getType(c.init, shape, c.onMemrefs)},
                        c.onMemrefs, index);
  Program program(text);
  RandomGenerator random({3});
  for (auto [index, c] : llvm::enumerate(configs)) {
    Array a = makeRandom(c.a, {4, 3, 2, 5}, random);
    Array b = makeRandom(c.b, {4, 3, 2, 5}, random);
    Array init = makeFilled(c.init, {4, 3, 2, 5}, std::nan(""));
    reference::Array want =
        reference::compose(toReference(a), toReference(b), c.inverse);
    SmallVector<Array> results =
        program.call("f" + std::to_string(index), a, b, init);
    const Array &got = c.onMemrefs ? init : results.front();
    // Sums of f64 cancel, those of products of narrower numbers are exact.
    bool wide = c.a == DType::F64 || c.b == DType::F64;
    reference::Array scale = reference::Array::filled({}, wide ? 1 : 0);
    EXPECT_LE(getMaxUlpError(got, want, scale),
              c.init == DType::F64 ? 12 : getBound(c.init))
        << getFunction(
               "rope.compose", c.inverse ? "inverse " : "",
               {getTypeName(c.a), getTypeName(c.b), getTypeName(c.init)},
               c.onMemrefs, index);
  }
}

TEST(Assemble, EachTypeIsRoundedOnce) {
  std::vector<Config> configs = getConfigs();
  std::string text;
  reference::Shape plane = {3, -1, 5}, table = {3, -1, 2, 5};
  for (auto [index, c] : llvm::enumerate(configs))
    text += getFunction("rope.assemble", "",
                        {getType(c.a, plane, c.onMemrefs),
                         getType(c.b, plane, c.onMemrefs),
                         getType(c.init, table, c.onMemrefs)},
                        c.onMemrefs, index);
  Program program(text);
  RandomGenerator random({4});
  for (auto [index, c] : llvm::enumerate(configs)) {
    Array cos = makeRandom(c.a, {3, 4, 5}, random);
    Array sin = makeRandom(c.b, {3, 4, 5}, random);
    Array init = makeFilled(c.init, {3, 4, 2, 5}, std::nan(""));
    reference::Array want =
        reference::assemble(toReference(cos), toReference(sin));
    SmallVector<Array> results =
        program.call("f" + std::to_string(index), cos, sin, init);
    EXPECT_LE(getMaxUlpError(c.onMemrefs ? init : results.front(), want),
              getBound(c.init))
        << getTypeName(c.a) << " " << getTypeName(c.b) << " to "
        << getTypeName(c.init);
  }
}
