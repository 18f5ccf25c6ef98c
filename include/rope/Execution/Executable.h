//===- Executable.h - Models compiled in this process --------- -*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles a model just in time and calls its entries on arrays.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_EXECUTION_EXECUTABLE_H
#define ROPE_EXECUTION_EXECUTABLE_H

#include "rope/Execution/Compiler.h"
#include "rope/Execution/EntryPoint.h"

namespace mlir {
class ExecutionEngine;
} // namespace mlir

namespace mlir::rope {
class SectionMapper;

/// A compiled model. Calls of one executable may run at the same time.
class Executable {
public:
  ~Executable();

  /// Compiles `module`, which is lowered in place. Null after a diagnostic of
  /// its context.
  static std::unique_ptr<Executable> compile(ModuleOp module,
                                             const CompileOptions &options);

  /// Compiles the text of a model in a context of its own. `name` stands for
  /// the text in messages. The error holds all diagnostics with the lines that
  /// they are about, as a compiler prints them.
  static llvm::Expected<std::unique_ptr<Executable>>
  compileText(StringRef text, StringRef name, const CompileOptions &options);

  ArrayRef<EntryPoint> getEntryPoints() const { return entries; }

  /// Calls `entry`, one of `getEntryPoints()`. The number, element types and
  /// shapes of `args` are checked; what the error says starts with "argument
  /// N". The code reads `args` where they lie; results own their memory even
  /// where the model returns an argument or a constant.
  llvm::Expected<SmallVector<Array>> invoke(const EntryPoint &entry,
                                            ArrayRef<ArrayView> args) const;

private:
  Executable();

  /// Generates the code and finds the wrapper of each entry that has one.
  LogicalResult findWrappers(ModuleOp module);

  /// Where the code of the engine lies.
  std::unique_ptr<SectionMapper> mapper;
  std::unique_ptr<ExecutionEngine> engine;
  std::vector<EntryPoint> entries;
  /// The packed wrapper of each entry: it takes pointers to the arguments.
  std::vector<void (*)(void **)> wrappers;
};

} // namespace mlir::rope

#endif // ROPE_EXECUTION_EXECUTABLE_H
