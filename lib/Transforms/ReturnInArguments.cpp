//===- ReturnInArguments.cpp - Results in memory of the caller ------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-return-in-arguments. Upstream's passes for the two cases take
// public functions as well or none, and refuse modules that have results of
// unknown size; nor do they see a buffer behind a change of its shape.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "rope/Transforms/Passes.h"

namespace mlir::rope {
#define GEN_PASS_DEF_RETURNINARGUMENTSPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;

namespace {
// A private function and all the calls of it.
class Callee {
public:
  static FailureOr<Callee> get(func::FuncOp function,
                               const SymbolUserMap &users);

  /// Drops a result if that is an argument or can be one.
  void moveResult(unsigned index);
  unsigned getNumResults() { return function.getNumResults(); }

private:
  Callee(func::FuncOp function, func::ReturnOp end)
      : function(function), end(end) {}

  Value addArgument(memref::AllocOp alloc);
  void dropResult(unsigned index, unsigned argument,
                  ArrayRef<Operation *> views);

  func::FuncOp function;
  func::ReturnOp end;
  SmallVector<func::CallOp> calls;
};
} // namespace

FailureOr<Callee> Callee::get(func::FuncOp function,
                              const SymbolUserMap &users) {
  if (!function.isPrivate() || function.isExternal() ||
      !function.getBody().hasOneBlock())
    return failure();
  auto end = dyn_cast<func::ReturnOp>(function.front().getTerminator());
  if (!end)
    return failure();
  Callee callee(function, end);
  for (Operation *user : users.getUsers(function)) {
    auto call = dyn_cast<func::CallOp>(user);
    // Attributes of single operands and results would have to move, too.
    if (!call || call.getArgAttrsAttr() || call.getResAttrsAttr())
      return failure();
    callee.calls.push_back(call);
  }
  return callee;
}

// The buffer that another is all of, in this shape or others. Collects what
// changes the shape, the last change first.
static Value stripViews(Value buffer, SmallVectorImpl<Operation *> &views) {
  while (Operation *op = buffer.getDefiningOp()) {
    if (!isa<memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp>(
            op) ||
        op->getNumOperands() != 1)
      break;
    views.push_back(op);
    buffer = op->getOperand(0);
  }
  return buffer;
}

// The callers allocate, for a new last argument.
Value Callee::addArgument(memref::AllocOp alloc) {
  for (func::CallOp call : calls) {
    OpBuilder builder(call);
    Value memory = builder.clone(*alloc)->getResult(0);
    call.getOperandsMutable().append(memory);
  }
  (void)function.insertArgument(function.getNumArguments(), alloc.getType(),
                                /*argAttrs=*/nullptr, alloc.getLoc());
  Value memory = function.getArguments().back();
  alloc.getResult().replaceAllUsesWith(memory);
  alloc.erase();
  return memory;
}

void Callee::dropResult(unsigned index, unsigned argument,
                        ArrayRef<Operation *> views) {
  for (func::CallOp &call : calls) {
    OpBuilder builder(call);
    SmallVector<Type> types(call.getResultTypes());
    types.erase(types.begin() + index);
    auto shorter = func::CallOp::create(builder, call.getLoc(), types,
                                        call->getOperands(), call->getAttrs());
    Value memory = call.getOperand(argument);
    for (Operation *view : llvm::reverse(views)) {
      IRMapping mapping;
      mapping.map(view->getOperand(0), memory);
      memory = builder.clone(*view, mapping)->getResult(0);
    }
    SmallVector<Value> results(shorter.getResults());
    results.insert(results.begin() + index, memory);
    call->replaceAllUsesWith(results);
    call.erase();
    call = shorter;
  }
  end->eraseOperand(index);
  (void)function.eraseResult(index);
}

void Callee::moveResult(unsigned index) {
  Value result = end.getOperand(index);
  if (!isa<MemRefType>(result.getType()))
    return;
  SmallVector<Operation *> views;
  Value buffer = stripViews(result, views);
  // Of a size that is known.
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  if (alloc && alloc->getNumOperands() == 0)
    buffer = addArgument(alloc);
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    dropResult(index, argument.getArgNumber(), views);
}

namespace {
struct ReturnInArguments
    : rope::impl::ReturnInArgumentsPassBase<ReturnInArguments> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    SymbolUserMap users(symbols, getOperation());
    SmallVector<Callee> callees;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (FailureOr<Callee> callee = Callee::get(function, users);
          succeeded(callee))
        callees.push_back(*callee);
    for (Callee &callee : callees)
      for (unsigned i = callee.getNumResults(); i-- > 0;)
        callee.moveResult(i);
  }
};
} // namespace
