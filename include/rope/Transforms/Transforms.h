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

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

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

/// Replaces rope.attention on tensors by rope.online_attention over all keys,
/// and what comes after the last key.
void populateConvertToOnlinePatterns(RewritePatternSet &patterns);

/// How tileRopeOps cuts ops. A size of 0, or one that is missing, leaves a loop
/// whole.
struct TileOptions {
  /// Sizes along b, h, g, m and n, for attention.
  SmallVector<int64_t> domainSizes;
  /// Sizes along the leading dims, for tables and rotations.
  SmallVector<int64_t> leadingSizes;
  /// `scf.forall` in place of `scf.for`; reductions are then left whole.
  bool parallel = false;
  /// Pull producers into the loops.
  bool fuse = false;
  /// Split the keys of rope.online_attention into as many parts, each in an
  /// iteration of `scf.forall`, and merge their states. 0: do not.
  int64_t keySplits = 0;
};

/// Tiles the rope ops below `root` by TilingInterface. Fails, after a
/// diagnostic, if an op has no such tile.
LogicalResult tileRopeOps(Operation *root, const TileOptions &options);

/// Rewrites copies between ranked buffers of which at least one is strided
/// into `linalg.generic`.
void populateExpandCopiesPatterns(RewritePatternSet &patterns);

/// Rewrites transfers of vectors without dims, from tensors and from or to
/// memrefs, into accesses of one element.
void populateExpandElementTransfersPatterns(RewritePatternSet &patterns);

/// Rewrites `math.exp` on f32 as arithmetic.
void populateExpandMathPatterns(RewritePatternSet &patterns);

/// Rewrites what narrows f64 to f16 or bf16 in one step.
void populateExpandNarrowingPatterns(RewritePatternSet &patterns);

/// Rewrites the linalg ops on tensors below `root` as rope-normalize-linalg
/// says. Fails, without a diagnostic, if patterns do not settle.
LogicalResult normalizeLinalg(Operation *root);

/// The vectors of a target.
struct VectorTarget {
  /// f32 in one vector: a power of two from 4 to 64.
  int64_t lanes = 16;
  /// How many vectors there are.
  int64_t registers = 32;
  /// Whether there is an instruction for sums of products of pairs of bf16
  /// (AVX-512 BF16). It wants up to 16 lanes.
  bool dots = false;
  /// Whether loops over parts of ops with much work become scf.forall, for
  /// threads to share.
  bool threads = false;
};

/// Tiles and vectorizes the linalg generics on tensors below `root` as
/// rope-tile-linalg says. Fails, without a diagnostic, if patterns that clean
/// up do not settle.
LogicalResult tileLinalg(Operation *root, const VectorTarget &target = {});

/// Two rotations of one value become one by the product of their tables, and
/// products of tables become tables. See rope-simplify for what is required.
void populateMergeRotationsPatterns(RewritePatternSet &patterns);

/// Rotations of queries and keys, or of values and output, lose an offset that
/// is common to their positions.
void populateDropOffsetsPatterns(RewritePatternSet &patterns);

/// What a rule may do to roundings: remove them, or move and add them as well.
enum class Numerics { Strict, Relaxed };

/// Constant factors of queries and keys become part of the scale of attention.
/// Strictly, only those whose product with the scale is exact. Remarks are of
/// `category`.
void populateFoldScalePatterns(RewritePatternSet &patterns,
                               Numerics numerics = Numerics::Relaxed,
                               StringRef category = "rope-simplify");

//===----------------------------------------------------------------------===//
// What rope-fuse is made of
//===----------------------------------------------------------------------===//

/// All rules of rope-fuse that are patterns.
void populateFusePatterns(RewritePatternSet &patterns,
                          Numerics numerics = Numerics::Strict);

/// Rotations of query, key, value and output become roles of attention, and
/// casts to f32 and back around a rotation go.
void populateFuseRotationsPatterns(RewritePatternSet &patterns);

/// Transposes, reshapes, repeats and casts of what attention reads and writes
/// become part of its layout.
void populateFuseMovementPatterns(RewritePatternSet &patterns,
                                  Numerics numerics = Numerics::Strict);

/// Key-value heads that are repeated for groups of query heads become heads of
/// groups.
void populateFuseHeadsPatterns(RewritePatternSet &patterns);

/// Magnitudes of tables that turn all of a query or key become part of the
/// scale of attention. Strictly, only powers of two.
void populateFuseMagnitudesPatterns(RewritePatternSet &patterns,
                                    Numerics numerics = Numerics::Strict);

/// Masks below `root` that compare positions become causal, windows, positions
/// and lengths of attention. Returns whether anything changed, as the two
/// below.
bool fuseMasks(Operation *root);

/// Tables below `root` that are equal become one, as do the constants with
/// equal bytes from which tables are put together.
bool shareTables(Operation *root);

/// Erases loops below `root` that nothing reads and whose assertions hold, and
/// assertions of what the block has asserted before.
bool eraseProvenChecks(Operation *root);

} // namespace mlir::rope

#endif // ROPE_TRANSFORMS_TRANSFORMS_H
