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

  void addArgument(memref::AllocOp alloc, MemRefType type);
  void dropResult(unsigned index, unsigned argument);

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
    if (!call)
      return failure();
    callee.calls.push_back(call);
  }
  return callee;
}

static Value stripCasts(Value buffer) {
  while (auto cast = buffer.getDefiningOp<memref::CastOp>())
    buffer = cast.getSource();
  return buffer;
}

static bool isDense(MemRefType type) {
  return type.hasStaticShape() && type.getLayout().isIdentity();
}

// The allocation of all that a buffer is, in this shape or another.
static memref::AllocOp findAllocation(Value buffer, Block &block) {
  while (isDense(cast<MemRefType>(buffer.getType()))) {
    Operation *op = buffer.getDefiningOp();
    if (!op || op->getBlock() != &block)
      return nullptr;
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      return alloc;
    if (!isa<memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp>(
            op))
      return nullptr;
    buffer = op->getOperand(0);
  }
  return nullptr;
}

// The callers allocate, for a new last argument.
void Callee::addArgument(memref::AllocOp alloc, MemRefType type) {
  Location loc = alloc.getLoc();
  for (func::CallOp call : calls) {
    OpBuilder builder(call);
    Value memory =
        memref::AllocOp::create(builder, loc, type, alloc.getAlignmentAttr());
    call.getOperandsMutable().append(memory);
  }
  (void)function.insertArgument(function.getNumArguments(), type,
                                /*argAttrs=*/nullptr, loc);
  Value memory = function.getArguments().back();
  MemRefType shape = alloc.getType();
  if (shape != type) {
    OpBuilder builder(alloc);
    memory = memref::ReinterpretCastOp::create(
        builder, loc, shape, memory, /*offset=*/0, shape.getShape(),
        shape.getStridesAndOffset().first);
  }
  alloc.getResult().replaceAllUsesWith(memory);
  alloc.erase();
}

void Callee::dropResult(unsigned index, unsigned argument) {
  for (func::CallOp &call : calls) {
    OpBuilder builder(call);
    SmallVector<Type> types(call.getResultTypes());
    types.erase(types.begin() + index);
    auto shorter = func::CallOp::create(builder, call.getLoc(), types,
                                        call->getOperands(), call->getAttrs());
    Value memory = call.getOperand(argument);
    Type wanted = call.getResult(index).getType();
    if (memory.getType() != wanted)
      memory = memref::CastOp::create(builder, call.getLoc(), wanted, memory);
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
  auto type = dyn_cast<MemRefType>(result.getType());
  if (!type)
    return;
  auto argument = dyn_cast<BlockArgument>(stripCasts(result));
  if (argument && argument.getOwner() == &function.front())
    return dropResult(index, argument.getArgNumber());
  if (memref::AllocOp alloc = findAllocation(result, function.front())) {
    addArgument(alloc, type);
    dropResult(index, function.getNumArguments() - 1);
  }
}

namespace {
struct ReturnInArguments
    : rope::impl::ReturnInArgumentsPassBase<ReturnInArguments> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    for (auto function :
         llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      SymbolUserMap users(symbols, getOperation());
      FailureOr<Callee> callee = Callee::get(function, users);
      if (failed(callee))
        continue;
      for (unsigned i = callee->getNumResults(); i-- > 0;)
        callee->moveResult(i);
    }
  }
};
} // namespace
