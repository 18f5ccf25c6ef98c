//===- TileReuse.cpp - What several tiles would compute again -------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile of attention reads rows that other tiles read too: a block of keys
// serves each tile of queries. What has to be done to these rows is done once.
// The limit of two spares decoding, which reads each key once.
//
//===----------------------------------------------------------------------===//

#include "TileReuse.h"

#include "AttentionEdits.h"
#include "Fuse.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "rope/IR/TableFacts.h"

using namespace mlir;
using namespace mlir::rope;

static constexpr int64_t kMaxReads = 2;

/// Whether more than kMaxReads tiles read a part of what has these dims of the
/// domain. A dim of unknown extent is cut often.
static bool isReadOften(AttentionLikeOpInterface op, ArrayRef<int64_t> sizes,
                        ArrayRef<DomainDim> dims) {
  int64_t reads = 1;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    auto dim = static_cast<DomainDim>(i);
    if (size == 0 || llvm::is_contained(dims, dim))
      continue;
    int64_t extent = op.getStaticExtent(dim);
    if (ShapedType::isDynamic(extent))
      return true;
    reads *= std::max<int64_t>(llvm::divideCeil(extent, size), 1);
    if (reads > kMaxReads)
      return true;
  }
  return false;
}

static SmallVector<DomainDim> getDims(AttentionLikeOpInterface op,
                                      OperandRole role) {
  SmallVector<DomainDim> dims;
  for (const DimLabel &label : op.getLabels(role))
    llvm::append_range(dims, label);
  return dims;
}

/// The dims that the table of a rotation of a role follows.
static SmallVector<DomainDim>
getTableDims(AttentionLikeOpInterface op, OperandRole role, RotaryAttr rotary) {
  DimLabels labels = op.getLabels(role);
  SmallVector<DomainDim> dims;
  for (int64_t dim : rotary.getAlong())
    llvm::append_range(dims, labels[dim]);
  return dims;
}

/// Whether many tiles read what is the operand of a role, or the table of a
/// rotation of it.
static bool isReadOften(AttentionLikeOpInterface op, ArrayRef<int64_t> sizes,
                        OperandRole role, Value value) {
  Value operand = op.getRoleOperand(role);
  if (operand == value)
    return isReadOften(op, sizes, getDims(op, role));
  auto rotate = operand.getDefiningOp<RotateOp>();
  return rotate && rotate.getTable() == value &&
         isReadOften(op, sizes, getTableDims(op, role, rotate.getRotary()));
}

/// The operand in the type of scores, so that a rotation of it rounds nothing.
static Value widen(RewriterBase &rewriter, AttentionLikeOpInterface op,
                   Value operand) {
  SmallVector<Type> types;
  for (OperandRole role :
       {OperandRole::Query, OperandRole::Key, OperandRole::Value})
    types.push_back(op.getRoleOperand(role).getType());
  Type wide = computesInF64(types) ? Type(rewriter.getF64Type())
                                   : Type(rewriter.getF32Type());
  auto type = cast<RankedTensorType>(operand.getType());
  if (type.getElementType() == wide)
    return operand;
  return arith::ExtFOp::create(rewriter, op.getLoc(), type.clone(wide),
                               operand);
}

void rope::hoistRotations(RewriterBase &rewriter, AttentionLikeOpInterface op,
                          ArrayRef<int64_t> sizes) {
  // Linear attention turns what its feature map gives. Attention that computes
  // in f64 turns in f64, and rows kept in f32 would be rounded.
  auto isF64 = [](Value value) {
    return getElementTypeOrSelf(value.getType()).isF64();
  };
  if (isa<LinearAttentionOp>(op.getOperation()) ||
      llvm::any_of(op->getOperands(), isF64))
    return;
  for (OperandRole role :
       {OperandRole::Query, OperandRole::Key, OperandRole::Value}) {
    Rotation rotation = op.getRotation(role);
    Value operand = op.getRoleOperand(role);
    if (!rotation || !isa<RankedTensorType>(operand.getType()) ||
        !isReadOften(op, sizes, getDims(op, role)))
      continue;
    rewriter.setInsertionPoint(op);
    operand = widen(rewriter, op, operand);
    Value init = createEmptyLike(rewriter, op.getLoc(), operand);
    Value turned = RotateOp::create(rewriter, op.getLoc(), rotation.getRotary(),
                                    operand, rotation.table, init)
                       .getResult();
    rewriter.modifyOpInPlace(op, [&] {
      for (const RotationSite &site : getRotationSites(op))
        if (site.role == role) {
          eraseRotation(site);
          break;
        }
      getMutableRole(op, role).assign(turned);
    });
  }
}

bool rope::isTileLocal(AttentionLikeOpInterface op, ArrayRef<int64_t> sizes,
                       OpResult producer) {
  if (!isa<RopeDialect>(producer.getOwner()->getDialect()))
    return true;
  for (OperandRole role :
       {OperandRole::Query, OperandRole::Key, OperandRole::Value})
    if (isReadOften(op, sizes, role, producer))
      return false;
  for (const RotationSite &site : getRotationSites(op))
    if (site.table->get() == producer &&
        isReadOften(op, sizes, getTableDims(op, *site.role, site.getRotary())))
      return false;
  return true;
}
