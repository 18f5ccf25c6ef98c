//===- FuseRotations.cpp - Rotations become roles of attention ------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only rotations that serve nothing else: another user (a key cache, say) needs
// the rotated rows in memory, and attention would turn them a second time.
//
//===----------------------------------------------------------------------===//

#include "AttentionEdits.h"
#include "Fuse.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "rope/IR/TableFacts.h"
#include "rope/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Whether the channels of a role are its last dim.
static bool endsWithChannels(AttentionLikeOpInterface op, OperandRole role) {
  DimLabels labels = op.getLabels(role);
  bool isScored = role == OperandRole::Query || role == OperandRole::Key;
  DimLabel channels = {isScored ? DomainDim::D : DomainDim::E};
  return !labels.empty() && labels.back() == channels;
}

/// Linear attention turns what its feature map gives, and not in the sum of the
/// normaliser.
static bool turnsAfterFeatureMap(AttentionLikeOpInterface op) {
  auto linear = dyn_cast<LinearAttentionOp>(op.getOperation());
  return linear && (linear.getFeatureMap() != FeatureMap::Identity ||
                    linear.getNormalizerEps());
}

static bool hasOtherUser(Value value, Operation *user) {
  return llvm::any_of(value.getUsers(),
                      [&](Operation *other) { return other != user; });
}

std::string rope::whyNotFused(AttentionLikeOpInterface op, OperandRole role,
                              RotateOp rotate) {
  if (hasOtherUser(rotate.getResult(), op))
    return "the rotated rows have another user, for which they are computed "
           "anyway";
  if (rotate->getBlock() != op->getBlock())
    return "the rotation is outside of the loop or branch of attention";
  if (turnsAfterFeatureMap(op))
    return "the rotation is before the feature map, or enters the normaliser";
  if (isa<LinearAttentionOp>(op.getOperation()) && role == OperandRole::Value)
    return "linear attention does not turn values";
  if (op.getRotation(role))
    return "the operand is turned by attention as well";
  if (!endsWithChannels(op, role))
    return "the channels of attention are not the last dim";
  return {};
}

/// Tells of the rounding of the rotated rows, which goes away.
static std::string describe(StringRef text, Type type) {
  std::string description = text.str();
  if (type.getIntOrFloatBitWidth() < 32)
    llvm::raw_string_ostream(description)
        << ", without its rounding to " << type;
  return description;
}

namespace {
/// attention(rotate(x)) = attention(x) with the rotation of its role.
struct FuseRotate : OpInterfaceRewritePattern<AttentionLikeOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(AttentionLikeOpInterface op,
                                PatternRewriter &rewriter) const override {
    bool changed = false;
    for (OperandRole role :
         {OperandRole::Query, OperandRole::Key, OperandRole::Value}) {
      auto rotate = op.getRoleOperand(role).getDefiningOp<RotateOp>();
      if (!rotate || !whyNotFused(op, role, rotate).empty())
        continue;
      reportFused(op, "fuse-rotation",
                  describe(("rotation of " + stringifyRole(role) +
                            " is done by attention")
                               .str(),
                           getElementTypeOrSelf(rotate.getInput())));
      rewriter.modifyOpInPlace(op, [&] {
        getMutableRole(op, role).assign(rotate.getInput());
        addRotation(op, role, rotate.getTable(), rotate.getRotary());
      });
      changed = true;
    }
    return success(changed);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// The output
//===----------------------------------------------------------------------===//

std::string rope::whyNotFused(AttentionOp op, RerotateOp rerotate) {
  if (hasOtherUser(op.getResult(0), rerotate))
    return "the output has another user before it is turned";
  if (failed(canSinkTo(op, rerotate)))
    return "attention cannot stand where its output is turned: in a loop, or "
           "after a use of its lse";
  if (op.getOutputTable())
    return "the output is turned by attention as well";
  if (!endsWithChannels(op, OperandRole::Output))
    return "the channels of the output are not the last dim";
  return {};
}

namespace {
/// rerotate(attention) = attention with the rotation of its output (RoPER).
struct FuseRerotate : OpRewritePattern<RerotateOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(RerotateOp rerotate,
                                PatternRewriter &rewriter) const override {
    auto op = rerotate.getInput().getDefiningOp<AttentionOp>();
    if (!op || rerotate.getInput() != op.getResult(0))
      return rewriter.notifyMatchFailure(rerotate, "no output of attention");
    std::string why = whyNotFused(op, rerotate);
    if (!why.empty())
      return rewriter.notifyMatchFailure(rerotate, why);
    reportFused(op, "fuse-rotation",
                describe("rotation of output is done by attention",
                         getElementTypeOrSelf(rerotate.getInput())));
    rewriter.setInsertionPoint(rerotate);
    bool inPlace = rerotate.getInit() == rerotate.getInput();
    AttentionOp fused = cloneWithOutput(
        rewriter, op, inPlace ? op.getInits()[0] : rerotate.getInit());
    addRotation(fused, OperandRole::Output, rerotate.getTable(),
                rerotate.getRotary());
    replaceConsumer(rewriter, op, rerotate, fused);
    return success();
  }
};

/// truncf(rotate(extf(x))) = rotate(x): rotations compute in f32 anyway. The
/// rounding to f32 goes away.
template <typename OpTy> struct FuseCastsAround : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy rotate,
                                PatternRewriter &rewriter) const override {
    if (!rotate.hasPureTensorSemantics() || !rotate->hasOneUse())
      return rewriter.notifyMatchFailure(rotate, "no single user");
    Operation *after = *rotate->user_begin();
    FailureOr<Value> source =
        getCastSource(rotate.getInput().getDefiningOp(), rotate);
    FailureOr<Value> wide = getCastSource(after, after);
    if (failed(source) || failed(wide) || *wide != rotate.getResult())
      return rewriter.notifyMatchFailure(rotate, "no casts around it");
    Type narrow = getElementTypeOrSelf(after->getResult(0));
    if (getElementTypeOrSelf(*source) != narrow ||
        !getElementTypeOrSelf(rotate.getInput()).isF32())
      return rewriter.notifyMatchFailure(rotate,
                                         "casts do not undo each other");
    reportFused(rotate, "fuse-cast",
                "casts around a rotation are part of it, which rounds once");
    rewriter.setInsertionPoint(after);
    Value init = isa<DestinationStyleOpInterface>(after)
                     ? cast<DestinationStyleOpInterface>(after).getDpsInits()[0]
                     : createEmptyLike(rewriter, rotate.getLoc(), *source);
    rewriter.replaceOpWithNewOp<OpTy>(after, rotate.getRotary(), *source,
                                      rotate.getTable(), init);
    return success();
  }

private:
  /// What an op in the block of another casts and does not move.
  static FailureOr<Value> getCastSource(Operation *op, Operation *other) {
    FailureOr<Movement> movement = matchMovement(op);
    if (failed(movement) || op->getBlock() != other->getBlock())
      return failure();
    for (auto [i, dim] : llvm::enumerate(movement->dims))
      if (dim != static_cast<int64_t>(i))
        return failure();
    if (static_cast<int64_t>(movement->dims.size()) !=
        cast<ShapedType>(movement->source.getType()).getRank())
      return failure();
    return movement->source;
  }
};
} // namespace

void rope::populateFuseRotationsPatterns(RewritePatternSet &patterns) {
  patterns.add<FuseRotate, FuseRerotate, FuseCastsAround<RotateOp>,
               FuseCastsAround<RerotateOp>>(patterns.getContext());
}
