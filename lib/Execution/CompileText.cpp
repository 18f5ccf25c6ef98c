//===- CompileText.cpp - Executables from text ----------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "rope/Execution/Executable.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::rope;

static DialectRegistry getRegistry() {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  return registry;
}

llvm::Expected<std::unique_ptr<Executable>>
Executable::compileText(StringRef text, StringRef name,
                        const CompileOptions &options) {
  MLIRContext context(getRegistry());
  std::string message;
  llvm::raw_string_ostream os(message);
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name),
                               llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sourceMgr, &context, os);
  std::unique_ptr<Executable> executable;
  if (OwningOpRef<ModuleOp> module = parseModel(sourceMgr, &context))
    executable = compile(*module, options);
  if (!executable)
    return llvm::createStringError(StringRef(message).trim());
  return executable;
}
