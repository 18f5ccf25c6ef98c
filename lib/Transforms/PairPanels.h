//===- PairPanels.h - Panels of pairs of bf16 -------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of bf16 that are summed in f32, by x86vector.avx512.dot: each lane
// adds the products of a pair of steps. A product of two bf16 is exact in f32,
// so only sums round, as they do without it. The instruction takes subnormal
// numbers, in operands and sums, for zero, whatever the rounding mode and
// flags of the thread say.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_TRANSFORMS_PAIRPANELS_H
#define ROPE_LIB_TRANSFORMS_PAIRPANELS_H

#include "PrefetchPanels.h"
#include "ProductPanels.h"

namespace mlir::rope {

/// Whether an op sums products of bf16 in f32, of operands without other dims
/// than their roles, of which the one that is no panel is stored along the sum:
/// [row, step], or [step] without rows, and [lane, step] or [step, lane].
bool canSumPairs(linalg::GenericOp op, const Roles &roles);

/// What the sums of a tile start from.
struct SumStart {
  /// An f32 in place of the init, if there is one.
  Value value;
  /// An i1, whether that is so; null if it always is.
  Value isFirst;
};

/// Copies the panel of `op`, of up to `maxSteps` steps, to a tensor with a row
/// for each pair of steps, in which the two numbers of a lane are neighbours:
/// [pair, 2 · lane] of bf16. It has `width` lanes, a multiple of `lanes`. What
/// is not in the panel is 0.
Value packPairs(RewriterBase &rewriter, linalg::GenericOp op,
                const Roles &roles, int64_t lanes, int64_t maxSteps,
                int64_t width);

/// Replaces `op`, a tile of a static number of rows, by vector ops on a panel
/// from packPairs of `width` lanes, which may be more than the tile has.
/// Without a panel, pairs are put together from the operand, whose lanes are
/// neighbours, as they are read.
void sumPairs(RewriterBase &rewriter, linalg::GenericOp op, const Roles &roles,
              Value panel, int64_t lanes, int64_t width, SumStart start,
              const PanelPrefetch *prefetch);

/// Replaces `op`, a tile of a static number of rows (or none) and columns that
/// are stored along the sum, by vector ops: the pairs of a sum lie in lanes of
/// `vectors` vectors, which are added up at the end.
void sumPairsInLanes(RewriterBase &rewriter, linalg::GenericOp op,
                     const Roles &roles, int64_t lanes, int64_t vectors);

} // namespace mlir::rope

#endif // ROPE_LIB_TRANSFORMS_PAIRPANELS_H
