//===- UnitStrides.h - Operands whose last dim is dense ---------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_CODEGEN_CPU_UNITSTRIDES_H
#define ROPE_LIB_CODEGEN_CPU_UNITSTRIDES_H

#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace mlir::rope::cpu {

/// Vectors lie along the last dim of operands. One that has a stride there,
/// which bufferization decides, is copied before the op, an init after it.
void removeLastStrides(DestinationStyleOpInterface op);

} // namespace mlir::rope::cpu

#endif // ROPE_LIB_CODEGEN_CPU_UNITSTRIDES_H
