//===- SeparateResults.cpp - No two results in one buffer -----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-separate-results with upstream's analysis of where buffers
// come from; what it cannot tell apart is copied.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "rope/Transforms/Passes.h"

namespace mlir::rope {
#define GEN_PASS_DEF_SEPARATERESULTSPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;

// Not bufferization.clone: where results become out parameters, upstream takes
// that for an allocation without contents.
static Value copyBuffer(OpBuilder &builder, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(builder, loc, buffer, dim));
  Value copy = memref::AllocOp::create(
      builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
      sizes);
  memref::CopyOp::create(builder, loc, buffer, copy);
  if (copy.getType() == type)
    return copy;
  return memref::CastOp::create(builder, loc, type, copy);
}

static void separateOperands(Operation *terminator,
                             BufferOriginAnalysis &origins) {
  OpBuilder builder(terminator);
  SmallVector<Value> earlier;
  for (OpOperand &operand : terminator->getOpOperands()) {
    Value buffer = operand.get();
    if (!isa<MemRefType>(buffer.getType()))
      continue;
    if (llvm::any_of(earlier, [&](Value other) {
          return origins.isSameAllocation(buffer, other) != false;
        }))
      operand.set(copyBuffer(builder, terminator->getLoc(), buffer));
    earlier.push_back(buffer);
  }
}

namespace {
struct SeparateResults : rope::impl::SeparateResultsPassBase<SeparateResults> {
  void runOnOperation() override {
    getOperation().walk([](FunctionOpInterface function) {
      if (!function.isPublic() || function.isExternal() ||
          function.getNumResults() < 2)
        return;
      BufferOriginAnalysis origins(function);
      for (Block &block : function.getFunctionBody())
        if (block.getTerminator()->hasTrait<OpTrait::ReturnLike>())
          separateOperands(block.getTerminator(), origins);
    });
  }
};
} // namespace
