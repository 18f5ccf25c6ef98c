//===- AttentionOps.cpp - Attention, online and linear --------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builders, roles and verifiers of the attention ops.
//
//===----------------------------------------------------------------------===//

#include "Operands.h"
#include "rope/IR/Rope.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Shared by the ops with softmax
//===----------------------------------------------------------------------===//

/// C5 and C6 of rope.attention: scale, softcap and window.
template <typename OpTy> static LogicalResult verifyScores(OpTy op) {
  // rope.attention C5
  if (!std::isfinite(op.getScale().convertToDouble()))
    return op.emitOpError("scale must be finite");
  if (std::optional<APFloat> softcap = op.getSoftcap())
    if (!softcap->isFinite() || softcap->isNegative() || softcap->isZero())
      return op.emitOpError("softcap must be finite and positive");
  // rope.attention C6
  std::optional<ArrayRef<int64_t>> window = op.getWindow();
  if (!window)
    return success();
  if (window->size() != 2 ||
      llvm::any_of(*window, [](int64_t side) { return side < -1; }))
    return op.emitOpError() << "window must have two entries, each at least "
                               "-1, got ["
                            << *window << "]";
  return success();
}

template <typename OpTy>
static void buildAttention(OpBuilder &builder, OperationState &state,
                           ValueRange qkv, ValueRange inits, double scale) {
  state.addOperands(qkv);
  state.addOperands(inits);
  auto &properties = state.getOrAddProperties<typename OpTy::Properties>();
  // Query, key and value are there, the optional groups are not, inits last.
  auto &segments = properties.operandSegmentSizes;
  llvm::fill(segments, 0);
  std::fill_n(segments.begin(), 3, 1);
  segments.back() = inits.size();
  properties.scale = builder.getF64FloatAttr(scale);
  state.addTypes(getTensorTypes(inits));
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// The init of a role, or null.
template <typename OpTy> static Value getInitOfRole(OpTy op, OperandRole role) {
  for (auto [init, initRole] : llvm::zip(op.getInits(), op.getInitRoles()))
    if (initRole == role)
      return init;
  return {};
}

/// The operand of a role that all of the ops have.
template <typename OpTy>
static Value getCommonOperand(OpTy op, OperandRole role) {
  switch (role) {
  case OperandRole::Query:
    return op.getQuery();
  case OperandRole::Key:
    return op.getKey();
  case OperandRole::Value:
    return op.getValue();
  default:
    return getInitOfRole(op, role);
  }
}

/// The operand of a role that both ops with softmax have.
template <typename OpTy>
static Value getSoftmaxOperand(OpTy op, OperandRole role) {
  switch (role) {
  case OperandRole::Mask:
    return op.getMask();
  case OperandRole::QueryPos:
    return op.getQueryPos();
  case OperandRole::KeyPos:
    return op.getKeyPos();
  case OperandRole::KeyLength:
    return op.getKeyLength();
  default:
    return getCommonOperand(op, role);
  }
}

/// The rotation of a role that all of the ops may rotate.
template <typename OpTy>
static Rotation getCommonRotation(OpTy op, OperandRole role) {
  switch (role) {
  case OperandRole::Query:
    return {op.getQueryTable(), op.getQueryRotaryAttr()};
  case OperandRole::Key:
    return {op.getKeyTable(), op.getKeyRotaryAttr()};
  default:
    return {};
  }
}

/// The rotation of a role that both ops with softmax may rotate.
template <typename OpTy>
static Rotation getSoftmaxRotation(OpTy op, OperandRole role) {
  if (role == OperandRole::Value)
    return {op.getValueTable(), op.getValueRotaryAttr()};
  return getCommonRotation(op, role);
}

//===----------------------------------------------------------------------===//
// AttentionOp
//===----------------------------------------------------------------------===//

void AttentionOp::build(OpBuilder &builder, OperationState &state, Value query,
                        Value key, Value value, ValueRange inits,
                        double scale) {
  buildAttention<AttentionOp>(builder, state, {query, key, value}, inits,
                              scale);
}

SmallVector<OperandRole> AttentionOp::getInitRoles() {
  return {OperandRole::Output, OperandRole::Lse};
}

Value AttentionOp::getRoleOperand(OperandRole role) {
  return role == OperandRole::Sink ? getSink() : getSoftmaxOperand(*this, role);
}

Rotation AttentionOp::getRotation(OperandRole role) {
  if (role == OperandRole::Output)
    return {getOutputTable(), getOutputRotaryAttr()};
  return getSoftmaxRotation(*this, role);
}

LogicalResult AttentionOp::verify() {
  // rope.attention C7
  if (getInits().empty() || getInits().size() > 2)
    return emitOpError() << "expected an output and at most one lse, got "
                         << getInits().size() << " inits";
  if (getInits().size() == 2) {
    Type lse = getElementTypeOrSelf(getInits()[1].getType());
    if (!lse.isF32() && !lse.isF64())
      return emitOpError() << "lse must be f32 or f64, got " << lse;
  }
  // rope.attention C1 to C6
  if (failed(rope::detail::verifyAttentionLike(*this)))
    return failure();
  return verifyScores(*this);
}

//===----------------------------------------------------------------------===//
// OnlineAttentionOp
//===----------------------------------------------------------------------===//

void OnlineAttentionOp::build(OpBuilder &builder, OperationState &state,
                              Value query, Value key, Value value,
                              ValueRange inits, double scale) {
  buildAttention<OnlineAttentionOp>(builder, state, {query, key, value}, inits,
                                    scale);
}

SmallVector<OperandRole> OnlineAttentionOp::getInitRoles() {
  return {OperandRole::Output, OperandRole::Lse, OperandRole::Sum};
}

Value OnlineAttentionOp::getRoleOperand(OperandRole role) {
  return getSoftmaxOperand(*this, role);
}

Rotation OnlineAttentionOp::getRotation(OperandRole role) {
  return getSoftmaxRotation(*this, role);
}

LogicalResult OnlineAttentionOp::verify() {
  // rope.online_attention C7
  if (getInits().size() != 3)
    return emitOpError() << "expected acc, max and sum, got "
                         << getInits().size() << " inits";
  // rope.attention C1 to C6
  if (failed(rope::detail::verifyAttentionLike(*this)))
    return failure();
  return verifyScores(*this);
}

//===----------------------------------------------------------------------===//
// LinearAttentionOp
//===----------------------------------------------------------------------===//

void LinearAttentionOp::build(OpBuilder &builder, OperationState &state,
                              Value query, Value key, Value value,
                              ValueRange inits, FeatureMap featureMap) {
  state.addOperands({query, key, value});
  state.addOperands(inits);
  auto &properties = state.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {1, 1, 1,
                                    0, 0, static_cast<int32_t>(inits.size())};
  properties.feature_map =
      FeatureMapAttr::get(builder.getContext(), featureMap);
  state.addTypes(getTensorTypes(inits));
}

SmallVector<OperandRole> LinearAttentionOp::getInitRoles() {
  return {OperandRole::Output, OperandRole::KvState, OperandRole::KSum};
}

Value LinearAttentionOp::getRoleOperand(OperandRole role) {
  return getCommonOperand(*this, role);
}

Rotation LinearAttentionOp::getRotation(OperandRole role) {
  return getCommonRotation(*this, role);
}

/// C6 and C7 of rope.linear_attention: inits and normaliser.
static LogicalResult verifyStates(LinearAttentionOp op) {
  // rope.linear_attention C6
  size_t count = op.getInits().size();
  if (count < 1 || count > 3)
    return op.emitOpError() << "expected an output and at most two states, got "
                            << count << " inits";
  if (count == 2 && op.getNormalizerEps())
    return op.emitOpError("a normaliser needs k_sum beside kv_state");
  if (count == 3 && !op.getNormalizerEps())
    return op.emitOpError("k_sum needs normalizer_eps");
  // rope.linear_attention C7
  for (Value state : op.getInits().drop_front()) {
    Type type = getElementTypeOrSelf(state.getType());
    if (!type.isF32() && !type.isF64())
      return op.emitOpError() << "states must be f32 or f64, got " << type;
  }
  if (std::optional<APFloat> eps = op.getNormalizerEps())
    if (!eps->isFinite() || eps->isNegative())
      return op.emitOpError("normalizer_eps must be finite and not negative");
  return success();
}

LogicalResult LinearAttentionOp::verify() {
  // rope.linear_attention C1 to C4
  if (failed(verifyStates(*this)) ||
      failed(rope::detail::verifyAttentionLike(*this)))
    return failure();
  // rope.linear_attention C5
  AttentionLikeOpInterface self = *this;
  int64_t rows = self.getStaticExtent(DomainDim::M);
  int64_t keys = self.getStaticExtent(DomainDim::N);
  if (getCausal() && !ShapedType::isDynamic(rows) &&
      !ShapedType::isDynamic(keys) && rows != keys)
    return emitOpError() << "causal, but there are " << rows
                         << " query rows and " << keys << " keys";
  return success();
}
