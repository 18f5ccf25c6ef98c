//===- AttentionRoles.h - Labels and extents to be verified -----*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What AttentionDomain.cpp knows of operands, for verifiers.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_IR_ATTENTIONROLES_H
#define ROPE_LIB_IR_ATTENTIONROLES_H

#include "rope/IR/Rope.h"

namespace mlir::rope {

/// The labels of a role's operand: none if the op has no such operand. Fails if
/// neither the layout nor a default fits it.
FailureOr<DimLabels> resolveLabels(AttentionLikeOpInterface op,
                                   OperandRole role);

/// The static extent of dims (hg), kDynamic if no operand says.
int64_t getStaticGroupExtent(AttentionLikeOpInterface op);

} // namespace mlir::rope

#endif // ROPE_LIB_IR_ATTENTIONROLES_H
