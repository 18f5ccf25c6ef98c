//===- OnlineAttention.h - Attention with carried state ---------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates rope.online_attention: attention over one block of keys after
// another, or over blocks apart whose states are merged.
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_REFERENCE_ONLINEATTENTION_H
#define ROPE_REFERENCE_ONLINEATTENTION_H

#include "rope/Reference/Attention.h"

namespace mlir::rope::reference {

/// What the keys seen so far amount to. A row that has seen no key holds
/// (0, −inf, 0).
struct OnlineState {
  /// [b, h, g, m, e]: Σ exp(s_n − max) v_n, not divided.
  Array acc;
  /// [b, h, g, m]: the largest score, natural units.
  Array max;
  /// [b, h, g, m]: Σ exp(s_n − max).
  Array sum;
};

/// The state before any key, for rows [b, h, g, m] and e value channels.
OnlineState makeEmptyState(const Shape &rows, int64_t valueChannels);

/// Why the state cannot be updated by these inputs, or nothing. A sink and
/// `rerotateOutput` belong to `finalize` and are refused.
MaybeError findError(const AttentionInputs &inputs, const OnlineState &state);

/// Adds a block of keys to the state:
///
///     max' = max(max, s_n…), sum' = sum·exp(max − max') + Σ exp(s_n − max'),
///     acc' = acc·exp(max − max') + Σ exp(s_n − max') v_n
///
/// Scores and visibility are those of `attention`; n counts from 0 in the
/// block, so a later block needs `keyPositions` and a `keyLength` of its own.
OnlineState onlineAttention(const AttentionInputs &inputs, OnlineState state);

/// Why the states cannot be merged, or nothing.
MaybeError findMergeError(const OnlineState &lhs, const OnlineState &rhs);

/// The state of the keys of both; the order does not matter.
OnlineState merge(const OnlineState &lhs, const OnlineState &rhs);

/// Why the state cannot be finalized so, or nothing.
MaybeError findFinalizeError(const OnlineState &state,
                             const std::optional<Array> &sink,
                             const std::optional<RoleRotation> &rerotateOutput);

/// Divides by the sum and turns the result back: the results of `attention`
/// over all keys of the state. `sink` is [h, g].
AttentionResult
finalize(const OnlineState &state,
         const std::optional<Array> &sink = std::nullopt,
         const std::optional<RoleRotation> &rerotateOutput = std::nullopt);

} // namespace mlir::rope::reference

#endif // ROPE_REFERENCE_ONLINEATTENTION_H
