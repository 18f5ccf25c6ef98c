//===- FuseMovement.cpp - Transposes, reshapes and repeats ----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What moves, repeats or casts the operands of attention becomes part of its
// layout: the operand is what was moved, and its letters say where its dims
// are. The same for what moves the output.
//
//===----------------------------------------------------------------------===//

#include "AttentionEdits.h"
#include "Fuse.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "rope/IR/ElementTypes.h"
#include "rope/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Movements
//===----------------------------------------------------------------------===//

/// Whether a value is cast between types that the ops take.
static bool isOpCast(Operation *op) {
  return isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(op) &&
         isOpFloat(getElementTypeOrSelf(op->getOperand(0))) &&
         isOpFloat(getElementTypeOrSelf(op->getResult(0)));
}

/// Whether a body passes its first argument on, as it is or cast.
static bool passesOn(Block *body) {
  auto yield = dyn_cast<linalg::YieldOp>(body->getTerminator());
  if (!yield || yield.getNumOperands() != 1)
    return false;
  Value value = yield.getOperand(0);
  if (isOpCast(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value == body->getArgument(0);
}

FailureOr<Movement> rope::matchMovement(Operation *op) {
  if (isOpCast(op)) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type)
      return failure();
    DimMap same;
    llvm::append_range(same, llvm::seq<int64_t>(0, type.getRank()));
    return Movement{op->getOperand(0), same};
  }
  auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (!linalgOp || !linalgOp.hasPureTensorSemantics() ||
      linalgOp.getNumDpsInputs() != 1 || linalgOp.getNumDpsInits() != 1 ||
      linalgOp.getNumParallelLoops() != linalgOp.getNumLoops() ||
      !passesOn(linalgOp.getBlock()))
    return failure();
  Value source = linalgOp.getDpsInputs()[0];
  FailureOr<DimMap> dims = getDimsOfCopy(linalgOp);
  if (failed(dims) || !isa<RankedTensorType>(source.getType()))
    return failure();
  return Movement{source, *dims};
}

bool rope::computesInF64(TypeRange qkv) {
  return llvm::any_of(
      qkv, [](Type type) { return getElementTypeOrSelf(type).isF64(); });
}

//===----------------------------------------------------------------------===//
// Labels of what was moved
//===----------------------------------------------------------------------===//

/// Whether a role's letters cannot do without that of a dim.
static bool isRequired(OperandRole role, DomainDim dim) {
  switch (role) {
  case OperandRole::Query:
    return dim == DomainDim::D;
  case OperandRole::Key:
    return dim == DomainDim::N || dim == DomainDim::D;
  case OperandRole::Value:
    return dim == DomainDim::N || dim == DomainDim::E;
  case OperandRole::Output:
    return dim == DomainDim::E;
  default:
    return false;
  }
}

static bool isRequired(OperandRole role, const DimLabel &label) {
  return label.size() == 1 && isRequired(role, label.front());
}

/// The labels of a movement's source. A letter that is repeated is left out:
/// the operand is then broadcast along it.
static FailureOr<DimLabels> labelSource(OperandRole role,
                                        const Movement &movement,
                                        ArrayRef<DimLabel> labels) {
  ArrayRef<int64_t> shape =
      cast<ShapedType>(movement.source.getType()).getShape();
  DimLabels moved(shape.size());
  SmallVector<bool> found(shape.size(), false);
  for (auto [label, dim] : llvm::zip_equal(labels, movement.dims)) {
    if (!dim && isRequired(role, label))
      return failure();
    if (!dim)
      continue;
    moved[*dim] = label;
    found[*dim] = true;
  }
  // Other dims are read at 0.
  for (auto [isFound, extent] : llvm::zip_equal(found, shape))
    if (!isFound && extent != 1)
      return failure();
  return moved;
}

/// The dims of a group that are not of extent 1.
static SmallVector<int64_t> getLongDims(ArrayRef<int64_t> group,
                                        ArrayRef<int64_t> shape) {
  return llvm::filter_to_vector(group,
                                [&](int64_t dim) { return shape[dim] != 1; });
}

/// Labels for the dims into which a dim is split, at `labels`: the group (hg)
/// comes apart where the extents are known to be those of h and g.
static LogicalResult splitLabel(AttentionLikeOpInterface op,
                                const DimLabel &label, ArrayRef<int64_t> group,
                                ArrayRef<int64_t> shape, DimLabels &labels) {
  SmallVector<int64_t> dims = getLongDims(group, shape);
  if (dims.size() <= 1) {
    if (!group.empty())
      labels[dims.empty() ? group.back() : dims.front()] = label;
    return success(!group.empty() || label.empty());
  }
  if (dims.size() != 2 || label.size() != 2)
    return failure();
  for (auto [dim, letter] : llvm::zip_equal(dims, label)) {
    if (ShapedType::isDynamic(shape[dim]) ||
        shape[dim] != op.getStaticExtent(letter))
      return failure();
    labels[dim] = {letter};
  }
  return success();
}

/// The label of a dim into which dims are merged: h and g make up a group.
static FailureOr<DimLabel> mergeLabels(OperandRole role,
                                       ArrayRef<int64_t> group,
                                       ArrayRef<int64_t> shape,
                                       ArrayRef<DimLabel> labels) {
  SmallVector<int64_t> dims = getLongDims(group, shape);
  if (dims.empty())
    // Any one will do, but for those that must be there.
    for (int64_t dim : group)
      if (dims.empty() ? !labels[dim].empty() : isRequired(role, labels[dim]))
        dims = {dim};
  for (int64_t dim : group)
    if (isRequired(role, labels[dim]) && !llvm::is_contained(dims, dim))
      return failure();
  if (dims.empty())
    return DimLabel();
  if (dims.size() == 1)
    return labels[dims.front()];
  if (dims.size() != 2 || labels[dims[0]] != DimLabel{DomainDim::H} ||
      labels[dims[1]] != DimLabel{DomainDim::G})
    return failure();
  return DimLabel{DomainDim::H, DomainDim::G};
}

/// The labels of the expanded value of a reshape, given those of the other.
static FailureOr<DimLabels> labelExpanded(AttentionLikeOpInterface op,
                                          ArrayRef<ReassociationIndices> groups,
                                          ArrayRef<int64_t> shape,
                                          ArrayRef<DimLabel> labels) {
  DimLabels expanded(shape.size());
  for (auto [group, label] : llvm::zip_equal(groups, labels))
    if (failed(splitLabel(op, label, group, shape, expanded)))
      return failure();
  return expanded;
}

/// The labels of the collapsed value of a reshape, given those of the other.
static FailureOr<DimLabels>
labelCollapsed(OperandRole role, ArrayRef<ReassociationIndices> groups,
               ArrayRef<int64_t> shape, ArrayRef<DimLabel> labels) {
  DimLabels collapsed;
  for (const ReassociationIndices &group : groups) {
    FailureOr<DimLabel> label = mergeLabels(role, group, shape, labels);
    if (failed(label))
      return failure();
    collapsed.push_back(*label);
  }
  // A value of rank 0 has no groups.
  for (const DimLabel &label : labels)
    if (groups.empty() && isRequired(role, label))
      return failure();
  return collapsed;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

namespace {
/// What an operand was before it was moved.
struct MovedOperand {
  Value source;
  DimLabels labels;
  DimMap dims;
};
} // namespace

static FailureOr<MovedOperand> getSource(AttentionLikeOpInterface op,
                                         OperandRole role, Value operand) {
  DimLabels labels = op.getLabels(role);
  if (auto collapse = operand.getDefiningOp<tensor::CollapseShapeOp>()) {
    SmallVector<ReassociationIndices> groups =
        collapse.getReassociationIndices();
    ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
    FailureOr<DimLabels> source = labelExpanded(op, groups, shape, labels);
    if (failed(source))
      return failure();
    return MovedOperand{collapse.getSrc(), *source,
                        getDimsOfCollapsed(groups, shape)};
  }
  if (auto expand = operand.getDefiningOp<tensor::ExpandShapeOp>()) {
    SmallVector<ReassociationIndices> groups = expand.getReassociationIndices();
    ArrayRef<int64_t> shape = expand.getResultType().getShape();
    FailureOr<DimLabels> source = labelCollapsed(role, groups, shape, labels);
    if (failed(source))
      return failure();
    return MovedOperand{expand.getSrc(), *source,
                        getDimsOfExpanded(groups, shape)};
  }
  FailureOr<Movement> movement = matchMovement(operand.getDefiningOp());
  if (failed(movement))
    return failure();
  FailureOr<DimLabels> source = labelSource(role, *movement, labels);
  if (failed(source))
    return failure();
  return MovedOperand{movement->source, *source, movement->dims};
}

/// Whether attention may read a narrower or wider source in place of a cast of
/// it. To a wider type a cast changes nothing, if scores stay in their type;
/// with relaxed numerics they may be in a narrower one.
static bool mayReadSource(AttentionLikeOpInterface op, OperandRole role,
                          Value source, Numerics numerics) {
  Value operand = op.getRoleOperand(role);
  Type from = getElementTypeOrSelf(source);
  Type to = getElementTypeOrSelf(operand);
  if (from == to)
    return true;
  if (from.getIntOrFloatBitWidth() >= to.getIntOrFloatBitWidth())
    return false;
  SmallVector<Type> before, after;
  for (OperandRole other :
       {OperandRole::Query, OperandRole::Key, OperandRole::Value}) {
    before.push_back(op.getRoleOperand(other).getType());
    after.push_back(other == role ? from : before.back());
  }
  return numerics == Numerics::Relaxed ||
         computesInF64(before) == computesInF64(after);
}

namespace {
/// attention(move(x)) = attention(x), with other letters for x.
struct FuseOperandMovement
    : OpInterfaceRewritePattern<AttentionLikeOpInterface> {
  FuseOperandMovement(MLIRContext *context, Numerics numerics)
      : OpInterfaceRewritePattern(context), numerics(numerics) {}

  LogicalResult matchAndRewrite(AttentionLikeOpInterface op,
                                PatternRewriter &rewriter) const override {
    for (OperandRole role : {OperandRole::Query, OperandRole::Key,
                             OperandRole::Value, OperandRole::Mask})
      if (succeeded(fuse(op, role, rewriter)))
        return success();
    return rewriter.notifyMatchFailure(op, "no operand is moved");
  }

private:
  LogicalResult fuse(AttentionLikeOpInterface op, OperandRole role,
                     PatternRewriter &rewriter) const {
    Value operand = op.getRoleOperand(role);
    if (!operand || !isa<RankedTensorType>(operand.getType()))
      return failure();
    FailureOr<MovedOperand> moved = getSource(op, role, operand);
    if (failed(moved) || !mayReadSource(op, role, moved->source, numerics))
      return failure();
    Rotation rotation = op.getRotation(role);
    FailureOr<RotaryAttr> rotary = RotaryAttr();
    if (rotation)
      rotary = mapRotary(rotation.getRotary(), moved->dims, moved->source);
    if (failed(rotary))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      setRoleOperand(op, role, moved->source, moved->labels);
      if (*rotary)
        setRotary(op, role, *rotary);
    });
    return success();
  }

  Numerics numerics;
};
} // namespace

//===----------------------------------------------------------------------===//
// The output
//===----------------------------------------------------------------------===//

LogicalResult rope::canSinkTo(Operation *op, Operation *consumer) {
  if (op->getBlock() != consumer->getBlock())
    return failure();
  // Other results may have been used before.
  for (Value result : op->getResults().drop_front())
    for (Operation *user : result.getUsers()) {
      Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user);
      if (!ancestor || ancestor->isBeforeInBlock(consumer))
        return failure();
    }
  return success();
}

namespace {
/// The output as its only user moves it.
struct MovedOutput {
  DimLabels labels;
  /// Where the dims of the output are in it.
  DimMap dims;
};
} // namespace

/// For a map of dims, the map the other way.
static DimMap invert(const DimMap &dims, int64_t rank) {
  DimMap inverse(rank);
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim)
      inverse[*dim] = i;
  return inverse;
}

static FailureOr<MovedOutput> getMoved(AttentionOp op, Operation *consumer) {
  constexpr OperandRole role = OperandRole::Output;
  AttentionLikeOpInterface self = op;
  DimLabels labels = self.getLabels(role), moved;
  int64_t rank = labels.size();
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(consumer)) {
    SmallVector<ReassociationIndices> groups =
        collapse.getReassociationIndices();
    ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
    FailureOr<DimLabels> collapsed =
        labelCollapsed(role, groups, shape, labels);
    if (failed(collapsed))
      return failure();
    return MovedOutput{*collapsed,
                       invert(getDimsOfCollapsed(groups, shape), rank)};
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(consumer)) {
    SmallVector<ReassociationIndices> groups = expand.getReassociationIndices();
    ArrayRef<int64_t> shape = expand.getResultType().getShape();
    FailureOr<DimLabels> expanded = labelExpanded(op, groups, shape, labels);
    if (failed(expanded))
      return failure();
    return MovedOutput{*expanded,
                       invert(getDimsOfExpanded(groups, shape), rank)};
  }
  FailureOr<Movement> movement = matchMovement(consumer);
  if (failed(movement) || !isa<linalg::LinalgOp>(consumer) ||
      movement->source != op.getResult(0))
    return failure();
  for (std::optional<int64_t> dim : movement->dims) {
    // Each dim of the copy is one of the output: it is permuted, not repeated.
    if (!dim)
      return failure();
    moved.push_back(labels[*dim]);
  }
  if (static_cast<int64_t>(moved.size()) != rank)
    return failure();
  return MovedOutput{moved, invert(movement->dims, rank)};
}

/// What the moved output is written to: the init of a copy, or the init of
/// attention in another shape.
static Value getMovedInit(RewriterBase &rewriter, AttentionOp op,
                          Operation *consumer) {
  if (auto copy = dyn_cast<linalg::LinalgOp>(consumer))
    return copy.getDpsInits()[0];
  IRMapping mapping;
  mapping.map(consumer->getOperand(0), op.getInits()[0]);
  return rewriter.clone(*consumer, mapping)->getResult(0);
}

static void reportCast(AttentionOp op, Value init) {
  Type from = getElementTypeOrSelf(op.getInits()[0]);
  Type to = getElementTypeOrSelf(init);
  if (from == to)
    return;
  std::string text;
  llvm::raw_string_ostream(text)
      << "output written as " << to << ", without the rounding to " << from;
  reportFused(op, "fuse-cast", text);
}

/// The rotary of the moved output; null if there is none. Fails if the channels
/// would not be its last dim.
static FailureOr<RotaryAttr>
getMovedRotary(AttentionOp op, const MovedOutput &moved, Value result) {
  AttentionLikeOpInterface self = op;
  if (Rotation rotation = self.getRotation(OperandRole::Output))
    return mapRotary(rotation.getRotary(), moved.dims, result);
  return RotaryAttr();
}

namespace {
/// move(attention) = attention, with other letters for the output, and rounded
/// to its type at once.
struct FuseOutputMovement : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || !op.getResult(0).hasOneUse())
      return rewriter.notifyMatchFailure(op, "no single user");
    Operation *consumer = *op.getResult(0).user_begin();
    if (failed(canSinkTo(op, consumer)))
      return rewriter.notifyMatchFailure(op, "cannot stand at its user");
    FailureOr<MovedOutput> moved = getMoved(op, consumer);
    if (failed(moved))
      return rewriter.notifyMatchFailure(op, "no letters for the moved output");
    FailureOr<RotaryAttr> rotary =
        getMovedRotary(op, *moved, consumer->getResult(0));
    if (failed(rotary))
      return rewriter.notifyMatchFailure(op, "channels would not be last");
    rewriter.setInsertionPoint(consumer);
    Value init = getMovedInit(rewriter, op, consumer);
    reportCast(op, init);
    AttentionOp fused = cloneWithOutput(rewriter, op, init);
    setLabels(fused, OperandRole::Output, moved->labels);
    if (*rotary)
      setRotary(fused, OperandRole::Output, *rotary);
    replaceConsumer(rewriter, op, consumer, fused);
    return success();
  }
};
} // namespace

void rope::populateFuseMovementPatterns(RewritePatternSet &patterns,
                                        Numerics numerics) {
  patterns.add<FuseOperandMovement>(patterns.getContext(), numerics);
  patterns.add<FuseOutputMovement>(patterns.getContext());
}
