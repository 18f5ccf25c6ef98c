//===- Compiler.cpp - From model text to LLVM IR --------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Execution/Compiler.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "rope/InitAll.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace mlir::rope;

void mlir::rope::registerCompilerDialects(DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
  rope::registerAllDialects(registry);
}

OwningOpRef<ModuleOp> mlir::rope::parseModel(llvm::SourceMgr &sourceMgr,
                                             MLIRContext *context) {
  return parseSourceFile<ModuleOp>(sourceMgr, context);
}

static constexpr llvm::StringLiteral kPipeline =
    "one-shot-bufferize{bufferize-function-boundaries=1 "
    "function-boundary-type-conversion=identity-layout-map},"
    "convert-bufferization-to-memref,"
    "func.func(convert-linalg-to-loops),"
    "expand-strided-metadata,lower-affine,convert-scf-to-cf,"
    "memref-expand,arith-expand,func.func(math-extend-to-supported-types),"
    "convert-complex-to-standard,convert-math-to-llvm,convert-math-to-libm,"
    "convert-complex-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,"
    "convert-index-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,"
    "reconcile-unrealized-casts";

LogicalResult mlir::rope::lowerToLLVM(ModuleOp module,
                                      const CompileOptions &options) {
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  mlir::registerAllPasses();
  if (failed(parsePassPipeline(kPipeline, pm)))
    return failure();
  return pm.run(module);
}

/// The C wrapper that is emitted for `function`, or null.
static llvm::Function *getWrapper(llvm::Module &module,
                                  llvm::Function &function) {
  return module.getFunction(("_mlir_ciface_" + function.getName()).str());
}

std::unique_ptr<llvm::Module>
mlir::rope::translateToLLVMIR(Operation *module, llvm::LLVMContext &context) {
  std::unique_ptr<llvm::Module> result =
      translateModuleToLLVMIR(module, context, "model");
  if (!result)
    return nullptr;
  for (llvm::Function &function : *result) {
    llvm::Function *wrapper = getWrapper(*result, function);
    if (wrapper && !wrapper->isDeclaration() && !function.isDeclaration())
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  return result;
}

llvm::Error mlir::rope::optimize(llvm::Module &module,
                                 llvm::TargetMachine &machine,
                                 const CompileOptions &options) {
  return makeOptimizingTransformer(options.optLevel, /*sizeLevel=*/0,
                                   &machine)(&module);
}
