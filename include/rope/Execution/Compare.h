//===- Compare.h - Differences between arrays ----------------- -*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How far a result is from what was expected.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_EXECUTION_COMPARE_H
#define ROPE_EXECUTION_COMPARE_H

#include "rope/Execution/Array.h"

namespace mlir::rope {

/// What separates two arrays of one shape.
struct Difference {
  /// The largest |got − want| where both are finite.
  double maxAbs = 0;
  /// `maxAbs` over the largest finite |want|; `maxAbs` when that is 0.
  double maxRel = 0;
  /// Elements of which only one is finite, or that are different infinities.
  int64_t mismatched = 0;
  /// Elements that are finite on neither side, and the same infinity or NaN.
  int64_t skipped = 0;

  /// Whether `maxRel` is at most `rtol` and nothing is mismatched.
  bool isWithin(double rtol) const { return mismatched == 0 && maxRel <= rtol; }
};

/// Compares element by element, in f64. Fails when the shapes differ.
llvm::Expected<Difference> compare(const Array &got, const Array &want);

/// Compares the elements of `got` at the flat `positions` with `values`. Fails
/// when their numbers differ or a position is outside.
llvm::Expected<Difference>
compareSample(const Array &got, const Array &positions, const Array &values);

} // namespace mlir::rope

#endif // ROPE_EXECUTION_COMPARE_H
