//===- Dialects.cpp - Registration of the dialect from C ------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope-c/Dialects.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "rope/InitAll.h"

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Rope, rope, mlir::rope::RopeDialect)

void ropeRegisterAllDialects(MlirDialectRegistry registry) {
  mlir::rope::registerAllDialects(*unwrap(registry));
}

void ropeRegisterAllPasses() { mlir::rope::registerAllPasses(); }
