//===- Movement.h - Ops that move whole elements ----------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transposes, repeats and reshapes: where the dims of a value are in another,
// and what becomes of a rotation there.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_IR_MOVEMENT_H
#define ROPE_IR_MOVEMENT_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "rope/IR/Rope.h"

namespace mlir::rope {

/// For each dim of a value, the dim of another that runs along with it.
using DimMap = SmallVector<std::optional<int64_t>>;

/// Whether each element of the result is an element of the one input: a
/// transpose, a broadcast, or a generic op that does both.
bool isCopy(linalg::LinalgOp op);

/// Where the dims of the result of an op of one input and one output are in its
/// input; fails for maps that are not projected permutations (the constant 0 of
/// a repeated dim of extent 1 may be in the input's).
FailureOr<DimMap> getDimsOfCopy(linalg::LinalgOp copy);

/// The one dim of a group that is not of extent 1, or the last of the group.
std::optional<int64_t> getOnlyDim(ArrayRef<int64_t> group,
                                  ArrayRef<int64_t> shape);

/// Where the dims of a collapsed value are in the expanded one.
DimMap getDimsOfCollapsed(ArrayRef<ReassociationIndices> groups,
                          ArrayRef<int64_t> expanded);

/// Where the dims of an expanded value are in the collapsed one.
DimMap getDimsOfExpanded(ArrayRef<ReassociationIndices> groups,
                         ArrayRef<int64_t> expanded);

/// The rotary of a source, given where the dims of the rotated value are in it.
/// Fails if the channels or a dim that the table follows are not a dim of the
/// source.
FailureOr<RotaryAttr> mapRotary(RotaryAttr rotary, const DimMap &dims,
                                Value source);

/// An uninitialised tensor of the shape of another.
Value createEmptyLike(OpBuilder &builder, Location loc, Value tensor);

} // namespace mlir::rope

#endif // ROPE_IR_MOVEMENT_H
