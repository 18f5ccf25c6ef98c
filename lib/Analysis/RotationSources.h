//===- RotationSources.h - What an element may be a rotation of -*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_ANALYSIS_ROTATIONSOURCES_H
#define ROPE_LIB_ANALYSIS_ROTATIONSOURCES_H

#include "rope/Analysis/ElementEvaluator.h"

namespace mlir::rope {

/// The values of the root's block that an element reads at two channels,
/// nearest first. Past one of the rotations that `isKnown` there may be the
/// source of what it is a part of; past two there is another rotation's.
SmallVector<Value> findSources(ElementEvaluator &evaluator, Value root,
                               const Expr *element,
                               function_ref<bool(Value)> isKnown);

} // namespace mlir::rope

#endif // ROPE_LIB_ANALYSIS_ROTATIONSOURCES_H
