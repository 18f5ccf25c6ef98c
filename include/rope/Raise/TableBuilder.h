//===- TableBuilder.h - Tables of proven rotations --------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_RAISE_TABLEBUILDER_H
#define ROPE_RAISE_TABLEBUILDER_H

#include "mlir/IR/Builders.h"
#include "rope/Analysis/RotationMatch.h"

namespace mlir::rope {

/// A discardable attribute of a table with listed frequencies: the schedule
/// that they come from.
inline constexpr llvm::StringLiteral kScheduleAttrName = "rope.schedule";

/// A table that was built, and the dims of the root that its leading dims
/// follow.
struct BuiltTable {
  Value table;
  SmallVector<int64_t> along;
  /// What the table is, for remarks.
  std::string description;
};

/// The angle of a coefficient: magnitude · cos(angle) or magnitude ·
/// sin(angle).
struct TrigCoefficient {
  const Expr *angle;
  double magnitude;
  bool isSine;
  /// Whether the sign of the cosine or sine is turned.
  bool negative;
  /// The narrowest type that the coefficient was rounded to.
  Type type;
};

/// Reads a fully expanded coefficient as a cosine or sine.
std::optional<TrigCoefficient> getTrigCoefficient(const Expr *expr);

/// Checks a match against what its coefficients are known to be: refuted if
/// cosine and sine are known to be of different angles, or to have changed
/// places. `reason` says so.
LogicalResult checkCoefficients(ElementEvaluator &evaluator,
                                const RotationMatch &match,
                                std::string &reason);

/// Builds the table of a match: a `rope.table` where the model computes angles
/// as products of positions and constant frequencies, else a `rope.assemble`
/// of the tensors that hold the coefficients.
FailureOr<BuiltTable> buildTable(OpBuilder &builder, Location loc,
                                 ElementEvaluator &evaluator,
                                 const RotationMatch &match,
                                 std::string &reason);

} // namespace mlir::rope

#endif // ROPE_RAISE_TABLEBUILDER_H
