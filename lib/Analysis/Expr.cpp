//===- Expr.cpp - Scalar expressions, unique by structure -----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Uniquing and printing. Integers are in ExprIntegers.cpp, the identities by
// which ops simplify in ExprSimplify.cpp.
//
//===----------------------------------------------------------------------===//

#include "rope/Analysis/Expr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Uniquing
//===----------------------------------------------------------------------===//

/// Of what tells most expressions apart.
unsigned Expr::computeHash() const {
  uint64_t hash = static_cast<uint64_t>(kind);
  auto add = [&](uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  };
  auto addPointer = [&](const void *pointer) {
    add(reinterpret_cast<uintptr_t>(pointer));
  };
  add(static_cast<uint64_t>(number));
  add(llvm::bit_cast<uint64_t>(real));
  addPointer(value.getAsOpaquePointer());
  addPointer(attr.getAsOpaquePointer());
  if (name)
    addPointer(name->getAsOpaquePointer());
  for (const Expr *operand : operands)
    add(operand->getId());
  for (int64_t coefficient : coefficients)
    add(static_cast<uint64_t>(coefficient));
  return static_cast<unsigned>(hash);
}

Value Expr::getFirstValue() const {
  const Expr *expr = this;
  while (!expr->value && !expr->operands.empty())
    expr = expr->operands.front();
  return expr->value;
}

bool Expr::isStructureOf(const Expr &other) const {
  auto getParts = [](const Expr &e) {
    return std::tuple(e.kind, e.number, e.extent, e.dynamicExtent,
                      llvm::bit_cast<uint64_t>(e.real), e.value, e.name, e.attr,
                      e.type, e.operands, e.coefficients);
  };
  return getParts(*this) == getParts(other);
}

template <typename T>
static ArrayRef<T> copyInto(llvm::BumpPtrAllocator &allocator,
                            ArrayRef<T> from) {
  T *to = allocator.Allocate<T>(from.size());
  llvm::uninitialized_copy(from, to);
  return ArrayRef<T>(to, from.size());
}

bool ExprContext::StructureInfo::isEqual(const Structure &a,
                                         const Structure &b) {
  if (a.hash != b.hash)
    return false;
  const Expr *none[] = {getEmptyKey().expr, getTombstoneKey().expr};
  return a.expr == b.expr ||
         (!llvm::is_contained(none, a.expr) &&
          !llvm::is_contained(none, b.expr) && a.expr->isStructureOf(*b.expr));
}

const Expr *ExprContext::unique(Expr &&expr) {
  unsigned hash = expr.computeHash();
  llvm::DenseSet<Structure, StructureInfo> &set = sets[expr.getFirstValue()];
  if (auto found = set.find({&expr, hash}); found != set.end()) {
    auto substitute = substitutes.find(found->expr);
    return substitute == substitutes.end() ? found->expr : substitute->second;
  }
  auto *made = new (allocator.Allocate<Expr>()) Expr(std::move(expr));
  made->operands = copyInto(allocator, made->operands);
  made->coefficients = copyInto(allocator, made->coefficients);
  made->id = exprs++;
  set.insert({made, hash});
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
  // Identities are those of the op without attributes.
  bool plain =
      !attr || isa<arith::CmpIPredicateAttr, arith::CmpFPredicateAttr>(attr);
  if (plain) {
    if (const Expr *simple = simplifyInteger(name, attr, type, operands))
      return simple;
    if (const Expr *simple = simplifyFloat(name, type, operands))
      return simple;
    if (const Expr *simple = simplifyComplex(name, type, operands))
      return simple;
  }
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

SmallVector<const Expr *> rope::collectSymbols(ArrayRef<const Expr *> exprs) {
  SmallVector<const Expr *> symbols, queue(exprs);
  llvm::SmallDenseSet<const Expr *> seen;
  while (!queue.empty()) {
    const Expr *expr = queue.pop_back_val();
    if (!seen.insert(expr).second)
      continue;
    if (expr->getKind() == Expr::Kind::Sym)
      symbols.push_back(expr);
    llvm::append_range(queue, expr->getOperands());
  }
  llvm::sort(symbols, [](const Expr *a, const Expr *b) {
    return a->getNumber() < b->getNumber();
  });
  return symbols;
}
