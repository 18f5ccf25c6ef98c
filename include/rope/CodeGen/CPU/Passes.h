//===- Passes.h - Code generation for CPUs ----------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the passes of Passes.td. Their work is done by the functions of
// Attention.h, which a host may call without a pass manager.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_CODEGEN_CPU_PASSES_H
#define ROPE_CODEGEN_CPU_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::rope {

#define GEN_PASS_DECL
#include "rope/CodeGen/CPU/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "rope/CodeGen/CPU/Passes.h.inc"

} // namespace mlir::rope

#endif // ROPE_CODEGEN_CPU_PASSES_H
