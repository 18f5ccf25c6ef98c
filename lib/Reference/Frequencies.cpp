//===- Frequencies.cpp - Frequency schedules ------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulas of the frequency schedules in long double.
//
//===----------------------------------------------------------------------===//

#include "rope/Reference/Frequencies.h"
#include <algorithm>
#include <cmath>

using namespace mlir::rope::reference;

static constexpr long double pi = 3.14159265358979323846264338327950288L;

/// θ^(−2i/d) with d = 2 · pairs.
static long double getBaseFrequency(long double theta, int64_t i,
                                    int64_t pairs) {
  return std::pow(theta, -static_cast<long double>(i) / pairs);
}

/// θ · s^(d/(d−2)) with d = 2 · pairs.
static long double stretchTheta(long double theta, long double stretch,
                                int64_t pairs) {
  if (pairs == 1)
    return theta;
  return theta *
         std::pow(stretch, static_cast<long double>(pairs) / (pairs - 1));
}

/// Evaluates `formula` for each pair.
template <typename Formula>
static Frequencies evaluate(int64_t pairs, long double magnitude,
                            Formula formula) {
  Frequencies frequencies;
  frequencies.magnitude = static_cast<double>(magnitude);
  for (int64_t i = 0; i < pairs; ++i)
    frequencies.values.push_back(static_cast<double>(formula(i)));
  return frequencies;
}

/// Aborts if the schedule is wrong.
template <typename Schedule>
static void requireValid(const Schedule &schedule, int64_t pairs) {
  if (MaybeError error = findError(schedule, pairs))
    reportInvalid(*error);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static MaybeError checkPositive(const char *name, double value) {
  if (std::isfinite(value) && value > 0.0)
    return std::nullopt;
  return std::string(name) + " must be positive and finite, not " +
         std::to_string(value);
}

static MaybeError checkBase(double theta, double factor, int64_t pairs) {
  if (pairs < 0)
    return "negative number of pairs " + std::to_string(pairs);
  if (MaybeError error = checkPositive("theta", theta))
    return error;
  return checkPositive("factor", factor);
}

MaybeError mlir::rope::reference::findError(const DefaultSchedule &schedule,
                                            int64_t pairs) {
  return checkBase(schedule.theta, 1.0, pairs);
}

MaybeError mlir::rope::reference::findError(const LinearSchedule &schedule,
                                            int64_t pairs) {
  return checkBase(schedule.theta, schedule.factor, pairs);
}

MaybeError mlir::rope::reference::findError(const NtkSchedule &schedule,
                                            int64_t pairs) {
  return checkBase(schedule.theta, schedule.factor, pairs);
}

MaybeError mlir::rope::reference::findError(const DynamicNtkSchedule &schedule,
                                            int64_t pairs) {
  if (MaybeError error = checkBase(schedule.theta, schedule.factor, pairs))
    return error;
  return checkPositive("trained length", schedule.trainedLength);
}

MaybeError mlir::rope::reference::findError(const YarnSchedule &schedule,
                                            int64_t pairs) {
  if (MaybeError error = checkBase(schedule.theta, schedule.factor, pairs))
    return error;
  if (schedule.theta == 1.0)
    return "theta must not be 1";
  if (MaybeError error =
          checkPositive("trained length", schedule.trainedLength))
    return error;
  if (MaybeError error = checkPositive("beta_fast", schedule.betaFast))
    return error;
  return checkPositive("beta_slow", schedule.betaSlow);
}

MaybeError mlir::rope::reference::findError(const Llama3Schedule &schedule,
                                            int64_t pairs) {
  if (MaybeError error = checkBase(schedule.theta, schedule.factor, pairs))
    return error;
  if (MaybeError error =
          checkPositive("trained length", schedule.trainedLength))
    return error;
  if (MaybeError error = checkPositive("low factor", schedule.lowFactor))
    return error;
  if (!(schedule.lowFactor < schedule.highFactor))
    return "the high factor must exceed the low factor";
  return checkPositive("high factor", schedule.highFactor);
}

static MaybeError checkFactors(const char *name,
                               const std::vector<double> &factors,
                               int64_t pairs) {
  if (static_cast<int64_t>(factors.size()) != pairs)
    return std::to_string(factors.size()) + " " + name + " for " +
           std::to_string(pairs) + " pairs";
  for (double factor : factors)
    if (MaybeError error = checkPositive(name, factor))
      return error;
  return std::nullopt;
}

MaybeError mlir::rope::reference::findError(const LongropeSchedule &schedule,
                                            int64_t pairs) {
  if (MaybeError error = checkBase(schedule.theta, schedule.factor, pairs))
    return error;
  if (MaybeError error =
          checkFactors("short factors", schedule.shortFactors, pairs))
    return error;
  if (MaybeError error =
          checkFactors("long factors", schedule.longFactors, pairs))
    return error;
  if (!schedule.magnitude && schedule.factor > 1.0 &&
      schedule.trainedLength < 2)
    return "the derived magnitude needs a trained length above 1";
  return checkPositive("trained length", schedule.trainedLength);
}

MaybeError
mlir::rope::reference::findError(const ProportionalSchedule &schedule,
                                 int64_t pairs) {
  if (!(schedule.share >= 0.0 && schedule.share <= 1.0))
    return "share must be in [0, 1], not " + std::to_string(schedule.share);
  return checkBase(schedule.theta, 1.0, pairs);
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

Frequencies
mlir::rope::reference::getFrequencies(const DefaultSchedule &schedule,
                                      int64_t pairs) {
  requireValid(schedule, pairs);
  return evaluate(pairs, 1.0L, [&](int64_t i) {
    return getBaseFrequency(schedule.theta, i, pairs);
  });
}

Frequencies
mlir::rope::reference::getFrequencies(const LinearSchedule &schedule,
                                      int64_t pairs) {
  requireValid(schedule, pairs);
  return evaluate(pairs, 1.0L, [&](int64_t i) {
    return getBaseFrequency(schedule.theta, i, pairs) / schedule.factor;
  });
}

Frequencies mlir::rope::reference::getFrequencies(const NtkSchedule &schedule,
                                                  int64_t pairs) {
  requireValid(schedule, pairs);
  long double theta = stretchTheta(schedule.theta, schedule.factor, pairs);
  return evaluate(pairs, 1.0L,
                  [&](int64_t i) { return getBaseFrequency(theta, i, pairs); });
}

Frequencies
mlir::rope::reference::getFrequencies(const DynamicNtkSchedule &schedule,
                                      int64_t pairs) {
  requireValid(schedule, pairs);
  long double trained = schedule.trainedLength, factor = schedule.factor;
  long double length = std::max(schedule.length, schedule.trainedLength);
  long double theta = stretchTheta(
      schedule.theta, factor * length / trained - (factor - 1.0L), pairs);
  return evaluate(pairs, 1.0L,
                  [&](int64_t i) { return getBaseFrequency(theta, i, pairs); });
}

/// The pair, as a real number, that turns `rotations` times over the trained
/// length.
static long double getCorrectionDim(const YarnSchedule &schedule,
                                    long double rotations, int64_t pairs) {
  long double trained = schedule.trainedLength, theta = schedule.theta;
  return 2 * pairs * std::log(trained / (rotations * 2 * pi)) /
         (2 * std::log(theta));
}

static long double getYarnMagnitude(const YarnSchedule &schedule) {
  long double factor = schedule.factor;
  auto g = [&](long double mscale) {
    return factor <= 1.0L ? 1.0L : 0.1L * mscale * std::log(factor) + 1.0L;
  };
  if (schedule.attentionFactor)
    return *schedule.attentionFactor;
  if (schedule.mscale.value_or(0.0) != 0.0 &&
      schedule.mscaleAllDim.value_or(0.0) != 0.0)
    return g(*schedule.mscale) / g(*schedule.mscaleAllDim);
  return g(1.0L);
}

Frequencies mlir::rope::reference::getFrequencies(const YarnSchedule &schedule,
                                                  int64_t pairs) {
  requireValid(schedule, pairs);
  long double low = getCorrectionDim(schedule, schedule.betaFast, pairs);
  long double high = getCorrectionDim(schedule, schedule.betaSlow, pairs);
  if (schedule.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0L);
  high = std::min(high, 2.0L * pairs - 1.0L);
  if (low == high)
    high += 0.001L;
  return evaluate(pairs, getYarnMagnitude(schedule), [&](int64_t i) {
    long double base = getBaseFrequency(schedule.theta, i, pairs);
    long double ramp = (i - low) / (high - low);
    long double gamma = 1.0L - std::min(std::max(ramp, 0.0L), 1.0L);
    return base / schedule.factor * (1.0L - gamma) + base * gamma;
  });
}

Frequencies
mlir::rope::reference::getFrequencies(const Llama3Schedule &schedule,
                                      int64_t pairs) {
  requireValid(schedule, pairs);
  long double trained = schedule.trainedLength, low = schedule.lowFactor,
              high = schedule.highFactor;
  return evaluate(pairs, 1.0L, [&](int64_t i) {
    long double base = getBaseFrequency(schedule.theta, i, pairs);
    long double wavelength = 2 * pi / base;
    if (wavelength < trained / high)
      return base;
    if (wavelength > trained / low)
      return base / schedule.factor;
    long double smooth = (trained / wavelength - low) / (high - low);
    return (1.0L - smooth) * base / schedule.factor + smooth * base;
  });
}

Frequencies
mlir::rope::reference::getFrequencies(const LongropeSchedule &schedule,
                                      int64_t pairs) {
  requireValid(schedule, pairs);
  long double factor = schedule.factor, trained = schedule.trainedLength;
  long double magnitude =
      factor <= 1.0L ? 1.0L
                     : std::sqrt(1.0L + std::log(factor) / std::log(trained));
  const std::vector<double> &factors = schedule.length > schedule.trainedLength
                                           ? schedule.longFactors
                                           : schedule.shortFactors;
  return evaluate(pairs, schedule.magnitude ? *schedule.magnitude : magnitude,
                  [&](int64_t i) {
                    return getBaseFrequency(schedule.theta, i, pairs) /
                           factors[i];
                  });
}

Frequencies
mlir::rope::reference::getFrequencies(const ProportionalSchedule &schedule,
                                      int64_t pairs) {
  requireValid(schedule, pairs);
  // In f64, as the models' own code finds the number of turning pairs.
  auto turning = static_cast<int64_t>(
      std::floor(schedule.share * static_cast<double>(2 * pairs) / 2.0));
  return evaluate(pairs, 1.0L, [&](int64_t i) {
    return i < turning ? getBaseFrequency(schedule.theta, i, pairs) : 0.0L;
  });
}
