//===- AttentionBuilder.h - Proven attentions as ops ------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_RAISE_ATTENTIONBUILDER_H
#define ROPE_RAISE_ATTENTIONBUILDER_H

#include "mlir/IR/Builders.h"
#include "rope/Analysis/LinearAttentionMatch.h"

namespace mlir::rope {

/// Builds the value of a match's root as a `rope.attention` (its masks as
/// `causal`, as a window, or as tensors), in front of the builder's insertion
/// point. Fails, with a reason, if a mask or the result cannot be built.
FailureOr<Value> buildAttention(OpBuilder &builder, Location loc,
                                ElementEvaluator &evaluator,
                                const AttentionMatch &match,
                                std::string &reason);

/// The same as a `rope.linear_attention`.
FailureOr<Value> buildLinearAttention(OpBuilder &builder, Location loc,
                                      ElementEvaluator &evaluator,
                                      const LinearAttentionMatch &match,
                                      std::string &reason);

} // namespace mlir::rope

#endif // ROPE_RAISE_ATTENTIONBUILDER_H
