//===- Movement.cpp - Ops that move whole elements ------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the maps of copies and the groups of reshapes.
//
//===----------------------------------------------------------------------===//

#include "rope/IR/Movement.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::rope;

bool rope::isCopy(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || op.getNumParallelLoops() != op.getNumLoops())
    return false;
  Block *body = op.getBlock();
  auto yield = dyn_cast<linalg::YieldOp>(body->getTerminator());
  return yield && yield.getNumOperands() == 1 &&
         yield.getOperand(0) == body->getArgument(0);
}

FailureOr<DimMap> rope::getDimsOfCopy(linalg::LinalgOp copy) {
  AffineMap in = copy.getIndexingMapsArray()[0];
  AffineMap out = copy.getIndexingMapsArray()[1];
  if (!out.isPermutation() ||
      !in.isProjectedPermutation(/*allowZeroInResults=*/true))
    return failure();
  DimMap dims(out.getNumResults());
  for (auto [i, expr] : llvm::enumerate(in.getResults()))
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      dims[*out.getResultPosition(loop)] = i;
  return dims;
}

std::optional<int64_t> rope::getOnlyDim(ArrayRef<int64_t> group,
                                        ArrayRef<int64_t> shape) {
  auto isUnit = [&](int64_t dim) { return shape[dim] == 1; };
  const int64_t *found = llvm::find_if_not(group, isUnit);
  if (found == group.end())
    return group.back();
  if (!std::all_of(found + 1, group.end(), isUnit))
    return std::nullopt;
  return *found;
}

DimMap rope::getDimsOfCollapsed(ArrayRef<ReassociationIndices> groups,
                                ArrayRef<int64_t> expanded) {
  return llvm::map_to_vector(groups, [&](const ReassociationIndices &group) {
    return group.empty() ? std::nullopt : getOnlyDim(group, expanded);
  });
}

DimMap rope::getDimsOfExpanded(ArrayRef<ReassociationIndices> groups,
                               ArrayRef<int64_t> expanded) {
  DimMap dims(expanded.size());
  for (auto [i, group] : llvm::enumerate(groups))
    if (std::optional<int64_t> dim =
            group.empty() ? std::nullopt : getOnlyDim(group, expanded))
      dims[*dim] = i;
  return dims;
}

Value rope::createEmptyLike(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return tensor::EmptyOp::create(builder, loc,
                                 tensor::getMixedSizes(builder, loc, tensor),
                                 type.getElementType(), type.getEncoding());
}

FailureOr<RotaryAttr> rope::mapRotary(RotaryAttr rotary, const DimMap &dims,
                                      Value source) {
  auto type = cast<RankedTensorType>(source.getType());
  if (dims.empty() || dims.back() != type.getRank() - 1 ||
      type.isDynamicDim(type.getRank() - 1))
    return failure();
  SmallVector<int64_t> along;
  for (int64_t dim : rotary.getAlong()) {
    if (!dims[dim] || llvm::is_contained(along, *dims[dim]) ||
        *dims[dim] == type.getRank() - 1)
      return failure();
    along.push_back(*dims[dim]);
  }
  return rotary.withAlong(along);
}
