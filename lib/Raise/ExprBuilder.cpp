//===- ExprBuilder.cpp - Expressions back into IR -------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Columns of expressions are walked side by side. Reads become operands of one
// structured op, sliced so that the op's dims are those of the domain and the
// columns; what differs between columns otherwise must be a constant.
//
//===----------------------------------------------------------------------===//

#include "rope/Raise/ExprBuilder.h"

#include "ExprEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::rope;

namespace {
/// An operand of the op: a tensor, and the dim of the domain (or of the
/// columns) that each of its dims follows.
struct Input {
  Value tensor;
  SmallVector<unsigned> dims;
};

class ColumnBuilder {
public:
  ColumnBuilder(OpBuilder &builder, Location loc, ElementEvaluator &evaluator,
                const ExprDomain &domain, bool scalar, std::string &reason)
      : builder(builder), loc(loc), evaluator(evaluator), domain(domain),
        scalar(scalar), reason(reason) {}

  FailureOr<Value> build(const Columns &columns, Type type);

private:
  LogicalResult fail(const Twine &why) {
    reason = why.str();
    return failure();
  }
  /// Finds the reads and the constants that become operands.
  LogicalResult collect(const Columns &columns);
  bool isSlice(const Columns &columns);
  void addRead(const Columns &columns);
  LogicalResult addConstants(const Columns &columns);
  FailureOr<Value> buildBody(ArrayRef<OpFoldResult> shape,
                             const Columns &columns, Type type);
  unsigned getColumnDim() { return domain.symbols.size(); }

  OpBuilder &builder;
  Location loc;
  ElementEvaluator &evaluator;
  const ExprDomain &domain;
  bool scalar;
  std::string &reason;
  SmallVector<Input> inputs;
  /// The operand that columns are.
  ArgumentNumbers arguments;
  std::set<std::vector<const Expr *>> seen;
};
} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Whether reads are of a slice of their tensor: each dim at a constant, at
/// evenly spaced constants, or at a dim of the domain.
bool ColumnBuilder::isSlice(const Columns &columns) {
  for (unsigned dim = 0; dim < columns.front()->getOperands().size(); ++dim) {
    Columns indices = getColumnOperand(columns, dim);
    if (llvm::all_of(indices, [](auto *e) { return e->isInt(); })) {
      if (!llvm::all_equal(indices) && !getColumnStep(indices))
        return false;
      continue;
    }
    if (!llvm::all_equal(indices) || indices[0]->getKind() != Expr::Kind::Sym ||
        !domain.find(indices[0]->getNumber()))
      return false;
  }
  return true;
}

bool rope::hasExtent(ElementEvaluator &evaluator, Value tensor, int64_t dim,
                     OpFoldResult extent) {
  std::optional<int64_t> number = getConstantIntValue(extent);
  const Expr *expected = number ? evaluator.getContext().getInt(*number)
                                : evaluator.evaluateScalar(cast<Value>(extent));
  return evaluator.evaluateExtent(tensor, dim) == expected;
}

/// Makes an operand of the slice that the columns read.
void ColumnBuilder::addRead(const Columns &columns) {
  Value tensor = columns.front()->getValue();
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> offsets, sizes, strides;
  SmallVector<unsigned> kept;
  Input input;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    Columns indices = getColumnOperand(columns, dim);
    const Expr *index = indices.front();
    offsets.push_back(
        builder.getIndexAttr(index->isInt() ? index->getInt() : 0));
    sizes.push_back(builder.getIndexAttr(1));
    strides.push_back(builder.getIndexAttr(1));
    if (index->isInt() && llvm::all_equal(indices))
      continue;
    kept.push_back(dim);
    if (index->isInt()) {
      sizes.back() = builder.getIndexAttr(columns.size());
      strides.back() = builder.getIndexAttr(*getColumnStep(indices));
      input.dims.push_back(getColumnDim());
      continue;
    }
    unsigned at = *domain.find(index->getNumber());
    sizes.back() = domain.extents[at];
    input.dims.push_back(at);
  }
  // Of a dim that is not known to end where the domain does, the rest is no
  // part of the operand.
  bool whole = kept.size() == static_cast<size_t>(type.getRank()) &&
               llvm::all_of(kept, [&](unsigned dim) {
                 return hasExtent(evaluator, tensor, dim, sizes[dim]);
               });
  input.tensor = tensor;
  if (!whole) {
    SmallVector<int64_t> shape;
    for (unsigned dim : kept)
      shape.push_back(
          getConstantIntValue(sizes[dim]).value_or(ShapedType::kDynamic));
    input.tensor = tensor::ExtractSliceOp::create(
        builder, loc, RankedTensorType::get(shape, type.getElementType()),
        tensor, offsets, sizes, strides);
  }
  inputs.push_back(std::move(input));
}

/// Constants that differ between columns become a tensor of their own.
LogicalResult ColumnBuilder::addConstants(const Columns &columns) {
  Type type = columns.front()->getType();
  SmallVector<Attribute> values;
  for (const Expr *column : columns) {
    if (column->getKind() != Expr::Kind::Float || column->getType() != type)
      return fail("columns of a table have different structure");
    values.push_back(FloatAttr::get(type, column->getFloat()));
  }
  auto tensor = RankedTensorType::get(columns.size(), type);
  inputs.push_back({arith::ConstantOp::create(
                        builder, loc, DenseElementsAttr::get(tensor, values)),
                    {getColumnDim()}});
  return success();
}

LogicalResult ColumnBuilder::collect(const Columns &columns) {
  std::vector<const Expr *> key(columns.begin(), columns.end());
  if (!seen.insert(key).second)
    return success();
  const Expr *first = columns.front();
  if (first->getKind() == Expr::Kind::Float) {
    if (llvm::all_equal(columns))
      return success();
    arguments[key] = inputs.size();
    return addConstants(columns);
  }
  if (!isOneStructure(columns))
    return fail("columns of a table have different structure");
  if (first->getKind() == Expr::Kind::Read) {
    // Any other read is emitted in the body.
    if (isSlice(columns)) {
      arguments[key] = inputs.size();
      addRead(columns);
    }
    return success();
  }
  if (first->getKind() != Expr::Kind::Apply)
    return llvm::all_equal(columns)
               ? success()
               : fail("an integer differs between columns");
  for (unsigned i = 0, e = first->getOperands().size(); i < e; ++i)
    if (failed(collect(getColumnOperand(columns, i))))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

/// Brings a number to the element type that is asked for.
static Value castTo(OpBuilder &body, Location loc, Value value, Type type) {
  Type from = value.getType();
  if (from == type)
    return value;
  if (from.isIndex() || type.isIndex())
    return from.isInteger(1)
               ? arith::IndexCastUIOp::create(body, loc, type, value)
                     .getResult()
               : arith::IndexCastOp::create(body, loc, type, value).getResult();
  bool widens = from.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth();
  if (from.isInteger())
    return widens ? arith::ExtSIOp::create(body, loc, type, value).getResult()
                  : arith::TruncIOp::create(body, loc, type, value).getResult();
  return widens ? arith::ExtFOp::create(body, loc, type, value).getResult()
                : arith::TruncFOp::create(body, loc, type, value).getResult();
}

FailureOr<Value> ColumnBuilder::buildBody(ArrayRef<OpFoldResult> shape,
                                          const Columns &columns, Type type) {
  MLIRContext *context = builder.getContext();
  unsigned rank = shape.size();
  SmallVector<AffineMap> maps;
  SmallVector<Value> tensors;
  for (const Input &input : inputs) {
    tensors.push_back(input.tensor);
    SmallVector<AffineExpr> exprs;
    for (unsigned dim : input.dims)
      exprs.push_back(getAffineDimExpr(dim, context));
    maps.push_back(AffineMap::get(rank, 0, exprs, context));
  }
  maps.push_back(builder.getMultiDimIdentityMap(rank));
  Value empty = tensor::EmptyOp::create(builder, loc, shape, type);
  LogicalResult built = success();
  auto op = linalg::GenericOp::create(
      builder, loc, empty.getType(), tensors, empty, maps,
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &body, Location, ValueRange values) {
        ExprEmitter emitter(body, loc, &domain, reason);
        emitter.setArguments(arguments, values);
        FailureOr<Value> value = emitter.emit(columns);
        built = value;
        Value result =
            failed(value) ? values.back() : castTo(body, loc, *value, type);
        linalg::YieldOp::create(body, loc, result);
      });
  if (failed(built))
    return failure();
  return op.getResult(0);
}

FailureOr<Value> ColumnBuilder::build(const Columns &columns, Type type) {
  if (failed(collect(columns)))
    return failure();
  SmallVector<OpFoldResult> shape(domain.extents);
  if (!scalar)
    shape.push_back(builder.getIndexAttr(columns.size()));
  // A plain read needs no op.
  SmallVector<unsigned> inOrder =
      llvm::to_vector(llvm::seq<unsigned>(0, shape.size()));
  if (columns.front()->getKind() == Expr::Kind::Read && isSlice(columns) &&
      inputs.front().dims == inOrder && columns.front()->getType() == type)
    return inputs.front().tensor;
  return buildBody(shape, columns, type);
}

FailureOr<Value> rope::buildColumns(OpBuilder &builder, Location loc,
                                    ElementEvaluator &evaluator,
                                    const ExprDomain &domain,
                                    ArrayRef<const Expr *> columns, Type type,
                                    bool scalar, std::string &reason) {
  return ColumnBuilder(builder, loc, evaluator, domain, scalar, reason)
      .build(Columns(columns), type);
}

FailureOr<Value> rope::buildInteger(OpBuilder &builder, Location loc,
                                    const Expr *integer, std::string &reason) {
  return ExprEmitter(builder, loc, nullptr, reason).emitIndex(integer);
}
