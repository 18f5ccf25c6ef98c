//===- CompileFlags.h - Options that all compiling tools share  -*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_TOOLS_COMPILEFLAGS_H
#define ROPE_LIB_TOOLS_COMPILEFLAGS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "rope/Execution/Compiler.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::rope {

/// The options of a tool that say how to compile. Made in the tool's main
/// function, so that linking the library adds no options to a host.
struct CompileFlags {
  CompileFlags(llvm::cl::OptionCategory &category, StringRef defaultCPU);

  CompileOptions get() const;

  llvm::cl::opt<std::string> targetCPU;
  llvm::cl::opt<std::string> targetFeatures;
  llvm::cl::opt<unsigned> optLevel;
  llvm::cl::opt<std::string> pipelineOptions;
};

/// A model being worked on, and what its diagnostics need.
class LoadedModel {
public:
  LoadedModel();

  /// Reads and parses the file at `path`, `-` for stdin. Fails after a message
  /// on stderr.
  LogicalResult load(StringRef path);

  ModuleOp getModule() { return *module; }

  /// A copy of the module as it was loaded, or as it is now.
  OwningOpRef<ModuleOp> clone() { return module->clone(); }

private:
  llvm::SourceMgr sourceMgr;
  MLIRContext context;
  std::unique_ptr<SourceMgrDiagnosticHandler> handler;
  OwningOpRef<ModuleOp> module;
};

/// An error whose text has been printed as a diagnostic.
llvm::Error alreadyReported();

/// The exit status of a tool that ended with `error`: 0, or 1 after printing
/// `tool: error: …`.
int getExitStatus(StringRef tool, llvm::Error error);

} // namespace mlir::rope

#endif // ROPE_LIB_TOOLS_COMPILEFLAGS_H
