//===- Patterns.h - Sets of rewrite patterns --------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Patterns that run together with canonicalization, but of some dialects only.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_TRANSFORMS_PATTERNS_H
#define ROPE_LIB_TRANSFORMS_PATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::rope {

/// Adds the canonicalization patterns of these dialects and of their ops.
void addCanonicalization(RewritePatternSet &patterns,
                         ArrayRef<StringRef> dialects);

/// Applies patterns below `root`, with those of canonicalization, until nothing
/// changes. Fails if that takes too long.
LogicalResult applyWithCanonicalization(Operation *root,
                                        RewritePatternSet &&patterns,
                                        ArrayRef<StringRef> dialects);

} // namespace mlir::rope

#endif // ROPE_LIB_TRANSFORMS_PATTERNS_H
