//===- AxesTest.cpp - Tables of several axes and odd shapes ---------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which position a row and a pair of a table get.
//
//===----------------------------------------------------------------------===//

#include "Support/Numbers.h"
#include "Support/Program.h"
#include "rope/Reference/Table.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir::rope;
using namespace mlir::rope::test;
using reference::IntArray;

/// A table of default frequencies, θ = 10⁴, against the reference.
static void checkTable(const IntArray &positions, std::vector<int64_t> axes,
                       int64_t pairs, reference::Shape dynamicPositions,
                       reference::Shape dynamicTable) {
  std::string clause;
  for (int64_t axis : axes)
    clause += (clause.empty() ? "axes [" : ", ") + std::to_string(axis);
  if (!axes.empty())
    clause += "]";
  std::string from = getTensorType(DType::I64, dynamicPositions);
  std::string to = getTensorType(DType::F32, dynamicTable);
  Program program("func.func @f(%p: " + from + ", %init: " + to + ") -> " + to +
                  " {\n %t = rope.table #rope.default<1.0e4> ins(%p : " + from +
                  ") " + clause + " outs(%init : " + to + ") -> " + to +
                  "\n return %t : " + to + "\n}");
  reference::TableInputs inputs{
      positions, reference::getFrequencies(reference::DefaultSchedule(), pairs),
      axes};
  reference::Array want = reference::makeTable(inputs);
  Array ids = makeArray(DType::I64, positions);
  Array init = makeFilled(DType::F32, want.getShape(), std::nan(""));
  reference::Array got = toReference(program.call("f", ids, init).front());
  EXPECT_EQ(got.getShape(), want.getShape());
  EXPECT_LE(reference::getMaxAbsError(got, want), 1.5e-7);
}

static IntArray makePositions(const reference::Shape &shape) {
  IntArray positions(shape);
  RandomGenerator random({7});
  for (int64_t i = 0; i < positions.getNumElements(); ++i)
    positions[i] = static_cast<int64_t>(random.nextBelow(100000)) - 50000;
  return positions;
}

TEST(Axes, SectionsOfMRoPE) {
  checkTable(makePositions({3, 2, 5}), {0, 0, 1, 1, 1, 2, 2, 2}, 8, {3, -1, -1},
             {-1, -1, 2, 8});
}

TEST(Axes, InterleavedSections) {
  checkTable(makePositions({3, 7}), {0, 1, 2, 0, 1, 2, 0, 0}, 8, {3, -1},
             {-1, 2, 8});
}

TEST(Axes, TwoAxesOfAnImage) {
  checkTable(makePositions({2, 4, 6}), {0, 0, 1, 1}, 4, {2, 4, 6},
             {4, 6, 2, 4});
}

TEST(Axes, OneOfSeveralAxes) {
  checkTable(makePositions({3, 5}), {2, 2}, 2, {3, -1}, {-1, 2, 2});
}

TEST(Axes, NoLeadingDims) {
  checkTable(makePositions({3}), {1, 2, 1}, 3, {3}, {2, 3});
  checkTable(makePositions({}), {}, 3, {}, {2, 3});
}

TEST(Axes, NoRows) {
  checkTable(makePositions({0}), {}, 3, {-1}, {-1, 2, 3});
  checkTable(makePositions({2, 0, 3}), {0, 1}, 2, {2, -1, 3}, {-1, 3, 2, 2});
  checkTable(makePositions({2, 0}), {}, 3, {2, 0}, {2, 0, 2, 3});
}

TEST(Axes, OnePair) { checkTable(makePositions({1}), {}, 1, {1}, {1, 2, 1}); }
