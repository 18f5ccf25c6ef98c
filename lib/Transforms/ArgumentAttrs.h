//===- ArgumentAttrs.h - What functions say of arguments --------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_TRANSFORMS_ARGUMENTATTRS_H
#define ROPE_LIB_TRANSFORMS_ARGUMENTATTRS_H

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "rope/IR/Rope.h"

namespace mlir::rope {

/// The function whose argument a value is, or null.
inline FunctionOpInterface getFunctionOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument
             ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
             : FunctionOpInterface();
}

/// The attribute of the function's argument that a value is, or null.
inline Attribute getArgumentAttr(Value value, StringRef name) {
  FunctionOpInterface function = getFunctionOf(value);
  return function ? function.getArgAttr(
                        cast<BlockArgument>(value).getArgNumber(), name)
                  : Attribute();
}

/// Whether a value is a weight: written by nobody, so that whoever makes it can
/// store it in another order.
inline bool isWeight(Value value) {
  return getArgumentAttr(value, kWeightAttrName) ||
         matchPattern(value, m_Constant());
}

} // namespace mlir::rope

#endif // ROPE_LIB_TRANSFORMS_ARGUMENTATTRS_H
