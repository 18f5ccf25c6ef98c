//===- LinearAttention.h - Linear attention ---------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates rope.linear_attention (Su et al., RoFormer): a feature map in place
// of the softmax, where only the numerator is rotated. Extents as in
// Attention.h.
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_REFERENCE_LINEARATTENTION_H
#define ROPE_REFERENCE_LINEARATTENTION_H

#include "rope/Reference/Array.h"
#include "rope/Reference/Rotation.h"

namespace mlir::rope::reference {

/// φ, applied to each channel of queries and keys.
enum class FeatureMap {
  /// x
  Identity,
  /// elu(x) + 1: x + 1 for x > 0, else exp(x).
  EluPlusOne,
  /// max(x, 0)
  Relu,
  /// exp(x)
  Exp,
};

/// Operands and attributes of rope.linear_attention, in canonical dim order.
/// The `along` of a rotation counts the dims written here.
struct LinearAttentionInputs {
  /// [b, h, g, m, d]
  Array query;
  /// [b, h, n, d]
  Array key;
  /// [b, h, n, e]
  Array value;
  FeatureMap featureMap = FeatureMap::EluPlusOne;
  /// Query m sees the keys n ≤ m of the chunk; else all of them. The states are
  /// always seen.
  bool causal = false;
  /// Divide by the normaliser plus this number; do not divide when absent.
  std::optional<double> normalizerEps;
  /// Turn φ(query) and φ(key) in the numerator.
  std::optional<RoleRotation> rotateQuery, rotateKey;
  /// [b, h, d, e]: Σ R(n)φ(k_n) v_nᵀ of earlier chunks; 0 when absent.
  std::optional<Array> kvState;
  /// [b, h, d]: Σ φ(k_n) of earlier chunks; 0 when absent.
  std::optional<Array> kSum;
};

/// Results of rope.linear_attention.
struct LinearAttentionResult {
  /// [b, h, g, m, e]
  Array output;
  /// [b, h, d, e]: with the keys of this chunk.
  Array kvState;
  /// [b, h, d]: with the keys of this chunk.
  Array kSum;
};

/// Why the inputs cannot be evaluated, or nothing.
MaybeError findError(const LinearAttentionInputs &inputs);

/// For each b, h, g, m, with S and z the states read:
///
///     num_m = (R(m)φ(q_m))ᵀ S + Σ_n ⟨R(m)φ(q_m), R(n)φ(k_n)⟩ v_n
///     den_m = ⟨φ(q_m), z⟩ + Σ_n ⟨φ(q_m), φ(k_n)⟩
///     o_m = num_m / (den_m + eps), or num_m without a normaliser
///
/// R is what `rotateQuery` and `rotateKey` say. The states written include all
/// keys of the chunk.
LinearAttentionResult linearAttention(const LinearAttentionInputs &inputs);

} // namespace mlir::rope::reference

#endif // ROPE_REFERENCE_LINEARATTENTION_H
