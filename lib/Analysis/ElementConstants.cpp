//===- ElementConstants.cpp - Elements of constants -----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConstantColumns.h"
#include "ElementExpansion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;

const Expr *rope::getConstant(ExprContext &context, Attribute number) {
  if (auto integer = dyn_cast_or_null<IntegerAttr>(number)) {
    APInt value = integer.getValue();
    if (value.getBitWidth() == 1)
      return context.getInt(value.getZExtValue());
    return value.getSignificantBits() <= 64
               ? context.getInt(value.getSExtValue())
               : nullptr;
  }
  if (auto real = dyn_cast_or_null<FloatAttr>(number))
    return context.getFloat(real.getValueAsDouble(), real.getType());
  auto parts = dyn_cast_or_null<ArrayAttr>(number);
  if (!parts || parts.size() != 2)
    return nullptr;
  const Expr *re = getConstant(context, parts[0]);
  const Expr *im = getConstant(context, parts[1]);
  if (!re || !im || !re->getType())
    return nullptr;
  return context.apply<complex::CreateOp>(ComplexType::get(re->getType()),
                                          {re, im});
}

/// The row-major position of a constant index; nullopt if it is not one.
static std::optional<int64_t> getPosition(ArrayRef<int64_t> shape,
                                          Index index) {
  int64_t position = 0;
  for (auto [extent, i] : llvm::zip_equal(shape, index)) {
    if (!i->isInt() || i->getInt() < 0 || i->getInt() >= extent)
      return std::nullopt;
    position = position * extent + i->getInt();
  }
  return position;
}

namespace {
/// A dim of a constant that is read at `index`.
struct Axis {
  const Expr *index;
  int64_t extent, stride;
  double step = 0;
};
} // namespace

/// Whether elements are whole numbers that grow by the step of each axis.
static bool isProgression(const ConstantReader &reader, int64_t start,
                          ArrayRef<Axis> axes) {
  // Numbers that doubles and integers hold exactly.
  constexpr double kMaxExact = 1e9;
  int64_t count = 1;
  for (const Axis &axis : axes)
    count *= axis.extent;
  double first = reader.getNumber(start);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, position = start;
    double expected = first;
    for (const Axis &axis : axes) {
      position += rest % axis.extent * axis.stride;
      expected += static_cast<double>(rest % axis.extent) * axis.step;
      rest /= axis.extent;
    }
    double number = reader.getNumber(position);
    if (number != expected || std::fabs(number) > kMaxExact ||
        number != std::trunc(number))
      return false;
  }
  return true;
}

/// The elements as a number that grows evenly with each index, if they do and
/// are whole: row numbers, positions, and the indices of a gather that only
/// reshapes. Null otherwise.
static const Expr *expandProgression(ExprContext &context,
                                     ElementsAttr elements, Index index) {
  ConstantReader reader(elements);
  Type type = elements.getElementType();
  if (!reader || isa<ComplexType>(type))
    return nullptr;
  ArrayRef<int64_t> shape = elements.getShapedType().getShape();
  SmallVector<Axis> axes;
  int64_t start = 0, stride = 1;
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
    if (!index[dim]->isInt())
      axes.push_back({index[dim], shape[dim], stride});
    else if (index[dim]->getInt() >= 0 && index[dim]->getInt() < shape[dim])
      start += index[dim]->getInt() * stride;
    else
      return nullptr;
    stride *= shape[dim];
  }
  if (llvm::any_of(axes, [](const Axis &axis) { return axis.extent < 2; }))
    return nullptr;
  double first = reader.getNumber(start);
  for (Axis &axis : axes)
    axis.step = reader.getNumber(start + axis.stride) - first;
  if (!isProgression(reader, start, axes))
    return nullptr;
  const Expr *number = context.getInt(static_cast<int64_t>(first));
  for (const Axis &axis : axes)
    number = context.add(
        number, context.mul(axis.index,
                            context.getInt(static_cast<int64_t>(axis.step))));
  return isa<FloatType>(type) ? context.apply<arith::SIToFPOp>(type, number)
                              : number;
}

const Expr *rope::expandConstant(ElementEvaluator &evaluator, Value constant,
                                 ElementsAttr elements, Index index) {
  ExprContext &context = evaluator.getContext();
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (dense && dense.isSplat())
    return getConstant(context, dense.getSplatValue<Attribute>());
  if (std::optional<int64_t> position =
          getPosition(elements.getShapedType().getShape(), index)) {
    if (dense)
      return getConstant(context, dense.getValues<Attribute>()[*position]);
    ConstantReader reader(elements);
    if (reader)
      return getConstant(context, reader.getAttribute(*position));
    auto values = elements.tryGetValues<Attribute>();
    return values ? getConstant(context, (*values)[*position]) : nullptr;
  }
  if (const Expr *number = expandProgression(context, elements, index))
    return number;
  // Reads of equal columns are one read.
  SmallVector<std::optional<int64_t>> fixed;
  for (const Expr *i : index)
    fixed.push_back(i->isInt() ? std::optional(i->getInt()) : std::nullopt);
  fixed = evaluator.getColumns().getRepresentative(elements, fixed);
  SmallVector<const Expr *> representative(index);
  for (auto [i, value] : llvm::zip_equal(representative, fixed))
    i = value ? context.getInt(*value) : i;
  return ArrayRef(representative) == index
             ? nullptr
             : context.getRead(constant, representative);
}
