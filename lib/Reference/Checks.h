//===- Checks.h - Checks of operands ----------------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The checks that the evaluators of several operands share.
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_LIB_REFERENCE_CHECKS_H
#define ROPE_LIB_REFERENCE_CHECKS_H

#include "rope/Reference/Rotation.h"

namespace mlir::rope::reference {

/// Checks that the operand called `name` has the shape expected of it.
MaybeError checkShape(const char *name, const Shape &shape,
                      const Shape &expected);

/// The same for an operand that may be absent.
template <typename T>
MaybeError checkShape(const char *name,
                      const std::optional<BasicArray<T>> &array,
                      const Shape &expected) {
  return array ? checkShape(name, array->getShape(), expected) : std::nullopt;
}

/// Checks that a rotation, if there is one, fits an operand; `name` starts the
/// message.
MaybeError checkRole(const char *name, const Shape &operand,
                     const std::optional<RoleRotation> &rotation);

} // namespace mlir::rope::reference

#endif // ROPE_LIB_REFERENCE_CHECKS_H
