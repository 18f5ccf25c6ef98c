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

/// The elements along one dim as a number that grows evenly with the index, if
/// they do and are whole: row numbers and positions. Null otherwise.
static const Expr *expandProgression(ExprContext &context,
                                     ElementsAttr elements, Index index) {
  ConstantReader reader(elements);
  ArrayRef<int64_t> shape = elements.getShapedType().getShape();
  const Expr *row = nullptr;
  int64_t start = 0, stride = 1, rowStride = 0, rows = 0;
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
    if (index[dim]->isInt()) {
      start += index[dim]->getInt() * stride;
    } else if (row) {
      return nullptr;
    } else {
      row = index[dim];
      rowStride = stride;
      rows = shape[dim];
    }
    stride *= shape[dim];
  }
  Type type = elements.getElementType();
  if (!reader || !row || rows < 2 || isa<ComplexType>(type))
    return nullptr;
  auto at = [&](int64_t i) { return reader.getNumber(start + i * rowStride); };
  double first = at(0), step = at(1) - first;
  // Numbers that doubles and integers hold exactly.
  constexpr double kMaxExact = 1e9;
  for (int64_t i = 0; i < rows; ++i)
    if (at(i) != first + static_cast<double>(i) * step ||
        std::fabs(at(i)) > kMaxExact || at(i) != std::trunc(at(i)))
      return nullptr;
  const Expr *number =
      context.add(context.getInt(static_cast<int64_t>(first)),
                  context.mul(row, context.getInt(static_cast<int64_t>(step))));
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
