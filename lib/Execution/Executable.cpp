//===- Executable.cpp - Models compiled in this process -------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Execution/Executable.h"
#include "Descriptors.h"
#include "RuntimeFunctions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "rope/Execution/Config.h"
#include "rope/Execution/SectionMapper.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/DynamicLibrary.h"

using namespace mlir;
using namespace mlir::rope;

Executable::Executable() : mapper(std::make_unique<SectionMapper>()) {}
Executable::~Executable() = default;

/// Brings what code with threads calls into this process.
static llvm::Error loadOpenMP() {
  std::string message;
  for (const char *library :
       {ROPE_LLVM_LIBRARY_DIR "/libomp.so", "libomp.so.5"})
    if (!llvm::sys::DynamicLibrary::LoadLibraryPermanently(library, &message))
      return llvm::Error::success();
  return llvm::createStringError("threads want LLVM's OpenMP: " + message);
}

/// Results in out-parameters would need their sizes before the call.
static llvm::Error checkOptions(const CompileOptions &options) {
  CPUPipelineOptions pipeline;
  if (llvm::Error error = getPipelineOptions(options, pipeline))
    return error;
  if (pipeline.resultsAsOutParams)
    return llvm::createStringError("results-as-out-params is for code that is "
                                   "compiled ahead of time");
  if (pipeline.threads)
    return loadOpenMP();
  return llvm::Error::success();
}

/// Reports functions that nobody defines. The JIT would name them on stderr
/// only.
static LogicalResult checkExternals(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>())
    if (func.isExternal() && !SymbolTable::symbolKnownUseEmpty(func, module) &&
        !llvm::sys::DynamicLibrary::SearchForAddressOfSymbol(
            func.getName().str()))
      return func.emitError("external function '")
             << func.getName() << "' is called and has no definition";
  return success();
}

std::unique_ptr<Executable> Executable::compile(ModuleOp module,
                                                const CompileOptions &options) {
  if (llvm::Error error = checkOptions(options)) {
    emitError(module.getLoc()) << llvm::toString(std::move(error));
    return nullptr;
  }
  auto machine = createTargetMachine(options);
  if (!machine) {
    emitError(module.getLoc()) << llvm::toString(machine.takeError());
    return nullptr;
  }
  if (failed(checkExternals(module)) || failed(prepareModel(module, options)))
    return nullptr;
  std::unique_ptr<Executable> executable(new Executable());
  executable->entries = rope::getEntryPoints(module);
  if (failed(lowerToLLVM(module, options)))
    return nullptr;

  llvm::TargetMachine &target = **machine;
  ExecutionEngineOptions engineOptions;
  engineOptions.jitCodeGenOptLevel = target.getOptLevel();
  engineOptions.enableGDBNotificationListener = false;
  engineOptions.enablePerfNotificationListener = false;
  engineOptions.llvmModuleBuilder = translateToLLVMIR;
  engineOptions.sectionMemoryMapper = executable->mapper.get();
  auto transform = [&](llvm::Module *llvmModule) {
    optimize(*llvmModule, target, options);
    return llvm::Error::success();
  };
  engineOptions.transformer = transform;
  // The engine keeps one machine for code generation, the optimizer another.
  auto codeMachine = createTargetMachine(options);
  auto engine = ExecutionEngine::create(module, engineOptions,
                                        llvm::cantFail(std::move(codeMachine)));
  if (!engine) {
    emitError(module.getLoc())
        << "cannot compile: " << llvm::toString(engine.takeError());
    return nullptr;
  }
  executable->engine = std::move(*engine);
  registerRuntimeFunctions(*executable->engine);
  if (failed(executable->findWrappers(module)))
    return nullptr;
  return executable;
}

LogicalResult Executable::findWrappers(ModuleOp module) {
  for (const EntryPoint &entry : entries) {
    auto wrapper = engine->lookupPacked(entry.getWrapperName());
    if (!wrapper)
      return emitError(module.getLoc())
             << "cannot compile @" << entry.name << ": "
             << llvm::toString(wrapper.takeError());
    wrappers.push_back(*wrapper);
  }
  return success();
}

/// Compares the arguments with the signature.
static llvm::Error checkArguments(const EntryPoint &entry,
                                  ArrayRef<ArrayView> args) {
  if (!entry.obstacle.empty())
    return llvm::createStringError("cannot call @" + entry.name + ": " +
                                   entry.obstacle);
  if (args.size() != entry.args.size())
    return llvm::createStringError("@" + entry.name + " takes " +
                                   Twine(entry.args.size()) +
                                   " arguments, got " + Twine(args.size()));
  for (auto [index, spec, arg] : llvm::enumerate(entry.args, args))
    if (llvm::Error error = spec.check(arg.dtype, arg.shape))
      return llvm::createStringError("argument " + Twine(index) + ": " +
                                     llvm::toString(std::move(error)));
  return llvm::Error::success();
}

llvm::Expected<SmallVector<Array>>
Executable::invoke(const EntryPoint &entry, ArrayRef<ArrayView> args) const {
  if (llvm::Error error = checkArguments(entry, args))
    return std::move(error);
  CallFrame frame(entry, args);
  wrappers[&entry - entries.data()](frame.getPackedArguments().data());
  return frame.takeResults();
}
