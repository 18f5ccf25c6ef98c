//===- FuseHeads.cpp - Repeated key-value heads ---------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Models with fewer key-value heads than query heads often repeat each of them
// for its group of query heads. Attention has groups: the repeat goes away, and
// what was a head is a head of a group.
//
//===----------------------------------------------------------------------===//

#include "AttentionEdits.h"
#include "Fuse.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "rope/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::rope;

namespace {
/// Heads, each repeated for a group: `source` before the repeat.
struct RepeatedHeads {
  Value source;
  DimLabels labels;
  DimMap dims;
  int64_t groupSize;
};
} // namespace

/// Whether the dims of a group are a dim of heads and one that repeats each of
/// them, inner most; returns the latter.
static std::optional<int64_t> getRepeatedDim(ArrayRef<int64_t> group,
                                             ArrayRef<int64_t> shape,
                                             const DimMap &dims) {
  SmallVector<int64_t> parts = llvm::filter_to_vector(
      group, [&](int64_t dim) { return dims[dim] || shape[dim] != 1; });
  if (parts.size() != 2 || !dims[parts[0]] || dims[parts[1]] ||
      ShapedType::isDynamic(shape[parts[1]]))
    return std::nullopt;
  return parts[1];
}

/// Reads an operand as collapse(copy(source)) where the dim of heads is merged
/// from heads and repeats.
static FailureOr<RepeatedHeads> matchRepeat(AttentionLikeOpInterface op,
                                            OperandRole role) {
  auto collapse =
      op.getRoleOperand(role).getDefiningOp<tensor::CollapseShapeOp>();
  if (!collapse)
    return failure();
  Operation *copy = collapse.getSrc().getDefiningOp();
  FailureOr<Movement> movement = matchMovement(copy);
  if (failed(movement) || !isa<linalg::LinalgOp>(copy) ||
      !isCopy(cast<linalg::LinalgOp>(copy)))
    return failure();
  DimLabels labels = op.getLabels(role);
  ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
  RepeatedHeads repeat{movement->source, {}, DimMap(labels.size()), 0};
  repeat.labels.resize(cast<ShapedType>(movement->source.getType()).getRank());
  for (auto [i, group] : llvm::enumerate(collapse.getReassociationIndices())) {
    std::optional<int64_t> repeated;
    if (labels[i] == DimLabel{DomainDim::H})
      repeated = getRepeatedDim(group, shape, movement->dims);
    if (repeated)
      repeat.groupSize = shape[*repeated];
    SmallVector<int64_t> parts = llvm::filter_to_vector(
        group, [&](int64_t dim) { return dim != repeated; });
    std::optional<int64_t> only = getOnlyDim(parts, shape);
    if (!only || !movement->dims[*only])
      return failure();
    repeat.dims[i] = *movement->dims[*only];
    repeat.labels[*repeat.dims[i]] = labels[i];
  }
  if (repeat.groupSize < 2)
    return failure();
  return repeat;
}

/// Whether the group has one query head and no operand of its own dim for it.
static bool hasTrivialGroup(AttentionLikeOpInterface op) {
  return op.getStaticExtent(DomainDim::G) == 1 &&
         llvm::none_of(getAllRoles(), [&](OperandRole role) {
           return findDim(op.getLabels(role), DomainDim::G).has_value();
         });
}

/// Heads of all other operands are heads of groups: h becomes (hg).
static void labelGroups(AttentionLikeOpInterface op) {
  for (OperandRole role : getAllRoles()) {
    if (role == OperandRole::Key || role == OperandRole::Value ||
        role == OperandRole::Sum || !op.getRoleOperand(role))
      continue;
    DimLabels labels = op.getLabels(role);
    std::optional<unsigned> heads = findDim(labels, DomainDim::H);
    if (!heads)
      continue;
    labels[*heads] = {DomainDim::H, DomainDim::G};
    setLabels(op, role, labels);
  }
}

/// The rotary of an operand before the repeat; null if it is not rotated.
static FailureOr<RotaryAttr> getRotary(AttentionLikeOpInterface op,
                                       OperandRole role,
                                       const RepeatedHeads &repeat) {
  if (Rotation rotation = op.getRotation(role))
    return mapRotary(rotation.getRotary(), repeat.dims, repeat.source);
  return RotaryAttr();
}

namespace {
/// attention(q, repeat(k), repeat(v)) = attention(q, k, v) of grouped heads.
struct FuseRepeatedHeads : OpInterfaceRewritePattern<AttentionLikeOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(AttentionLikeOpInterface op,
                                PatternRewriter &rewriter) const override {
    FailureOr<RepeatedHeads> key = matchRepeat(op, OperandRole::Key);
    FailureOr<RepeatedHeads> value = matchRepeat(op, OperandRole::Value);
    if (failed(key) || failed(value) || key->groupSize != value->groupSize)
      return rewriter.notifyMatchFailure(
          op, "heads of key and value are not repeated alike");
    if (!hasTrivialGroup(op))
      return rewriter.notifyMatchFailure(op, "has groups already");
    // States have no groups.
    if (op.getRoleOperand(OperandRole::KvState))
      return rewriter.notifyMatchFailure(op, "carries a state for each head");
    FailureOr<RotaryAttr> keyRotary = getRotary(op, OperandRole::Key, *key);
    FailureOr<RotaryAttr> valueRotary =
        getRotary(op, OperandRole::Value, *value);
    if (failed(keyRotary) || failed(valueRotary))
      return rewriter.notifyMatchFailure(op, "repeats are turned differently");
    reportFused(op, "fuse-heads",
                "repeated heads of key and value are heads of groups");
    rewriter.modifyOpInPlace(op, [&] {
      labelGroups(op);
      setRoleOperand(op, OperandRole::Key, key->source, key->labels);
      setRoleOperand(op, OperandRole::Value, value->source, value->labels);
      if (*keyRotary)
        setRotary(op, OperandRole::Key, *keyRotary);
      if (*valueRotary)
        setRotary(op, OperandRole::Value, *valueRotary);
    });
    return success();
  }
};
} // namespace

void rope::populateFuseHeadsPatterns(RewritePatternSet &patterns) {
  patterns.add<FuseRepeatedHeads>(patterns.getContext());
}
