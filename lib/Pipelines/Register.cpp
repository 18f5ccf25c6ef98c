//===- Register.cpp - Names of the pipelines ------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Pass/PassRegistry.h"
#include "rope/Pipelines/Pipelines.h"

void mlir::rope::registerRopePipelines() {
  PassPipelineRegistration<CPUPipelineOptions>(
      "rope-cpu-pipeline",
      "Compile rope and upstream dialects to the LLVM dialect for a CPU",
      buildCPUPipeline);
}
