//===- RaiseSession.cpp - One analysis of a function ----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RaiseSession.h"

using namespace mlir;
using namespace mlir::rope;

RaiseSession::RaiseSession(FunctionOpInterface function,
                           ArrayRef<IntPair> given)
    : context(function.getContext()), evaluator(context) {
  // The first block runs whole, whatever path is taken after it.
  evaluator.assumeFacts(function.getFunctionBody().front());
  for (auto [lhs, rhs] : given) {
    assumptions.emplace_back(context.rebuild(lhs), context.rebuild(rhs));
    evaluator.assumeEqual(assumptions.back().first, assumptions.back().second);
  }
  context.clearOpenBroadcasts();
}

void rope::eraseAfter(Operation *last, OpBuilder &builder) {
  Block *block = builder.getInsertionBlock();
  while (builder.getInsertionPoint() != block->begin()) {
    Operation *op = &*std::prev(builder.getInsertionPoint());
    if (op == last)
      return;
    op->erase();
  }
}
