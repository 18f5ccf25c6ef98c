//===- Strides.h - Elements that are not dense ------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_EXECUTION_STRIDES_H
#define ROPE_LIB_EXECUTION_STRIDES_H

#include "rope/Execution/Array.h"

namespace mlir::rope {

/// Copies elements at `source` into all of `array`; `strides`, one for each
/// dim, count elements.
void copyStrided(Array &array, const char *source,
                 llvm::ArrayRef<int64_t> strides);

} // namespace mlir::rope

#endif // ROPE_LIB_EXECUTION_STRIDES_H
