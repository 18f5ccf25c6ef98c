//===- MemoryOverlap.h - Memrefs that may share memory ----------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_IR_MEMORYOVERLAP_H
#define ROPE_IR_MEMORYOVERLAP_H

#include "mlir/IR/Value.h"

namespace mlir::rope {

/// Whether two memrefs may share memory: unless different allocations, globals
/// or arguments of the function are behind them, through all views, branches,
/// loops and selections. The arguments of a function are taken to be apart.
bool mayOverlap(Value lhs, Value rhs);

} // namespace mlir::rope

#endif // ROPE_IR_MEMORYOVERLAP_H
