//===- Table.h - Rotation tables --------------------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates rope.table, rope.assemble and rope.compose. A table has the shape
// [lead…, 2, P]: plane 0 holds a·cos, plane 1 a·sin of one angle for each pair.
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_REFERENCE_TABLE_H
#define ROPE_REFERENCE_TABLE_H

#include "rope/Reference/Array.h"
#include "rope/Reference/Frequencies.h"
#include <variant>

namespace mlir::rope::reference {

/// Positions in tokens, integers or fractions.
using Positions = std::variant<Array, IntArray>;

/// How an angle is made from a position p and a frequency ω. f32(x) rounds to
/// the nearest f32, ties to even, as NumPy's `astype(float32)` does; each
/// product or quotient of f32 values is rounded to f32 again. cos and sin of
/// the resulting angle are not rounded to f32.
enum class AngleMode {
  /// The real product p·ω of the stored numbers.
  Exact,
  /// f32(f32(p) · f32(ω)); ω is the f64 frequency. An i64 position is rounded
  /// to
  /// f32 directly, not by way of f64.
  F32Angle,
  /// f32(f32(p) / f32(1/ω)); the f64 quotient 1/ω is rounded to f64, then to
  /// f32. For ω = 0 it is infinite and the angle 0.
  F32Quotient,
};

/// Operands of rope.table.
struct TableInputs {
  /// [lead…], or [A, lead…] with `axes`.
  Positions positions;
  /// ω of each of the P pairs, and the magnitude.
  Frequencies frequencies;
  /// The position axis 0 … A − 1 of each pair. Empty: there is one axis and the
  /// positions have no axis dim.
  std::vector<int64_t> axes = {};
  AngleMode mode = AngleMode::Exact;
};

/// Why the inputs make no table, or nothing.
MaybeError findError(const TableInputs &inputs);

/// table[l…, 0, i] = a·cos(t), table[l…, 1, i] = a·sin(t) with the angle t of
/// position p[axis_i, l…] and ω_i.
///
/// In exact mode the product p·ω is formed without error, as an unevaluated
/// sum, and reduced by the C library's long double functions, so the error is
/// that of one rounding of the result to f64 plus a·2^−60, for all finite
/// positions: |Δ| ≤ 1.2e-16·a. (Where long double is f64: |Δ| ≤ 4e-16·a.)
Array makeTable(const TableInputs &inputs);

/// Why cos and sin make no table, or nothing.
MaybeError findAssembleError(const Array &cos, const Array &sin);

/// [lead…, W] and [lead…, W] → [lead…, 2, W].
Array assemble(const Array &cos, const Array &sin);

/// Why the tables cannot be composed, or nothing.
MaybeError findComposeError(const Array &lhs, const Array &rhs);

/// The product of two tables of one shape [lead…, 2, P], each pair of entries
/// read as the complex number cos + i·sin: angles add and magnitudes multiply.
/// With `inverse` lhs is divided by rhs: angles subtract, magnitudes divide.
Array compose(const Array &lhs, const Array &rhs, bool inverse = false);

} // namespace mlir::rope::reference

#endif // ROPE_REFERENCE_TABLE_H
