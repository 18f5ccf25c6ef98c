//===- TableBuilder.h - Tables of proven rotations --------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_RAISE_TABLEBUILDER_H
#define ROPE_RAISE_TABLEBUILDER_H

#include "mlir/IR/Builders.h"
#include "rope/Analysis/ScheduleFit.h"
#include "rope/Analysis/TableMatch.h"

namespace mlir::rope {

/// A table that was built, and the dims of the root that its leading dims
/// follow.
struct BuiltTable {
  Value table;
  SmallVector<int64_t> along;
  /// What the table is, for remarks.
  std::string description;
};

/// Builds the table of a match: a `rope.table` where its angles are known, else
/// a `rope.assemble` of the tensors that hold the coefficients. With
/// `exactAngles` the angles of a table are those of real numbers.
FailureOr<BuiltTable>
buildTable(OpBuilder &builder, Location loc, ElementEvaluator &evaluator,
           const RotationMatch &match, const TableVerdict &verdict,
           ScheduleFits &fits, bool exactAngles, std::string &reason);

} // namespace mlir::rope

#endif // ROPE_RAISE_TABLEBUILDER_H
