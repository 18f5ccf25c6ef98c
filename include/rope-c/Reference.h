//===- rope-c/Reference.h - The f64 reference evaluator --------- -*- C -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates the ops of the dialect by plain loops in f64. All arrays are f64
// unless said otherwise; see rope/Reference for the formulas. Results are
// destroyed by the caller; on failure they are null and `error` holds a message
// that the caller frees by ropeStringDestroy.
//
// Extents: b batches, h key heads, g query heads per key head, m queries, n
// keys, d channels of queries and keys, e of values.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_C_REFERENCE_H
#define ROPE_C_REFERENCE_H

#include "rope-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How an angle is made from a position and a frequency.
typedef enum RopeAngleMode ROPE_CAPI_INT {
  /// The real product.
  ROPE_ANGLE_EXACT,
  /// f32(f32(p)·f32(ω))
  ROPE_ANGLE_F32,
  /// f32(f32(p)/f32(1/ω))
  ROPE_ANGLE_F32_QUOTIENT
} RopeAngleMode;

typedef enum RopePairing ROPE_CAPI_INT {
  /// (o + i, o + i + distance)
  ROPE_PAIRING_HALF,
  /// (o + 2i, o + 2i + 1)
  ROPE_PAIRING_INTERLEAVED
} RopePairing;

typedef enum RopeFeatureMap ROPE_CAPI_INT {
  ROPE_FEATURE_IDENTITY,
  ROPE_FEATURE_ELU_PLUS_ONE,
  ROPE_FEATURE_RELU,
  ROPE_FEATURE_EXP
} RopeFeatureMap;

/// A table [lead…, 2, W] and how it turns the last dim of an operand.
typedef struct RopeRotation {
  RopeBuffer table;
  RopePairing read, write;
  /// The first channel that turns.
  int64_t offset;
  /// For the half pairing; negative: as many as there are pairs.
  int64_t distance;
  /// The operand's dims that the leading dims of the table follow.
  const int64_t *along;
  int64_t numAlong;
  /// The table has an entry for each channel instead of each pair.
  bool full;
} RopeRotation;

/// Operands of rope.attention. A null pointer leaves one out.
typedef struct RopeAttentionInputs {
  RopeBuffer query; ///< [b, h, g, m, d]
  RopeBuffer key;   ///< [b, h, n, d]
  RopeBuffer value; ///< [b, h, n, e]
  double scale;
  /// bool (true: visible) or f64 (added), [b, h, g, m, n], extents may be 1.
  const RopeBuffer *mask;
  const RopeBuffer *queryPositions; ///< i64 [b, m]
  const RopeBuffer *keyPositions;   ///< i64 [b, n]
  const RopeBuffer *keyLength;      ///< i64 [b]
  const RopeBuffer *sink;           ///< [h, g]
  bool causal;
  /// -right <= qpos - kpos <= left; -1 is unbounded.
  int64_t windowLeft, windowRight;
  /// c·tanh(s/c) if positive.
  double softcap;
  const RopeRotation *rotateQuery, *rotateKey, *rotateValue, *rerotateOutput;
} RopeAttentionInputs;

/// Operands of rope.linear_attention. A null pointer leaves one out.
typedef struct RopeLinearAttentionInputs {
  RopeBuffer query; ///< [b, h, g, m, d]
  RopeBuffer key;   ///< [b, h, n, d]
  RopeBuffer value; ///< [b, h, n, e]
  RopeFeatureMap featureMap;
  bool causal;
  /// Divide by the normaliser plus `normalizerEps`.
  bool normalize;
  double normalizerEps;
  const RopeRotation *rotateQuery, *rotateKey;
  const RopeBuffer *kvState; ///< [b, h, d, e]
  const RopeBuffer *kSum;    ///< [b, h, d]
} RopeLinearAttentionInputs;

/// The frequencies, f64 [pairs] in radians per token, of a schedule written as
/// an attribute such as `#rope.default<1.0e4>`, and the factor of cos and sin.
/// `length` is the current length in tokens, negative when unknown.
ROPE_CAPI_EXPORTED RopeArray ropeGetFrequencies(const char *attribute,
                                                int64_t pairs, int64_t length,
                                                double *magnitude,
                                                char **error);

/// rope.table: positions f64 or i64 [lead…], or [A, lead…] with `axes`, which
/// names the axis of each pair → [lead…, 2, pairs]. `axes` may be null.
ROPE_CAPI_EXPORTED RopeArray ropeReferenceTable(
    RopeBuffer positions, const double *frequencies, int64_t pairs,
    double magnitude, const int64_t *axes, RopeAngleMode mode, char **error);

/// rope.assemble: cos and sin [lead…, W] → [lead…, 2, W].
ROPE_CAPI_EXPORTED RopeArray ropeReferenceAssemble(RopeBuffer cos,
                                                   RopeBuffer sin,
                                                   char **error);

/// rope.compose: the product of two tables, or with `inverse` the quotient.
ROPE_CAPI_EXPORTED RopeArray ropeReferenceCompose(RopeBuffer lhs,
                                                  RopeBuffer rhs, bool inverse,
                                                  char **error);

/// rope.rotate, or with `back` rope.rerotate.
ROPE_CAPI_EXPORTED RopeArray ropeReferenceRotate(RopeBuffer input,
                                                 const RopeRotation *rotation,
                                                 bool back, char **error);

/// rope.attention → output [b, h, g, m, e] and lse [b, h, g, m].
ROPE_CAPI_EXPORTED bool
ropeReferenceAttention(const RopeAttentionInputs *inputs, RopeArray *output,
                       RopeArray *lse, char **error);

/// rope.linear_attention → output [b, h, g, m, e] and the states [b, h, d, e]
/// and [b, h, d] with the keys of this chunk.
ROPE_CAPI_EXPORTED bool
ropeReferenceLinearAttention(const RopeLinearAttentionInputs *inputs,
                             RopeArray *output, RopeArray *kvState,
                             RopeArray *kSum, char **error);

#ifdef __cplusplus
}
#endif

#endif // ROPE_C_REFERENCE_H
