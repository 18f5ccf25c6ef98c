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
  // One of each value, or nobody could tell that two slices are at one place.
  DenseMap<int64_t, Value> constants;
  auto getConstant = [&](int64_t value) {
    Value &constant = constants[value];
    if (!constant) {
      OpBuilder builder = OpBuilder::atBlockBegin(&block);
      constant = arith::ConstantIndexOp::create(
          builder, block.getParentOp()->getLoc(), value);
    }
    return constant;
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    SmallVector<OpFoldResult> offsets = getSliceOffsets(&op);
    if (except.contains(&op) ||
        llvm::none_of(offsets, llvm::IsaPred<Attribute>))
      continue;
    for (OpFoldResult &offset : offsets)
      if (std::optional<int64_t> value = getConstantIntValue(offset))
        offset = getConstant(*value);
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
