//===- ExactAngles.cpp - Tables whose angles are not rounded --------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-exact-angles, and works out what the rounding of the angles
// was worth.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Matchers.h"
#include "rope/IR/TableFacts.h"
#include "rope/Transforms/Passes.h"
#include "llvm/Support/Format.h"

#include <cmath>

namespace mlir::rope {
#define GEN_PASS_DEF_EXACTANGLESPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;
using namespace mlir::rope;

/// The difference between an angle that is rounded to f32 and the exact one.
static double getDeviation(double position, double frequency, AngleMode mode) {
  auto p = static_cast<float>(position);
  float angle = mode == AngleMode::F32Quotient
                    ? p / static_cast<float>(1 / frequency)
                    : p * static_cast<float>(frequency);
  return std::abs(static_cast<double>(angle) - position * frequency);
}

/// The positions that pair `i` turns by, if they are constant.
static std::optional<SmallVector<double>> getPositions(TableOp table,
                                                       int64_t i) {
  Value positions = table.getPositions();
  SmallVector<double> numbers;
  APInt start;
  if (positions.getType().isIndex()) {
    int64_t rows = cast<ShapedType>(table.getInit().getType()).getDimSize(0);
    if (ShapedType::isDynamic(rows) ||
        !matchPattern(positions, m_ConstantInt(&start)))
      return std::nullopt;
    for (int64_t row = 0; row < rows; ++row)
      numbers.push_back(static_cast<double>(start.getSExtValue()) + row);
    return numbers;
  }
  DenseElementsAttr elements;
  if (!matchPattern(positions, m_Constant(&elements)))
    return std::nullopt;
  if (auto integers = dyn_cast<DenseIntElementsAttr>(elements))
    for (const APInt &number : integers.getValues<APInt>())
      numbers.push_back(static_cast<double>(number.getSExtValue()));
  else
    for (FloatAttr number : elements.getValues<FloatAttr>())
      numbers.push_back(number.getValueAsDouble());
  // Each axis has its part of the positions.
  if (std::optional<ArrayRef<int64_t>> axes = table.getAxes()) {
    size_t count =
        numbers.size() / std::max<int64_t>(elements.getType().getDimSize(0), 1);
    SmallVector<double> ofAxis(
        ArrayRef(numbers).slice((*axes)[i] * count, count));
    return ofAxis;
  }
  return numbers;
}

/// The largest difference of an angle of the table, in radians; nullopt if its
/// positions are not constant, or too many.
static std::optional<double> getLargestDeviation(TableOp table,
                                                 ArrayRef<double> frequencies) {
  constexpr int64_t kMaxEntries = 1 << 26;
  auto type = cast<ShapedType>(table.getInit().getType());
  if (type.hasStaticShape() && type.getNumElements() > kMaxEntries)
    return std::nullopt;
  double largest = 0;
  for (auto [i, frequency] : llvm::enumerate(frequencies)) {
    std::optional<SmallVector<double>> positions = getPositions(table, i);
    if (!positions)
      return std::nullopt;
    for (double position : *positions)
      largest = std::max(
          largest, getDeviation(position, frequency, table.getAngleMode()));
  }
  return largest;
}

/// The largest difference of an angle for each token of the position, as long
/// as positions are below 2^24, where f32 holds them.
static double getDeviationPerToken(ArrayRef<double> frequencies,
                                   AngleMode mode) {
  constexpr double kHalfUlp = 0x1p-24;
  double largest = 0;
  for (double frequency : frequencies) {
    // The frequency as it is used, and the rounding of the product.
    double used =
        mode == AngleMode::F32Quotient
            ? 1 / static_cast<double>(static_cast<float>(1 / frequency))
            : static_cast<float>(frequency);
    largest = std::max(largest, std::abs(used - frequency) + used * kHalfUlp);
  }
  return largest;
}

static std::string describeDeviation(TableOp table) {
  std::optional<SmallVector<double>> w = getConstantFrequencies(table);
  if (!w)
    return "by how much depends on the length";
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (std::optional<double> largest = getLargestDeviation(table, *w))
    stream << "the largest difference is " << llvm::format("%.3e", *largest)
           << " radians";
  else
    stream << "they differ by up to "
           << llvm::format("%.3e",
                           getDeviationPerToken(*w, table.getAngleMode()))
           << " radians for each token of the position";
  return text;
}

namespace {
struct ExactAngles : rope::impl::ExactAnglesPassBase<ExactAngles> {
  using ExactAnglesPassBase::ExactAnglesPassBase;

  void runOnOperation() override {
    getOperation()->walk([](TableOp table) {
      if (table.getAngleMode() == AngleMode::Exact)
        return;
      table.emitRemark() << "angles are exact, no longer "
                         << stringifyAngleMode(table.getAngleMode()) << ": "
                         << describeDeviation(table);
      table.setAngleMode(AngleMode::Exact);
    });
  }
};
} // namespace
