//===- Support.cpp - Arrays and errors of the C API -----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope-c/Support.h"
#include "Wrap.h"
#include <cstring>

using namespace mlir::rope;

void mlir::rope::setError(char **error, llvm::StringRef message) {
  if (!error)
    return;
  auto *copy = static_cast<char *>(std::malloc(message.size() + 1));
  if (copy) {
    std::memcpy(copy, message.data(), message.size());
    copy[message.size()] = '\0';
  }
  *error = copy;
}

RopeBuffer ropeArrayGetBuffer(RopeArray array) {
  Array *unwrapped = unwrap(array);
  llvm::ArrayRef<int64_t> shape = unwrapped->getShape();
  return {static_cast<RopeDType>(unwrapped->getDType()),
          static_cast<int64_t>(shape.size()), shape.data(),
          unwrapped->getData()};
}

void ropeArrayDestroy(RopeArray array) { delete unwrap(array); }

void ropeStringDestroy(char *string) { std::free(string); }
