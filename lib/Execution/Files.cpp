//===- Files.cpp - Whole files --------------------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Execution/Files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::rope;
using llvm::StringRef;

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
mlir::rope::readFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::createStringError("cannot read '" + path +
                                   "': " + buffer.getError().message());
  return std::move(*buffer);
}

/// What an error says, without the name of a file.
static std::string getReason(llvm::Error error) {
  std::string reason;
  llvm::handleAllErrors(
      std::move(error),
      [&](const llvm::FileError &e) { reason = e.messageWithoutFileInfo(); },
      [&](const llvm::ErrorInfoBase &e) { reason = e.message(); });
  return reason;
}

llvm::Error mlir::rope::writeFile(StringRef path, StringRef bytes) {
  llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
    os << bytes;
    return llvm::Error::success();
  });
  if (!error)
    return llvm::Error::success();
  return llvm::createStringError("cannot write '" + path +
                                 "': " + getReason(std::move(error)));
}
