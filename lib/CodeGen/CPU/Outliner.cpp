//===- Outliner.cpp - Ops in functions of their own -----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Outliner.h"

#include "rope/IR/Rope.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

func::FuncOp Outliner::createFunction(Operation *module, Operation *op,
                                      FunctionType type) {
  auto function = func::FuncOp::create(op->getLoc(), name, type);
  function.setPrivate();
  // It is large, and its memory is to be given back at its end.
  function.setNoInline(true);
  symbols.getSymbolTable(module).insert(function);
  Block *body = function.addEntryBlock();
  OpBuilder builder = OpBuilder::atBlockEnd(body);
  // By position: this op may take twice what others take from two places.
  builder.clone(*op)->setOperands(body->getArguments());
  func::ReturnOp::create(builder, op->getLoc());
  return function;
}

Operation *Outliner::outline(Operation *op) {
  auto type = FunctionType::get(op->getContext(), op->getOperandTypes(), {});
  Operation *module = SymbolTable::getNearestSymbolTable(op);
  func::FuncOp &function =
      functions[{module, type, op->getPropertiesAsAttribute(),
                 op->getAttr(kPlanAttrName)}];
  Operation *inside = nullptr;
  if (!function) {
    function = createFunction(module, op, type);
    inside = &function.front().front();
  }
  OpBuilder builder(op);
  func::CallOp::create(builder, op->getLoc(), function, op->getOperands());
  op->erase();
  return inside;
}
