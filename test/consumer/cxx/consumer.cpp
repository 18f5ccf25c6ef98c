//===- consumer.cpp - A compiler that embeds rope -------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a host does with the installed package: registers the dialect, reads a
// module, runs passes over it and looks at the outcome.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "rope/InitAll.h"

using namespace mlir;

int main() {
  DialectRegistry registry;
  rope::registerAllDialects(registry);
  rope::registerAllPasses();
  MLIRContext context(registry);
  if (!context.getOrLoadDialect<rope::RopeDialect>()) {
    llvm::errs() << "consumer: the rope dialect is not registered\n";
    return 1;
  }

  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  PassManager passes(&context);
  passes.addPass(createCanonicalizerPass());
  return failed(passes.run(*module));
}
