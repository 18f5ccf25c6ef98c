//===- TableMatch.h - What the coefficients of a rotation are ---*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Coefficients that a model computes are read as cosines and sines of products
// of positions and constant frequencies. Those that it holds as constants are
// compared with such cosines and sines, every row of them.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_ANALYSIS_TABLEMATCH_H
#define ROPE_ANALYSIS_TABLEMATCH_H

#include "rope/Analysis/RotationMatch.h"
#include "rope/IR/Rope.h"

#include <map>

namespace mlir::rope {

struct BakedPair;
struct BakedVerdict;

/// Frequencies that a model chooses by the length of the sequence.
struct LengthChoice {
  const Expr *length = nullptr;
  /// The frequencies of longer sequences than this are `beyond`.
  int64_t trained = 0;
  SmallVector<double> beyond;
};

/// The table of a rotation: pair i turns by positions[axes[i]] · frequency i.
struct MatchedTable {
  SmallVector<const Expr *> positions;
  /// The positions of each row along each axis, if they are listed; then
  /// `positions` are row numbers.
  SmallVector<SmallVector<int64_t>> listed;
  SmallVector<int64_t> axes;
  SmallVector<double> frequencies;
  std::optional<LengthChoice> choice;
  double magnitude = 1;
  AngleMode mode = AngleMode::Exact;
  /// The narrowest type that the coefficients were rounded to.
  Type type;
  /// The largest difference between the model's numbers and the table's, if
  /// the model holds numbers.
  std::optional<double> deviation;
};

/// What is known of the coefficients of a rotation.
struct TableVerdict {
  /// Why they are known to be of no rotary embedding.
  std::optional<std::string> refuted;
  /// The table, where it is known; otherwise the numbers are the model's own.
  std::optional<MatchedTable> table;
  /// Whether the table turns by the opposite of the match's angles.
  bool opposite = false;
  /// Why the table is not known, if that is so.
  std::string unknown;
};

/// Reads the coefficients of rotations. Remembers constants that it went
/// through.
class TableMatcher {
public:
  explicit TableMatcher(ElementEvaluator &evaluator);
  ~TableMatcher();

  TableVerdict match(const RotationMatch &rotation);

private:
  TableVerdict matchBaked(ArrayRef<BakedPair> pairs, Type type);

  ElementEvaluator &evaluator;
  std::map<std::vector<int64_t>, std::unique_ptr<BakedVerdict>> baked;
};

} // namespace mlir::rope

#endif // ROPE_ANALYSIS_TABLEMATCH_H
