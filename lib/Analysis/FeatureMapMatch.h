//===- FeatureMapMatch.h - Feature maps of linear attention -----*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_ANALYSIS_FEATUREMAPMATCH_H
#define ROPE_LIB_ANALYSIS_FEATUREMAPMATCH_H

#include "rope/Analysis/ElementEvaluator.h"
#include "rope/IR/Rope.h"

namespace mlir::rope {

/// An element as a feature map of another.
struct FeatureMapMatch {
  FeatureMap map;
  const Expr *input;
};

/// Finds what an element is a feature map of; the element itself, by the
/// identity, if it is of nothing.
///
/// Spellings of one function are many: each part of the expression is tried as
/// the argument, and the function compared with the known ones at numbers of
/// all magnitudes.
FeatureMapMatch matchFeatureMap(ElementEvaluator &evaluator,
                                const Expr *element);

} // namespace mlir::rope

#endif // ROPE_LIB_ANALYSIS_FEATUREMAPMATCH_H
