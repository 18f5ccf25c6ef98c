//===- ExprIntegers.cpp - Integer expressions -----------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The linear normal form, what is taken for equal, and ranges.
//
//===----------------------------------------------------------------------===//

#include "rope/Analysis/Expr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Linear normal form
//===----------------------------------------------------------------------===//

/// constant + Σ coefficient · atom, while it is put together. Sums that do not
/// fit in 64 bits are marked and given up.
struct ExprContext::LinearSum {
  int64_t constant = 0;
  llvm::SmallDenseMap<const Expr *, int64_t, 4> terms;
  bool overflows = false;

  void addConstant(int64_t value) {
    overflows |= llvm::AddOverflow(constant, value, constant);
  }
  void addAtom(const Expr *atom, int64_t factor) {
    int64_t &coefficient = terms[atom];
    overflows |= llvm::AddOverflow(coefficient, factor, coefficient);
  }
  void add(const Expr *expr, int64_t factor) {
    auto scaled = [&](int64_t value) {
      int64_t product = 0;
      overflows |= llvm::MulOverflow(value, factor, product);
      return product;
    };
    if (expr->isInt())
      return addConstant(scaled(expr->getInt()));
    if (expr->getKind() != Expr::Kind::Linear)
      return addAtom(expr, factor);
    addConstant(scaled(expr->getInt()));
    for (auto [atom, coefficient] :
         llvm::zip(expr->getOperands(), expr->getCoefficients()))
      addAtom(atom, scaled(coefficient));
  }
};

const Expr *ExprContext::makeLinear(const LinearSum &sum) {
  SmallVector<std::pair<const Expr *, int64_t>> sorted;
  for (auto [atom, coefficient] : sum.terms)
    if (coefficient != 0)
      sorted.emplace_back(atom, coefficient);
  llvm::sort(sorted, [](auto &a, auto &b) {
    return a.first->getId() < b.first->getId();
  });
  if (sorted.empty())
    return getInt(sum.constant);
  if (sum.constant == 0 && sorted.size() == 1 && sorted[0].second == 1)
    return sorted[0].first;
  auto atoms = llvm::to_vector(llvm::make_first_range(sorted));
  auto coefficients = llvm::to_vector(llvm::make_second_range(sorted));
  Expr expr;
  expr.kind = Expr::Kind::Linear;
  expr.number = sum.constant;
  expr.operands = atoms;
  expr.coefficients = coefficients;
  return unique(std::move(expr));
}

/// An op on two integers as it stands.
const Expr *ExprContext::applyInteger(StringRef name, const Expr *lhs,
                                      const Expr *rhs) {
  Expr expr;
  expr.kind = Expr::Kind::Apply;
  expr.name = OperationName(name, context);
  expr.type = IndexType::get(context);
  const Expr *operands[] = {lhs, rhs};
  if (expr.name->hasTrait<OpTrait::IsCommutative>() &&
      lhs->getId() > rhs->getId())
    std::swap(operands[0], operands[1]);
  expr.operands = operands;
  return unique(std::move(expr));
}

const Expr *ExprContext::add(const Expr *lhs, const Expr *rhs) {
  LinearSum sum;
  sum.add(lhs, 1);
  sum.add(rhs, 1);
  return sum.overflows
             ? applyInteger(arith::AddIOp::getOperationName(), lhs, rhs)
             : makeLinear(sum);
}

const Expr *ExprContext::sub(const Expr *lhs, const Expr *rhs) {
  LinearSum sum;
  sum.add(lhs, 1);
  sum.add(rhs, -1);
  return sum.overflows
             ? applyInteger(arith::SubIOp::getOperationName(), lhs, rhs)
             : makeLinear(sum);
}

const Expr *ExprContext::mul(const Expr *lhs, const Expr *rhs) {
  if (!lhs->isInt())
    std::swap(lhs, rhs);
  if (lhs->isInt()) {
    LinearSum sum;
    sum.add(rhs, lhs->getInt());
    if (!sum.overflows)
      return makeLinear(sum);
  }
  return applyInteger(arith::MulIOp::getOperationName(), lhs, rhs);
}

/// lhs = divisor · first + second, where second holds what is not a multiple.
std::pair<const Expr *, const Expr *>
ExprContext::splitDivision(const Expr *lhs, int64_t divisor) {
  LinearSum whole, quotient, rest;
  whole.add(lhs, 1);
  for (auto [atom, coefficient] : whole.terms) {
    bool divides = coefficient % divisor == 0;
    (divides ? quotient : rest)
        .addAtom(atom, divides ? coefficient / divisor : coefficient);
  }
  quotient.constant = llvm::divideFloorSigned(whole.constant, divisor);
  rest.constant = whole.constant - quotient.constant * divisor;
  return {makeLinear(quotient), makeLinear(rest)};
}

const Expr *ExprContext::floorDiv(const Expr *lhs, const Expr *rhs) {
  if (rhs->isInt(1))
    return lhs;
  if (!rhs->isInt() || rhs->getInt() <= 1)
    return applyInteger(arith::FloorDivSIOp::getOperationName(), lhs, rhs);
  auto [quotient, rest] = splitDivision(lhs, rhs->getInt());
  IntRange range = getRange(rest);
  if (range.isNotNegative() && range.high && *range.high < rhs->getInt())
    return quotient;
  return add(quotient,
             applyInteger(arith::FloorDivSIOp::getOperationName(), rest, rhs));
}

const Expr *ExprContext::mod(const Expr *lhs, const Expr *rhs) {
  // lhs − floor(lhs / rhs)·rhs, so that a quotient and its remainder cancel.
  return sub(lhs, mul(floorDiv(lhs, rhs), rhs));
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

static bool contains(const Expr *expr, const Expr *part,
                     llvm::SmallDenseSet<const Expr *> &seen) {
  if (expr == part)
    return true;
  return seen.insert(expr).second &&
         llvm::any_of(expr->getOperands(), [&](const Expr *operand) {
           return contains(operand, part, seen);
         });
}

void ExprContext::equate(const Expr *lhs, const Expr *rhs) {
  LinearSum whole;
  whole.add(rebuild(lhs), 1);
  whole.add(rebuild(rhs), -1);
  int64_t divisor = std::abs(whole.constant);
  for (auto [atom, coefficient] : whole.terms)
    divisor = std::gcd(divisor, coefficient);
  // The youngest part goes, so that what is asked of it is what came before.
  const Expr *youngest = nullptr;
  for (auto [atom, coefficient] : whole.terms)
    if (std::abs(coefficient) == divisor && coefficient != 0 &&
        atom->getKind() != Expr::Kind::Sym &&
        (!youngest || atom->getId() > youngest->getId()))
      youngest = atom;
  if (!youngest || whole.overflows)
    return;
  LinearSum rest;
  int64_t sign = whole.terms[youngest] / divisor;
  rest.constant = -sign * (whole.constant / divisor);
  for (auto [atom, coefficient] : whole.terms)
    if (atom != youngest)
      rest.addAtom(atom, -sign * (coefficient / divisor));
  const Expr *substitute = makeLinear(rest);
  llvm::SmallDenseSet<const Expr *> seen;
  if (contains(substitute, youngest, seen))
    return;
  substitutes[youngest] = substitute;
  for (auto &entry : substitutes)
    entry.second = rebuild(entry.second);
}

void ExprContext::bound(const Expr *expr, int64_t low) {
  auto [entry, inserted] = lowerBounds.try_emplace(expr, low);
  entry->second = std::max(entry->second, low);
  ranges.clear();
}

/// An expression of `operands` that is otherwise like `e`.
const Expr *ExprContext::remake(const Expr *e,
                                ArrayRef<const Expr *> operands) {
  switch (e->getKind()) {
  case Expr::Kind::Int:
    return getInt(e->getInt());
  case Expr::Kind::Float:
    return getFloat(e->getFloat(), e->getType());
  case Expr::Kind::Sym:
    return getSym(e->getNumber(), e->getExtent(),
                  e->getDynamicExtent() ? rebuild(e->getDynamicExtent())
                                        : nullptr);
  case Expr::Kind::Scalar:
    return getScalar(e->getValue());
  case Expr::Kind::Dim:
    return getDim(e->getValue(), e->getNumber());
  case Expr::Kind::Read:
    return getRead(e->getValue(), operands);
  case Expr::Kind::Apply:
    return apply(e->getName(), e->getAttr(), e->getType(), operands);
  case Expr::Kind::Linear: {
    const Expr *sum = getInt(e->getInt());
    for (auto [atom, coefficient] : llvm::zip(operands, e->getCoefficients()))
      sum = add(sum, mul(atom, getInt(coefficient)));
    return sum;
  }
  }
  llvm_unreachable("unknown kind of expression");
}

const Expr *ExprContext::rebuild(const Expr *expr) {
  llvm::DenseMap<const Expr *, const Expr *> rebuilt;
  auto visit = [&](auto &self, const Expr *e) -> const Expr * {
    if (auto found = rebuilt.find(e); found != rebuilt.end())
      return found->second;
    auto operands = llvm::map_to_vector(
        e->getOperands(), [&](const Expr *o) { return self(self, o); });
    return rebuilt[e] = remake(e, operands);
  };
  return visit(visit, expr);
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

static IntRange scale(IntRange range, int64_t factor) {
  auto times = [&](std::optional<int64_t> side) -> std::optional<int64_t> {
    int64_t product = 0;
    if (!side || llvm::MulOverflow(*side, factor, product))
      return std::nullopt;
    return product;
  };
  if (factor < 0)
    return {times(range.high), times(range.low)};
  return {times(range.low), times(range.high)};
}

static IntRange sum(IntRange a, IntRange b) {
  auto plus = [](std::optional<int64_t> x,
                 std::optional<int64_t> y) -> std::optional<int64_t> {
    int64_t total = 0;
    if (!x || !y || llvm::AddOverflow(*x, *y, total))
      return std::nullopt;
    return total;
  };
  return {plus(a.low, b.low), plus(a.high, b.high)};
}

/// The numbers of a narrow type. Booleans are 0 and 1, others are signed.
static IntRange getTypeRange(Type type) {
  if (!type || !type.isInteger() || type.getIntOrFloatBitWidth() > 32)
    return {};
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits == 1)
    return {0, 1};
  return {llvm::minIntN(bits), llvm::maxIntN(bits)};
}

/// The range of what lies in either.
static IntRange unite(IntRange a, IntRange b) {
  IntRange range;
  if (a.low && b.low)
    range.low = std::min(*a.low, *b.low);
  if (a.high && b.high)
    range.high = std::max(*a.high, *b.high);
  return range;
}

static IntRange getApplyRange(ExprContext &context, const Expr *expr) {
  auto range = [&](unsigned i) {
    return context.getRange(expr->getOperands()[i]);
  };
  if (expr->isa<arith::FloorDivSIOp>()) {
    IntRange divisor = range(1), result;
    if (range(0).isNotNegative() && divisor.low && *divisor.low > 0)
      result = {0, range(0).high};
    return result;
  }
  if (expr->isa<arith::MulIOp>() && range(0).isNotNegative() &&
      range(1).isNotNegative())
    return {0, std::nullopt};
  if (expr->isa<arith::MaxSIOp>())
    for (unsigned i : {0, 1})
      if (range(i).isNotNegative())
        return {range(i).low, std::nullopt};
  if (expr->isa<arith::SelectOp>())
    return unite(range(1), range(2));
  return getTypeRange(expr->getType());
}

/// x − c·floor(x / c), as remainders are written, lies in [0, c).
static std::optional<IntRange> getRemainderRange(ExprContext &context,
                                                 const Expr *expr) {
  for (auto [atom, coefficient] :
       llvm::zip(expr->getOperands(), expr->getCoefficients())) {
    if (coefficient >= 0 || !atom->isa<arith::FloorDivSIOp>() ||
        !atom->getOperands()[1]->isInt(-coefficient))
      continue;
    const Expr *whole =
        context.sub(expr, context.mul(atom, context.getInt(coefficient)));
    if (whole == atom->getOperands()[0])
      return IntRange{0, -coefficient - 1};
  }
  return std::nullopt;
}

/// A symbol is below its extent: what follows where only the extent is left
/// besides it.
static IntRange getRangeBelowExtent(ExprContext &context, const Expr *expr) {
  IntRange range;
  for (auto [atom, coefficient] :
       llvm::zip(expr->getOperands(), expr->getCoefficients())) {
    const Expr *extent = atom->getDynamicExtent();
    if (!extent)
      continue;
    const Expr *step =
        context.sub(context.sub(extent, context.getInt(1)), atom);
    const Expr *atLast =
        context.add(expr, context.mul(step, context.getInt(coefficient)));
    if (atLast->isInt())
      (coefficient > 0 ? range.high : range.low) = atLast->getInt();
  }
  return range;
}

/// What follows from the form of an expression alone.
static IntRange getOwnRange(ExprContext &context, const Expr *expr) {
  switch (expr->getKind()) {
  case Expr::Kind::Int:
    return {expr->getInt(), expr->getInt()};
  case Expr::Kind::Sym:
    if (ShapedType::isDynamic(expr->getExtent()))
      return {0, std::nullopt};
    return {0, expr->getExtent() - 1};
  case Expr::Kind::Dim:
    return {0, std::nullopt};
  case Expr::Kind::Apply:
    return getApplyRange(context, expr);
  case Expr::Kind::Linear: {
    if (std::optional<IntRange> range = getRemainderRange(context, expr))
      return *range;
    IntRange range = {expr->getInt(), expr->getInt()};
    for (auto [atom, coefficient] :
         llvm::zip(expr->getOperands(), expr->getCoefficients()))
      range = sum(range, scale(context.getRange(atom), coefficient));
    IntRange below = getRangeBelowExtent(context, expr);
    return {range.low ? range.low : below.low,
            range.high ? range.high : below.high};
  }
  default:
    return getTypeRange(expr->getType());
  }
}

IntRange ExprContext::getRange(const Expr *expr) {
  if (auto found = ranges.find(expr); found != ranges.end())
    return found->second;
  IntRange range = getOwnRange(*this, expr);
  if (auto found = lowerBounds.find(expr); found != lowerBounds.end())
    range.low = range.low ? std::max(*range.low, found->second) : found->second;
  ranges[expr] = range;
  return range;
}
