//===- ScheduleFit.cpp - Schedules from frequencies -----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each schedule is θ^(−i/P) times a factor between 1 and 1/f. A frequency of
// the list that has the factor 1 gives θ, the last one gives f; what is between
// is compared with the schedules at round parameters, and at those that the
// frequencies between give.
//
//===----------------------------------------------------------------------===//

#include "rope/Analysis/ScheduleFit.h"

#include "mlir/IR/Builders.h"
#include "rope/Analysis/ConstantFold.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;

namespace {
class ScheduleFitter {
public:
  ScheduleFitter(MLIRContext *context, ArrayRef<double> frequencies,
                 double magnitude, double error)
      : builder(context), frequencies(frequencies), magnitude(magnitude),
        error(error), pairs(frequencies.size()), tolerance(getTolerance()) {}

  FailureOr<ScheduleFit> run();

private:
  double getTolerance() const;
  FloatAttr number(double value) { return builder.getF64FloatAttr(value); }
  /// Keeps a schedule if it has the frequencies.
  bool accept(FrequencyAttrInterface schedule);
  SmallVector<double> getBases();
  SmallVector<double> getFactors(double base);
  SmallVector<double> getTrainedLengths(double base, double factor);
  bool tryDefault(double roundness);
  bool tryLinear();
  bool tryNtk();
  bool tryProportional();
  bool tryScaled(double base, double factor);

  Builder builder;
  ArrayRef<double> frequencies;
  double magnitude;
  double error;
  int64_t pairs;
  double tolerance;
  FailureOr<ScheduleFit> result = failure();
};
} // namespace

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Roundings of the list, and of what it was computed from.
double ScheduleFitter::getTolerance() const {
  MLIRContext *context = builder.getContext();
  auto holdsAll = [&](Type type) {
    return llvm::all_of(frequencies, [&](double frequency) {
      return roundTo(frequency, type) == frequency;
    });
  };
  if (holdsAll(BFloat16Type::get(context)))
    return std::ldexp(1.0, -8);
  if (holdsAll(Float16Type::get(context)))
    return std::ldexp(1.0, -10);
  return std::ldexp(1.0, -21);
}

/// The number of the fewest digits near `value`.
static double getRound(double value, double tolerance) {
  if (value == 0 || !std::isfinite(value))
    return value;
  for (int digits = 1; digits < 12; ++digits) {
    // Powers of ten are exact upwards, not downwards.
    double exponent = std::floor(std::log10(std::fabs(value))) + 1 - digits;
    double unit = std::pow(10.0, std::fabs(exponent));
    double rounded = exponent < 0 ? std::round(value * unit) / unit
                                  : std::round(value / unit) * unit;
    if (std::fabs(rounded - value) <= tolerance * std::fabs(value))
      return rounded;
  }
  return value;
}

double rope::getDeviation(FrequencyAttrInterface schedule,
                          ArrayRef<double> frequencies) {
  SmallVector<double> exact =
      schedule.computeFrequencies(frequencies.size(), std::nullopt);
  double deviation = 0;
  for (auto [frequency, expected] : llvm::zip_equal(frequencies, exact)) {
    if (frequency == expected)
      continue;
    double difference = std::fabs(frequency - expected);
    deviation =
        std::max(deviation, expected == 0 ? std::numeric_limits<double>::max()
                                          : difference / expected);
  }
  return deviation;
}

bool ScheduleFitter::accept(FrequencyAttrInterface schedule) {
  SmallVector<double> exact = schedule.computeFrequencies(pairs, std::nullopt);
  for (auto [frequency, expected] : llvm::zip_equal(frequencies, exact))
    if (!(std::fabs(frequency - expected) <= tolerance * expected + error))
      return false;
  result = ScheduleFit{schedule, getDeviation(schedule, frequencies)};
  return true;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// The bases that single frequencies speak of, taking them for unscaled, and
/// usual ones.
SmallVector<double> ScheduleFitter::getBases() {
  SmallVector<double> bases = {1e4, 5e5, 1e6, 1.5e5, 1e5, 5e6, 1e7};
  llvm::SmallSetVector<int64_t, 8> seen;
  for (int64_t i = 1; i < pairs; ++i) {
    if (frequencies[i] <= 0)
      continue;
    double power = static_cast<double>(pairs) / static_cast<double>(i);
    double base = getRound(std::pow(frequencies[i], -power),
                           power * (tolerance + error / frequencies[i]));
    if (base > 1 && base < 1e12 && seen.insert(std::llround(base * 16)))
      bases.push_back(base);
  }
  return bases;
}

/// Factors that divide the lowest frequencies.
SmallVector<double> ScheduleFitter::getFactors(double base) {
  double last = std::pow(base, -static_cast<double>(pairs - 1) /
                                   static_cast<double>(pairs));
  double factor = getRound(last / frequencies.back(),
                           4 * tolerance + error / frequencies.back());
  if (!(factor > 1.0001) || !std::isfinite(factor))
    return {};
  return {factor};
}

/// Powers of two, and what the frequencies between 1 and 1/f say for the usual
/// bounds of Llama 3 (1 and 4).
SmallVector<double> ScheduleFitter::getTrainedLengths(double base,
                                                      double factor) {
  SmallVector<double> lengths;
  for (int exponent = 3; exponent <= 21; ++exponent)
    lengths.push_back(std::ldexp(1.0, exponent));
  for (int64_t i = 0; i < pairs; ++i) {
    double whole =
        std::pow(base, -static_cast<double>(i) / static_cast<double>(pairs));
    double share = (frequencies[i] / whole - 1 / factor) / (1 - 1 / factor);
    if (share > 0.01 && share < 0.99)
      lengths.push_back(
          std::round((share * 3 + 1) * 2 * llvm::numbers::pi / whole));
  }
  return lengths;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// Tries bases that are as round as that.
bool ScheduleFitter::tryDefault(double roundness) {
  for (double base : getBases())
    if (base == getRound(base, roundness) &&
        accept(DefaultAttr::get(builder.getContext(), number(base))))
      return true;
  return false;
}

bool ScheduleFitter::tryLinear() {
  double factor = getRound(1 / frequencies[0], tolerance);
  if (std::fabs(factor - 1) < tolerance)
    return false;
  SmallVector<double> unscaled = llvm::map_to_vector(
      frequencies, [&](double frequency) { return frequency * factor; });
  ScheduleFitter inner(builder.getContext(), unscaled, magnitude, error);
  inner.tolerance = tolerance;
  for (double base : inner.getBases())
    if (accept(LinearAttr::get(builder.getContext(), number(base),
                               number(factor))))
      return true;
  return false;
}

/// A base that is not round may be a round one that was raised.
bool ScheduleFitter::tryNtk() {
  if (pairs < 2)
    return false;
  double power = static_cast<double>(pairs) / static_cast<double>(pairs - 1);
  double raised = std::pow(frequencies.back(), -power);
  for (double base : {1e4, 1e5, 5e5, 1e6}) {
    double factor = getRound(std::pow(raised / base, 1 / power), 4 * tolerance);
    if (factor > 1.0001 && factor == getRound(factor, 1e-3) &&
        accept(
            NTKAttr::get(builder.getContext(), number(base), number(factor))))
      return true;
  }
  return false;
}

bool ScheduleFitter::tryProportional() {
  int64_t turning =
      llvm::count_if(frequencies, [](double w) { return w != 0; });
  if (turning == pairs || turning == 0)
    return false;
  double share = static_cast<double>(turning) / static_cast<double>(pairs);
  for (double base : getBases())
    if (accept(ProportionalAttr::get(builder.getContext(), number(base),
                                     number(share))))
      return true;
  return false;
}

/// Llama 3 and YaRN, whose highest frequencies are those of the base and whose
/// lowest are divided by the factor.
bool ScheduleFitter::tryScaled(double base, double factor) {
  MLIRContext *context = builder.getContext();
  for (double length : getTrainedLengths(base, factor)) {
    auto trained = static_cast<int64_t>(length);
    if (trained > 0 &&
        accept(Llama3Attr::get(context, number(base), number(factor), number(1),
                               number(4), trained)))
      return true;
  }
  double usual = 0.1 * std::log(factor) + 1;
  FloatAttr given;
  if (std::fabs(magnitude - usual) > 1e-6)
    given = number(magnitude);
  for (bool truncate : {true, false})
    for (double length : getTrainedLengths(base, factor)) {
      BoolAttr flag = truncate ? BoolAttr() : builder.getBoolAttr(false);
      if (accept(YarnAttr::get(context, number(base), number(factor),
                               static_cast<int64_t>(length), {}, {}, flag,
                               given, {}, {})))
        return true;
    }
  return false;
}

FailureOr<ScheduleFit> ScheduleFitter::run() {
  bool valid = pairs > 1 && llvm::all_of(frequencies, [](double w) {
                 return std::isfinite(w) && w >= 0;
               });
  if (!valid || frequencies[0] == 0)
    return failure();
  if (frequencies.back() == 0) {
    (void)tryProportional();
    return result;
  }
  // Some base fits any list of powers: NTK is asked before one that is not
  // round.
  if (tryDefault(1e-2) || tryNtk() || tryDefault(0) || tryLinear())
    return result;
  for (double base : getBases())
    for (double factor : getFactors(base))
      if (tryScaled(base, factor))
        return result;
  return failure();
}

FailureOr<ScheduleFit> rope::fitSchedule(MLIRContext *context,
                                         ArrayRef<double> frequencies,
                                         double magnitude, double error) {
  return ScheduleFitter(context, frequencies, magnitude, error).run();
}

FailureOr<ScheduleFit> ScheduleFits::get(ArrayRef<double> frequencies,
                                         double magnitude) {
  std::vector<uint64_t> key = {llvm::bit_cast<uint64_t>(magnitude)};
  for (double frequency : frequencies)
    key.push_back(llvm::bit_cast<uint64_t>(frequency));
  auto [entry, inserted] = fits.try_emplace(std::move(key), failure());
  if (inserted)
    entry->second = fitSchedule(context, frequencies, magnitude);
  return entry->second;
}
