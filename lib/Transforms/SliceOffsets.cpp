//===- SliceOffsets.cpp - Where slices begin, as operands or attributes ---===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RepeatedRuns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

static void replaceSlice(Operation *op, ArrayRef<OpFoldResult> offsets) {
  OpBuilder builder(op);
  Operation *changed;
  if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op)) {
    changed = tensor::ExtractSliceOp::create(
        builder, op->getLoc(), extract.getType(), extract.getSource(), offsets,
        extract.getMixedSizes(), extract.getMixedStrides());
  } else {
    auto insert = cast<tensor::InsertSliceOp>(op);
    changed = tensor::InsertSliceOp::create(
        builder, op->getLoc(), insert.getSource(), insert.getDest(), offsets,
        insert.getMixedSizes(), insert.getMixedStrides());
  }
  changed->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->replaceAllUsesWith(changed);
  op->erase();
}

static SmallVector<OpFoldResult> getSliceOffsets(Operation *op) {
  if (!isa<tensor::ExtractSliceOp, tensor::InsertSliceOp>(op))
    return {};
  return cast<OffsetSizeAndStrideOpInterface>(op).getMixedOffsets();
}

void rope::makeOffsetsOperands(Block &block,
                               const DenseSet<Operation *> &except) {
  // One for all slices of tensors like the one that begin at the same place, or
  // nobody could tell that they do.
  DenseMap<std::tuple<Type, unsigned, int64_t>, Value> constants;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    SmallVector<OpFoldResult> offsets = getSliceOffsets(&op);
    if (except.contains(&op) ||
        llvm::none_of(offsets, llvm::IsaPred<Attribute>))
      continue;
    Type whole = op.getOperand(isa<tensor::InsertSliceOp>(op)).getType();
    for (auto [dim, offset] : llvm::enumerate(offsets)) {
      std::optional<int64_t> value = getConstantIntValue(offset);
      if (!value)
        continue;
      Value &constant = constants[{whole, dim, *value}];
      if (!constant) {
        OpBuilder builder = OpBuilder::atBlockBegin(&block);
        constant = arith::ConstantIndexOp::create(builder, op.getLoc(), *value);
      }
      offset = constant;
    }
    replaceSlice(&op, offsets);
  }
}

void rope::makeOffsetsStatic(Block &block) {
  // Constants come before those that take them.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    SmallVector<OpFoldResult> offsets = getSliceOffsets(&op);
    if (succeeded(foldDynamicIndexList(offsets, /*onlyNonNegative=*/true)))
      replaceSlice(&op, offsets);
    else if (op.hasTrait<OpTrait::ConstantLike>() && op.use_empty())
      op.erase();
  }
}
