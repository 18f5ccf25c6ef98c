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

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "rope/Transforms/Passes.h"

namespace mlir::rope {
#define GEN_PASS_DEF_SEPARATERESULTSPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;

//===----------------------------------------------------------------------===//
// After bufferization
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Before bufferization
//===----------------------------------------------------------------------===//

// What a tensor is a part of, or all of in another shape.
static Value getWhole(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (!isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp>(op))
      break;
    tensor = op->getOperand(0);
  }
  return tensor;
}

static void separateTensors(Operation *terminator) {
  OpBuilder builder(terminator);
  llvm::SmallDenseSet<Value> wholes;
  for (OpOperand &operand : terminator->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (type && !wholes.insert(getWhole(operand.get())).second)
      operand.set(bufferization::AllocTensorOp::create(
          builder, terminator->getLoc(), type, /*dynamicSizes=*/ValueRange(),
          /*copy=*/operand.get()));
  }
}

static void separateResults(FunctionOpInterface function) {
  auto forTerminators = [&](function_ref<void(Operation *)> separate) {
    for (Block &block : function.getFunctionBody())
      if (block.getTerminator()->hasTrait<OpTrait::ReturnLike>())
        separate(block.getTerminator());
  };
  if (llvm::any_of(function.getResultTypes(), llvm::IsaPred<TensorType>))
    return forTerminators(separateTensors);
  if (!function.isPublic())
    return;
  BufferOriginAnalysis origins(function);
  forTerminators(
      [&](Operation *terminator) { separateOperands(terminator, origins); });
}

namespace {
struct SeparateResults : rope::impl::SeparateResultsPassBase<SeparateResults> {
  void runOnOperation() override {
    getOperation().walk([](FunctionOpInterface function) {
      if (!function.isExternal() && function.getNumResults() > 1)
        separateResults(function);
    });
  }
};
} // namespace
