//===- SeparateResults.cpp - No two results in one buffer -----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-separate-results with upstream's analysis of where buffers
// come from; what it cannot tell apart is cloned.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "rope/Transforms/Passes.h"

namespace mlir::rope {
#define GEN_PASS_DEF_SEPARATERESULTSPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;

static void separateOperands(Operation *terminator,
                             BufferOriginAnalysis &origins) {
  OpBuilder builder(terminator);
  SmallVector<Value> earlier;
  for (OpOperand &operand : terminator->getOpOperands()) {
    Value buffer = operand.get();
    if (!isa<BaseMemRefType>(buffer.getType()))
      continue;
    if (llvm::any_of(earlier, [&](Value other) {
          return origins.isSameAllocation(buffer, other) != false;
        }))
      operand.set(bufferization::CloneOp::create(builder, terminator->getLoc(),
                                                 buffer));
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
