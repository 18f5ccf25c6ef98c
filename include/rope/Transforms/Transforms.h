//===- Transforms.h - Pattern sets and entry points -------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the passes of Passes.td do, for hosts that drive the rewriting
// themselves.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_TRANSFORMS_TRANSFORMS_H
#define ROPE_TRANSFORMS_TRANSFORMS_H

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace mlir::rope {

/// Rewrites copies between ranked buffers of which at least one is strided
/// into `linalg.generic`.
void populateExpandCopiesPatterns(RewritePatternSet &patterns);

} // namespace mlir::rope

#endif // ROPE_TRANSFORMS_TRANSFORMS_H
