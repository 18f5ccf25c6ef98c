//===- CallInliner.cpp - Bodies of functions in place of calls ------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RaiseSession.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::rope;

/// Calls within calls that are followed, and ops that they may add.
static constexpr unsigned kMaxDepth = 16;
static constexpr size_t kMaxOps = 200'000;

namespace {
struct PendingCall {
  func::CallOp call;
  unsigned depth;
};
} // namespace

/// Puts the body of a function in place of a call of it; adds the calls in it.
static size_t inlineCall(PendingCall pending, func::FuncOp callee,
                         SmallVectorImpl<PendingCall> &calls) {
  func::CallOp call = pending.call;
  IRMapping mapping;
  mapping.map(callee.getArguments(), call.getOperands());
  OpBuilder builder(call);
  size_t ops = 0;
  Block &body = callee.front();
  for (Operation &op : body.without_terminator()) {
    Operation *copy = builder.clone(op, mapping);
    copy->walk([&](Operation *nested) {
      ++ops;
      if (auto inner = dyn_cast<func::CallOp>(nested))
        calls.push_back({inner, pending.depth + 1});
    });
  }
  for (auto [result, returned] :
       llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(returned));
  call.erase();
  return ops;
}

void rope::inlineCalls(FunctionOpInterface function, SymbolTable &table,
                       llvm::SetVector<Operation *> &inlined) {
  SmallVector<PendingCall> calls;
  function->walk([&](func::CallOp call) { calls.push_back({call, 0}); });
  size_t ops = 0;
  while (!calls.empty() && ops < kMaxOps) {
    PendingCall next = calls.pop_back_val();
    auto callee = table.lookup<func::FuncOp>(next.call.getCallee());
    if (!callee || !callee.getBody().hasOneBlock() || next.depth > kMaxDepth)
      continue;
    inlined.insert(callee);
    ops += inlineCall(next, callee, calls);
  }
}
