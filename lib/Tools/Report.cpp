//===- Report.cpp - What rope-run prints about results --------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "rope/Execution/Compare.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <cmath>

using namespace mlir::rope;

static std::string getTitle(size_t index, const Array &array) {
  return ("result " + llvm::Twine(index) + ": " + getName(array.getDType()) +
          "[" + formatShape(array.getShape()) + "]")
      .str();
}

void mlir::rope::printSummary(llvm::raw_ostream &os,
                              llvm::ArrayRef<Array> results) {
  for (const auto &[index, array] : llvm::enumerate(results)) {
    double least = INFINITY, greatest = -INFINITY, sum = 0;
    int64_t count = array.getNumElements(), nonFinite = 0;
    for (int64_t i = 0; i != count; ++i) {
      double value = array.get(i).real();
      nonFinite += !std::isfinite(value);
      least = std::min(least, value);
      greatest = std::max(greatest, value);
      sum += value;
    }
    os << getTitle(index, array);
    if (count > 0)
      os << llvm::format(" min %.6g max %.6g mean %.6g", least, greatest,
                         sum / count);
    if (nonFinite)
      os << ", " << nonFinite << " not finite";
    os << "\n";
  }
}

static void printElement(llvm::raw_ostream &os, const Array &array,
                         int64_t index) {
  std::complex<double> value = array.get(index);
  os << llvm::format("%.9g", value.real());
  if (isComplex(array.getDType()))
    os << llvm::format("%+.9gi", value.imag());
}

void mlir::rope::printElements(llvm::raw_ostream &os, const Array &array,
                               int64_t limit) {
  int64_t row = array.getShape().empty() ? 1 : array.getShape().back();
  int64_t count = std::min(array.getNumElements(), limit);
  for (int64_t i = 0; i != count; ++i) {
    printElement(os, array, i);
    os << ((i + 1) % row == 0 || i + 1 == count ? "\n" : " ");
  }
  if (count < array.getNumElements())
    os << "... " << array.getNumElements() - count << " more\n";
}

/// Prints one line. Returns whether the difference is within `rtol`.
static bool report(llvm::raw_ostream &os, size_t index, const Array &result,
                   const Difference &difference, std::optional<double> rtol) {
  bool isGood = difference.isWithin(rtol.value_or(INFINITY));
  os << getTitle(index, result)
     << llvm::format(" max_abs %.3e max_rel %.3e", difference.maxAbs,
                     difference.maxRel);
  if (difference.mismatched)
    os << ", " << difference.mismatched << " finite on one side only";
  if (difference.skipped)
    os << ", " << difference.skipped << " finite on neither side";
  if (rtol)
    os << llvm::format(" rtol %.1e", *rtol);
  // Without a bound only what is infinite on one side is wrong.
  if (rtol || !isGood)
    os << (isGood ? " ok" : " FAILED");
  os << "\n";
  return isGood;
}

static llvm::Expected<Difference> compareExpected(size_t index,
                                                  const Array &result,
                                                  const NamedArrays &expected) {
  std::string number = std::to_string(index);
  if (const Array *whole = findArray(expected, "out" + number))
    return compare(result, *whole);
  const Array *positions = findArray(expected, "pos" + number);
  const Array *values = findArray(expected, "val" + number);
  if (positions && values)
    return compareSample(result, *positions, *values);
  return llvm::createStringError("no expected values: neither out" + number +
                                 " nor pos" + number + " and val" + number);
}

/// NumPy has no bf16: files hold its bits as integers.
static void readBits(Array &array, DType wanted) {
  if (wanted == DType::BF16 && array.getDType() == DType::U16)
    array.reinterpret(wanted);
}

/// Reports the difference that `compareOne` finds for each result.
static llvm::Expected<bool>
reportAll(llvm::raw_ostream &os, llvm::ArrayRef<Array> results,
          std::optional<double> rtol,
          llvm::function_ref<llvm::Expected<Difference>(size_t)> compareOne) {
  bool isGood = true;
  for (size_t i = 0; i != results.size(); ++i) {
    llvm::Expected<Difference> difference = compareOne(i);
    if (!difference)
      return llvm::createStringError("result " + llvm::Twine(i) + ": " +
                                     llvm::toString(difference.takeError()));
    isGood &= report(os, i, results[i], *difference, rtol);
  }
  return isGood;
}

llvm::Expected<bool> mlir::rope::reportExpected(llvm::raw_ostream &os,
                                                llvm::ArrayRef<Array> results,
                                                NamedArrays expected,
                                                std::optional<double> rtol) {
  for (auto [i, result] : llvm::enumerate(results))
    for (auto &[name, array] : expected)
      if (name == "out" + std::to_string(i) ||
          name == "val" + std::to_string(i))
        readBits(array, result.getDType());
  return reportAll(os, results, rtol, [&](size_t i) {
    return compareExpected(i, results[i], expected);
  });
}

llvm::Expected<bool> mlir::rope::reportComparison(
    llvm::raw_ostream &os, llvm::ArrayRef<Array> results,
    llvm::ArrayRef<Array> yardstick, std::optional<double> rtol) {
  return reportAll(os, results, rtol,
                   [&](size_t i) { return compare(results[i], yardstick[i]); });
}
