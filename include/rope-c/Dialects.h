//===- rope-c/Dialects.h - Registration of the dialect ---------- -*- C -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For hosts that use MLIR through its C API.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_C_DIALECTS_H
#define ROPE_C_DIALECTS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Rope, rope);

/// Adds the dialect and the models that attach upstream interfaces to its ops.
/// A host which runs passes of ours needs these too.
MLIR_CAPI_EXPORTED void ropeRegisterAllDialects(MlirDialectRegistry registry);

/// Registers all passes and pipelines of the project.
MLIR_CAPI_EXPORTED void ropeRegisterAllPasses(void);

#ifdef __cplusplus
}
#endif

#endif // ROPE_C_DIALECTS_H
