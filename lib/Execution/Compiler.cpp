//===- Compiler.cpp - From model text to LLVM IR --------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeFunctions.h"

#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "rope/Execution/Compiler.h"
#include "rope/Execution/EntryPoint.h"
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

llvm::Error mlir::rope::getPipelineOptions(const CompileOptions &options,
                                           CPUPipelineOptions &pipeline) {
  auto machine = createTargetMachine(options);
  if (!machine)
    return machine.takeError();
  describeTarget(**machine, pipeline);
  bool canLookUp = pipeline.lookup, hasDots = pipeline.dots;
  std::string message;
  llvm::raw_string_ostream stream(message);
  auto refuse = [&](const llvm::Twine &why) {
    return llvm::createStringError("bad pipeline options '" +
                                   options.pipelineOptions + "': " + why);
  };
  if (failed(pipeline.parseFromString(options.pipelineOptions, stream)))
    return refuse(StringRef(message).trim());
  if (pipeline.lookup && !canLookUp)
    return refuse("lookup wants a processor with AVX-512");
  if (pipeline.dots && !hasDots)
    return refuse("dots wants a processor with AVX512-BF16");
  pipeline.portable = pipeline.portable || options.portable;
  pipeline.raise = pipeline.raise && !options.portable;
  // The yardstick reads weights as the model has them.
  pipeline.packWeights = pipeline.packWeights && !options.portable;
  return llvm::Error::success();
}

static LogicalResult runStages(
    ModuleOp module, const CompileOptions &options,
    ArrayRef<void (*)(OpPassManager &, const CPUPipelineOptions &)> stages) {
  CPUPipelineOptions pipeline;
  if (llvm::Error error = getPipelineOptions(options, pipeline))
    return emitError(UnknownLoc::get(module.getContext()))
           << llvm::toString(std::move(error));
  // To verify after each of the many passes would take as long as they do.
  for (auto *buildStage : stages) {
    PassManager pm(module.getContext(), ModuleOp::getOperationName());
    pm.enableVerifier(false);
    buildStage(pm, pipeline);
    if (failed(pm.run(module)) || failed(verify(module)))
      return failure();
  }
  return success();
}

LogicalResult mlir::rope::prepareModel(ModuleOp module,
                                       const CompileOptions &options) {
  return runStages(module, options, buildRaiseStage);
}

LogicalResult mlir::rope::lowerToLLVM(ModuleOp module,
                                      const CompileOptions &options) {
  requestWrappers(module);
  return runStages(
      module, options,
      {buildTensorStage, buildTileStage, buildBufferizeStage, buildLLVMStage});
}

std::unique_ptr<llvm::Module>
mlir::rope::translateToLLVMIR(Operation *module, llvm::LLVMContext &context) {
  std::unique_ptr<llvm::Module> result =
      translateModuleToLLVMIR(module, context, "model");
  if (!result)
    return nullptr;
  for (llvm::Function &function : *result)
    if (!function.isDeclaration() &&
        !function.getName().starts_with("_mlir_ciface_"))
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  addBFloatRounding(*result);
  return result;
}
