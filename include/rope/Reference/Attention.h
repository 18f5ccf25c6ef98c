//===- Attention.h - Softmax attention --------------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates rope.attention. Extents: b batches, h key heads, g query heads per
// key head, m queries, n keys, d channels of queries and keys, e of values.
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_REFERENCE_ATTENTION_H
#define ROPE_REFERENCE_ATTENTION_H

#include "rope/Reference/Array.h"
#include "rope/Reference/Rotation.h"

namespace mlir::rope::reference {

/// What the elements of a mask mean.
enum class MaskKind {
  /// Nonzero: the key is visible.
  Keep,
  /// Added to the score; −inf hides the key.
  Additive,
};

/// Visible distances in tokens: −right ≤ qpos − kpos ≤ left. −1: unbounded.
struct Window {
  int64_t left = -1;
  int64_t right = -1;
};

/// Operands and attributes of rope.attention, in canonical dim order. The
/// `along` of a rotation counts the dims written here.
struct AttentionInputs {
  /// [b, h, g, m, d]
  Array query;
  /// [b, h, n, d]
  Array key;
  /// [b, h, n, e]
  Array value;
  /// Multiplies ⟨q, k⟩.
  double scale = 1.0;
  /// [b, h, g, m, n], where each extent may also be 1.
  std::optional<Array> mask;
  MaskKind maskKind = MaskKind::Keep;
  /// [b, m]: qpos in tokens; m when absent.
  std::optional<IntArray> queryPositions;
  /// [b, n]: kpos in tokens; n when absent.
  std::optional<IntArray> keyPositions;
  /// [b]: only the first so many keys exist; all of them when absent.
  std::optional<IntArray> keyLength;
  /// [h, g]: a logit that only enters the denominator.
  std::optional<Array> sink;
  /// Only keys with kpos ≤ qpos are visible.
  bool causal = false;
  std::optional<Window> window;
  /// c > 0: scores become c·tanh(s/c) before the mask.
  std::optional<double> softcap;
  /// Turn the query, key and value at their positions.
  std::optional<RoleRotation> rotateQuery, rotateKey, rotateValue;
  /// Turns the output [b, h, g, m, e] back (RoPER).
  std::optional<RoleRotation> rerotateOutput;
};

/// Results of rope.attention.
struct AttentionResult {
  /// [b, h, g, m, e]
  Array output;
  /// [b, h, g, m]: ln Σ exp(score), natural, with the sink.
  Array lse;
};

/// Why the inputs cannot be evaluated, or nothing.
MaybeError findError(const AttentionInputs &inputs);

/// With q = rotateQuery(query) and so on, for each b, h, g, m:
///
///     s_n = softcap(scale·⟨q_m, k_n⟩) [+ mask_mn]
///     o_m = rerotateOutput(Σ_n exp(s_n) v_n / (Σ_n exp(s_n) [+ exp(sink)]))
///     lse_m = ln(Σ_n exp(s_n) [+ exp(sink)])
///
/// The sums run over the visible keys: n < keyLength, kept by the mask, kpos ≤
/// qpos if causal, inside the window. Nothing of another key is used, so a NaN
/// there has no effect. A score of −inf hides its key as the mask does. A row
/// without a visible key gives output 0 and lse −inf, or lse = sink. A NaN in a
/// visible key, or a score of +inf, gives NaN.
AttentionResult attention(const AttentionInputs &inputs);

} // namespace mlir::rope::reference

#endif // ROPE_REFERENCE_ATTENTION_H
