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
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

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

static bool hasBFloat(llvm::Function &function) {
  return llvm::any_of(llvm::instructions(function), [](llvm::Instruction &op) {
    auto isBFloat = [](llvm::Type *type) {
      return type->getScalarType()->isBFloatTy();
    };
    return isBFloat(op.getType()) ||
           llvm::any_of(op.operand_values(), [&](llvm::Value *operand) {
             return isBFloat(operand->getType());
           });
  });
}

/// To nearest, ties to even; a NaN stays one.
static llvm::Value *roundToBFloat(llvm::IRBuilder<> &b, llvm::Value *x) {
  llvm::Value *bits = b.CreateBitCast(x, b.getInt32Ty());
  llvm::Value *upper = b.CreateLShr(bits, 16);
  llvm::Value *odd = b.CreateAnd(upper, 1);
  llvm::Value *rounded =
      b.CreateLShr(b.CreateAdd(b.CreateAdd(bits, odd), b.getInt32(0x7FFF)), 16);
  llvm::Value *quiet = b.CreateOr(upper, 0x40);
  llvm::Value *result = b.CreateSelect(b.CreateFCmpUNO(x, x), quiet, rounded);
  return b.CreateBitCast(b.CreateTrunc(result, b.getInt16Ty()),
                         b.getBFloatTy());
}

void rope::addBFloatRounding(llvm::Module &module) {
  constexpr llvm::StringLiteral name = "__truncsfbf2";
  if (llvm::none_of(module, hasBFloat) || module.getNamedValue(name))
    return;
  llvm::LLVMContext &context = module.getContext();
  auto *type = llvm::FunctionType::get(llvm::Type::getBFloatTy(context),
                                       {llvm::Type::getFloatTy(context)},
                                       /*isVarArg=*/false);
  auto *function = llvm::Function::Create(
      type, llvm::GlobalValue::WeakAnyLinkage, name, module);
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  llvm::IRBuilder<> builder(
      llvm::BasicBlock::Create(context, "entry", function));
  builder.CreateRet(roundToBFloat(builder, function->getArg(0)));
  // Calls of it appear when instructions are selected.
  llvm::appendToCompilerUsed(module, {function});
}
