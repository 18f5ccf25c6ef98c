//===- ScheduleFit.h - Schedules from frequencies ---------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_ANALYSIS_SCHEDULEFIT_H
#define ROPE_ANALYSIS_SCHEDULEFIT_H

#include "rope/IR/Rope.h"

#include <map>
#include <vector>

namespace mlir::rope {

/// A schedule that frequencies come from, and the largest difference of one
/// from it, relative to it.
struct ScheduleFit {
  FrequencyAttrInterface schedule;
  double deviation;
};

/// Recognises the schedule of a list of frequencies: default, linear, NTK,
/// YaRN, Llama 3, or a share of the pairs. Frequencies are taken to have been
/// rounded to the narrowest floating-point type that holds them all, after few
/// operations in it or in f32. Fails for lists of no schedule.
///
/// `error` is how far off each may be besides, where they were measured.
///
/// A list does not tell all parameters of a schedule; round numbers are tried,
/// and the first that give the frequencies are taken.
FailureOr<ScheduleFit> fitSchedule(MLIRContext *context,
                                   ArrayRef<double> frequencies,
                                   double magnitude, double error = 0);

/// Fits without an error, each list of frequencies once: most layers of a model
/// have the same.
class ScheduleFits {
public:
  explicit ScheduleFits(MLIRContext *context) : context(context) {}

  FailureOr<ScheduleFit> get(ArrayRef<double> frequencies, double magnitude);

private:
  MLIRContext *context;
  /// By the bits of the frequencies and the magnitude.
  std::map<std::vector<uint64_t>, FailureOr<ScheduleFit>> fits;
};

/// The difference of frequencies from those of a schedule, as in ScheduleFit.
double getDeviation(FrequencyAttrInterface schedule,
                    ArrayRef<double> frequencies);

} // namespace mlir::rope

#endif // ROPE_ANALYSIS_SCHEDULEFIT_H
