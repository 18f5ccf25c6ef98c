//===- DomainBuilder.cpp - linalg over the domain of attention ------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Terms, generics between them, and the inits of the op that is decomposed.
//
//===----------------------------------------------------------------------===//

#include "DomainBuilder.h"
#include "Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::detail;

//===----------------------------------------------------------------------===//
// CellBuilder
//===----------------------------------------------------------------------===//

Value CellBuilder::getIndex(DomainDim dim) {
  auto loop = llvm::find(loops, dim) - loops.begin();
  // A dim that no operand has is 1.
  if (loop == static_cast<int64_t>(loops.size()))
    return arith::ConstantOp::create(*this, getI64IntegerAttr(0));
  return toI64(linalg::IndexOp::create(*this, loop));
}

Value CellBuilder::convert(Value value, Type type) {
  return convertFloat(*this, value, type);
}

Value CellBuilder::toI64(Value slot) {
  if (slot.getType().isIndex())
    return arith::IndexCastOp::create(*this, getI64Type(), slot);
  if (slot.getType().isInteger(64))
    return slot;
  return arith::ExtSIOp::create(*this, getI64Type(), slot);
}

Value CellBuilder::getConstant(Type type, double value) {
  return arith::ConstantOp::create(*this, FloatAttr::get(type, value));
}

/// The cell of the first input.
static Value getFirstInput(CellBuilder &cell) { return cell.inputs[0]; }

//===----------------------------------------------------------------------===//
// Dims
//===----------------------------------------------------------------------===//

SmallVector<DomainDim> DomainBuilder::getPresent(ArrayRef<DomainDim> dims) {
  return llvm::filter_to_vector(dims, [&](DomainDim dim) {
    return llvm::any_of(getAllRoles(), [&](OperandRole role) {
      return findHolder(op.getLabels(role), dim).has_value();
    });
  });
}

SmallVector<DomainDim> DomainBuilder::getRows() {
  return getPresent({DomainDim::B, DomainDim::H, DomainDim::G, DomainDim::M});
}

SmallVector<DomainDim> DomainBuilder::getRowsAnd(DomainDim dim) {
  SmallVector<DomainDim> dims = getRows();
  dims.push_back(dim);
  return dims;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

Value DomainBuilder::castTo(Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  return tensor::CastOp::create(builder, getLoc(), type.clone(shape), value);
}

Value DomainBuilder::castToLabels(Value operand, ArrayRef<DimLabel> labels) {
  SmallVector<int64_t> shape(cast<ShapedType>(operand.getType()).getShape());
  for (auto [extent, label] : llvm::zip_equal(shape, labels)) {
    if (label.size() == 1)
      continue;
    extent = 1;
    for (DomainDim dim : label) {
      int64_t part = op.getStaticExtent(dim);
      bool isDynamic =
          ShapedType::isDynamic(extent) || ShapedType::isDynamic(part);
      extent = isDynamic ? ShapedType::kDynamic : extent * part;
    }
  }
  return castTo(operand, shape);
}

/// The dims of the split operand that make up each dim of the operand.
static SmallVector<ReassociationIndices>
getReassociation(ArrayRef<DimLabel> labels) {
  SmallVector<ReassociationIndices> reassociation;
  int64_t next = 0;
  for (const DimLabel &label : labels) {
    ReassociationIndices &indices = reassociation.emplace_back();
    for (size_t i = 0; i < std::max<size_t>(label.size(), 1); ++i)
      indices.push_back(next++);
  }
  return reassociation;
}

static bool hasGroup(ArrayRef<DimLabel> labels) {
  return llvm::any_of(labels, [](auto &label) { return label.size() > 1; });
}

/// Whether both extents of the group are dynamic. A memref.expand_shape of such
/// a dim crashes expand-strided-metadata.
static bool isDynamicGroup(AttentionLikeOpInterface op) {
  return ShapedType::isDynamic(op.getStaticExtent(DomainDim::H)) &&
         ShapedType::isDynamic(op.getStaticExtent(DomainDim::G));
}

Value DomainBuilder::splitGroup(Value operand, ArrayRef<DimLabel> labels) {
  if (!hasGroup(labels))
    return operand;
  SmallVector<OpFoldResult> extents =
      tensor::getMixedSizes(builder, getLoc(), operand);
  SmallVector<OpFoldResult> shape;
  for (auto [extent, label] : llvm::zip_equal(extents, labels)) {
    if (label.size() < 2)
      shape.push_back(extent);
    else
      for (DomainDim dim : label)
        shape.push_back(op.getExtent(builder, getLoc(), dim));
  }
  Type type = cast<RankedTensorType>(operand.getType())
                  .clone(decomposeMixedValues(shape).first);
  if (!isDynamicGroup(op))
    return tensor::ExpandShapeOp::create(builder, getLoc(), type, operand,
                                         getReassociation(labels), shape);
  Value shapeTensor = tensor::FromElementsOp::create(
      builder, getLoc(),
      getValueOrCreateConstantIndexOp(builder, getLoc(), shape));
  return tensor::ReshapeOp::create(builder, getLoc(), type, operand,
                                   shapeTensor);
}

/// The dims of the split operand that are broadcast.
static SmallVector<int64_t> getBroadcastDims(ArrayRef<DimLabel> labels) {
  SmallVector<int64_t> broadcast;
  int64_t next = 0;
  for (const DimLabel &label : labels) {
    if (label.empty())
      broadcast.push_back(next);
    next += std::max<size_t>(label.size(), 1);
  }
  return broadcast;
}

Value DomainBuilder::dropBroadcastDims(Value operand,
                                       ArrayRef<DimLabel> labels) {
  SmallVector<int64_t> broadcast = getBroadcastDims(labels);
  if (broadcast.empty())
    return operand;
  ImplicitLocOpBuilder b(getLoc(), builder);
  return collapseUnitDims(b, operand, broadcast);
}

TermView DomainBuilder::getView(Value operand, ArrayRef<DimLabel> labels) {
  TermView view;
  view.operand = operand;
  view.split = splitGroup(castToLabels(operand, labels), labels);
  view.term.value = dropBroadcastDims(view.split, labels);
  for (const DimLabel &label : labels)
    llvm::append_range(view.term.dims, label);
  return view;
}

Value DomainBuilder::mergeView(const TermView &view, ArrayRef<DimLabel> labels,
                               const Term &term) {
  Value value = term.value;
  SmallVector<int64_t> broadcast = getBroadcastDims(labels);
  if (!broadcast.empty()) {
    ImplicitLocOpBuilder b(getLoc(), builder);
    value =
        expandUnitDims(b, value, broadcast,
                       tensor::getMixedSizes(builder, getLoc(), view.split));
  }
  if (hasGroup(labels))
    value = tensor::CollapseShapeOp::create(builder, getLoc(), value,
                                            getReassociation(labels));
  return castTo(value, cast<ShapedType>(view.operand.getType()).getShape());
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Value DomainBuilder::createEmptyLike(Value operand, Type elementType) {
  return tensor::EmptyOp::create(
      builder, getLoc(), tensor::getMixedSizes(builder, getLoc(), operand),
      elementType);
}

/// A linalg.generic; `loops` are the dims that its loops stand for, if any.
static Value createGenericOp(OpBuilder &builder, Location loc,
                             ValueRange inputs, Value output,
                             ArrayRef<AffineMap> maps,
                             ArrayRef<utils::IteratorType> iterators,
                             ArrayRef<DomainDim> loops, CellFn fn) {
  auto generic = linalg::GenericOp::create(
      builder, loc, output.getType(), inputs, output, maps, iterators,
      [&](OpBuilder &nested, Location bodyLoc, ValueRange arguments) {
        CellBuilder cell(bodyLoc, nested, arguments, loops);
        Value value = fn(cell);
        linalg::YieldOp::create(
            cell, cell.convert(value, getElementTypeOrSelf(output)));
      });
  return generic.getResult(0);
}

Value DomainBuilder::mapOperand(Value operand, Type elementType, CellFn fn) {
  Value output = createEmptyLike(operand, elementType);
  unsigned rank = cast<ShapedType>(operand.getType()).getRank();
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return createGenericOp(builder, getLoc(), operand, output,
                         {identity, identity}, iterators, {}, fn);
}

Value DomainBuilder::convertOperand(Value operand) {
  if (getElementTypeOrSelf(operand) == computeType)
    return operand;
  return mapOperand(operand, computeType, getFirstInput);
}

Value DomainBuilder::rotateOperand(Value operand, const Rotation &rotation) {
  return RotateOp::create(builder, getLoc(), rotation.getRotary(), operand,
                          rotation.table, createEmptyLike(operand, computeType))
      .getResult();
}

Term DomainBuilder::getOperand(OperandRole role) {
  Value operand = op.getRoleOperand(role);
  if (Rotation rotation = op.getRotation(role))
    operand = rotateOperand(convertOperand(operand), rotation);
  return getView(operand, op.getLabels(role)).term;
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

Value DomainBuilder::createEmpty(ArrayRef<DomainDim> dims, Type elementType) {
  SmallVector<OpFoldResult> shape;
  for (DomainDim dim : dims)
    shape.push_back(op.getExtent(builder, getLoc(), dim));
  return tensor::EmptyOp::create(builder, getLoc(), shape, elementType);
}

Term DomainBuilder::createFilled(ArrayRef<DomainDim> dims, Type elementType,
                                 double value) {
  Value constant = arith::ConstantOp::create(
      builder, getLoc(), FloatAttr::get(elementType, value));
  auto fill = linalg::FillOp::create(builder, getLoc(), constant,
                                     createEmpty(dims, elementType));
  return {fill.getResult(0), to_vector(dims)};
}

/// The dims of all terms, in the order of the domain.
static SmallVector<DomainDim> getLoops(ArrayRef<Term> terms) {
  SmallVector<DomainDim> loops;
  for (unsigned i = 0; i < kNumDomainDims; ++i) {
    auto dim = static_cast<DomainDim>(i);
    if (llvm::any_of(terms, [&](const Term &term) {
          return llvm::is_contained(term.dims, dim);
        }))
      loops.push_back(dim);
  }
  return loops;
}

static AffineMap getMap(MLIRContext *context, const Term &term,
                        ArrayRef<DomainDim> loops) {
  SmallVector<AffineExpr> results;
  for (DomainDim dim : term.dims)
    results.push_back(
        getAffineDimExpr(llvm::find(loops, dim) - loops.begin(), context));
  return AffineMap::get(loops.size(), 0, results, context);
}

Term DomainBuilder::createGeneric(ArrayRef<Term> inputs, Term output,
                                  CellFn fn) {
  SmallVector<Term> terms(inputs);
  terms.push_back(output);
  SmallVector<DomainDim> loops = getLoops(terms);
  SmallVector<AffineMap> maps;
  for (const Term &term : terms)
    maps.push_back(getMap(builder.getContext(), term, loops));
  SmallVector<utils::IteratorType> iterators;
  for (DomainDim dim : loops)
    iterators.push_back(llvm::is_contained(output.dims, dim)
                            ? utils::IteratorType::parallel
                            : utils::IteratorType::reduction);
  SmallVector<Value> values =
      llvm::map_to_vector(inputs, [](const Term &term) { return term.value; });
  output.value = createGenericOp(builder, getLoc(), values, output.value, maps,
                                 iterators, loops, fn);
  return output;
}

Term DomainBuilder::createGeneric(ArrayRef<Term> inputs,
                                  ArrayRef<DomainDim> dims, Type elementType,
                                  CellFn fn) {
  Term output = {createEmpty(dims, elementType), to_vector(dims)};
  return createGeneric(inputs, output, fn);
}

Term DomainBuilder::contract(const Term &lhs, const Term &rhs, Term output) {
  return createGeneric({lhs, rhs}, output, [](CellBuilder &cell) -> Value {
    Type type = cell.output.getType();
    Value product =
        arith::MulFOp::create(cell, cell.convert(cell.inputs[0], type),
                              cell.convert(cell.inputs[1], type));
    return arith::AddFOp::create(cell, cell.output, product);
  });
}

//===----------------------------------------------------------------------===//
// Inits
//===----------------------------------------------------------------------===//

Term DomainBuilder::readInit(OperandRole role) {
  Value operand = convertOperand(op.getRoleOperand(role));
  return getView(operand, op.getLabels(role)).term;
}

void DomainBuilder::writeInit(OperandRole role, const Term &term) {
  Value init = op.getRoleOperand(role);
  if (getElementTypeOrSelf(init) != computeType)
    return computeInit(role, term, getFirstInput);
  DimLabels labels = op.getLabels(role);
  results[static_cast<unsigned>(role)] =
      mergeView(getView(init, labels), labels, term);
}

void DomainBuilder::computeInit(OperandRole role, ArrayRef<Term> inputs,
                                CellFn fn) {
  DimLabels labels = op.getLabels(role);
  TermView view = getView(op.getRoleOperand(role), labels);
  Term term = createGeneric(inputs, view.term, fn);
  results[static_cast<unsigned>(role)] = mergeView(view, labels, term);
}

void DomainBuilder::computeOutput(ArrayRef<Term> inputs, CellFn fn) {
  constexpr OperandRole role = OperandRole::Output;
  Rotation rotation = op.getRotation(role);
  if (!rotation)
    return computeInit(role, inputs, fn);
  Value init = op.getRoleOperand(role);
  bool isExact = getElementTypeOrSelf(init) == computeType;
  DimLabels labels = op.getLabels(role);
  TermView view = getView(createEmptyLike(init, computeType), labels);
  Value output = mergeView(view, labels, createGeneric(inputs, view.term, fn));
  output = RerotateOp::create(
               builder, getLoc(), rotation.getRotary(), output, rotation.table,
               isExact ? init : createEmptyLike(init, computeType))
               .getResult();
  if (!isExact)
    return computeInit(role, getView(output, labels).term, getFirstInput);
  results[static_cast<unsigned>(role)] = output;
}

SmallVector<Value> DomainBuilder::getResults() {
  SmallVector<Value> ordered;
  for (OperandRole role : op.getInitRoles())
    if (Value result = results.lookup(static_cast<unsigned>(role)))
      ordered.push_back(result);
  return ordered;
}
