//===- MaskClassifier.h - What a mask shows ---------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_ANALYSIS_MASKCLASSIFIER_H
#define ROPE_ANALYSIS_MASKCLASSIFIER_H

#include "rope/Analysis/AttentionMatch.h"

namespace mlir::rope {

/// The masks of an attention: what bands of keys around the query they are, and
/// the rest. A key n is in the band if −right ≤ m − n ≤ left.
struct MaskBands {
  bool causal = false;
  std::optional<int64_t> left, right;
  SmallVector<const Expr *> keep;
  SmallVector<const Expr *> addends;

  /// Whether there is no other mask.
  bool isBandOnly() const { return keep.empty() && addends.empty(); }
};

/// Sorts masks over the domain of a match. Conjunctions come apart. A finite
/// mask over a band counts as the band only where each row sees a key: there
/// are as many keys as rows, and all masks are bands.
MaskBands classifyMasks(ElementEvaluator &evaluator, const OperandMatch &match,
                        ArrayRef<MaskTerm> masks);

} // namespace mlir::rope

#endif // ROPE_ANALYSIS_MASKCLASSIFIER_H
