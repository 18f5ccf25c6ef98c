//===- Outliner.h - Ops in functions of their own ---------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_CODEGEN_CPU_OUTLINER_H
#define ROPE_LIB_CODEGEN_CPU_OUTLINER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::rope::cpu {

/// Puts ops of one kind on memrefs into private functions of a name, one for
/// all of a module that are alike.
class Outliner {
public:
  explicit Outliner(StringRef name) : name(name) {}

  /// Replaces `op`, which has no results, by a call with its operands. Returns
  /// the op in the function, whose arguments these are, or null if another op
  /// like it, of the same types, properties and plan, is there already.
  Operation *outline(Operation *op);

private:
  func::FuncOp createFunction(Operation *module, Operation *op,
                              FunctionType type);

  StringRef name;
  SymbolTableCollection symbols;
  /// By the module that they are in, and what ops have in common.
  DenseMap<std::tuple<Operation *, Type, Attribute, Attribute>, func::FuncOp>
      functions;
};

} // namespace mlir::rope::cpu

#endif // ROPE_LIB_CODEGEN_CPU_OUTLINER_H
