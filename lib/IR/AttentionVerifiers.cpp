//===- AttentionVerifiers.cpp - What every attention op has to obey -------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The constraints of rope.attention that the other attention-like ops share.
//
//===----------------------------------------------------------------------===//

#include "AttentionRoles.h"
#include "Operands.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rope;

/// C1: each operand has labels.
static LogicalResult verifyLabels(AttentionLikeOpInterface op) {
  for (OperandRole role : getAllRoles()) {
    Value operand = op.getRoleOperand(role);
    if (!operand || succeeded(resolveLabels(op, role)))
      continue;
    LayoutAttr layout = op.getLayoutAttr();
    if (layout && layout.getLetters(role))
      return op.emitOpError()
             << stringifyRole(role) << " of type " << operand.getType()
             << " does not have the rank of its layout '"
             << layout.getLetters(role).getValue() << "'";
    return op.emitOpError() << "no default layout for " << stringifyRole(role)
                            << " of type " << operand.getType();
  }
  return success();
}

/// The extent of what a label holds, kDynamic if nothing says or if it is too
/// large to be an extent.
static int64_t getLabelExtent(AttentionLikeOpInterface op,
                              const DimLabel &label) {
  int64_t product = 1;
  for (DomainDim dim : label) {
    int64_t extent = op.getStaticExtent(dim);
    if (ShapedType::isDynamic(extent))
      return label.size() > 1 ? getStaticGroupExtent(op) : extent;
    if (llvm::MulOverflow(product, extent, product))
      return ShapedType::kDynamic;
  }
  return product;
}

/// Reports that dim `i` of a role's operand has the wrong extent.
static LogicalResult emitWrongExtent(AttentionLikeOpInterface op,
                                     OperandRole role, unsigned i,
                                     int64_t extent, int64_t want) {
  DimLabel label = op.getLabels(role)[i];
  if (label.size() == 1 || label.empty())
    return op.emitOpError() << "dim " << i << " ("
                            << (label.empty() ? '1' : getLetter(label.front()))
                            << ") of " << stringifyRole(role) << " has extent "
                            << extent << ", expected " << want;
  InFlightDiagnostic diag = op.emitOpError() << stringifyRole(role) << " has "
                                             << extent << " heads, ";
  int64_t heads = op.getStaticExtent(DomainDim::H);
  int64_t perHead = op.getStaticExtent(DomainDim::G);
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(perHead))
    return diag << "expected " << want;
  return diag << "but there are " << heads << " key-value heads and " << perHead
              << " query heads for each";
}

/// C2: static extents of one dim of the domain agree.
static LogicalResult verifyExtents(AttentionLikeOpInterface op) {
  for (OperandRole role : getAllRoles()) {
    Value operand = op.getRoleOperand(role);
    if (!operand)
      continue;
    for (auto [i, label] : llvm::enumerate(op.getLabels(role))) {
      int64_t extent = cast<ShapedType>(operand.getType()).getDimSize(i);
      int64_t want = getLabelExtent(op, label);
      if (ShapedType::isDynamic(extent) || ShapedType::isDynamic(want) ||
          extent == want)
        continue;
      return emitWrongExtent(op, role, i, extent, want);
    }
  }
  return success();
}

/// C4: rotations.
static LogicalResult verifyRotations(AttentionLikeOpInterface op) {
  for (OperandRole role : {OperandRole::Query, OperandRole::Key,
                           OperandRole::Value, OperandRole::Output}) {
    Rotation rotation = op.getRotation(role);
    if (static_cast<bool>(rotation.table) != static_cast<bool>(rotation.rotary))
      return op.emitOpError() << stringifyRole(role) << " has a "
                              << (rotation.table ? "table but no rotary"
                                                 : "rotary but no table");
    if (!rotation)
      continue;
    bool ofQueryOrKey = role == OperandRole::Query || role == OperandRole::Key;
    DomainDim channels = ofQueryOrKey ? DomainDim::D : DomainDim::E;
    DimLabels labels = op.getLabels(role);
    if (labels.empty() || findDim(labels, channels) != labels.size() - 1)
      return op.emitOpError() << stringifyRole(role)
                              << " is rotated, so that its channels must be "
                                 "its last dim";
    auto operand = cast<ShapedType>(op.getRoleOperand(role).getType());
    auto table = cast<ShapedType>(rotation.table.getType());
    if (failed(
            rotation.getRotary().verifyFor(operand, table, stringifyRole(role),
                                           [&] { return op.emitOpError(); })))
      return failure();
  }
  return success();
}

/// C8: an init has a place for each row that is computed, as far as extents
/// are known.
static LogicalResult verifyInits(AttentionLikeOpInterface op) {
  for (OperandRole role : op.getInitRoles()) {
    if (!op.getRoleOperand(role))
      continue;
    for (DomainDim dim : getLackedRows(op, role)) {
      int64_t extent = op.getStaticExtent(dim);
      if (extent != 1 && !ShapedType::isDynamic(extent))
        return op.emitOpError()
               << stringifyRole(role) << " lacks " << getLetter(dim)
               << ", which has extent " << extent;
    }
  }
  return success();
}

LogicalResult rope::detail::verifyAttentionLike(AttentionLikeOpInterface op) {
  // C3 in verifySemantics.
  return success(succeeded(verifySemantics(op)) &&
                 succeeded(verifyLabels(op)) && succeeded(verifyExtents(op)) &&
                 succeeded(verifyInits(op)) && succeeded(verifyRotations(op)));
}
