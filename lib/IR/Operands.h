//===- Operands.h - Tensors or memrefs --------------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the builders and verifiers of all ops share: an op is over tensors or
// over memrefs, and its results are those of its inits that are tensors.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_IR_OPERANDS_H
#define ROPE_LIB_IR_OPERANDS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace mlir::rope {

/// The result types of an op with these inits: those of its tensors.
inline SmallVector<Type> getTensorTypes(ValueRange inits) {
  return llvm::to_vector(llvm::make_filter_range(
      inits.getTypes(), llvm::IsaPred<RankedTensorType>));
}

/// Fails if tensors and memrefs are both among the operands.
inline LogicalResult verifySemantics(Operation *op) {
  auto dpsOp = cast<DestinationStyleOpInterface>(op);
  if (dpsOp.hasPureTensorSemantics() || dpsOp.hasPureBufferSemantics())
    return success();
  return op->emitOpError("mixes tensors and memrefs");
}

} // namespace mlir::rope

#endif // ROPE_LIB_IR_OPERANDS_H
