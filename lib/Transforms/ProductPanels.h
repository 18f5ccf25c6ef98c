//===- ProductPanels.h - Roles and panels of products -----------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_TRANSFORMS_PRODUCTPANELS_H
#define ROPE_LIB_TRANSFORMS_PRODUCTPANELS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "rope/Transforms/Transforms.h"

#include <optional>

namespace mlir::rope {

/// Which loop of a product plays which part.
struct Roles {
  /// Runs along the result's memory.
  unsigned lane;
  /// Varies the operand that lanes do not.
  std::optional<unsigned> row;
  /// Summed over.
  SmallVector<unsigned> steps;
  /// The rest.
  SmallVector<unsigned> outer;
  /// The input that varies with the lanes.
  unsigned panelOperand;
};

/// Of an op whose maps are projected permutations. None if an input has a sum
/// of its own, or no input or both vary with the lanes.
std::optional<Roles> assignRoles(linalg::GenericOp op);

/// Whether lanes lie side by side in the panel's operand.
bool isLaneContiguous(linalg::GenericOp op, const Roles &roles);

/// Whether steps lie side by side in both operands.
bool isStepContiguous(linalg::GenericOp op, const Roles &roles);

/// Whether a panel is read often enough to be packed.
bool hasManyRows(linalg::GenericOp op, const Roles &roles);

/// The register tiles of some rows: `count` of `size` rows, and others of one
/// less. A tile of few rows takes as long as one of more, which hide the
/// latency of sums: so there are as few as possible, and none is much smaller.
struct RowTiles {
  int64_t size, count;
};
RowTiles chooseTiles(int64_t rows);

/// How much of a sum a panel holds.
int64_t choosePanelSteps(linalg::GenericOp op, const Roles &roles,
                         const VectorTarget &target);

/// Whether few rows meet a panel that is stored along many lanes, of which
/// `width` make a panel. Panel by panel its memory would be read in small
/// pieces.
bool shouldStream(linalg::GenericOp op, const Roles &roles, int64_t width);

/// Computes sums in lanes, of a few rows by a few lanes at a time, so that what
/// is loaded serves more than one sum. The panel's memory is read once, in
/// order.
void tileDots(RewriterBase &rewriter, linalg::GenericOp op, Roles roles,
              const VectorTarget &target);

/// The loop whose only variable this is, if it is one of scf.
LoopLikeOpInterface getLoopOver(OpFoldResult position);

/// Whether the weight of `op` is stored in panels of `width` lanes, in `pairs`
/// of steps or in single ones.
bool isStoredInPanels(linalg::GenericOp op, const Roles &roles, int64_t width,
                      bool pairs);

/// The stored panel [K, width], or of pairs [K / 2, 2 * width], that is what
/// `op` reads of its weight. Null if there is none such.
Value findStoredPanel(RewriterBase &rewriter, linalg::GenericOp op,
                      const Roles &roles, int64_t width, bool pairs);

/// `op`, of one step dim and f32 or f64 throughout, on a stored panel
/// [K, width].
linalg::GenericOp readStoredPanel(RewriterBase &rewriter, linalg::GenericOp op,
                                  const Roles &roles, Value panel);

/// A product on a packed panel.
struct Panel {
  linalg::GenericOp product;
  /// The panel, as wide as there is memory for. Null if that is not wider.
  Value full;
};

/// Copies the panel of `op` to a dense tensor, steps outermost and lanes
/// innermost, in the type of the sums. Where `maxSteps` and `maxLanes` are
/// static, its buffer is of that size.
Panel packPanel(RewriterBase &rewriter, linalg::GenericOp op,
                const Roles &roles, int64_t lanes,
                int64_t maxSteps = ShapedType::kDynamic,
                int64_t maxLanes = ShapedType::kDynamic);

/// Copies the panel of `op` as packPanel does while its first `rows` rows are
/// summed up by what is copied. Returns the product of the panel, of which the
/// other rows are still to be done. `fillFirst` is called with that of the
/// first rows, whose sums it may give a start value.
linalg::GenericOp
packBesideRows(RewriterBase &rewriter, linalg::GenericOp op, const Roles &roles,
               int64_t rows, int64_t maxSteps,
               llvm::function_ref<void(linalg::GenericOp)> fillFirst);

} // namespace mlir::rope

#endif // ROPE_LIB_TRANSFORMS_PRODUCTPANELS_H
