//===- RopePlugin.cpp - rope for a stock mlir-opt -------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lets an mlir-opt that knows nothing of rope load the dialect
// (--load-dialect-plugin) and its passes and pipelines (--load-pass-plugin,
// named in --pass-pipeline). The host must link the very libMLIR.so that this
// library was built against: type ids are unique within one copy of MLIR only.
//
//===----------------------------------------------------------------------===//

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "rope/InitAll.h"

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Rope", ROPE_VERSION,
          [](mlir::DialectRegistry *registry) {
            mlir::rope::registerAllDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Rope", ROPE_VERSION,
          [] { mlir::rope::registerAllPasses(); }};
}
