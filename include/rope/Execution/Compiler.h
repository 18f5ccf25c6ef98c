//===- Compiler.h - From model text to machine code ----------- -*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps between the text of a model and code for this machine, each of them
// callable alone. Faults in the model are reported as diagnostics of its
// context, at their place in the text.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_EXECUTION_COMPILER_H
#define ROPE_EXECUTION_COMPILER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "rope/Pipelines/Pipelines.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
class SourceMgr;
} // namespace llvm

namespace mlir::rope {

/// How to compile. The same for ahead-of-time and just-in-time compilation.
struct CompileOptions {
  /// A processor of the host's architecture as LLVM names it, `native` for this
  /// very machine, or `generic`.
  std::string targetCPU = "native";
  /// More features in LLVM's syntax: `+avx2,-fma`.
  std::string targetFeatures;
  /// LLVM's, 0 to 3. 3 unrolls much more: slow to compile, seldom faster.
  unsigned optLevel = 2;
  /// Lower plainly: no raising, no fusing, upstream loops. The yardstick that
  /// the optimised code is compared with.
  bool portable = false;
  /// More options of `rope-cpu-pipeline`, as in a textual pipeline.
  std::string pipelineOptions;
};

/// Sets those options of the pipeline that describe the machine.
void describeTarget(const llvm::TargetMachine &machine,
                    CPUPipelineOptions &pipeline);

/// Fills `pipeline` from `options`: what these do not say, from the machine
/// that they name. Fails for options that the pipeline does not have.
llvm::Error getPipelineOptions(const CompileOptions &options,
                               CPUPipelineOptions &pipeline);

/// Adds all dialects, extensions and translations that a model may need.
void registerCompilerDialects(DialectRegistry &registry);

/// Parses the main buffer of `sourceMgr`. Null after a diagnostic.
OwningOpRef<ModuleOp> parseModel(llvm::SourceMgr &sourceMgr,
                                 MLIRContext *context);

/// Raises `module` and packs its weights, as `options` ask. Its entries then
/// have the types that calls of compiled code pass and get.
LogicalResult prepareModel(ModuleOp module, const CompileOptions &options);

/// Lowers a module that is prepared, in place, to the LLVM dialect, with C
/// wrappers of its entries.
LogicalResult lowerToLLVM(ModuleOp module, const CompileOptions &options);

/// The machine that `options` describe. Fails for unknown processors, features
/// and levels.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const CompileOptions &options);

/// Translates `module` (LLVM dialect). Only the C wrappers of entries keep
/// external linkage, so a model's `main` cannot clash with a program's. Null
/// after a diagnostic.
std::unique_ptr<llvm::Module> translateToLLVMIR(Operation *module,
                                                llvm::LLVMContext &context);

/// Makes `module` one for `machine` and runs LLVM's optimization pipeline of
/// `options.optLevel`.
void optimize(llvm::Module &module, llvm::TargetMachine &machine,
              const CompileOptions &options);

/// The object file of `module`.
llvm::Expected<std::string> emitObject(llvm::Module &module,
                                       llvm::TargetMachine &machine);

/// Links the text of an object file into the shared library at `path`. Compiled
/// code needs nothing but the C library, libm and, with `threads`, libomp.
/// Fails if there is no linker, or if it does.
llvm::Error linkSharedLibrary(llvm::StringRef object, llvm::StringRef path,
                              bool threads);

} // namespace mlir::rope

#endif // ROPE_EXECUTION_COMPILER_H
