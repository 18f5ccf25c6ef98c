//===- Passes.h - Transformation passes -------------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the passes of Passes.td. Their work is done by the functions of
// Transforms.h, which a host may call without a pass manager.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_TRANSFORMS_PASSES_H
#define ROPE_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "rope/Transforms/Transforms.h"

namespace mlir::rope {

#define GEN_PASS_DECL
#include "rope/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "rope/Transforms/Passes.h.inc"

} // namespace mlir::rope

#endif // ROPE_TRANSFORMS_PASSES_H
