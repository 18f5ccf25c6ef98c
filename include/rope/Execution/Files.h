//===- Files.h - Whole files ------------------------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading and writing of whole files, with errors that name the file. Nothing
// here depends on MLIR.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_EXECUTION_FILES_H
#define ROPE_EXECUTION_FILES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace mlir::rope {

/// The bytes of a file.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readFile(llvm::StringRef path);

/// Writes all of a file, or nothing. `-` is the standard output.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef bytes);

} // namespace mlir::rope

#endif // ROPE_EXECUTION_FILES_H
