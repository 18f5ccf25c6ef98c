//===- Canonicalization.h - Parts of canonicalization -----------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Canonicalization runs in everybody's pipeline. Each rule is a refinement: in
// real arithmetic nothing changes, and in floating point roundings go away but
// none is moved or added. What moves roundings is in rope-simplify.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_IR_CANONICALIZATION_CANONICALIZATION_H
#define ROPE_IR_CANONICALIZATION_CANONICALIZATION_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::rope::detail {

/// Pairs that do not turn leave the table, and distances that are the default
/// go, for each of the op's rotation sites (see getRotationSites).
void populateRotationSitePatterns(RewritePatternSet &patterns,
                                  StringRef opName);

/// The same, and rotations that turn nothing leave an attention op.
void populateRolePatterns(RewritePatternSet &patterns, StringRef opName);

/// Moves rotates and rerotates above copies and reshapes of what they turn, and
/// slices above rotates.
void populateRotationMotionPatterns(RewritePatternSet &patterns);

/// Replaces an op by a value of another type that differs in what is static.
void replaceWithCast(RewriterBase &rewriter, Operation *op, Value value);

} // namespace mlir::rope::detail

#endif // ROPE_IR_CANONICALIZATION_CANONICALIZATION_H
