//===- LinearAttentionMatch.h - Proves linear attention ---------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linear attention is a product of three tensors, query, key and value,
// contracted over channels and keys in either order, divided by the same sum
// without the value. Rotations of query and key enter the product and not the
// divisor.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_ANALYSIS_LINEARATTENTIONMATCH_H
#define ROPE_ANALYSIS_LINEARATTENTIONMATCH_H

#include "rope/Analysis/AttentionMatch.h"
#include "rope/IR/Rope.h"

namespace mlir::rope {

/// A proven linear attention.
struct LinearAttentionMatch : OperandMatch {
  /// The contraction, which the root is or divides.
  Value product;
  FeatureMap featureMap = FeatureMap::Identity;
  bool causal = false;
  /// What is added to the divisor; nullopt if there is none.
  std::optional<double> normalizer;
  /// The rotations after the feature map, of the operands as they stand in the
  /// match; null if there are none.
  Rotation rotateQuery, rotateKey;
};

/// Matches a value, once rotations are ops, or says why it is no linear
/// attention.
FailureOr<LinearAttentionMatch>
matchLinearAttention(ElementEvaluator &evaluator, Value root,
                     AttentionFailure &why);

} // namespace mlir::rope

#endif // ROPE_ANALYSIS_LINEARATTENTIONMATCH_H
