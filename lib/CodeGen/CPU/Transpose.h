//===- Transpose.h - Transposition in registers -----------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_CODEGEN_CPU_TRANSPOSE_H
#define ROPE_LIB_CODEGEN_CPU_TRANSPOSE_H

#include "KernelBuilder.h"

namespace mlir::rope::cpu {

/// Transposes groups of `width` words: the i-th result has the i-th group of
/// each row. There are as many rows as groups in one.
SmallVector<Value> transposeGroups(KernelBuilder &b, ArrayRef<Value> rows,
                                   int64_t width);

/// Transposes lanes × lanes words in registers.
SmallVector<Value> transpose(KernelBuilder &b, ArrayRef<Value> rows);

} // namespace mlir::rope::cpu

#endif // ROPE_LIB_CODEGEN_CPU_TRANSPOSE_H
