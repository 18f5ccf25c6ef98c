//===- Motion.cpp - Where rotations stand ---------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rotation acts on the channels of each row alone, so it commutes with what
// moves or repeats whole rows. It goes up, towards the producer: above
// transposes, above repeats (there are fewer rows to turn) and above reshapes.
// A slice goes up too, above the rotation: fewer rows again. The two never meet
// the same op, so that they cannot undo each other, and both stay in their
// block, so that no work enters a loop.
//
//===----------------------------------------------------------------------===//

#include "Canonicalization.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rope/IR/Movement.h"
#include "rope/IR/TableFacts.h"

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Rotations above their producers
//===----------------------------------------------------------------------===//

/// Whether a producer may be moved below the rotation of its result.
static LogicalResult canExchange(Operation *producer, Operation *rotation) {
  bool onlyUser = llvm::all_of(
      producer->getUsers(), [&](Operation *user) { return user == rotation; });
  return success(onlyUser && producer->getBlock() == rotation->getBlock());
}

template <typename OpTy>
static Value rotateSource(OpTy op, RotaryAttr rotary, Value source,
                          PatternRewriter &rewriter) {
  Value init = createEmptyLike(rewriter, op.getLoc(), source);
  auto rotated =
      OpTy::create(rewriter, op.getLoc(), rotary, source, op.getTable(), init);
  rotated->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return rotated.getResult();
}

/// rotate(copy(x)) → copy(rotate(x)).
template <typename OpTy>
static LogicalResult moveAboveCopy(OpTy op, PatternRewriter &rewriter) {
  auto copy = op.getInput().template getDefiningOp<linalg::LinalgOp>();
  if (!copy || !op.hasPureTensorSemantics() || !isCopy(copy) ||
      failed(canExchange(copy, op)))
    return rewriter.notifyMatchFailure(op, "no copy for this rotation alone");
  Value source = copy.getDpsInputs().front();
  if (!isa<RankedTensorType>(source.getType()))
    return rewriter.notifyMatchFailure(op, "fills with a scalar");
  FailureOr<DimMap> dims = getDimsOfCopy(copy);
  if (failed(dims))
    return rewriter.notifyMatchFailure(op, "maps are not permutations");
  FailureOr<RotaryAttr> rotary = mapRotary(op.getRotary(), *dims, source);
  if (failed(rotary))
    return rewriter.notifyMatchFailure(op, "table follows a repeated dim");
  Value init =
      op.getInit() == op.getInput() ? copy.getDpsInits()[0] : op.getInit();
  Value rotated = rotateSource(op, *rotary, source, rewriter);
  Operation *copied =
      clone(rewriter, copy, init.getType(), ValueRange{rotated, init});
  rope::detail::replaceWithCast(rewriter, op, copied->getResult(0));
  return success();
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// Whether the init of a rotation carries nothing but its shape, so that no
/// write in place is lost if the result comes from a reshape.
template <typename OpTy> static bool hasFreeInit(OpTy op) {
  return op.getInit() == op.getInput() ||
         op.getInit().template getDefiningOp<tensor::EmptyOp>();
}

/// rotate(reshape(x)) → reshape(rotate(x)), for dims of whole groups.
template <typename OpTy, typename ReshapeOpTy>
static LogicalResult moveAboveReshape(OpTy op, PatternRewriter &rewriter) {
  constexpr bool collapses =
      std::is_same_v<ReshapeOpTy, tensor::CollapseShapeOp>;
  auto reshape = op.getInput().template getDefiningOp<ReshapeOpTy>();
  if (!reshape || !op.hasPureTensorSemantics() || !hasFreeInit(op) ||
      failed(canExchange(reshape, op)))
    return rewriter.notifyMatchFailure(op,
                                       "no reshape for this rotation alone");
  SmallVector<ReassociationIndices> groups = reshape.getReassociationIndices();
  DimMap dims =
      collapses ? getDimsOfCollapsed(groups, reshape.getSrcType().getShape())
                : getDimsOfExpanded(groups, reshape.getResultType().getShape());
  FailureOr<RotaryAttr> rotary =
      mapRotary(op.getRotary(), dims, reshape.getSrc());
  if (failed(rotary))
    return rewriter.notifyMatchFailure(op, "a dim is split or merged");
  Value rotated = rotateSource(op, *rotary, reshape.getSrc(), rewriter);
  IRMapping mapping;
  mapping.map(reshape.getSrc(), rotated);
  Operation *reshaped = rewriter.clone(*reshape, mapping);
  rope::detail::replaceWithCast(rewriter, op, reshaped->getResult(0));
  return success();
}

//===----------------------------------------------------------------------===//
// Slices above rotations
//===----------------------------------------------------------------------===//

/// Whether a slice may have less of a dim than there is.
static bool isCut(tensor::ExtractSliceOp slice, int64_t dim) {
  int64_t size = slice.getStaticSizes()[dim];
  return ShapedType::isDynamic(size) ||
         size != slice.getSourceType().getDimSize(dim);
}

/// The slice of a table for a slice of what it turns; the table itself if the
/// slice is not along its dims.
static Value sliceTable(PatternRewriter &rewriter, tensor::ExtractSliceOp slice,
                        Value table, ArrayRef<int64_t> along) {
  if (llvm::none_of(along, [&](int64_t dim) { return isCut(slice, dim); }))
    return table;
  int64_t rank = cast<ShapedType>(table.getType()).getRank();
  SmallVector<OpFoldResult> offsets(rank, rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(rank, rewriter.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, slice.getLoc(), table);
  for (auto [i, dim] : llvm::enumerate(along)) {
    offsets[i] = slice.getMixedOffsets()[dim];
    sizes[i] = slice.getMixedSizes()[dim];
    strides[i] = slice.getMixedStrides()[dim];
  }
  return tensor::ExtractSliceOp::create(rewriter, slice.getLoc(), table,
                                        offsets, sizes, strides);
}

/// The rotary of a slice that holds all channels of the pairs; fails for one
/// that cuts between them.
static FailureOr<RotaryAttr> sliceChannels(RotaryAttr rotary, int64_t pairs,
                                           tensor::ExtractSliceOp slice) {
  int64_t last = slice.getSourceType().getRank() - 1;
  int64_t offset = slice.getStaticOffsets()[last];
  int64_t size = slice.getStaticSizes()[last];
  if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(size) ||
      slice.getStaticStrides()[last] != 1)
    return failure();
  int64_t begin = rotary.getOffset();
  int64_t end = rotary.getReadChannels(pairs - 1, pairs).second + 1;
  if (offset > begin || offset + size < end)
    return failure();
  return RotaryAttr::get(rotary.getContext(), rotary.getReadPairing(),
                         rotary.getWritePairing(), begin - offset,
                         rotary.getDistance(), rotary.getAlong(),
                         rotary.getFull());
}

/// slice(rotate(x, t)) → rotate(slice(x), slice(t)).
template <typename OpTy>
static LogicalResult moveSliceAbove(tensor::ExtractSliceOp slice,
                                    PatternRewriter &rewriter) {
  auto op = slice.getSource().template getDefiningOp<OpTy>();
  if (!op || failed(canExchange(op, slice)))
    return rewriter.notifyMatchFailure(slice, "no rotation for this alone");
  if (slice.getDroppedDims().any())
    return rewriter.notifyMatchFailure(slice, "drops dims");
  RotaryAttr rotary = op.getRotary();
  int64_t pairs = rotary.getNumPairs(getTableWidth(op.getTable()));
  FailureOr<RotaryAttr> sliced = sliceChannels(rotary, pairs, slice);
  if (failed(sliced))
    return rewriter.notifyMatchFailure(slice, "cuts the channels of the pairs");
  auto sliceOf = [&](Value value) -> Value {
    return tensor::ExtractSliceOp::create(
        rewriter, slice.getLoc(), slice.getType(), value,
        slice.getMixedOffsets(), slice.getMixedSizes(),
        slice.getMixedStrides());
  };
  Value table = sliceTable(rewriter, slice, op.getTable(), rotary.getAlong());
  Value input = sliceOf(op.getInput()), init = sliceOf(op.getInit());
  auto moved =
      rewriter.replaceOpWithNewOp<OpTy>(slice, *sliced, input, table, init);
  moved->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return success();
}

template <typename OpTy>
static void populateMotionOf(RewritePatternSet &patterns) {
  patterns.add(moveAboveCopy<OpTy>);
  patterns.add(moveAboveReshape<OpTy, tensor::CollapseShapeOp>);
  patterns.add(moveAboveReshape<OpTy, tensor::ExpandShapeOp>);
  patterns.add(moveSliceAbove<OpTy>);
}

void rope::detail::populateRotationMotionPatterns(RewritePatternSet &patterns) {
  populateMotionOf<RotateOp>(patterns);
  populateMotionOf<RerotateOp>(patterns);
}
