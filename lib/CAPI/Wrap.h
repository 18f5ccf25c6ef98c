//===- Wrap.h - Between C and C++ values ---------------------- -*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_CAPI_WRAP_H
#define ROPE_LIB_CAPI_WRAP_H

#include "rope-c/Support.h"
#include "rope/Execution/Array.h"

namespace mlir::rope {

inline RopeArray wrap(Array array) { return {new Array(std::move(array))}; }
inline Array *unwrap(RopeArray array) {
  return static_cast<Array *>(array.ptr);
}

inline ArrayView unwrap(const RopeBuffer &buffer) {
  return {static_cast<DType>(buffer.dtype),
          llvm::ArrayRef(buffer.shape, buffer.rank), buffer.data};
}

/// Whether `dtype`, which came from C, is one of the enumerators.
inline bool isValid(RopeDType dtype) {
  auto value = static_cast<int64_t>(dtype);
  return value >= 0 && value < kNumDTypes;
}

/// Hands a copy of `message` to the caller, who may not want it.
void setError(char **error, llvm::StringRef message);

} // namespace mlir::rope

#endif // ROPE_LIB_CAPI_WRAP_H
