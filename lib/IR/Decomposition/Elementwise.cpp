//===- Elementwise.cpp - Slices and elementwise code ----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On tensors a part is taken by tensor.extract_slice and put back by
// tensor.insert_slice; on memrefs it is a memref.subview.
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "rope/IR/MemoryOverlap.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope::detail;

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

Slice::Slice(ImplicitLocOpBuilder &builder, Value shaped) {
  Location loc = builder.getLoc();
  sizes = isa<TensorType>(shaped.getType())
              ? tensor::getMixedSizes(builder, loc, shaped)
              : memref::getMixedSizes(builder, loc, shaped);
  // The size of a slice by a constant folds to it, and is as good as static.
  for (OpFoldResult &size : sizes)
    if (std::optional<int64_t> extent = getConstantIntValue(size))
      size = builder.getIndexAttr(*extent);
  offsets.assign(sizes.size(), builder.getIndexAttr(0));
  strides.assign(sizes.size(), builder.getIndexAttr(1));
}

static OpFoldResult getIndex(OpFoldResult like, int64_t value) {
  MLIRContext *context = like.getContext();
  return IntegerAttr::get(IndexType::get(context), value);
}

Slice &Slice::at(int64_t dim, int64_t offset) {
  dropped.push_back(dim);
  return range(dim, offset, 1);
}

Slice &Slice::range(int64_t dim, int64_t offset, int64_t size, int64_t stride) {
  offsets[dim] = getIndex(offsets[dim], offset);
  sizes[dim] = getIndex(sizes[dim], size);
  strides[dim] = getIndex(strides[dim], stride);
  return *this;
}

/// The static extents of a part without its dropped dims.
static SmallVector<int64_t> getPartShape(ArrayRef<OpFoldResult> sizes,
                                         ArrayRef<int64_t> dropped) {
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(dropped, static_cast<int64_t>(dim)))
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return shape;
}

/// Whether a rank-reducing slice could be taken for one that drops another dim.
/// Upstream drops the first dims of extent 1 that it finds, which matters when
/// dims of other extents lie between one of these and ours, or may once sizes
/// have become constants.
bool Slice::isAmbiguous() const {
  bool mayBeUnit = false, isBetween = false;
  for (int64_t dim = 0, last = dropped.empty() ? 0 : dropped.back();
       dim != last; ++dim) {
    if (llvm::is_contained(dropped, dim))
      continue;
    std::optional<int64_t> size = getConstantIntValue(sizes[dim]);
    isBetween |= mayBeUnit && size != 1;
    mayBeUnit |= !size || size == 1;
  }
  return isBetween;
}

Value Slice::extract(ImplicitLocOpBuilder &builder, Value source) const {
  if (auto tensor = dyn_cast<RankedTensorType>(source.getType())) {
    bool collapses = isAmbiguous();
    ArrayRef<int64_t> reduced = dropped;
    auto type = tensor.clone(
        getPartShape(sizes, collapses ? ArrayRef<int64_t>() : reduced));
    Value part = tensor::ExtractSliceOp::create(builder, type, source, offsets,
                                                sizes, strides);
    return collapses ? collapseUnitDims(builder, part, dropped) : part;
  }
  auto type = memref::SubViewOp::inferRankReducedResultType(
      getPartShape(sizes, dropped), cast<MemRefType>(source.getType()), offsets,
      sizes, strides);
  return memref::SubViewOp::create(builder, type, source, offsets, sizes,
                                   strides);
}

Value Slice::insert(ImplicitLocOpBuilder &builder, Value part,
                    Value dest) const {
  if (isa<MemRefType>(dest.getType()))
    return dest;
  if (isAmbiguous())
    part = expandUnitDims(builder, part, dropped, sizes);
  return tensor::InsertSliceOp::create(builder, part, dest, offsets, sizes,
                                       strides);
}

/// The dims of a tensor of this rank that become one dim each without those
/// that are dropped: each of them joins a neighbour.
static SmallVector<ReassociationIndices>
getReassociation(int64_t rank, ArrayRef<int64_t> dropped) {
  SmallVector<ReassociationIndices> groups;
  if (rank == static_cast<int64_t>(dropped.size()))
    return groups;
  bool isTaken = false;
  for (int64_t dim = 0; dim != rank; ++dim) {
    bool isKept = !llvm::is_contained(dropped, dim);
    if (groups.empty() || (isKept && isTaken)) {
      groups.emplace_back();
      isTaken = false;
    }
    groups.back().push_back(dim);
    isTaken |= isKept;
  }
  return groups;
}

Value rope::detail::collapseUnitDims(ImplicitLocOpBuilder &builder,
                                     Value tensor, ArrayRef<int64_t> dropped) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape;
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(dropped, static_cast<int64_t>(dim)))
      shape.push_back(extent);
  return tensor::CollapseShapeOp::create(
      builder, type.clone(shape), tensor,
      getReassociation(type.getRank(), dropped));
}

Value rope::detail::expandUnitDims(ImplicitLocOpBuilder &builder, Value tensor,
                                   ArrayRef<int64_t> added,
                                   ArrayRef<OpFoldResult> shape) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return tensor::ExpandShapeOp::create(
      builder, type.clone(getPartShape(shape, {})), tensor,
      getReassociation(shape.size(), added), shape);
}

//===----------------------------------------------------------------------===//
// Elementwise code
//===----------------------------------------------------------------------===//

SmallVector<Value>
rope::detail::createElementwise(ImplicitLocOpBuilder &builder,
                                ValueRange inputs, ValueRange outputs,
                                ArrayRef<AffineMap> maps, ElementBuilder body) {
  SmallVector<utils::IteratorType> iterators(maps.front().getNumDims(),
                                             utils::IteratorType::parallel);
  bool onTensors = isa<TensorType>(outputs.front().getType());
  auto generic = linalg::GenericOp::create(
      builder, onTensors ? TypeRange(outputs) : TypeRange(), inputs, outputs,
      maps, iterators, [&](OpBuilder &inner, Location loc, ValueRange args) {
        ImplicitLocOpBuilder scalar(loc, inner);
        linalg::YieldOp::create(scalar,
                                body(scalar, args.take_front(inputs.size())));
      });
  return onTensors ? SmallVector<Value>(generic.getResults())
                   : SmallVector<Value>(outputs);
}

Value rope::detail::convertFloat(ImplicitLocOpBuilder &builder, Value value,
                                 Type type) {
  if (value.getType() == type)
    return value;
  unsigned from = value.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  Type f32 = builder.getF32Type();
  if (from == to || (from == 64 && to == 16))
    return convertFloat(builder, convertFloat(builder, value, f32), type);
  if (from < to)
    return arith::ExtFOp::create(builder, type, value);
  return arith::TruncFOp::create(builder, type, value);
}

static bool fitsF32(double value) {
  return value == 0 || std::isnormal(static_cast<float>(value));
}

FloatType rope::detail::getComputeType(ValueRange operands,
                                       ArrayRef<double> constants) {
  MLIRContext *context = operands.front().getContext();
  bool isWide = llvm::any_of(operands.getTypes(), [](Type type) {
    return getElementTypeOrSelf(type).isF64();
  });
  if (isWide || !llvm::all_of(constants, fitsF32))
    return Float64Type::get(context);
  return Float32Type::get(context);
}

bool rope::detail::isEmpty(DestinationStyleOpInterface op) {
  return llvm::any_of(op->getOperandTypes(), [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && llvm::is_contained(shaped.getShape(), 0);
  });
}

SmallVector<Value>
rope::detail::getInitsAsResults(DestinationStyleOpInterface op) {
  if (op.hasPureTensorSemantics())
    return op.getDpsInits();
  return {};
}

bool rope::detail::canWriteWhileReading(DestinationStyleOpInterface op,
                                        bool inPlace) {
  Value init = op.getDpsInits().front();
  return llvm::all_of(op.getDpsInputs(), [&](Value input) {
    return !isa<MemRefType>(input.getType()) || (inPlace && input == init) ||
           !mayOverlap(input, init);
  });
}
