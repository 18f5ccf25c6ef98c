//===- Executable.cpp - Models compiled in this process -------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Execution/Executable.h"
#include "Descriptors.h"
#include "mlir/ExecutionEngine/CRunnerUtils.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "llvm/ExecutionEngine/Orc/Mangling.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace mlir::rope;

// Of MLIR's float16 library, which has no header for it. The code of processors
// without bf16 instructions calls it.
extern "C" uint16_t __truncsfbf2(float);

Executable::Executable() = default;
Executable::~Executable() = default;

static llvm::orc::SymbolMap
getRuntimeSymbols(llvm::orc::MangleAndInterner intern) {
  auto symbol = [](auto *function) {
    return llvm::orc::ExecutorSymbolDef(
        llvm::orc::ExecutorAddr::fromPtr(function),
        llvm::JITSymbolFlags::Exported);
  };
  llvm::orc::SymbolMap symbols;
  symbols[intern("memrefCopy")] = symbol(&memrefCopy);
  symbols[intern("__truncsfbf2")] = symbol(&__truncsfbf2);
  return symbols;
}

std::unique_ptr<Executable>
Executable::compile(ModuleOp module, const CompileOptions &options) {
  auto machine = createTargetMachine(options);
  if (!machine) {
    emitError(module.getLoc()) << llvm::toString(machine.takeError());
    return nullptr;
  }
  std::unique_ptr<Executable> executable(new Executable());
  executable->entries = rope::getEntryPoints(module);
  prepareEntryPoints(module);
  if (failed(lowerToLLVM(module, options)))
    return nullptr;

  llvm::TargetMachine &target = **machine;
  ExecutionEngineOptions engineOptions;
  engineOptions.jitCodeGenOptLevel = target.getOptLevel();
  engineOptions.enableGDBNotificationListener = false;
  engineOptions.enablePerfNotificationListener = false;
  engineOptions.llvmModuleBuilder = translateToLLVMIR;
  auto transform = [&](llvm::Module *llvmModule) {
    return optimize(*llvmModule, target, options);
  };
  engineOptions.transformer = transform;
  // The engine keeps one machine for code generation, the optimizer another.
  auto codeMachine = createTargetMachine(options);
  auto engine = ExecutionEngine::create(module, engineOptions,
                                        llvm::cantFail(std::move(codeMachine)));
  if (!engine) {
    emitError(module.getLoc()) << "cannot compile: "
                               << llvm::toString(engine.takeError());
    return nullptr;
  }
  executable->engine = std::move(*engine);
  executable->engine->registerSymbols(getRuntimeSymbols);
  return executable;
}

/// Compares the arguments with the signature.
static llvm::Error checkArguments(const EntryPoint &entry,
                                  ArrayRef<ArrayView> args) {
  if (!entry.obstacle.empty())
    return llvm::createStringError("cannot call @" + entry.name + ": " +
                                   entry.obstacle);
  if (args.size() != entry.args.size())
    return llvm::createStringError(
        "@" + entry.name + " takes " + Twine(entry.args.size()) +
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
  auto function = engine->lookupPacked(entry.getWrapperName());
  if (!function)
    return function.takeError();
  CallFrame frame(entry, args);
  (*function)(frame.getPackedArguments().data());
  return frame.takeResults();
}
