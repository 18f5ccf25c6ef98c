//===- Target.cpp - Machine code from LLVM IR -----------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The target machine, object files and shared libraries.
//
//===----------------------------------------------------------------------===//

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "rope/Execution/Compiler.h"
#include "rope/Execution/Config.h"
#include "rope/Execution/Files.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir::rope;
using llvm::StringRef;

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

static llvm::Expected<const llvm::Target *>
getTarget(const llvm::Triple &triple) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::InitializeNativeTargetAsmParser();
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return fail("cannot compile for " + triple.str() + ": " + message);
  return target;
}

static std::string getHostFeatures() {
  std::string features;
  for (const auto &[name, enabled] : llvm::sys::getHostCPUFeatures())
    features += ((enabled ? "+" : "-") + name + ",").str();
  return features;
}

/// Fails for names that LLVM does not know, and would only warn about.
static llvm::Error checkNames(const llvm::Target &target,
                              const llvm::Triple &triple,
                              const CompileOptions &options) {
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target.createMCSubtargetInfo(triple, "", ""));
  StringRef cpu = options.targetCPU;
  if (cpu != "native" && cpu != "generic" && !info->isCPUStringValid(cpu))
    return fail("unknown target CPU '" + cpu + "' for " + triple.str());
  for (StringRef feature : llvm::split(options.targetFeatures, ',')) {
    bool isKnown =
        llvm::any_of(info->getAllProcessorFeatures(), [&](const auto &known) {
          return feature.drop_front() == known.Key;
        });
    if (feature.empty())
      continue;
    if ((feature[0] != '+' && feature[0] != '-') || !isKnown)
      return fail("unknown target feature '" + feature +
                  "', expected +NAME or -NAME");
  }
  if (options.optLevel > 3)
    return fail("unknown optimization level " + llvm::Twine(options.optLevel) +
                ", expected 0 to 3");
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
mlir::rope::createTargetMachine(const CompileOptions &options) {
  llvm::Triple triple(llvm::sys::getProcessTriple());
  llvm::Expected<const llvm::Target *> target = getTarget(triple);
  if (!target)
    return target.takeError();
  if (llvm::Error error = checkNames(**target, triple, options))
    return std::move(error);
  bool isNative = options.targetCPU == "native";
  std::string features = isNative ? getHostFeatures() : "";
  StringRef cpu =
      isNative ? llvm::sys::getHostCPUName() : StringRef(options.targetCPU);
  // An empty name is LLVM's baseline of the architecture. "generic" would turn
  // 64-bit mode off on x86.
  if (cpu == "generic")
    cpu = triple.isX86() ? "x86-64" : "";
  std::unique_ptr<llvm::TargetMachine> machine((*target)->createTargetMachine(
      triple, cpu, features + options.targetFeatures, llvm::TargetOptions(),
      llvm::Reloc::PIC_, std::nullopt,
      static_cast<llvm::CodeGenOptLevel>(options.optLevel)));
  if (!machine)
    return fail("cannot compile for " + triple.str());
  return machine;
}

void mlir::rope::describeTarget(const llvm::TargetMachine &machine,
                                CPUPipelineOptions &pipeline) {
  const llvm::MCSubtargetInfo &info = *machine.getMCSubtargetInfo();
  if (machine.getTargetTriple().isAArch64()) {
    pipeline.lanes = 4;
    pipeline.registers = 32;
  }
  if (!machine.getTargetTriple().isX86())
    return;
  pipeline.lookup = info.checkFeatures("+avx512f");
  pipeline.dots = info.checkFeatures("+avx512bf16");
  pipeline.lanes = pipeline.lookup ? 16 : info.checkFeatures("+avx2") ? 8 : 4;
  pipeline.registers = pipeline.lookup ? 32 : 16;
}

llvm::Expected<std::string>
mlir::rope::emitObject(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallString<0> object;
  llvm::raw_svector_ostream os(object);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, os, nullptr,
                                  llvm::CodeGenFileType::ObjectFile))
    return fail("this target cannot write object files");
  passes.run(module);
  return std::string(object);
}

/// A program that can link: LLVM's clang, else what the system has.
static llvm::Expected<std::string> findLinker() {
  StringRef own[] = {ROPE_LLVM_TOOLS_DIR};
  for (StringRef name : {"clang", "clang-22"})
    if (auto path = llvm::sys::findProgramByName(name, own))
      return *path;
  for (StringRef name : {"clang-22", "clang", "cc", "gcc"})
    if (auto path = llvm::sys::findProgramByName(name))
      return *path;
  return fail("no linker for the shared library: none of clang-22, clang, cc "
              "and gcc is in " ROPE_LLVM_TOOLS_DIR " or PATH");
}

static llvm::Error runLinker(StringRef linker,
                             llvm::ArrayRef<StringRef> arguments) {
  llvm::SmallVector<StringRef> argv = {linker};
  argv.append(arguments.begin(), arguments.end());
  llvm::SmallString<128> log;
  if (llvm::sys::fs::createTemporaryFile("rope-link", "txt", log))
    return fail("cannot create a temporary file");
  llvm::FileRemover remover(log);
  std::optional<StringRef> redirects[] = {std::nullopt, std::nullopt,
                                          StringRef(log)};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(linker, argv, std::nullopt, redirects,
                                         /*SecondsToWait=*/0,
                                         /*MemoryLimit=*/0, &message);
  if (status == 0)
    return llvm::Error::success();
  if (auto buffer = llvm::MemoryBuffer::getFile(log))
    message += (*buffer)->getBuffer();
  return fail("'" + linker + "' failed: " + StringRef(message).trim());
}

llvm::Error mlir::rope::linkSharedLibrary(StringRef object, StringRef path,
                                          bool threads) {
  llvm::Expected<std::string> linker = findLinker();
  if (!linker)
    return linker.takeError();
  llvm::SmallString<128> file;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("rope-model", "o", file))
    return fail("cannot create a temporary file: " + error.message());
  llvm::FileRemover remover(file);
  if (llvm::Error error = writeFile(file, object))
    return error;
  llvm::SmallVector<StringRef> arguments = {"-shared", "-o", path, file, "-lm"};
  // LLVM's own comes before one of the system.
  if (threads)
    arguments.append({"-L", ROPE_LLVM_LIBRARY_DIR, "-lomp"});
  return runLinker(*linker, arguments);
}
