//===- Checks.cpp - Checks of operands ------------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages of the checks that the evaluators share.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

using namespace mlir::rope::reference;

MaybeError mlir::rope::reference::checkShape(const char *name,
                                             const Shape &shape,
                                             const Shape &expected) {
  if (shape == expected)
    return std::nullopt;
  return std::string(name) + " has shape " + toString(shape) + ", expected " +
         toString(expected);
}

MaybeError
mlir::rope::reference::checkRole(const char *name, const Shape &operand,
                                 const std::optional<RoleRotation> &rotation) {
  if (!rotation)
    return std::nullopt;
  if (MaybeError error = findError(operand, *rotation))
    return std::string(name) + ": " + *error;
  return std::nullopt;
}
