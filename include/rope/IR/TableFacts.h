//===- TableFacts.h - What is known of tables and their uses ----*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The preconditions of the algebra of rotations. Each question is answered from
// the ops that produce a table; "no" means that it is not known.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_IR_TABLEFACTS_H
#define ROPE_IR_TABLEFACTS_H

#include "rope/IR/Rope.h"

namespace mlir::rope {

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// A schedule has no more pairs than this: the frequency of each is a constant
/// in the code of a table.
constexpr int64_t kMaxPairs = 1 << 20;

/// A discardable attribute of a table with listed frequencies: the schedule
/// that they come from.
inline constexpr llvm::StringLiteral kScheduleAttrName = "rope.schedule";

/// No attribute lists the frequencies of more pairs than this: heads have a few
/// hundred at most.
constexpr int64_t kMaxListedPairs = 4096;

/// Number of entries W of each plane of a table [lead…, 2, W].
int64_t getTableWidth(Value table);

/// The frequencies of a table's pairs in radians per token. Nullopt if they
/// depend on a length, or if there are more than kMaxListedPairs.
std::optional<SmallVector<double>> getConstantFrequencies(TableOp table);

/// The list of these frequencies; a magnitude of 1 is left out.
ExplicitAttr getExplicit(MLIRContext *context, ArrayRef<double> frequencies,
                         double magnitude);

/// Whether every entry has the modulus 1 in real arithmetic, whatever its
/// angle: the table of a schedule with magnitude 1, products of such tables,
/// and their slices and casts. The angle mode does not matter, as
/// cos² t + sin² t = 1 for every t; the rounding of the entries is one that a
/// refinement may remove.
bool isUnitTable(Value table);

/// Whether every entry is known to be a·(cos, sin) of some angle with a > 0, so
/// that it has an inverse.
bool isInvertibleTable(Value table);

/// Whether a table may have angles that are rounded to f32 by definition; a
/// table of unknown origin has its numbers and no angles.
bool mayHaveF32Angles(Value table);

/// Whether every entry is 1: the frequencies or the positions are 0, and the
/// magnitude is 1.
bool isIdentityTable(Value table);

//===----------------------------------------------------------------------===//
// Uses of tables
//===----------------------------------------------------------------------===//

/// A table operand and the attribute that says how it is applied.
struct RotationSite {
  OpOperand *table;
  StringAttr rotaryName;
  /// What is turned, for the attention ops.
  std::optional<OperandRole> role;

  RotaryAttr getRotary() const;
  /// Sets the rotary; the caller tells its rewriter.
  void setRotary(RotaryAttr rotary) const;
  int64_t getNumPairs() const;
};

/// The table operands of a rotate, a rerotate or an attention op.
SmallVector<RotationSite> getRotationSites(Operation *op);

/// Erases a rotation of an attention op: its table and its rotary. The caller
/// tells its rewriter.
void eraseRotation(const RotationSite &site);

/// Erases one operand of an optional group of an op with segments.
void eraseOptionalOperand(Operation *op, unsigned index);

/// Whether pair i as `reader` reads it is pair i as `writer` wrote it, for each
/// of the pairs.
bool readsWhatIsWritten(RotaryAttr reader, RotaryAttr writer, int64_t pairs);

/// Whether pair i stands in the same channels before and after.
bool keepsChannels(RotaryAttr rotary, int64_t pairs);

} // namespace mlir::rope

#endif // ROPE_IR_TABLEFACTS_H
