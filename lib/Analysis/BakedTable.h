//===- BakedTable.h - Tables that a model holds as numbers ------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_ANALYSIS_BAKEDTABLE_H
#define ROPE_LIB_ANALYSIS_BAKEDTABLE_H

#include "rope/Analysis/TableMatch.h"

namespace mlir::rope {

/// A column of a constant: the elements that a read has along the only dim
/// that it does not fix, times a factor.
struct BakedColumn {
  ElementsAttr elements;
  /// The index along that dim.
  const Expr *row = nullptr;
  int64_t rows = 0;
  /// The position of the first element, and the distance of two.
  int64_t start = 0, stride = 0;
  /// 1 for the imaginary parts of complex numbers.
  unsigned part = 0;
  double factor = 1;
  /// The number in every row, where there are no elements.
  double number = 0;

  SmallVector<double> load() const;
};

/// The column that a read of a constant is of, or that a number is, which has
/// no rows yet; nullopt if there is none, or if it is too long.
std::optional<BakedColumn> getBakedColumn(const Expr *read, unsigned part);

/// A column that is slope · p for each row, as a product in f32, where p is the
/// row number or a digit of it: (row / unit) mod radix, as in a grid.
struct ColumnSlope {
  double slope;
  int64_t unit = 1;
  /// 0 for the leading digit.
  int64_t radix = 0;

  int64_t getPosition(int64_t row) const {
    return radix ? row / unit % radix : row / unit;
  }
};

/// The slope of a column; nullopt for other columns.
std::optional<ColumnSlope> fitSlope(const BakedColumn &column);

/// The coefficients of a pair as columns, and the channels that it turns.
struct BakedPair {
  BakedColumn cos, sin;
  int64_t u, v;
};

/// What constants are: a table whose position at row 0 is `start`, or whose
/// positions are listed.
struct BakedVerdict {
  TableVerdict verdict;
  int64_t start = 0;
};

/// Compares constants of `type` with the cosines and sines of a table, every
/// row of them. The position is left out of the table. All columns have the
/// same rows.
BakedVerdict matchBakedTable(ArrayRef<BakedPair> pairs, FloatType type);

} // namespace mlir::rope

#endif // ROPE_LIB_ANALYSIS_BAKEDTABLE_H
