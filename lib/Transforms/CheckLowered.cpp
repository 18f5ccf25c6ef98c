//===- CheckLowered.cpp - Nothing but LLVM is left ------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-check-lowered.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "rope/IR/Rope.h"
#include "rope/Transforms/Passes.h"

namespace mlir::rope {
#define GEN_PASS_DEF_CHECKLOWEREDPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;

// What was declared of arguments has done its work, and means nothing to LLVM.
static void dropDeclarations(LLVM::LLVMFuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    function.removeArgAttr(i, rope::kWeightAttrName);
}

namespace {
struct CheckLowered : rope::impl::CheckLoweredPassBase<CheckLowered> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](Operation *op) {
      // Casts are what is left around an op that was not lowered.
      if (isa<ModuleOp, UnrealizedConversionCastOp>(op) ||
          isa_and_nonnull<LLVM::LLVMDialect, omp::OpenMPDialect>(
              op->getDialect()))
        return WalkResult::advance();
      op->emitOpError("has no lowering to the LLVM dialect");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    getOperation()->walk(dropDeclarations);
  }
};
} // namespace
