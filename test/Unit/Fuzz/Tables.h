//===- Tables.h - Random tables for rotations -------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_TEST_UNIT_FUZZ_TABLES_H
#define ROPE_TEST_UNIT_FUZZ_TABLES_H

#include "Case.h"

#include "rope/Reference/Rotation.h"

namespace mlir::rope::test {

/// A table [lead…, 2, W] and what separates it from the reference's.
struct DrawnTable {
  Operand table;
  /// The largest |entry| that rotations should reckon with.
  double magnitude = 1;
  /// How far entries may be off `table.numbers`: 0 for an argument.
  double error = 0;
};

/// A table for a rotation: an argument, or made in the function by rope.table,
/// rope.assemble or rope.compose. A `full` one has independent entries.
DrawnTable drawTable(CaseBuilder &b, const reference::Shape &lead,
                     int64_t width, bool full);

/// A rotation of an operand of this shape.
struct DrawnRotation {
  DrawnTable table;
  RotaryAttr attr;
  reference::Rotary rotary;
};

/// Which channels turn, and along which dims. The last extent is at least 2.
DrawnRotation drawRotation(CaseBuilder &b, const reference::Shape &shape);

} // namespace mlir::rope::test

#endif // ROPE_TEST_UNIT_FUZZ_TABLES_H
