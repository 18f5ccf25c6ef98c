//===- FeatureMaps.h - What linear attention does to channels ---*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_IR_FEATUREMAPS_H
#define ROPE_IR_FEATUREMAPS_H

#include "rope/IR/Rope.h"

namespace mlir::rope {

/// The feature of a float, or of each element of a vector of floats, in the
/// type of `x`. Of NaN it is NaN.
Value buildFeature(OpBuilder &builder, Location loc, FeatureMap map, Value x);

} // namespace mlir::rope

#endif // ROPE_IR_FEATUREMAPS_H
