//===- CompileMain.cpp - The rope-compile tool ----------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Tools/CompileMain.h"
#include "CompileFlags.h"
#include "Progress.h"
#include "rope/Execution/CHeader.h"
#include "rope/Execution/EntryPoint.h"
#include "rope/Execution/Files.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::rope;
namespace cl = llvm::cl;

static constexpr llvm::StringLiteral kTool = "rope-compile";

namespace {

enum class OutputKind { Object, Shared, LLVM };

/// The command line. Lives in `compileMain`, so that a host which links this
/// library gets no options from it.
struct Flags {
  cl::OptionCategory category{"rope-compile options"};
  cl::opt<std::string> model{cl::Positional, cl::Required,
                             cl::desc("MODEL.mlir"), cl::cat(category)};
  cl::opt<std::string> output{"o", cl::Required, cl::value_desc("file"),
                              cl::desc("Output file"), cl::cat(category)};
  cl::opt<OutputKind> emit{
      "emit", cl::desc("What to write (default: by the name of the output)"),
      cl::values(
          clEnumValN(OutputKind::Object, "obj", "Object file, .o"),
          clEnumValN(OutputKind::Shared, "shared", "Shared library, .so"),
          clEnumValN(OutputKind::LLVM, "llvm", "LLVM IR text, .ll")),
      cl::cat(category)};
  cl::opt<std::string> header{"header", cl::value_desc("file.h"),
                              cl::desc("Write a C header of the entries"),
                              cl::cat(category)};
  CompileFlags compile{category, "generic"};
};

/// One run of the tool.
class CompileJob {
public:
  explicit CompileJob(const Flags &flags)
      : flags(flags), options(flags.compile.get()) {}
  llvm::Error run();

private:
  llvm::Expected<OutputKind> getOutputKind() const;
  llvm::Expected<std::unique_ptr<llvm::Module>>
  compileModule(llvm::TargetMachine &machine);
  llvm::Error writeOutput(llvm::Module &llvmModule,
                          llvm::TargetMachine &machine, OutputKind kind);
  llvm::Error writeHeader(ArrayRef<EntryPoint> entries) const;
  llvm::Error printDone(ArrayRef<EntryPoint> entries,
                        const llvm::TargetMachine &machine) const;

  const Flags &flags;
  CompileOptions options;
  CPUPipelineOptions pipeline;
  LoadedModel model;
  llvm::LLVMContext llvmContext;
  Progress progress{kTool};
};

} // namespace

static llvm::Error fail(const Twine &message) {
  return llvm::createStringError(message);
}

llvm::Expected<OutputKind> CompileJob::getOutputKind() const {
  if (flags.emit.getNumOccurrences())
    return flags.emit.getValue();
  StringRef extension = llvm::sys::path::extension(flags.output);
  auto kind = llvm::StringSwitch<std::optional<OutputKind>>(extension)
                  .Case(".o", OutputKind::Object)
                  .Case(".so", OutputKind::Shared)
                  .Case(".ll", OutputKind::LLVM)
                  .Default(std::nullopt);
  if (!kind)
    return fail("cannot tell from '" + flags.output +
                "' what to write: name it .o, .so or .ll, or give --emit");
  return *kind;
}

llvm::Expected<std::unique_ptr<llvm::Module>>
CompileJob::compileModule(llvm::TargetMachine &machine) {
  progress.start("lowering");
  if (failed(lowerToLLVM(model.getModule(), options)))
    return alreadyReported();
  auto llvmModule = translateToLLVMIR(model.getModule(), llvmContext);
  if (!llvmModule)
    return alreadyReported();
  progress.start("optimizing");
  optimize(*llvmModule, machine, options);
  return llvmModule;
}

llvm::Error CompileJob::writeOutput(llvm::Module &llvmModule,
                                    llvm::TargetMachine &machine,
                                    OutputKind kind) {
  if (kind == OutputKind::LLVM) {
    std::string text;
    llvm::raw_string_ostream(text) << llvmModule;
    return writeFile(flags.output, text);
  }
  progress.start("generating code");
  llvm::Expected<std::string> object = emitObject(llvmModule, machine);
  if (!object)
    return object.takeError();
  if (kind == OutputKind::Object)
    return writeFile(flags.output, *object);
  progress.start("linking");
  return linkSharedLibrary(*object, flags.output, pipeline.threads);
}

llvm::Error CompileJob::writeHeader(ArrayRef<EntryPoint> entries) const {
  if (flags.header.empty())
    return llvm::Error::success();
  std::string text;
  llvm::raw_string_ostream os(text);
  printCHeader(os, entries, llvm::sys::path::filename(flags.header),
               pipeline.resultsAsOutParams, pipeline.threads);
  return writeFile(flags.header, text);
}

llvm::Error CompileJob::printDone(ArrayRef<EntryPoint> entries,
                                  const llvm::TargetMachine &machine) const {
  if (flags.output == "-")
    return llvm::Error::success();
  uint64_t size = 0;
  if (std::error_code error = llvm::sys::fs::file_size(flags.output, size))
    return fail("cannot read back '" + flags.output + "': " + error.message());
  llvm::outs() << flags.output << ": " << size << " bytes for "
               << machine.getTargetCPU() << ", entries";
  for (const EntryPoint &entry : entries)
    llvm::outs() << " @" << entry.name;
  llvm::outs() << "\n";
  return llvm::Error::success();
}

llvm::Error CompileJob::run() {
  llvm::Expected<OutputKind> kind = getOutputKind();
  if (!kind)
    return kind.takeError();
  auto machine = createTargetMachine(options);
  if (!machine)
    return machine.takeError();
  if (llvm::Error error = getPipelineOptions(options, pipeline))
    return error;
  progress.start("reading " + flags.model);
  if (failed(model.load(flags.model)))
    return alreadyReported();
  progress.start("preparing");
  if (failed(prepareModel(model.getModule(), options)))
    return alreadyReported();
  std::vector<EntryPoint> entries = getEntryPoints(model.getModule());
  if (entries.empty())
    return fail("the module has no public function with a body");
  auto llvmModule = compileModule(**machine);
  if (!llvmModule)
    return llvmModule.takeError();
  if (llvm::Error error = writeOutput(**llvmModule, **machine, *kind))
    return error;
  if (llvm::Error error = writeHeader(entries))
    return error;
  return printDone(entries, **machine);
}

int mlir::rope::compileMain(int argc, char **argv) {
  Flags flags;
  cl::HideUnrelatedOptions(flags.category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Compiles MODEL.mlir to an object file, shared library or LLVM IR.\n"
      "Exit status: 0, or 1 when the input or the command line is bad.\n");
  return getExitStatus(kTool, CompileJob(flags).run());
}
