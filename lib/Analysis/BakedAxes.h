//===- BakedAxes.h - Positions of the rows of a table -----------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_ANALYSIS_BAKEDAXES_H
#define ROPE_LIB_ANALYSIS_BAKEDAXES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace mlir::rope {

/// The numbers of a pair, by row.
struct PairNumbers {
  SmallVector<double> cos, sin;
};

/// Whole positions of the rows along each axis, and the axis and the frequency
/// of each pair.
struct BakedAxes {
  SmallVector<SmallVector<int64_t>> positions;
  SmallVector<int64_t> axes;
  SmallVector<double> frequencies;
};

/// Finds positions that give the phases of all pairs, of numbers that are known
/// to `unit`: those of a grid, say, with rows for tokens that do not turn.
std::optional<BakedAxes> findAxes(ArrayRef<PairNumbers> pairs, double unit);

/// The number of [−π, π] that is as far round as `angle`.
double wrapAngle(double angle);

} // namespace mlir::rope

#endif // ROPE_LIB_ANALYSIS_BAKEDAXES_H
