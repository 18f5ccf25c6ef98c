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

#include <functional>

namespace mlir {
class Operation;
class RewritePatternSet;
} // namespace mlir

namespace mlir::rope {

/// Says which ops a transformation may touch.
using OpFilter = std::function<bool(Operation *)>;

/// Replaces ops of the rope dialect by their decomposition (AggregatedOp
/// interface) into upstream dialects, or into other rope ops. Only those that
/// `filter` accepts, if there is one.
void populateDecomposePatterns(RewritePatternSet &patterns,
                               OpFilter filter = nullptr);

/// Rewrites copies between ranked buffers of which at least one is strided
/// into `linalg.generic`.
void populateExpandCopiesPatterns(RewritePatternSet &patterns);

} // namespace mlir::rope

#endif // ROPE_TRANSFORMS_TRANSFORMS_H
