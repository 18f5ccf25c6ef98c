//===- consumer.cpp - A compiler that embeds rope -------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a host does with the installed package: registers the dialect, builds a
// rotation by its builder, lowers it by the CPU pipeline and looks at the
// outcome.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "rope/InitAll.h"

using namespace mlir;

/// A module with one function that rotates [head, position, channel] by a table
/// [position, 2, pair].
static OwningOpRef<ModuleOp> buildRotation(MLIRContext *context) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  ImplicitLocOpBuilder b(module->getLoc(), context);
  b.setInsertionPointToEnd(module->getBody());
  auto x = RankedTensorType::get({4, 16, 64}, b.getF32Type());
  auto table = RankedTensorType::get({16, 2, 32}, b.getF32Type());
  auto function =
      func::FuncOp::create(b, "rotate", b.getFunctionType({x, table}, x));
  b.setInsertionPointToStart(function.addEntryBlock());
  Value init = tensor::EmptyOp::create(b, x.getShape(), x.getElementType());
  auto rotary = rope::RotaryAttr::get(context, rope::Pairing::Half, {1});
  auto rotate = rope::RotateOp::create(b, rotary, function.getArgument(0),
                                       function.getArgument(1), init);
  func::ReturnOp::create(b, rotate->getResults());
  return module;
}

int main() {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  rope::registerAllDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();

  OwningOpRef<ModuleOp> module = buildRotation(&context);
  if (failed(verify(*module)))
    return 1;
  PassManager passes(&context);
  rope::buildCPUPipeline(passes, {});
  if (failed(passes.run(*module)))
    return 1;
  if (!module->lookupSymbol<LLVM::LLVMFuncOp>("rotate")) {
    llvm::errs() << "consumer: the pipeline left no LLVM function\n";
    return 1;
  }
  llvm::outs() << "consumer: rotate is in the LLVM dialect\n";
  return 0;
}
