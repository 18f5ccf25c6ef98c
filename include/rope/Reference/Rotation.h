//===- Rotation.h - Rotation of channel pairs -------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates rope.rotate and rope.rerotate.
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_REFERENCE_ROTATION_H
#define ROPE_REFERENCE_ROTATION_H

#include "rope/Reference/Array.h"

namespace mlir::rope::reference {

/// Which channels make up pair i, given an offset o and a distance h.
enum class Pairing {
  /// (o + i, o + i + h)
  Half,
  /// (o + 2i, o + 2i + 1)
  Interleaved,
};

/// How a table turns the last dim of an operand.
struct Rotary {
  /// The pairing of the channels that are read.
  Pairing read = Pairing::Half;
  /// The pairing of the channels that are written; as `read` when absent. The
  /// two must cover the same channels.
  std::optional<Pairing> write;
  /// o, the first channel that turns.
  int64_t offset = 0;
  /// h ≥ P, for the half pairing; P when absent.
  std::optional<int64_t> distance;
  /// along[k] is the operand's dim which dim k of the table follows; one for
  /// each dim of the table before the last two.
  std::vector<int64_t> along;
  /// The table has W = 2P entries per plane, one for each channel, in the order
  /// of the channels read: for the half pairing entries i and P + i, for the
  /// interleaved one entries 2i and 2i + 1 belong to the channels of pair i.
  bool full = false;
};

/// A table [lead…, 2, W] and how it is applied: one role of rope.attention.
struct RoleRotation {
  Array table;
  Rotary rotary;
};

/// The number P of pairs that the rotation turns.
int64_t getNumPairs(const RoleRotation &rotation);

/// Why an operand of this shape cannot be turned so, or nothing.
MaybeError findError(const Shape &input, const RoleRotation &rotation);

/// Turns each pair (u, v) of the last dim of `input` by its entry (c, s) of the
/// table:
///
///     y_u = u·c − v·s,   y_v = v·c + u·s
///
/// and for a full table y_u = u·c[u] − v·s[u], y_v = v·c[v] + u·s[v]. y_u and
/// y_v go to the first and second channel of the same pair of the write
/// pairing; other channels pass through.
Array rotate(const Array &input, const RoleRotation &rotation);

/// The opposite turn: as `rotate` with the conjugate table (s negated). Undoes
/// a rotation by a table of magnitude 1; in general R*R x = a²x.
Array rerotate(const Array &input, const RoleRotation &rotation);

} // namespace mlir::rope::reference

#endif // ROPE_REFERENCE_ROTATION_H
