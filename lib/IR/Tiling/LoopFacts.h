//===- LoopFacts.h - What loops say of an offset ----------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_IR_TILING_LOOPFACTS_H
#define ROPE_LIB_IR_TILING_LOOPFACTS_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::rope {

/// Whether a value is known to be a multiple of `factor`.
bool isMultipleOf(OpFoldResult value, int64_t factor);

/// Whether a value is known to be 0: also that of a loop which ends before 1.
bool isAlwaysZero(OpFoldResult value);

} // namespace mlir::rope

#endif // ROPE_LIB_IR_TILING_LOOPFACTS_H
