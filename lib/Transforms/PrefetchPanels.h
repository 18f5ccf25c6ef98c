//===- PrefetchPanels.h - Panels that come next -----------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A panel is read from memory all at once and then used for long. Meanwhile
// memory would idle: here it brings the next panel into the caches.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_TRANSFORMS_PREFETCHPANELS_H
#define ROPE_LIB_TRANSFORMS_PREFETCHPANELS_H

#include "LinalgTiles.h"
#include "ProductPanels.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::rope {

/// What is read after a panel.
struct NextPanel {
  /// The operand as a whole: [K, N] or [N, K], or a weight that is stored in
  /// panels, [N / lanes, K, lanes] or in pairs [N / lanes, K / 2, lanes, 2].
  Value source;
  /// Whether it is [N, K].
  bool hasStepsLast;
  /// Its first step and lane, in elements of those dims.
  Value step, lane;
  /// Elements of a sum, and lanes.
  Value steps;
  int64_t lanes;
  /// The number of a stored panel; null for others.
  Value panel = {};
  /// Steps that a stored panel has side by side.
  int64_t together = 1;
};

/// None unless `panel`, of which `block` is summing up to `steps` steps, is
/// cut from a larger operand at the variable of a loop. What comes next is the
/// following block of the panel, or after the last one the first block of the
/// loop's next panel.
std::optional<NextPanel> findNextPanel(RewriterBase &rewriter, Value panel,
                                       DimBlock block, const Roles &roles,
                                       int64_t steps);

/// The same after `block` of a stored panel, which findStoredPanel has found.
std::optional<NextPanel> findNextStored(RewriterBase &rewriter, Value panel,
                                        DimBlock block, int64_t steps);

/// Prefetches what a loop over the steps of `panel` [K, N], of so many `steps`,
/// reads some iterations after that of `step`: its lines may lie so far apart
/// that the caches cannot hold many of them, and the machine does not see which
/// come next.
void prefetchStep(OpBuilder &builder, Location loc, Value panel, Value step,
                  Value steps);

/// Prefetches of the next panel, spread over the loops that compute with one:
/// so few at a time that other memory accesses need not wait for them. The rows
/// of the next tile, which otherwise come from where they lie in memory as the
/// sum starts, come with them.
class PanelPrefetch {
public:
  /// Iterations of a sum between prefetches.
  static constexpr int64_t kIterations = 16;

  /// `tile` is in a loop over rows. Each iteration of its sum takes
  /// `stepsAtOnce` steps.
  PanelPrefetch(RewriterBase &rewriter, linalg::GenericOp tile,
                const Roles &roles, const NextPanel &next, int64_t stepsAtOnce);

  /// Prefetches what belongs to the iterations from `position` on, a multiple
  /// of kIterations.
  void fetch(OpBuilder &builder, Location loc, Value position) const;

private:
  void findLines(ImplicitLocOpBuilder &b, scf::ForOp loop);
  void findRows(ImplicitLocOpBuilder &b, scf::ForOp loop, Value left);
  void fetchLines(ImplicitLocOpBuilder &b, Value times) const;
  SmallVector<Value> getLine(ImplicitLocOpBuilder &b, Value line) const;
  void fetchRows(ImplicitLocOpBuilder &b, Value position) const;

  NextPanel next;
  int64_t stepsAtOnce;
  /// The operand, in memory.
  Value buffer;
  /// The first line of this tile, lines each time, and lines of the panel.
  Value first, count, end;
  int64_t elementsOfLine;
  /// The rows [M, K] in memory, null if they are stored otherwise, and the
  /// first and the number of those of the next tile.
  Value rows, firstRow;
  int64_t rowsOfTile;
};

} // namespace mlir::rope

#endif // ROPE_LIB_TRANSFORMS_PREFETCHPANELS_H
