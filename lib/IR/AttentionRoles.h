//===- AttentionRoles.h - What the roles of attention may hold --*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What AttentionDomain.cpp knows of roles and verifiers want to know, too.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_IR_ATTENTIONROLES_H
#define ROPE_LIB_IR_ATTENTIONROLES_H

#include "rope/IR/Rope.h"

namespace mlir::rope {

/// What a role may hold: its name, the letters that it may have, those that it
/// must have, and its default letters, outermost first.
struct RoleInfo {
  StringRef name;
  StringRef allowed;
  StringRef required;
  StringRef defaults;
};

RoleInfo getInfo(OperandRole role);

/// The labels of a role's operand: none if the op has no such operand. Fails if
/// neither the layout nor a default fits it.
FailureOr<DimLabels> resolveLabels(AttentionLikeOpInterface op,
                                   OperandRole role);

/// The static extent of dims (hg), kDynamic if no operand says.
int64_t getStaticGroupExtent(AttentionLikeOpInterface op);

} // namespace mlir::rope

#endif // ROPE_LIB_IR_ATTENTIONROLES_H
