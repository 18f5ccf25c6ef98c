//===- AttentionEdits.cpp - Changes of attention ops by role --------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the attention ops have in common under the same names, reached by role.
//
//===----------------------------------------------------------------------===//

#include "AttentionEdits.h"

#include "rope/IR/TableFacts.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

template <typename OpTy>
static MutableOperandRange getSoftmaxRole(OpTy op, OperandRole role) {
  switch (role) {
  case OperandRole::Mask:
    return op.getMaskMutable();
  case OperandRole::QueryPos:
    return op.getQueryPosMutable();
  case OperandRole::KeyPos:
    return op.getKeyPosMutable();
  default:
    assert(role == OperandRole::KeyLength && "no operand of this role");
    return op.getKeyLengthMutable();
  }
}

MutableOperandRange rope::getMutableRole(AttentionLikeOpInterface op,
                                         OperandRole role) {
  // Every attention op begins with query, key and value.
  constexpr OperandRole first[] = {OperandRole::Query, OperandRole::Key,
                                   OperandRole::Value};
  for (auto [i, candidate] : llvm::enumerate(first))
    if (candidate == role)
      return MutableOperandRange(op, i, 1);
  if (auto online = dyn_cast<OnlineAttentionOp>(op.getOperation()))
    return getSoftmaxRole(online, role);
  auto attention = cast<AttentionOp>(op.getOperation());
  if (role == OperandRole::Sink)
    return attention.getSinkMutable();
  return getSoftmaxRole(attention, role);
}

void rope::setRoleOperand(AttentionLikeOpInterface op, OperandRole role,
                          Value operand, ArrayRef<DimLabel> labels) {
  getMutableRole(op, role).assign(operand);
  setLabels(op, role, labels);
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

/// The roles in the order of the parameters of #rope.layout.
static constexpr OperandRole kLayoutRoles[] = {
    OperandRole::Query,  OperandRole::Key,       OperandRole::Value,
    OperandRole::Output, OperandRole::Mask,      OperandRole::QueryPos,
    OperandRole::KeyPos, OperandRole::KeyLength, OperandRole::Sink,
    OperandRole::Lse,    OperandRole::KvState,   OperandRole::KSum};

/// Whether an operand of this type has these letters if none are given.
static bool isDefault(OperandRole role, Value operand, StringRef letters) {
  FailureOr<DimLabels> labels = getDefaultLabels(role, operand.getType());
  return succeeded(labels) && printDimLabels(*labels) == letters;
}

void rope::setLabels(AttentionLikeOpInterface op, OperandRole role,
                     ArrayRef<DimLabel> labels) {
  LayoutAttr layout = op.getLayoutAttr();
  SmallVector<StringAttr> letters;
  for (OperandRole other : kLayoutRoles) {
    StringAttr given = layout ? layout.getLetters(other) : StringAttr();
    if (other == role)
      given = StringAttr::get(op.getContext(), printDimLabels(labels));
    Value operand = op.getRoleOperand(other);
    if (given && (!operand || isDefault(other, operand, given.getValue())))
      given = {};
    letters.push_back(given);
  }
  StringRef name = "layout";
  if (llvm::none_of(letters, [](StringAttr given) { return given; })) {
    op->removeAttr(name);
    return;
  }
  auto get = [&](OperandRole wanted) {
    return letters[llvm::find(kLayoutRoles, wanted) - kLayoutRoles];
  };
  op->setAttr(name, LayoutAttr::get(
                        op.getContext(), get(OperandRole::Query),
                        get(OperandRole::Key), get(OperandRole::Value),
                        get(OperandRole::Output), get(OperandRole::Mask),
                        get(OperandRole::QueryPos), get(OperandRole::KeyPos),
                        get(OperandRole::KeyLength), get(OperandRole::Sink),
                        get(OperandRole::Lse), get(OperandRole::KvState),
                        get(OperandRole::KSum)));
}

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

void rope::addRotation(AttentionLikeOpInterface op, OperandRole role,
                       Value table, RotaryAttr rotary) {
  auto setQueryOrKey = [&](auto attention) {
    if (role == OperandRole::Query) {
      attention.getQueryTableMutable().assign(table);
      attention.setQueryRotaryAttr(rotary);
      return;
    }
    assert(role == OperandRole::Key && "a role without rotation");
    attention.getKeyTableMutable().assign(table);
    attention.setKeyRotaryAttr(rotary);
  };
  auto setOperand = [&](auto attention) {
    if (role != OperandRole::Value)
      return setQueryOrKey(attention);
    attention.getValueTableMutable().assign(table);
    attention.setValueRotaryAttr(rotary);
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case<AttentionOp>([&](AttentionOp attention) {
        if (role != OperandRole::Output)
          return setOperand(attention);
        attention.getOutputTableMutable().assign(table);
        attention.setOutputRotaryAttr(rotary);
      })
      .Case<OnlineAttentionOp>(setOperand)
      .Case<LinearAttentionOp>(setQueryOrKey);
}

void rope::setRotary(AttentionLikeOpInterface op, OperandRole role,
                     RotaryAttr rotary) {
  for (const RotationSite &site : getRotationSites(op))
    if (site.role == role)
      site.setRotary(rotary);
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

AttentionOp rope::cloneWithOutput(OpBuilder &builder, AttentionOp op,
                                  Value init) {
  SmallVector<Value> operands(op->getOperands());
  operands[op.getInitsMutable()[0].getOperandNumber()] = init;
  SmallVector<Type> types(op->getResultTypes());
  types[0] = init.getType();
  OperationState state(op.getLoc(), op->getName(), operands, types,
                       op->getAttrs());
  return cast<AttentionOp>(builder.create(state));
}

void rope::replaceConsumer(RewriterBase &rewriter, AttentionOp op,
                           Operation *consumer, AttentionOp by) {
  for (auto [from, to] :
       llvm::drop_begin(llvm::zip_equal(op.getResults(), by.getResults())))
    rewriter.replaceAllUsesWith(from, to);
  rewriter.replaceOp(consumer, by.getResult(0));
  rewriter.eraseOp(op);
}
