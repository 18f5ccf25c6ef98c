//===- AttentionEdits.h - Changes of attention ops by role ------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The caller tells its rewriter of each of these changes.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_TRANSFORMS_ATTENTIONEDITS_H
#define ROPE_LIB_TRANSFORMS_ATTENTIONEDITS_H

#include "mlir/IR/PatternMatch.h"
#include "rope/IR/Rope.h"

namespace mlir::rope {

/// The operand of a role that has no more than one: all but the inits.
MutableOperandRange getMutableRole(AttentionLikeOpInterface op,
                                   OperandRole role);

/// Sets the operand of a role, and what its dims are.
void setRoleOperand(AttentionLikeOpInterface op, OperandRole role,
                    Value operand, ArrayRef<DimLabel> labels);

/// Names the dims of a role's operand in the layout. What is the default for
/// an operand's type is left out.
void setLabels(AttentionLikeOpInterface op, OperandRole role,
               ArrayRef<DimLabel> labels);

/// Rotates a role (query, key, value or output) that is not rotated.
void addRotation(AttentionLikeOpInterface op, OperandRole role, Value table,
                 RotaryAttr rotary);

/// Replaces the rotary of a role that is rotated.
void setRotary(AttentionLikeOpInterface op, OperandRole role,
               RotaryAttr rotary);

/// The op again, with another output (its first init and result), in front of
/// the builder's insertion point. The layout is the caller's to set.
AttentionOp cloneWithOutput(OpBuilder &builder, AttentionOp op, Value init);

/// Replaces the only user of an op's output by the output of another op that
/// stands in front of it, and the other results by its others.
void replaceConsumer(RewriterBase &rewriter, AttentionOp op,
                     Operation *consumer, AttentionOp by);

} // namespace mlir::rope

#endif // ROPE_LIB_TRANSFORMS_ATTENTIONEDITS_H
