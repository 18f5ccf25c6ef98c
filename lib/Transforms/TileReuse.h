//===- TileReuse.h - What several tiles would compute again -----*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_TRANSFORMS_TILEREUSE_H
#define ROPE_LIB_TRANSFORMS_TILEREUSE_H

#include "mlir/IR/PatternMatch.h"
#include "rope/IR/Rope.h"

namespace mlir::rope {

/// Takes those rotations out of an attention op on tensors that more than two
/// of its tiles of these sizes would do again for the same rows: the keys of
/// many tiles of queries, the queries of many blocks of keys. They are then
/// done once, in front of the loops; in the type of scores, so that nothing is
/// rounded.
void hoistRotations(RewriterBase &rewriter, AttentionLikeOpInterface op,
                    ArrayRef<int64_t> sizes);

/// Whether a tile may compute its part of a rotation or a table that an operand
/// of the op comes from, because no more than two tiles read it.
bool isTileLocal(AttentionLikeOpInterface op, ArrayRef<int64_t> sizes,
                 OpResult producer);

} // namespace mlir::rope

#endif // ROPE_LIB_TRANSFORMS_TILEREUSE_H
