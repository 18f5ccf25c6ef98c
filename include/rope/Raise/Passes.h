//===- Passes.h - Raising passes --------------------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_RAISE_PASSES_H
#define ROPE_RAISE_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::arith {
class ArithDialect;
} // namespace mlir::arith
namespace mlir::cf {
class ControlFlowDialect;
} // namespace mlir::cf
namespace mlir::linalg {
class LinalgDialect;
} // namespace mlir::linalg
namespace mlir::tensor {
class TensorDialect;
} // namespace mlir::tensor

namespace mlir::rope {
class RopeDialect;

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "rope/Raise/Passes.h.inc"

} // namespace mlir::rope

#endif // ROPE_RAISE_PASSES_H
