//===- RotationBuilder.h - Proven rotations as ops --------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_RAISE_ROTATIONBUILDER_H
#define ROPE_RAISE_ROTATIONBUILDER_H

#include "rope/IR/Rope.h"
#include "rope/Raise/TableBuilder.h"

namespace mlir::rope {

/// How #rope.rotary states the pairs of a match: `base` is the first channel of
/// the source that takes part, and the attribute counts from it.
struct RotaryFit {
  int64_t base;
  RotaryAttr rotary;
};

/// States the pairs of a match (those of the table's dims `along`), or says
/// why no pairing has them.
FailureOr<RotaryFit> fitRotary(const RotationMatch &match,
                               ArrayRef<int64_t> along, std::string &reason);

/// Builds the value of the match's root from its source and `table`, in front
/// of the builder's insertion point.
Value buildRotation(OpBuilder &builder, Location loc,
                    const RotationMatch &match, Value source,
                    const BuiltTable &table, const RotaryFit &fit);

} // namespace mlir::rope

#endif // ROPE_RAISE_ROTATIONBUILDER_H
