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
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

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

Value Slice::extract(ImplicitLocOpBuilder &builder, Value source) const {
  SmallVector<int64_t> shape = getPartShape(sizes, dropped);
  if (auto tensor = dyn_cast<RankedTensorType>(source.getType()))
    return tensor::ExtractSliceOp::create(builder, tensor.clone(shape), source,
                                          offsets, sizes, strides);
  auto type = memref::SubViewOp::inferRankReducedResultType(
      shape, cast<MemRefType>(source.getType()), offsets, sizes, strides);
  return memref::SubViewOp::create(builder, type, source, offsets, sizes,
                                   strides);
}

Value Slice::insert(ImplicitLocOpBuilder &builder, Value part,
                    Value dest) const {
  if (isa<MemRefType>(dest.getType()))
    return dest;
  return tensor::InsertSliceOp::create(builder, part, dest, offsets, sizes,
                                       strides);
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

FloatType rope::detail::getComputeType(ValueRange operands) {
  MLIRContext *context = operands.front().getContext();
  for (Value operand : operands)
    if (getElementTypeOrSelf(operand.getType()).isF64())
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
  auto base = memref::skipViewLikeOps(cast<MemrefValue>(init));
  return llvm::all_of(op.getDpsInputs(), [&](Value input) {
    auto memref = dyn_cast<MemrefValue>(input);
    if (!memref || (inPlace && input == init))
      return true;
    return memref::skipViewLikeOps(memref) != base;
  });
}
