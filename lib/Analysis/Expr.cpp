//===- Expr.cpp - Scalar expressions, unique by structure -----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Uniquing, the linear normal form of integers, and printing. The identities
// by which ops simplify are in ExprSimplify.cpp.
//
//===----------------------------------------------------------------------===//

#include "rope/Analysis/Expr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Uniquing
//===----------------------------------------------------------------------===//

void Expr::Profile(llvm::FoldingSetNodeID &id) const {
  id.AddInteger(static_cast<unsigned>(kind));
  id.AddInteger(number);
  id.AddInteger(extent);
  id.AddPointer(dynamicExtent);
  id.AddInteger(llvm::bit_cast<uint64_t>(real));
  id.AddPointer(value.getAsOpaquePointer());
  id.AddPointer(name ? name->getAsOpaquePointer() : nullptr);
  id.AddPointer(attr.getAsOpaquePointer());
  id.AddPointer(type.getAsOpaquePointer());
  for (const Expr *operand : operands)
    id.AddPointer(operand);
  for (int64_t coefficient : coefficients)
    id.AddInteger(coefficient);
}

template <typename T>
static ArrayRef<T> copyInto(llvm::BumpPtrAllocator &allocator,
                            ArrayRef<T> from) {
  T *to = allocator.Allocate<T>(from.size());
  llvm::uninitialized_copy(from, to);
  return ArrayRef<T>(to, from.size());
}

const Expr *ExprContext::unique(Expr &&expr) {
  llvm::FoldingSetNodeID id;
  expr.Profile(id);
  void *position;
  if (Expr *found = set.FindNodeOrInsertPos(id, position))
    return found;
  auto *made = new (allocator.Allocate<Expr>()) Expr(std::move(expr));
  made->operands = copyInto(allocator, made->operands);
  made->coefficients = copyInto(allocator, made->coefficients);
  made->id = exprs++;
  set.InsertNode(made, position);
  return made;
}

const Expr *ExprContext::getInt(int64_t v) {
  Expr expr;
  expr.kind = Expr::Kind::Int;
  expr.number = v;
  return unique(std::move(expr));
}

const Expr *ExprContext::getFloat(double v, Type type) {
  Expr expr;
  expr.kind = Expr::Kind::Float;
  expr.real = v;
  expr.type = type;
  return unique(std::move(expr));
}

const Expr *ExprContext::getSym(int64_t number, int64_t extent,
                                const Expr *dynamicExtent) {
  // The only index of a dim of extent 1.
  if (extent == 1)
    return getInt(0);
  Expr expr;
  expr.kind = Expr::Kind::Sym;
  expr.number = number;
  expr.extent = extent;
  if (ShapedType::isDynamic(extent))
    expr.dynamicExtent = dynamicExtent;
  return unique(std::move(expr));
}

const Expr *ExprContext::getScalar(Value value) {
  Expr expr;
  expr.kind = Expr::Kind::Scalar;
  expr.value = value;
  expr.type = value.getType();
  return unique(std::move(expr));
}

const Expr *ExprContext::getDim(Value tensor, int64_t dim) {
  int64_t extent = cast<ShapedType>(tensor.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(extent))
    return getInt(extent);
  Expr expr;
  expr.kind = Expr::Kind::Dim;
  expr.value = tensor;
  expr.number = dim;
  return unique(std::move(expr));
}

const Expr *ExprContext::getRead(Value tensor, ArrayRef<const Expr *> index) {
  Expr expr;
  expr.kind = Expr::Kind::Read;
  expr.value = tensor;
  expr.type = getElementTypeOrSelf(tensor.getType());
  expr.operands = index;
  return unique(std::move(expr));
}

const Expr *ExprContext::apply(OperationName name, Attribute attr, Type type,
                               ArrayRef<const Expr *> operands) {
  if (const Expr *simple = simplifyInteger(name, attr, type, operands))
    return simple;
  if (const Expr *simple = simplifyFloat(name, type, operands))
    return simple;
  if (const Expr *simple = simplifyComplex(name, type, operands))
    return simple;
  SmallVector<const Expr *> sorted(operands);
  if (name.hasTrait<OpTrait::IsCommutative>())
    llvm::sort(sorted, [](const Expr *a, const Expr *b) {
      return a->getId() < b->getId();
    });
  Expr expr;
  expr.kind = Expr::Kind::Apply;
  expr.name = name;
  expr.attr = attr;
  expr.type = type;
  expr.operands = sorted;
  return unique(std::move(expr));
}

//===----------------------------------------------------------------------===//
// Linear normal form
//===----------------------------------------------------------------------===//

const Expr *
ExprContext::makeLinear(int64_t constant,
                        llvm::DenseMap<const Expr *, int64_t> terms) {
  SmallVector<std::pair<const Expr *, int64_t>> sorted;
  for (auto [atom, coefficient] : terms)
    if (coefficient != 0)
      sorted.emplace_back(atom, coefficient);
  llvm::sort(sorted, [](auto &a, auto &b) {
    return a.first->getId() < b.first->getId();
  });
  if (sorted.empty())
    return getInt(constant);
  if (constant == 0 && sorted.size() == 1 && sorted[0].second == 1)
    return sorted[0].first;
  auto atoms = llvm::to_vector(llvm::make_first_range(sorted));
  auto coefficients = llvm::to_vector(llvm::make_second_range(sorted));
  Expr expr;
  expr.kind = Expr::Kind::Linear;
  expr.number = constant;
  expr.operands = atoms;
  expr.coefficients = coefficients;
  return unique(std::move(expr));
}

void ExprContext::addTo(int64_t &constant,
                        llvm::DenseMap<const Expr *, int64_t> &terms,
                        const Expr *expr, int64_t factor) {
  if (expr->isInt()) {
    constant += factor * expr->getInt();
  } else if (expr->getKind() == Expr::Kind::Linear) {
    constant += factor * expr->getInt();
    for (auto [atom, coefficient] :
         llvm::zip(expr->getOperands(), expr->getCoefficients()))
      terms[atom] += factor * coefficient;
  } else {
    terms[expr] += factor;
  }
}

const Expr *ExprContext::add(const Expr *lhs, const Expr *rhs) {
  int64_t constant = 0;
  llvm::DenseMap<const Expr *, int64_t> terms;
  addTo(constant, terms, lhs, 1);
  addTo(constant, terms, rhs, 1);
  return makeLinear(constant, std::move(terms));
}

const Expr *ExprContext::sub(const Expr *lhs, const Expr *rhs) {
  return add(lhs, mul(rhs, getInt(-1)));
}

const Expr *ExprContext::mul(const Expr *lhs, const Expr *rhs) {
  if (!lhs->isInt())
    std::swap(lhs, rhs);
  if (lhs->isInt()) {
    int64_t constant = 0;
    llvm::DenseMap<const Expr *, int64_t> terms;
    addTo(constant, terms, rhs, lhs->getInt());
    return makeLinear(constant, std::move(terms));
  }
  if (lhs->getId() > rhs->getId())
    std::swap(lhs, rhs);
  Expr expr;
  expr.kind = Expr::Kind::Apply;
  expr.name = OperationName(arith::MulIOp::getOperationName(), context);
  expr.type = IndexType::get(context);
  const Expr *operands[] = {lhs, rhs};
  expr.operands = operands;
  return unique(std::move(expr));
}

/// lhs = divisor · first + second, where second holds what is not a multiple;
/// second is null unless it is known to lie within [0, divisor).
std::pair<const Expr *, const Expr *>
ExprContext::splitDivision(const Expr *lhs, int64_t divisor) {
  int64_t constant = 0, quotientConstant = 0;
  llvm::DenseMap<const Expr *, int64_t> terms, quotient, rest;
  addTo(constant, terms, lhs, 1);
  for (auto [atom, coefficient] : terms)
    (coefficient % divisor == 0 ? quotient : rest)[atom] =
        coefficient % divisor == 0 ? coefficient / divisor : coefficient;
  quotientConstant = llvm::divideFloorSigned(constant, divisor);
  constant -= quotientConstant * divisor;
  const Expr *remainder = makeLinear(constant, std::move(rest));
  IntRange range = getRange(remainder);
  bool within =
      range.low && range.high && *range.low >= 0 && *range.high < divisor;
  return {makeLinear(quotientConstant, std::move(quotient)),
          within ? remainder : nullptr};
}

const Expr *ExprContext::floorDiv(const Expr *lhs, const Expr *rhs) {
  if (rhs->isInt(1))
    return lhs;
  if (rhs->isInt() && rhs->getInt() > 1) {
    auto [quotient, remainder] = splitDivision(lhs, rhs->getInt());
    if (remainder)
      return quotient;
  }
  Expr expr;
  expr.kind = Expr::Kind::Apply;
  expr.name = OperationName(arith::FloorDivSIOp::getOperationName(), context);
  expr.type = IndexType::get(context);
  const Expr *operands[] = {lhs, rhs};
  expr.operands = operands;
  return unique(std::move(expr));
}

const Expr *ExprContext::mod(const Expr *lhs, const Expr *rhs) {
  if (rhs->isInt(1))
    return getInt(0);
  if (rhs->isInt() && rhs->getInt() > 1) {
    auto [quotient, remainder] = splitDivision(lhs, rhs->getInt());
    if (remainder)
      return remainder;
  }
  // lhs − floor(lhs / rhs)·rhs, so that a quotient and its remainder cancel.
  return sub(lhs, mul(floorDiv(lhs, rhs), rhs));
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

static IntRange scale(IntRange range, int64_t factor) {
  auto times = [&](std::optional<int64_t> side) {
    return side ? std::optional<int64_t>(*side * factor) : std::nullopt;
  };
  if (factor < 0)
    return {times(range.high), times(range.low)};
  return {times(range.low), times(range.high)};
}

static IntRange sum(IntRange a, IntRange b) {
  auto plus = [](std::optional<int64_t> x, std::optional<int64_t> y) {
    return x && y ? std::optional<int64_t>(*x + *y) : std::nullopt;
  };
  return {plus(a.low, b.low), plus(a.high, b.high)};
}

IntRange ExprContext::getRange(const Expr *expr) {
  switch (expr->getKind()) {
  case Expr::Kind::Int:
    return {expr->getInt(), expr->getInt()};
  case Expr::Kind::Sym:
    if (ShapedType::isDynamic(expr->getExtent()))
      return {0, std::nullopt};
    return {0, expr->getExtent() - 1};
  case Expr::Kind::Dim:
    return {0, std::nullopt};
  case Expr::Kind::Linear: {
    IntRange range = {expr->getInt(), expr->getInt()};
    for (auto [atom, coefficient] :
         llvm::zip(expr->getOperands(), expr->getCoefficients()))
      range = sum(range, scale(getRange(atom), coefficient));
    return range;
  }
  default:
    // Booleans are 0 and 1.
    if (expr->getType() && expr->getType().isInteger(1))
      return {0, 1};
    return {};
  }
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// A short name for a value: that of an argument, or of its defining op.
static void printValue(raw_ostream &os, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    os << "%arg" << argument.getArgNumber();
  else
    os << value.getDefiningOp()->getName();
}

void Expr::print(raw_ostream &os) const {
  auto list = [&](StringRef open, StringRef close) {
    os << open;
    llvm::interleaveComma(operands, os, [&](const Expr *e) { e->print(os); });
    os << close;
  };
  switch (kind) {
  case Kind::Int:
    os << number;
    return;
  case Kind::Float:
    os << real;
    return;
  case Kind::Sym:
    os << "i" << number;
    return;
  case Kind::Scalar:
    printValue(os, value);
    return;
  case Kind::Dim:
    os << "dim(";
    printValue(os, value);
    os << ", " << number << ")";
    return;
  case Kind::Read:
    printValue(os, value);
    list("[", "]");
    return;
  case Kind::Linear:
    os << "(";
    for (auto [atom, coefficient] : llvm::zip(operands, coefficients)) {
      if (coefficient != 1)
        os << coefficient << "*";
      atom->print(os);
      os << " + ";
    }
    os << number << ")";
    return;
  case Kind::Apply:
    os << name->stripDialect();
    list("(", ")");
    return;
  }
}

raw_ostream &rope::operator<<(raw_ostream &os, const Expr &expr) {
  expr.print(os);
  return os;
}
