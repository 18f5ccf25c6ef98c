//===- Program.cpp - Compiled test programs -------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/Program.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "rope/InitAll.h"
#include "rope/Reference/Array.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::test;
using reference::reportInvalid;

static std::unique_ptr<MLIRContext> createContext() {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->getDiagEngine().registerHandler(
      [](Diagnostic &diagnostic) { llvm::errs() << diagnostic << "\n"; });
  return context;
}

static OwningOpRef<ModuleOp> parse(StringRef text, MLIRContext *context) {
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text),
                               llvm::SMLoc());
  OwningOpRef<ModuleOp> module = parseModel(sourceMgr, context);
  if (!module)
    reportInvalid("cannot parse:\n" + text.str());
  return module;
}

static void runPasses(ModuleOp module, StringRef passes) {
  static const bool registered = [] {
    mlir::registerAllPasses();
    rope::registerAllPasses();
    return true;
  }();
  (void)registered;
  FailureOr<OpPassManager> pipeline = parsePassPipeline(passes);
  if (failed(pipeline))
    reportInvalid("no pipeline: " + passes.str());
  PassManager pm(module.getContext(), pipeline->getOpAnchorName());
  static_cast<OpPassManager &>(pm) = std::move(*pipeline);
  if (failed(pm.run(module)))
    reportInvalid("pipeline failed: " + passes.str());
}

Program::Program(StringRef text, const ProgramOptions &options)
    : context(createContext()) {
  OwningOpRef<ModuleOp> module = parse(text, context.get());
  if (!options.passes.empty())
    runPasses(*module, options.passes);
  executable = Executable::compile(*module, options.compile);
  if (!executable)
    reportInvalid("cannot compile:\n" + text.str());
}

SmallVector<Array> Program::call(StringRef name,
                                 ArrayRef<ArrayView> args) const {
  auto entry = findEntryPoint(executable->getEntryPoints(), name);
  if (!entry)
    reportInvalid(llvm::toString(entry.takeError()));
  auto results = executable->invoke(**entry, args);
  if (!results)
    reportInvalid(name.str() + ": " + llvm::toString(results.takeError()));
  return std::move(*results);
}
