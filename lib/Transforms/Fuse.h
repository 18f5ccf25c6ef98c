//===- Fuse.h - Shared by the rules of rope-fuse ----------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_TRANSFORMS_FUSE_H
#define ROPE_LIB_TRANSFORMS_FUSE_H

#include "mlir/IR/Remarks.h"
#include "rope/IR/Movement.h"

namespace mlir::rope {

/// Tells by a remark what became part of an op.
inline void reportFused(Operation *op, StringRef rule, const Twine &text) {
  remark::passed(op->getLoc(),
                 remark::RemarkOpts::name(rule).category("rope-fuse"))
      << text.str();
}

/// An op that moves the elements of one tensor to another, and may change their
/// type on the way.
struct Movement {
  Value source;
  /// Where the dims of the result are in the source.
  DimMap dims;
};

/// Reads a linalg op as a movement; fails for ops that compute, or whose maps
/// are more than permutations and repeats.
FailureOr<Movement> matchMovement(Operation *op);

/// Whether scores and sums are in f64, for operands of these types.
bool computesInF64(TypeRange qkv);

/// Why a rotation of the operand of a role cannot be part of attention; empty
/// if it can.
std::string whyNotFused(AttentionLikeOpInterface op, OperandRole role,
                        RotateOp rotate);

/// Why a rotation of the output cannot; empty if it can.
std::string whyNotFused(AttentionOp op, RerotateOp rerotate);

/// Whether an op may take the place of `consumer`, its only user: nothing in
/// between needs another of its results, and no work enters a loop.
LogicalResult canSinkTo(Operation *op, Operation *consumer);

} // namespace mlir::rope

#endif // ROPE_LIB_TRANSFORMS_FUSE_H
