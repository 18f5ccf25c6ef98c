//===- RotationParts.h - rope.rotate and rope.rerotate alike ----*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_CODEGEN_CPU_ROTATIONPARTS_H
#define ROPE_LIB_CODEGEN_CPU_ROTATIONPARTS_H

#include "rope/IR/Rope.h"

namespace mlir::rope::cpu {

struct RotationParts {
  Value input, table, init;
  RotaryAttr rotary;
  bool opposite;
};

/// The parts of a rope.rotate or rope.rerotate; nullopt for another op.
std::optional<RotationParts> getRotationParts(Operation *op);

} // namespace mlir::rope::cpu

#endif // ROPE_LIB_CODEGEN_CPU_ROTATIONPARTS_H
