//===- LinalgTiles.h - Pieces of structured ops -----------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the parts of rope-tile-linalg share: cutting a dim of an op into pieces
// of a static size, and turning a small piece into vectors.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_TRANSFORMS_LINALGTILES_H
#define ROPE_LIB_TRANSFORMS_LINALGTILES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "rope/Transforms/Transforms.h"

namespace mlir::rope {

/// The two parts of an op that was cut along one dim.
struct DimPieces {
  /// Works on `size` elements of the dim, inside a loop unless the dim is that
  /// short. Null if the dim is shorter than that.
  linalg::GenericOp main;
  /// Works on what is left. Null if nothing is; may find nothing left at run
  /// time if the dim is dynamic.
  linalg::GenericOp tail;
};

/// A part of the iteration domain of an op.
struct IterationBox {
  SmallVector<OpFoldResult> offsets, sizes;
};

/// All of the iteration domain. Creates what computes sizes that are not known.
IterationBox getIterationBox(RewriterBase &rewriter, linalg::GenericOp op);

/// Computes the piece of `op` in `box` into `inits`. Returns the piece and
/// appends the updated inits to `results`.
linalg::GenericOp createPiece(RewriterBase &rewriter, linalg::GenericOp op,
                              const IterationBox &box, ValueRange inits,
                              SmallVectorImpl<Value> &results);

/// Replaces `op` by a loop over pieces of `size` elements of `dim`, up to
/// `count` if that is static, and one more piece for the rest. Elements before
/// `start` are left out, of which a dim has more, and a static number, unless
/// `start` is 0.
DimPieces tileDim(RewriterBase &rewriter, linalg::GenericOp op, unsigned dim,
                  int64_t size, int64_t start = 0,
                  int64_t count = ShapedType::kDynamic);

/// As tileDim, for a dim of more elements, by a loop that threads may share;
/// the piece for the rest is one of its iterations. What a fill has filled is
/// filled piece by piece.
DimPieces shareDim(RewriterBase &rewriter, linalg::GenericOp op, unsigned dim,
                   int64_t size);

/// A loop nest over positions from 0 to `ends`, in `steps`, for threads to
/// share. `body` returns insertions into the tensors that it is given, which
/// are `inits` at first.
scf::ForallOp createSharedLoop(
    RewriterBase &rewriter, Location loc, ArrayRef<OpFoldResult> ends,
    ArrayRef<OpFoldResult> steps, ValueRange inits,
    llvm::function_ref<SmallVector<Value>(ValueRange, ValueRange)> body);

/// The tensor that an init is written over: what a fill fills.
Value getDestination(Value init);

/// Fills the inits of a piece of `whole` where those of `whole` are filled.
void fillLike(RewriterBase &rewriter, linalg::GenericOp piece,
              linalg::GenericOp whole);

/// Calls `handle` with pieces of up to `size` elements of a dim, or with single
/// elements where the rest is of unknown size.
void forEachPiece(RewriterBase &rewriter, linalg::GenericOp op, unsigned dim,
                  int64_t size,
                  llvm::function_ref<void(linalg::GenericOp)> handle);

/// A part of an op that was cut along one dim.
struct DimBlock {
  linalg::GenericOp op;
  /// Where the part starts. Null if it is the whole op.
  Value position;
};

/// Replaces `op` by a loop over pieces of at most `size` elements of `dim`, of
/// which the last may be shorter, unless the dim is that short. There is always
/// a first piece, if of no elements.
DimBlock tileDimInBlocks(RewriterBase &rewriter, linalg::GenericOp op,
                         unsigned dim, int64_t size);

/// Cuts each of `dims` to single elements, the first of them outermost.
linalg::GenericOp tileToUnits(RewriterBase &rewriter, linalg::GenericOp op,
                              ArrayRef<unsigned> dims);

/// Removes those of `dims` that have extent 1. Returns the op that replaces
/// `op`, or `op` if there is none to remove.
linalg::GenericOp dropUnits(RewriterBase &rewriter, linalg::GenericOp op,
                            ArrayRef<unsigned> dims);

/// Replaces an op of static shape, a few vectors large, by vector ops.
LogicalResult vectorizePiece(RewriterBase &rewriter, linalg::GenericOp op);

/// Whether pieces of `op` can be vectors at all: element types that vectors
/// have, no gathers.
bool isVectorizable(linalg::GenericOp op);

/// Whether an op adds up products of its two inputs, which may be widened on
/// the way. Upstream's contractions may as well apply any unary function to
/// inputs, products and sums.
bool isSumOfProducts(linalg::GenericOp op);

/// The largest power of two up to `limit` that fits into a dim of `extent`
/// elements (dynamic: `whenDynamic`); 1 if that is less than 4.
int64_t chooseVectorSize(int64_t extent, int64_t limit, int64_t whenDynamic);

/// The loops other than `lane` along which operands are stored that also vary
/// with `lane`: reading them takes a transposition.
SmallVector<unsigned> getTransposedDims(linalg::GenericOp op, unsigned lane);

/// Cuts an op into vectors of up to four times `lanes` elements and
/// vectorizes them. The op is left as it is, or in parts, where that cannot be
/// done: loops are right for every op.
void tileElementwise(RewriterBase &rewriter, linalg::GenericOp op,
                     int64_t lanes);

/// As tileElementwise, for an op with reductions: partial results lie in the
/// lanes of a vector and are combined at the end.
void tileReduction(RewriterBase &rewriter, linalg::GenericOp op, int64_t lanes);

/// One loop of tileReduction: sums along `along` in vectors of up to `size`
/// elements, for all of the dims `whole` at once and the others one by one.
void reduceInLanes(RewriterBase &rewriter, linalg::GenericOp op, unsigned along,
                   int64_t size, ArrayRef<unsigned> whole = {});

/// As tileElementwise, for a matrix product of any spelling: panels of the
/// operand that runs along the lanes are packed, and the sums of a register
/// tile stay in vectors while the reduction runs.
void tileContraction(RewriterBase &rewriter, linalg::GenericOp op,
                     const VectorTarget &target);

/// Whether an op is neither done by one of several threads nor so small that to
/// call them takes longer.
bool isWorthSharing(linalg::GenericOp op);

/// Cuts ops below `root` that are worth it into parts that threads share.
void shareOps(RewriterBase &rewriter, Operation *root,
              const VectorTarget &target);

/// Puts products of one block that share batch dims, and what is between them,
/// into one loop over these, which `threads` share if it is worth it.
void fuseHeads(RewriterBase &rewriter, Block &block, bool threads);

/// Computes products [row, column] panel by panel, of `width` columns, inside
/// the elementwise op of the block that alone reads them. Ops of no more
/// columns stay, as do products of few rows. Threads may share the panels.
void fuseEpilogues(RewriterBase &rewriter, Block &block,
                   const VectorTarget &target);

/// Puts ops of one block that work on the same rows into one loop over rows,
/// which `threads` share if it is worth it: what they hand on then stays in
/// cache.
void fuseRows(RewriterBase &rewriter, Block &block, bool threads);

/// Reports, at `root` and in the name of `pass`, numbers of a target that code
/// cannot be made for.
LogicalResult checkTarget(Operation *root, StringRef pass,
                          const VectorTarget &target);

/// Lanes of a panel, in elements: six rows of it fill most registers.
inline int64_t getPanelWidth(const VectorTarget &target) {
  return target.registers >= 32 ? 4 * target.lanes : 2 * target.lanes;
}

} // namespace mlir::rope

#endif // ROPE_LIB_TRANSFORMS_LINALGTILES_H
