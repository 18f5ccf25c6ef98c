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

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::rope;

using Columns = SmallVector<const Expr *>;

namespace {
/// An operand of the op: a tensor, and the dim of the domain (or of the
/// columns) that each of its dims follows.
struct Input {
  Value tensor;
  SmallVector<unsigned> dims;
};

class ColumnBuilder {
public:
  ColumnBuilder(OpBuilder &builder, Location loc, const ExprDomain &domain,
                bool scalar, std::string &reason)
      : builder(builder), loc(loc), domain(domain), scalar(scalar),
        reason(reason) {}

  FailureOr<Value> build(const Columns &columns, Type type);
  FailureOr<Value> emitInteger(OpBuilder &body, const Expr *expr);

private:
  LogicalResult fail(const Twine &why) {
    reason = why.str();
    return failure();
  }
  /// Finds the reads, in the order in which `emit` will meet them.
  LogicalResult collect(const Columns &columns);
  bool isSlice(const Columns &columns);
  void addRead(const Columns &columns);
  FailureOr<Value> emitRead(OpBuilder &body, const Columns &columns);
  LogicalResult addConstants(const Columns &columns);
  FailureOr<Value> emit(OpBuilder &body, const Columns &columns,
                        ValueRange arguments, unsigned &next);
  FailureOr<Value> emitApply(OpBuilder &body, const Columns &columns,
                             ValueRange arguments, unsigned &next);
  std::optional<unsigned> findDim(int64_t symbol) {
    const int64_t *found = llvm::find(domain.symbols, symbol);
    if (found == domain.symbols.end())
      return std::nullopt;
    return found - domain.symbols.begin();
  }
  unsigned getColumnDim() { return domain.symbols.size(); }

  OpBuilder &builder;
  Location loc;
  const ExprDomain &domain;
  bool scalar;
  std::string &reason;
  SmallVector<Input> inputs;
};
} // namespace

static bool areEqual(ArrayRef<const Expr *> columns) {
  return llvm::all_equal(columns);
}

/// Whether columns are ops of one kind on as many operands.
static bool isOneStructure(const Columns &columns) {
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

/// Operand `i` of each column. Operands of commutative ops are sorted by when
/// they were made, which may differ from column to column.
static Columns getOperand(const Columns &columns, unsigned i) {
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

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The step from column to column of one dim's constants, or nullopt.
static std::optional<int64_t> getStep(const Columns &indices) {
  int64_t step =
      indices.size() > 1 ? indices[1]->getInt() - indices[0]->getInt() : 1;
  for (auto [i, index] : llvm::enumerate(indices))
    if (index->getInt() != indices[0]->getInt() + step * (int64_t)i)
      return std::nullopt;
  return step > 0 ? std::optional<int64_t>(step) : std::nullopt;
}

/// Whether reads are of a slice of their tensor: each dim at a constant, at
/// evenly spaced constants, or at a dim of the domain.
bool ColumnBuilder::isSlice(const Columns &columns) {
  for (unsigned dim = 0; dim < columns.front()->getOperands().size(); ++dim) {
    Columns indices = getOperand(columns, dim);
    if (llvm::all_of(indices, [](auto *e) { return e->isInt(); })) {
      if (!areEqual(indices) && !getStep(indices))
        return false;
      continue;
    }
    if (!areEqual(indices) || indices[0]->getKind() != Expr::Kind::Sym ||
        !findDim(indices[0]->getNumber()))
      return false;
  }
  return true;
}

/// Makes an operand of the slice that the columns read.
void ColumnBuilder::addRead(const Columns &columns) {
  Value tensor = columns.front()->getValue();
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> offsets, sizes, strides;
  SmallVector<unsigned> kept;
  Input input;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    Columns indices = getOperand(columns, dim);
    const Expr *index = indices.front();
    offsets.push_back(
        builder.getIndexAttr(index->isInt() ? index->getInt() : 0));
    sizes.push_back(builder.getIndexAttr(1));
    strides.push_back(builder.getIndexAttr(1));
    if (index->isInt() && areEqual(indices))
      continue;
    kept.push_back(dim);
    if (index->isInt()) {
      sizes.back() = builder.getIndexAttr(columns.size());
      strides.back() = builder.getIndexAttr(*getStep(indices));
      input.dims.push_back(getColumnDim());
      continue;
    }
    unsigned at = *findDim(index->getNumber());
    sizes.back() = domain.extents[at];
    input.dims.push_back(at);
  }
  bool whole = kept.size() == static_cast<size_t>(type.getRank()) &&
               !llvm::is_contained(input.dims, getColumnDim());
  input.tensor = tensor;
  if (!whole) {
    SmallVector<int64_t> shape;
    for (unsigned dim : kept)
      shape.push_back(
          getConstantIntValue(sizes[dim]).value_or(ShapedType::kDynamic));
    auto sliced = RankedTensorType::get(shape, type.getElementType());
    if (sliced != type)
      input.tensor = tensor::ExtractSliceOp::create(
          builder, loc, sliced, tensor, offsets, sizes, strides);
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
  const Expr *first = columns.front();
  if (first->getKind() == Expr::Kind::Float)
    return areEqual(columns) ? success() : addConstants(columns);
  if (!isOneStructure(columns))
    return fail("columns of a table have different structure");
  if (first->getKind() == Expr::Kind::Read) {
    // Any other read is emitted in the body.
    if (isSlice(columns))
      addRead(columns);
    return success();
  }
  if (first->getKind() != Expr::Kind::Apply)
    return areEqual(columns) ? success()
                             : fail("an integer differs between columns");
  for (unsigned i = 0, e = first->getOperands().size(); i < e; ++i)
    if (failed(collect(getOperand(columns, i))))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

static Value castToIndex(OpBuilder &body, Location loc, Value value) {
  if (value.getType().isIndex())
    return value;
  return arith::IndexCastOp::create(body, loc, body.getIndexType(), value);
}

/// An integer expression as an index, a truth as i1.
FailureOr<Value> ColumnBuilder::emitInteger(OpBuilder &body, const Expr *expr) {
  switch (expr->getKind()) {
  case Expr::Kind::Int:
    return arith::ConstantIndexOp::create(body, loc, expr->getInt())
        .getResult();
  case Expr::Kind::Sym:
    if (std::optional<unsigned> dim = findDim(expr->getNumber()))
      return linalg::IndexOp::create(body, loc, *dim).getResult();
    break;
  case Expr::Kind::Dim:
    return tensor::DimOp::create(body, loc, expr->getValue(), expr->getNumber())
        .getResult();
  case Expr::Kind::Scalar:
    if (expr->getType().isIndex())
      return expr->getValue();
    if (expr->getType().isInteger())
      return arith::IndexCastOp::create(body, loc, body.getIndexType(),
                                        expr->getValue())
          .getResult();
    break;
  case Expr::Kind::Linear: {
    Value sum = arith::ConstantIndexOp::create(body, loc, expr->getInt());
    for (auto [atom, coefficient] :
         llvm::zip(expr->getOperands(), expr->getCoefficients())) {
      FailureOr<Value> value = emitInteger(body, atom);
      if (failed(value))
        return failure();
      Value factor = arith::ConstantIndexOp::create(body, loc, coefficient);
      Value term = arith::MulIOp::create(body, loc, *value, factor);
      sum = arith::AddIOp::create(body, loc, sum, term);
    }
    return sum;
  }
  case Expr::Kind::Read: {
    FailureOr<Value> value = emitRead(body, {expr});
    if (succeeded(value) && !value->getType().isInteger(1))
      value = castToIndex(body, loc, *value);
    return value;
  }
  case Expr::Kind::Apply: {
    // Within an index every read is emitted in place.
    unsigned next = 0;
    return emitApply(body, {expr}, {}, next);
  }
  default:
    break;
  }
  std::string text;
  llvm::raw_string_ostream(text) << *expr;
  return LogicalResult(fail("the integer " + text + " cannot be built"));
}

/// An element at a computed index.
FailureOr<Value> ColumnBuilder::emitRead(OpBuilder &body,
                                         const Columns &columns) {
  SmallVector<Value> indices;
  for (unsigned dim = 0; dim < columns.front()->getOperands().size(); ++dim) {
    Columns index = getOperand(columns, dim);
    bool constant = llvm::all_of(index, [](auto *e) { return e->isInt(); });
    FailureOr<Value> value = emitInteger(body, index.front());
    if (failed(value))
      return failure();
    if (!areEqual(index)) {
      if (!constant || !getStep(index))
        return LogicalResult(fail("columns of a table are not evenly spaced"));
      Value step = arith::ConstantIndexOp::create(body, loc, *getStep(index));
      Value column = linalg::IndexOp::create(body, loc, getColumnDim());
      Value offset = arith::MulIOp::create(body, loc, column, step);
      value = arith::AddIOp::create(body, loc, *value, offset).getResult();
    }
    indices.push_back(*value);
  }
  return tensor::ExtractOp::create(body, loc, columns.front()->getValue(),
                                   indices)
      .getResult();
}

/// An operand of an op. Integers are computed as indices, truths as i1, and
/// what is converted to a float as i64.
static Value castOperand(OpBuilder &body, Location loc, const Expr *op,
                         Value value) {
  Type type = value.getType();
  if (isa<FloatType, ComplexType>(type))
    return value;
  if (isa<FloatType>(op->getType()) && !op->isa<arith::SelectOp>())
    return type.isIndex()
               ? arith::IndexCastOp::create(body, loc, body.getI64Type(), value)
                     .getResult()
               : value;
  if (type.isInteger(1) && op->isa<arith::CmpIOp>())
    return arith::IndexCastUIOp::create(body, loc, body.getIndexType(), value);
  return type.isInteger(1) ? value : castToIndex(body, loc, value);
}

FailureOr<Value> ColumnBuilder::emitApply(OpBuilder &body,
                                          const Columns &columns,
                                          ValueRange arguments,
                                          unsigned &next) {
  const Expr *first = columns.front();
  SmallVector<Value> operands;
  for (unsigned i = 0, e = first->getOperands().size(); i < e; ++i) {
    Columns operand = getOperand(columns, i);
    // The constants 0 and 1 beside a truth are truths.
    bool truth = first->getType().isInteger(1) && operand.front()->isInt() &&
                 !first->isa<arith::CmpIOp>();
    if (truth) {
      operands.push_back(arith::ConstantOp::create(
          body, loc, body.getBoolAttr(!operand.front()->isInt(0))));
      continue;
    }
    FailureOr<Value> value = emit(body, operand, arguments, next);
    if (failed(value))
      return failure();
    operands.push_back(castOperand(body, loc, first, *value));
  }
  Type type = first->getType();
  if (type.isInteger() && !type.isInteger(1))
    type = body.getIndexType();
  OperationState state(loc, first->getName(), operands, type);
  if (first->getAttr())
    state.addAttribute("predicate", first->getAttr());
  return body.create(state)->getResult(0);
}

FailureOr<Value> ColumnBuilder::emit(OpBuilder &body, const Columns &columns,
                                     ValueRange arguments, unsigned &next) {
  const Expr *first = columns.front();
  switch (first->getKind()) {
  case Expr::Kind::Float:
    if (!areEqual(columns))
      return arguments[next++];
    return arith::ConstantOp::create(
               body, loc, FloatAttr::get(first->getType(), first->getFloat()))
        .getResult();
  case Expr::Kind::Read:
    // Within an index there are no arguments.
    if (isSlice(columns) && !arguments.empty())
      return arguments[next++];
    return emitRead(body, columns);
  case Expr::Kind::Apply:
    return emitApply(body, columns, arguments, next);
  case Expr::Kind::Scalar:
    if (isa<FloatType>(first->getType()))
      return first->getValue();
    [[fallthrough]];
  default:
    return emitInteger(body, first);
  }
}

/// Brings a number to the element type that is asked for.
static Value castTo(OpBuilder &body, Location loc, Value value, Type type) {
  Type from = value.getType();
  if (from == type)
    return value;
  if (from.isIndex() || type.isIndex())
    return arith::IndexCastOp::create(body, loc, type, value);
  if (from.isInteger())
    return from.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth()
               ? arith::ExtSIOp::create(body, loc, type, value).getResult()
               : arith::TruncIOp::create(body, loc, type, value).getResult();
  return from.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth()
             ? arith::ExtFOp::create(body, loc, type, value).getResult()
             : arith::TruncFOp::create(body, loc, type, value).getResult();
}

FailureOr<Value> ColumnBuilder::build(const Columns &columns, Type type) {
  if (failed(collect(columns)))
    return failure();
  SmallVector<OpFoldResult> shape(domain.extents);
  if (!scalar)
    shape.push_back(builder.getIndexAttr(columns.size()));
  unsigned rank = shape.size();
  // A plain read needs no op.
  SmallVector<unsigned> inOrder = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  if (columns.front()->getKind() == Expr::Kind::Read && isSlice(columns) &&
      inputs.front().dims == inOrder && columns.front()->getType() == type)
    return inputs.front().tensor;

  MLIRContext *context = builder.getContext();
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
      [&](OpBuilder &body, Location, ValueRange arguments) {
        unsigned next = 0;
        FailureOr<Value> value = emit(body, columns, arguments, next);
        built = value;
        Value result =
            failed(value) ? arguments.back() : castTo(body, loc, *value, type);
        linalg::YieldOp::create(body, loc, result);
      });
  if (succeeded(built))
    return op.getResult(0);
  op.erase();
  return failure();
}

FailureOr<Value> rope::buildColumns(OpBuilder &builder, Location loc,
                                    const ExprDomain &domain,
                                    ArrayRef<const Expr *> columns, Type type,
                                    bool scalar, std::string &reason) {
  return ColumnBuilder(builder, loc, domain, scalar, reason)
      .build(Columns(columns), type);
}

FailureOr<Value> rope::buildInteger(OpBuilder &builder, Location loc,
                                    const Expr *integer, std::string &reason) {
  return ColumnBuilder(builder, loc, ExprDomain(), /*scalar=*/true, reason)
      .emitInteger(builder, integer);
}
