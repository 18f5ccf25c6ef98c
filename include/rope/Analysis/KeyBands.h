//===- KeyBands.h - Masks that are bands of keys ----------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_ANALYSIS_KEYBANDS_H
#define ROPE_ANALYSIS_KEYBANDS_H

#include "rope/Analysis/ElementEvaluator.h"

namespace mlir::rope {

/// What a mask shows: bands of keys around the row, and the rest. A key n is in
/// the band of row m if −right ≤ p − n ≤ left, where p is m, or queryStart + m.
struct KeyBands {
  std::optional<int64_t> left, right;
  const Expr *queryStart = nullptr;
  /// The number of keys that any row may see; null if all.
  const Expr *keyLength = nullptr;
  /// Truths that are neither.
  SmallVector<const Expr *> keep;

  bool hasBand() const { return left || right; }
  /// Whether there is more than the rest.
  bool isFound() const { return hasBand() || keyLength; }
};

/// The band of a constant mask: sides that hide no key are missing.
struct ConstantBand {
  std::optional<int64_t> left, right;
};

/// The bands of constants that were looked at; nullopt for those without.
using ConstantBands = llvm::DenseMap<const Expr *, std::optional<ConstantBand>>;

/// Finds bands among the terms of a mask. Conjunctions come apart.
class KeyBandFinder {
public:
  /// `row` and `key` are the symbols of m and n; null if the mask is the same
  /// for all. `constants` may serve several masks.
  KeyBandFinder(ElementEvaluator &evaluator, const Expr *row, const Expr *key,
                ConstantBands &constants)
      : context(&evaluator.getContext()), row(row), key(key),
        constants(&constants) {}

  /// Lets bands start at a position that is computed, and keys have a length if
  /// `length`, where these depend on no symbol but `batch` (which may be null).
  void allowPositions(const Expr *batch, bool length);

  /// Adds a truth, expanded fully.
  void addTruth(const Expr *truth) { addTruth(truth, /*negated=*/false); }

  /// Adds a read of a constant that is a band: true in it and false elsewhere,
  /// or 0 and at most `hidden`. False, and nothing is added, for others.
  bool addConstant(const Expr *read, double hidden);

  const KeyBands &getBands() const { return bands; }

private:
  void addTruth(const Expr *truth, bool negated);
  bool addComparison(const Expr *truth, bool negated);
  bool addDifference(const Expr *difference, int64_t most);
  bool addBand(std::optional<int64_t> &side, const Expr *start, int64_t most);
  bool addKeyLength(const Expr *length);
  bool isPosition(const Expr *expr);

  ExprContext *context;
  const Expr *row;
  const Expr *key;
  ConstantBands *constants;
  bool positions = false, lengths = false;
  const Expr *batch = nullptr;
  KeyBands bands;
};

} // namespace mlir::rope

#endif // ROPE_ANALYSIS_KEYBANDS_H
