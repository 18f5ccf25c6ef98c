//===- InitAll.h - Registers everything rope has to offer -------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A host that wants only a part calls the narrower registration function of
// that part instead.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_INITALL_H
#define ROPE_INITALL_H

#include "rope/CodeGen/CPU/Passes.h"
#include "rope/IR/Rope.h"
#include "rope/Interfaces/ExternalModels.h"
#include "rope/Pipelines/Pipelines.h"
#include "rope/Raise/Passes.h"
#include "rope/Transforms/Passes.h"

namespace mlir::rope {

/// Registers the rope dialect and the models that attach upstream interfaces
/// to its ops.
inline void registerAllDialects(DialectRegistry &registry) {
  registry.insert<RopeDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
  registerRuntimeVerifiableOpInterfaceExternalModels(registry);
}

/// Registers every pass and pipeline of the project.
inline void registerAllPasses() {
  registerRopeTransformsPasses();
  registerRopeCPUCodeGenPasses();
  registerRopeRaisePasses();
  registerRopePipelines();
}

} // namespace mlir::rope

#endif // ROPE_INITALL_H
