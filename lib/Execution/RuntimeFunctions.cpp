//===- RuntimeFunctions.cpp - What compiled code may call -----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of ours with the same interface stand for those of the runtime,
// whose names the linker keeps to itself.
//
//===----------------------------------------------------------------------===//

#include "RuntimeFunctions.h"

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "llvm/ExecutionEngine/Orc/Mangling.h"

using namespace mlir;

// Compilers without this type, such as g++ 12, leave f16 to processors that
// have it.
#ifdef __FLT16_MANT_DIG__
static float extendHalf(_Float16 x) { return static_cast<float>(x); }
static _Float16 truncateFloat(float x) { return static_cast<_Float16>(x); }
#endif

void rope::registerRuntimeFunctions(ExecutionEngine &engine) {
#ifdef __FLT16_MANT_DIG__
  engine.registerSymbols([](llvm::orc::MangleAndInterner mangle) {
    auto define = [](auto *function) {
      return llvm::orc::ExecutorSymbolDef(
          llvm::orc::ExecutorAddr::fromPtr(function),
          llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable);
    };
    llvm::orc::SymbolMap symbols;
    symbols[mangle("__extendhfsf2")] = define(&extendHalf);
    symbols[mangle("__truncsfhf2")] = define(&truncateFloat);
    return symbols;
  });
#endif
}
