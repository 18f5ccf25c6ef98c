//===- RuntimeFunctions.h - What compiled code may call ---------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_EXECUTION_RUNTIMEFUNCTIONS_H
#define ROPE_LIB_EXECUTION_RUNTIMEFUNCTIONS_H

namespace llvm {
class Module;
} // namespace llvm

namespace mlir {
class ExecutionEngine;

namespace rope {

/// Tells the engine the functions of the compiler's runtime by which LLVM
/// converts f16 for processors that cannot. They are part of each program that
/// is linked, but not visible to code that is compiled in it.
void registerRuntimeFunctions(ExecutionEngine &engine);

/// Adds the function by which LLVM rounds f32 to bf16 for processors that
/// cannot, if the module has bf16: not every compiler's runtime has it.
void addBFloatRounding(llvm::Module &module);

} // namespace rope
} // namespace mlir

#endif // ROPE_LIB_EXECUTION_RUNTIMEFUNCTIONS_H
