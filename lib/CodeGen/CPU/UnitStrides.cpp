//===- UnitStrides.cpp - Operands whose last dim is dense -----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UnitStrides.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "rope/IR/Rope.h"

using namespace mlir;
using namespace mlir::rope;

/// Memory of the same extents without strides.
static Value allocateLike(OpBuilder &builder, Location loc, Value memory) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<Value> extents;
  for (auto [i, extent] : llvm::enumerate(type.getShape()))
    if (ShapedType::isDynamic(extent))
      extents.push_back(memref::DimOp::create(builder, loc, memory, i));
  auto plain = MemRefType::get(type.getShape(), type.getElementType());
  return memref::AllocOp::create(builder, loc, plain, extents);
}

void cpu::removeLastStrides(DestinationStyleOpInterface op) {
  Location loc = op.getLoc();
  for (OpOperand &operand : op->getOpOperands()) {
    Value memory = operand.get();
    auto type = dyn_cast<MemRefType>(memory.getType());
    if (!type || type.getRank() == 0 || type.isLastDimUnitStride())
      continue;
    OpBuilder builder(op);
    Value plain = allocateLike(builder, loc, memory);
    operand.set(plain);
    bool isInit = op.isDpsInit(&operand);
    unsigned init = operand.getOperandNumber() - op.getNumDpsInputs();
    // States that are carried on are read, too.
    if (!isInit || readsInit(op, init))
      memref::CopyOp::create(builder, loc, memory, plain);
    builder.setInsertionPointAfter(op);
    if (isInit)
      memref::CopyOp::create(builder, loc, plain, memory);
    memref::DeallocOp::create(builder, loc, plain);
  }
}
