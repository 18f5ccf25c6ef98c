//===- CompileFlags.cpp - Options that all compiling tools share ----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileFlags.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::rope;

CompileFlags::CompileFlags(llvm::cl::OptionCategory &category,
                           StringRef defaultCPU)
    : targetCPU("target-cpu",
                llvm::cl::desc("Processor to compile for: a name that LLVM "
                               "knows, native or generic"),
                llvm::cl::init(defaultCPU.str()), llvm::cl::cat(category)),
      targetFeatures("target-features",
                     llvm::cl::desc("Processor features: +avx2,-fma"),
                     llvm::cl::cat(category)),
      optLevel("O", llvm::cl::Prefix, llvm::cl::init(2),
               llvm::cl::desc("Optimization level of LLVM, 0 to 3 (default 2)"),
               llvm::cl::cat(category)),
      pipelineOptions(
          "pipeline-options",
          llvm::cl::desc("Options of rope-cpu-pipeline: \"a=1 b=2\""),
          llvm::cl::cat(category)) {}

CompileOptions CompileFlags::get() const {
  CompileOptions options;
  options.targetCPU = targetCPU;
  options.targetFeatures = targetFeatures;
  options.optLevel = optLevel;
  options.pipelineOptions = pipelineOptions;
  return options;
}

static DialectRegistry getRegistry() {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  return registry;
}

LoadedModel::LoadedModel() : context(getRegistry()) {}

LogicalResult LoadedModel::load(StringRef path) {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(path, &message);
  if (!buffer) {
    llvm::errs() << "error: " << message << "\n";
    return failure();
  }
  sourceMgr.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  handler = std::make_unique<SourceMgrDiagnosticHandler>(sourceMgr, &context);
  module = parseModel(sourceMgr, &context);
  return success(static_cast<bool>(module));
}

llvm::Error mlir::rope::alreadyReported() {
  return llvm::createStringError("");
}

int mlir::rope::getExitStatus(StringRef tool, llvm::Error error) {
  llvm::outs().flush();
  if (!error)
    return 0;
  std::string message = llvm::toString(std::move(error));
  if (!message.empty())
    llvm::errs() << tool << ": error: " << message << "\n";
  return 1;
}
