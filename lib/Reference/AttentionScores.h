//===- AttentionScores.h - Scores of a query row ----------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of softmax attention which its one-step and its online form share.
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_LIB_REFERENCE_ATTENTIONSCORES_H
#define ROPE_LIB_REFERENCE_ATTENTIONSCORES_H

#include "rope/Reference/Attention.h"

namespace mlir::rope::reference {

/// The extents of canonical attention operands.
struct AttentionExtents {
  explicit AttentionExtents(const AttentionInputs &inputs);

  int64_t b, h, g, m, n, d, e;
};

/// Why the inputs do not fit each other, leaving the sink and the rotation of
/// the output aside.
MaybeError checkScoreInputs(const AttentionInputs &inputs);

/// Computes the rows of scores of one attention. The inputs must outlive it.
class AttentionScores {
public:
  explicit AttentionScores(const AttentionInputs &inputs);

  /// The visible keys of one query, and their scores.
  struct Row {
    std::vector<int64_t> keys;
    std::vector<double> scores;
  };

  /// Row m of query head g of key head h in batch b.
  Row getRow(int64_t b, int64_t h, int64_t g, int64_t m) const;

  /// Adds weight · value of a key to the e elements of `acc`.
  void accumulate(double weight, int64_t b, int64_t h, int64_t n,
                  double *acc) const;

  const AttentionExtents &getExtents() const { return extents; }

private:
  bool isVisible(int64_t b, int64_t m, int64_t n) const;
  double getDot(int64_t b, int64_t h, int64_t g, int64_t m, int64_t n) const;
  const double *getMaskElement(int64_t b, int64_t h, int64_t g, int64_t m,
                               int64_t n) const;

  const AttentionInputs &inputs;
  AttentionExtents extents;
  /// The operands after their rotations.
  Array query, key, value;
};

} // namespace mlir::rope::reference

#endif // ROPE_LIB_REFERENCE_ATTENTIONSCORES_H
