//===- Patterns.cpp - Sets of rewrite patterns ----------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

void rope::addCanonicalization(RewritePatternSet &patterns,
                               ArrayRef<StringRef> dialects) {
  MLIRContext *context = patterns.getContext();
  for (StringRef name : dialects)
    if (Dialect *dialect = context->getLoadedDialect(name))
      dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (llvm::is_contained(dialects, op.getDialectNamespace()))
      op.getCanonicalizationPatterns(patterns, context);
}

LogicalResult rope::applyWithCanonicalization(Operation *root,
                                              RewritePatternSet &&patterns,
                                              ArrayRef<StringRef> dialects) {
  addCanonicalization(patterns, dialects);
  return applyPatternsGreedily(root, std::move(patterns));
}
