//===- ExprEmitter.cpp - Expressions as scalar ops ------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExprEmitter.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

bool rope::isOneStructure(const Columns &columns) {
  const Expr *first = columns.front();
  return llvm::all_of(columns, [&](const Expr *e) {
    if (e->getKind() != first->getKind() ||
        e->getOperands().size() != first->getOperands().size())
      return false;
    if (e->getKind() == Expr::Kind::Apply)
      return e->getName() == first->getName() &&
             e->getAttr() == first->getAttr() &&
             e->getType() == first->getType();
    return e->getValue() == first->getValue();
  });
}

/// Whether two expressions could be one operand of two columns.
static bool isAlike(const Expr *a, const Expr *b) {
  if (a->getKind() != b->getKind() || a->getValue() != b->getValue())
    return false;
  return a->getKind() != Expr::Kind::Apply || a->getName() == b->getName();
}

/// Operands of commutative ops are sorted by when they were made, which may
/// differ from column to column.
Columns rope::getColumnOperand(const Columns &columns, unsigned i) {
  ArrayRef<const Expr *> first = columns.front()->getOperands();
  return llvm::map_to_vector(columns, [&](const Expr *column) {
    ArrayRef<const Expr *> operands = column->getOperands();
    bool swapped =
        column->getKind() == Expr::Kind::Apply && operands.size() == 2 &&
        column->getName().hasTrait<OpTrait::IsCommutative>() &&
        !isAlike(operands[0], first[0]) && isAlike(operands[1], first[0]);
    return operands[swapped ? 1 - i : i];
  });
}

std::optional<int64_t> rope::getColumnStep(const Columns &indices) {
  int64_t step =
      indices.size() > 1 ? indices[1]->getInt() - indices[0]->getInt() : 1;
  for (auto [i, index] : llvm::enumerate(indices))
    if (index->getInt() !=
        indices[0]->getInt() + step * static_cast<int64_t>(i))
      return std::nullopt;
  return step > 0 ? std::optional<int64_t>(step) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Brings an integer, a truth or a number to the type that an op wants.
Value ExprEmitter::cast(Value value, Type type) {
  Type from = value.getType();
  if (!type || from == type || isa<FloatType, ComplexType>(from))
    return value;
  // True is 1 as an integer.
  if (from.isInteger(1)) {
    if (type.isIndex())
      return arith::IndexCastUIOp::create(builder, loc, type, value);
    return arith::ExtUIOp::create(builder, loc, type, value);
  }
  return arith::IndexCastOp::create(builder, loc, type, value);
}

static bool isTruth(const Expr *expr) {
  return expr->getType() && expr->getType().isInteger(1);
}

/// The type that an op wants of an operand; null for one that takes it as it
/// is. Integers have the width of the op, for what wraps or has no sign.
Type ExprEmitter::getOperandType(const Expr *op, unsigned operand) {
  if (op->isa<arith::SelectOp>())
    return operand == 0 ? builder.getI1Type() : op->getType();
  if (op->isa<arith::CmpIOp>())
    return builder.getIndexType();
  if (op->isa<arith::SIToFPOp>() || op->isa<arith::UIToFPOp>())
    return builder.getI64Type();
  if (op->getName().hasTrait<OpTrait::SameOperandsAndResultType>())
    return op->getType();
  return {};
}

LogicalResult ExprEmitter::failOn(const Expr *expr) {
  std::string text;
  llvm::raw_string_ostream(text) << *expr;
  return fail(text + " cannot be built");
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

FailureOr<Value> ExprEmitter::emit(const Columns &columns) {
  std::vector<const Expr *> key(columns.begin(), columns.end());
  if (auto found = emitted.find(key); found != emitted.end())
    return found->second;
  FailureOr<Value> value = emitNew(columns);
  if (succeeded(value))
    emitted[key] = *value;
  return value;
}

FailureOr<Value> ExprEmitter::emitNew(const Columns &columns) {
  const Expr *first = columns.front();
  switch (first->getKind()) {
  case Expr::Kind::Read:
    return emitRead(columns);
  case Expr::Kind::Apply:
    return emitApply(columns);
  case Expr::Kind::Linear:
    return emitLinear(first);
  default:
    return emitLeaf(first);
  }
}

FailureOr<Value> ExprEmitter::emitIndex(const Expr *integer) {
  FailureOr<Value> value = emit({integer});
  if (failed(value))
    return failure();
  return cast(*value, builder.getIndexType());
}

FailureOr<Value> ExprEmitter::emitLeaf(const Expr *expr) {
  switch (expr->getKind()) {
  case Expr::Kind::Float:
    return arith::ConstantOp::create(
               builder, loc, FloatAttr::get(expr->getType(), expr->getFloat()))
        .getResult();
  case Expr::Kind::Int:
    return arith::ConstantIndexOp::create(builder, loc, expr->getInt())
        .getResult();
  case Expr::Kind::Sym:
    if (std::optional<unsigned> dim =
            domain ? domain->find(expr->getNumber()) : std::nullopt)
      return linalg::IndexOp::create(builder, loc, *dim).getResult();
    break;
  case Expr::Kind::Dim:
    return tensor::DimOp::create(builder, loc, expr->getValue(),
                                 expr->getNumber())
        .getResult();
  case Expr::Kind::Scalar:
    if (isTruth(expr) || isa<FloatType>(expr->getType()))
      return expr->getValue();
    if (expr->getType().isIntOrIndex())
      return cast(expr->getValue(), builder.getIndexType());
    break;
  default:
    break;
  }
  return failOn(expr);
}

FailureOr<Value> ExprEmitter::emitLinear(const Expr *linear) {
  Value sum = arith::ConstantIndexOp::create(builder, loc, linear->getInt());
  for (auto [atom, coefficient] :
       llvm::zip(linear->getOperands(), linear->getCoefficients())) {
    FailureOr<Value> value = emitIndex(atom);
    if (failed(value))
      return failure();
    Value factor = arith::ConstantIndexOp::create(builder, loc, coefficient);
    Value term = arith::MulIOp::create(builder, loc, *value, factor);
    sum = arith::AddIOp::create(builder, loc, sum, term);
  }
  return sum;
}

/// An element at a computed index.
FailureOr<Value> ExprEmitter::emitRead(const Columns &columns) {
  SmallVector<Value> indices;
  for (unsigned dim = 0; dim < columns.front()->getOperands().size(); ++dim) {
    Columns index = getColumnOperand(columns, dim);
    bool constant = llvm::all_of(index, [](auto *e) { return e->isInt(); });
    FailureOr<Value> value = emitIndex(index.front());
    if (failed(value))
      return failure();
    if (!llvm::all_equal(index)) {
      if (!constant || !getColumnStep(index))
        return LogicalResult(fail("columns of a table are not evenly spaced"));
      Value step =
          arith::ConstantIndexOp::create(builder, loc, *getColumnStep(index));
      Value column =
          linalg::IndexOp::create(builder, loc, domain->symbols.size());
      Value offset = arith::MulIOp::create(builder, loc, column, step);
      value = arith::AddIOp::create(builder, loc, *value, offset).getResult();
    }
    indices.push_back(*value);
  }
  Value element = tensor::ExtractOp::create(
      builder, loc, columns.front()->getValue(), indices);
  bool isInteger =
      element.getType().isInteger() && !element.getType().isInteger(1);
  return isInteger ? cast(element, builder.getIndexType()) : element;
}

/// The number of digits of mixed radices.
FailureOr<Value> ExprEmitter::emitNumber(const Expr *linearized) {
  ArrayRef<const Expr *> operands = linearized->getOperands();
  size_t count = operands.size() / 2;
  Value number;
  for (size_t i = 0; i < count; ++i) {
    FailureOr<Value> digit = emitIndex(operands[i]);
    FailureOr<Value> radix = emitIndex(operands[count + i]);
    if (failed(digit) || failed(radix))
      return failure();
    number = number ? arith::AddIOp::create(
                          builder, loc,
                          arith::MulIOp::create(builder, loc, number, *radix),
                          *digit)
                          .getResult()
                    : *digit;
  }
  return number;
}

/// A truth as i1, also where it is a constant.
FailureOr<Value> ExprEmitter::emitTruth(const Columns &columns) {
  if (columns.front()->isInt() && llvm::all_equal(columns))
    return arith::ConstantOp::create(
               builder, loc, builder.getBoolAttr(!columns.front()->isInt(0)))
        .getResult();
  return emit(columns);
}

FailureOr<Value> ExprEmitter::emitApply(const Columns &columns) {
  const Expr *first = columns.front();
  if (first->isa<affine::AffineLinearizeIndexOp>())
    return emitNumber(first);
  SmallVector<Value> operands;
  for (unsigned i = 0, e = first->getOperands().size(); i < e; ++i) {
    Columns operand = getColumnOperand(columns, i);
    Type wanted = getOperandType(first, i);
    bool truth = wanted && wanted.isInteger(1);
    FailureOr<Value> value = truth ? emitTruth(operand) : emit(operand);
    if (failed(value))
      return failure();
    operands.push_back(cast(*value, wanted));
    Type type = operands.back().getType();
    if ((wanted && type != wanted) || (!wanted && type.isIndex()))
      return LogicalResult(failOn(first));
  }
  OperationState state(loc, first->getName(), operands, first->getType());
  if (auto attributes = dyn_cast_or_null<DictionaryAttr>(first->getAttr()))
    state.addAttributes(attributes.getValue());
  else if (first->getAttr())
    state.addAttribute("predicate", first->getAttr());
  Value result = builder.create(state)->getResult(0);
  bool isInteger =
      result.getType().isInteger() && !result.getType().isInteger(1);
  return isInteger ? cast(result, builder.getIndexType()) : result;
}
