//===- Schedules.h - Random frequency schedules -----------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_TEST_UNIT_FUZZ_SCHEDULES_H
#define ROPE_TEST_UNIT_FUZZ_SCHEDULES_H

#include "Draw.h"

#include "rope/IR/Rope.h"
#include "rope/Reference/Frequencies.h"

namespace mlir::rope::test {

/// A schedule as an attribute, and as the reference evaluates it.
struct DrawnSchedule {
  FrequencyAttrInterface attr;
  reference::Frequencies frequencies;
  /// The current length, if the frequencies depend on it.
  std::optional<int64_t> length;
  /// Whether both sides have the same f64 frequencies to the last bit.
  bool isExact = false;
};

/// Any schedule that can serve so many pairs.
DrawnSchedule drawSchedule(Draw &draw, MLIRContext *context, int64_t pairs);

} // namespace mlir::rope::test

#endif // ROPE_TEST_UNIT_FUZZ_SCHEDULES_H
