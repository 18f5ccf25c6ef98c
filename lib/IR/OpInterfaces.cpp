//===- OpInterfaces.cpp - Effects, speculation and shapes of every op -----===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MemoryEffectsOpInterface, ConditionallySpeculatable and
// ReifyRankedShapedTypeOpInterface follow for every op from its operands being
// inputs or inits in destination-passing style.
//
//===----------------------------------------------------------------------===//

#include "rope/IR/Rope.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::rope;

using EffectList = SmallVectorImpl<MemoryEffects::EffectInstance>;

bool rope::readsInit(Operation *op, unsigned index) {
  // The output of linear attention is written, its states are carried.
  return isa<OnlineAttentionOp>(op) ||
         (isa<LinearAttentionOp>(op) && index > 0);
}

/// Memrefs are read as inputs, and written (and read if carried) as inits.
static void getEffectsOf(DestinationStyleOpInterface op, EffectList &effects) {
  for (OpOperand *input : op.getDpsInputOperands())
    if (isa<MemRefType>(input->get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), input, /*stage=*/0,
                           /*effectOnFullRegion=*/true,
                           SideEffects::DefaultResource::get());
  for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (!isa<MemRefType>(init.get().getType()))
      continue;
    if (readsInit(op, i))
      effects.emplace_back(MemoryEffects::Read::get(), &init, /*stage=*/0,
                           /*effectOnFullRegion=*/true,
                           SideEffects::DefaultResource::get());
    effects.emplace_back(MemoryEffects::Write::get(), &init, /*stage=*/0,
                         /*effectOnFullRegion=*/true,
                         SideEffects::DefaultResource::get());
  }
}

/// On tensors an op is a function of its operands.
static Speculation::Speculatability
getSpeculatabilityOf(DestinationStyleOpInterface op) {
  return op.hasPureTensorSemantics() ? Speculation::Speculatable
                                     : Speculation::NotSpeculatable;
}

/// Results have the shapes of their inits.
static LogicalResult reifyShapesOf(DestinationStyleOpInterface op,
                                   OpBuilder &builder,
                                   ReifiedRankedShapedTypeDims &shapes) {
  for (Value init : op.getDpsInits())
    if (isa<RankedTensorType>(init.getType()))
      shapes.push_back(tensor::getMixedSizes(builder, op.getLoc(), init));
  return success();
}

/// Casts to a less static type fold into the op, for memrefs; for tensors,
/// upstream does it for every op in destination-passing style.
static LogicalResult foldMemRefCasts(Operation *op) {
  bool folded = false;
  for (OpOperand &operand : op->getOpOperands()) {
    auto cast = operand.get().getDefiningOp<memref::CastOp>();
    if (!cast || !memref::CastOp::canFoldIntoConsumerOp(cast))
      continue;
    operand.set(cast.getSource());
    folded = true;
  }
  return success(folded);
}

#define ROPE_DEFINE_INTERFACES(OpTy)                                           \
  void OpTy::getEffects(EffectList &effects) { getEffectsOf(*this, effects); } \
  Speculation::Speculatability OpTy::getSpeculatability() {                    \
    return getSpeculatabilityOf(*this);                                        \
  }                                                                            \
  LogicalResult OpTy::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) {     \
    return foldMemRefCasts(*this);                                             \
  }                                                                            \
  LogicalResult OpTy::reifyResultShapes(OpBuilder &builder,                    \
                                        ReifiedRankedShapedTypeDims &shapes) { \
    return reifyShapesOf(*this, builder, shapes);                              \
  }

ROPE_DEFINE_INTERFACES(TableOp)
ROPE_DEFINE_INTERFACES(AssembleOp)
ROPE_DEFINE_INTERFACES(ComposeOp)
ROPE_DEFINE_INTERFACES(RotateOp)
ROPE_DEFINE_INTERFACES(RerotateOp)
ROPE_DEFINE_INTERFACES(AttentionOp)
ROPE_DEFINE_INTERFACES(OnlineAttentionOp)
ROPE_DEFINE_INTERFACES(LinearAttentionOp)

#undef ROPE_DEFINE_INTERFACES
