//===- ElementTypes.h - What the ops take for elements ----------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The constraints on element types in RopeOpBase.td, for those that make ops of
// whatever a model has.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_IR_ELEMENTTYPES_H
#define ROPE_IR_ELEMENTTYPES_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::rope {

/// Rope_Float: the numbers that ops take.
inline bool isOpFloat(Type type) {
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

/// Rope_MaskElement.
inline bool isOpMask(Type type) {
  return type.isSignlessInteger(1) || isOpFloat(type);
}

/// Rope_PositionElement.
inline bool isOpPosition(Type type) {
  return type.isSignlessInteger(8) || type.isSignlessInteger(16) ||
         type.isSignlessInteger(32) || type.isSignlessInteger(64) ||
         type.isIndex() || isOpFloat(type);
}

} // namespace mlir::rope

#endif // ROPE_IR_ELEMENTTYPES_H
