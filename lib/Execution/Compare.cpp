//===- Compare.cpp - Differences between arrays ---------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Execution/Compare.h"
#include <algorithm>
#include <cmath>

using namespace mlir::rope;

namespace {

/// Gathers a Difference, element by element.
class Differences {
public:
  void add(std::complex<double> got, std::complex<double> want);
  Difference get() const;

private:
  Difference difference;
  double largest = 0;
};

} // namespace

static bool isFinite(std::complex<double> value) {
  return std::isfinite(value.real()) && std::isfinite(value.imag());
}

void Differences::add(std::complex<double> got, std::complex<double> want) {
  if (isFinite(want))
    largest = std::max(largest, std::abs(want));
  if (isFinite(got) && isFinite(want)) {
    difference.maxAbs = std::max(difference.maxAbs, std::abs(got - want));
    return;
  }
  bool bothNaN = std::isnan(got.real()) && std::isnan(want.real());
  ++(got == want || bothNaN ? difference.skipped : difference.mismatched);
}

Difference Differences::get() const {
  Difference result = difference;
  result.maxRel = largest > 0 ? result.maxAbs / largest : result.maxAbs;
  return result;
}

llvm::Expected<Difference> mlir::rope::compare(const Array &got,
                                               const Array &want) {
  if (got.getShape() != want.getShape())
    return llvm::createStringError(
        "has the shape [" + formatShape(got.getShape()) + "], expected [" +
        formatShape(want.getShape()) + "]");
  Differences differences;
  for (int64_t i = 0, e = got.getNumElements(); i != e; ++i)
    differences.add(got.get(i), want.get(i));
  return differences.get();
}

llvm::Expected<Difference> mlir::rope::compareSample(const Array &got,
                                                     const Array &positions,
                                                     const Array &values) {
  if (positions.getNumElements() != values.getNumElements())
    return llvm::createStringError(
        "the sample has " + llvm::Twine(positions.getNumElements()) +
        " positions and " + llvm::Twine(values.getNumElements()) + " values");
  Differences differences;
  for (int64_t i = 0, e = values.getNumElements(); i != e; ++i) {
    double position = positions.get(i).real();
    if (!(position >= 0 && position < got.getNumElements()))
      return llvm::createStringError(
          "position " + llvm::Twine(i) + " of the sample is none of " +
          llvm::Twine(got.getNumElements()) + " elements");
    differences.add(got.get(static_cast<int64_t>(position)), values.get(i));
  }
  return differences.get();
}
