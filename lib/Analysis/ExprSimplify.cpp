//===- ExprSimplify.cpp - Identities of scalar ops ------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The identities of exact arithmetic by which ops on expressions simplify, so
// that different spellings of one function become one expression. Roundings
// are kept: a cast to a narrower type stays.
//
//===----------------------------------------------------------------------===//

#include "rope/Analysis/ConstantFold.h"
#include "rope/Analysis/Expr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;

template <typename... OpTys> static bool is(OperationName name) {
  return ((name.getStringRef() == OpTys::getOperationName()) || ...);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// The truth of a comparison, where the range of lhs − rhs decides it.
static std::optional<bool> decide(arith::CmpIPredicate predicate,
                                  IntRange difference) {
  bool below = difference.high && *difference.high < 0;
  bool notAbove = difference.high && *difference.high <= 0;
  bool above = difference.low && *difference.low > 0;
  bool notBelow = difference.low && *difference.low >= 0;
  auto pick = [](bool yes, bool no) -> std::optional<bool> {
    return yes ? std::optional(true) : no ? std::optional(false) : std::nullopt;
  };
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return pick(notAbove && notBelow, below || above);
  case arith::CmpIPredicate::ne:
    return pick(below || above, notAbove && notBelow);
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return pick(below, notBelow);
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return pick(notAbove, above);
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return pick(above, notAbove);
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return pick(notBelow, below);
  }
  return std::nullopt;
}

/// Unsigned comparison is signed comparison where neither side is negative.
static bool isUnsigned(arith::CmpIPredicate predicate) {
  return llvm::is_contained(
      {arith::CmpIPredicate::ult, arith::CmpIPredicate::ule,
       arith::CmpIPredicate::ugt, arith::CmpIPredicate::uge},
      predicate);
}

static bool isBoolean(const Expr *expr) {
  return expr->getType() && expr->getType().isInteger(1);
}

/// Not `expr`, for a boolean.
static const Expr *invert(ExprContext &context, const Expr *expr) {
  if (expr->isInt())
    return context.getInt(1 - expr->getInt());
  if (expr->isa<arith::CmpIOp>()) {
    auto predicate = cast<arith::CmpIPredicateAttr>(expr->getAttr());
    return context.apply<arith::CmpIOp>(
        expr->getType(), expr->getOperands(),
        arith::CmpIPredicateAttr::get(
            context.getMLIRContext(),
            arith::invertPredicate(predicate.getValue())));
  }
  if (expr->isa<arith::XOrIOp>())
    for (auto [a, b] : {std::pair(0, 1), std::pair(1, 0)})
      if (expr->getOperands()[a]->isInt(1))
        return expr->getOperands()[b];
  return nullptr;
}

/// Booleans are the integers 0 and 1; −1 has all bits set.
static const Expr *simplifyLogic(ExprContext &context, OperationName name,
                                 Type type, const Expr *lhs, const Expr *rhs) {
  if (lhs->isInt())
    std::swap(lhs, rhs);
  bool all = rhs->isInt(type.isInteger(1) ? 1 : -1);
  if (is<arith::AndIOp>(name)) {
    if (rhs->isInt(0))
      return rhs;
    if (all || lhs == rhs)
      return lhs;
  } else if (is<arith::OrIOp>(name)) {
    if (all)
      return rhs;
    if (rhs->isInt(0) || lhs == rhs)
      return lhs;
  } else if (is<arith::XOrIOp>(name)) {
    if (rhs->isInt(0))
      return lhs;
    if (lhs == rhs)
      return context.getInt(0);
    if (lhs->isInt() && rhs->isInt())
      return context.getInt(lhs->getInt() ^ rhs->getInt());
    if (all && type.isInteger(1))
      return invert(context, lhs);
  }
  return nullptr;
}

/// Whether an integer may not be one of the type's. Indices and positions are
/// taken to fit in 32 bits and more.
static bool mayWrap(IntRange range, Type type) {
  if (!type.isInteger() || type.getIntOrFloatBitWidth() >= 32)
    return false;
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits == 1)
    return !range.low || !range.high || *range.low < 0 || *range.high > 1;
  return !range.low || !range.high || *range.low < llvm::minIntN(bits) ||
         *range.high > llvm::maxIntN(bits);
}

/// Casts keep the value where it fits. Of what type an operand was is known to
/// the caller alone: see `simplifyCast` of bodies for narrowing and unsigned
/// extension.
static const Expr *simplifyIntegerCast(ExprContext &context, OperationName name,
                                       Type type, const Expr *operand) {
  IntRange range = context.getRange(operand);
  if (is<arith::ExtSIOp>(name) && !isBoolean(operand))
    return operand;
  if (is<arith::ExtUIOp>(name) && range.isNotNegative())
    return operand;
  if (is<arith::IndexCastOp, arith::IndexCastUIOp>(name) &&
      !mayWrap(range, type))
    return operand;
  return nullptr;
}

/// The extent that an index is below: of a symbol, or of a quotient of one;
/// null if none is known.
static const Expr *getExtentAbove(ExprContext &context, const Expr *index) {
  if (index->getKind() == Expr::Kind::Sym)
    return index->getDynamicExtent();
  if (!index->isa<arith::FloorDivSIOp>() || !index->getOperands()[1]->isInt())
    return nullptr;
  const Expr *whole = getExtentAbove(context, index->getOperands()[0]);
  const Expr *divisor = index->getOperands()[1];
  if (!whole)
    return nullptr;
  const Expr *quotient = context.floorDiv(whole, divisor);
  return context.mul(quotient, divisor) == whole ? quotient : nullptr;
}

const Expr *ExprContext::simplifySelect(ArrayRef<const Expr *> operands) {
  const Expr *condition = operands[0];
  if (operands[1] == operands[2])
    return operands[1];
  if (condition->isInt())
    return condition->isInt(0) ? operands[2] : operands[1];
  bool isTruth =
      isBoolean(operands[1]) || isBoolean(operands[2]) || isBoolean(condition);
  if (isTruth && operands[1]->isInt(1) && operands[2]->isInt(0))
    return condition;
  // select(extent == 1, 0, i) is i where i is below that extent.
  bool broadcasts =
      condition->isa<arith::CmpIOp>() &&
      cast<arith::CmpIPredicateAttr>(condition->getAttr()).getValue() ==
          arith::CmpIPredicate::eq;
  if (!broadcasts || !operands[1]->isInt(0))
    return nullptr;
  ArrayRef<const Expr *> sides = condition->getOperands();
  const Expr *extent = getExtentAbove(*this, operands[2]);
  const Expr *tested = sides[1]->isInt(1)   ? sides[0]
                       : sides[0]->isInt(1) ? sides[1]
                                            : nullptr;
  if (!extent || !tested)
    return nullptr;
  if (tested == extent)
    return operands[2];
  openBroadcasts.insert({tested, extent});
  return nullptr;
}

/// eq and ne of a boolean and a constant are the boolean, or not it.
static const Expr *simplifyTruthTest(ExprContext &context,
                                     arith::CmpIPredicate predicate,
                                     const Expr *lhs, const Expr *rhs) {
  if (lhs->isInt())
    std::swap(lhs, rhs);
  bool equal = predicate == arith::CmpIPredicate::eq;
  if (!isBoolean(lhs) || (!rhs->isInt(0) && !rhs->isInt(1)) ||
      (!equal && predicate != arith::CmpIPredicate::ne))
    return nullptr;
  if (rhs->isInt(equal ? 1 : 0))
    return lhs;
  return context.apply<arith::XOrIOp>(lhs->getType(), {lhs, context.getInt(1)});
}

const Expr *ExprContext::simplifyDivision(OperationName name, const Expr *lhs,
                                          const Expr *rhs) {
  if (!rhs->isInt() || rhs->getInt() <= 0)
    return nullptr;
  if (is<arith::FloorDivSIOp>(name))
    return floorDiv(lhs, rhs);
  // Towards zero is down for what is not negative.
  if (!getRange(lhs).isNotNegative())
    return nullptr;
  if (is<arith::DivSIOp, arith::DivUIOp>(name))
    return floorDiv(lhs, rhs);
  if (is<arith::CeilDivSIOp, arith::CeilDivUIOp>(name))
    return floorDiv(add(lhs, getInt(rhs->getInt() - 1)), rhs);
  if (is<arith::RemSIOp, arith::RemUIOp>(name))
    return mod(lhs, rhs);
  return nullptr;
}

const Expr *ExprContext::simplifyComparison(arith::CmpIPredicate predicate,
                                            const Expr *lhs, const Expr *rhs) {
  if (isUnsigned(predicate) &&
      !(getRange(lhs).isNotNegative() && getRange(rhs).isNotNegative()))
    return nullptr;
  if (std::optional<bool> truth = decide(predicate, getRange(sub(lhs, rhs))))
    return getInt(*truth);
  return simplifyTruthTest(*this, predicate, lhs, rhs);
}

/// Sums and products, but for those that may wrap.
const Expr *ExprContext::simplifyArithmetic(OperationName name, Type type,
                                            const Expr *lhs, const Expr *rhs) {
  const Expr *result = nullptr;
  bool shifts = rhs->isInt() && rhs->getInt() >= 0 && rhs->getInt() < 62;
  if (is<arith::AddIOp>(name))
    result = add(lhs, rhs);
  else if (is<arith::SubIOp>(name))
    result = sub(lhs, rhs);
  else if (is<arith::MulIOp>(name))
    result = mul(lhs, rhs);
  else if (is<arith::ShLIOp>(name) && shifts)
    result = mul(lhs, getInt(int64_t(1) << rhs->getInt()));
  else if (is<arith::ShRSIOp>(name) && shifts)
    result = floorDiv(lhs, getInt(int64_t(1) << rhs->getInt()));
  return result && !mayWrap(getRange(result), type) ? result : nullptr;
}

const Expr *ExprContext::simplifyInteger(OperationName name, Attribute attr,
                                         Type type,
                                         ArrayRef<const Expr *> operands) {
  if (operands.size() == 1)
    return simplifyIntegerCast(*this, name, type, operands[0]);
  if (is<arith::SelectOp>(name))
    return simplifySelect(operands);
  if (operands.size() != 2)
    return nullptr;
  const Expr *lhs = operands[0], *rhs = operands[1];
  if (const Expr *result = simplifyArithmetic(name, type, lhs, rhs))
    return result;
  if (const Expr *result = simplifyDivision(name, lhs, rhs))
    return result;
  if (is<arith::CmpIOp>(name))
    return simplifyComparison(cast<arith::CmpIPredicateAttr>(attr).getValue(),
                              lhs, rhs);
  if (is<arith::MaxSIOp, arith::MinSIOp>(name)) {
    bool wantsLarger = is<arith::MaxSIOp>(name);
    IntRange difference = getRange(sub(lhs, rhs));
    if (difference.isNotNegative())
      return wantsLarger ? lhs : rhs;
    if (difference.high && *difference.high <= 0)
      return wantsLarger ? rhs : lhs;
  }
  return simplifyLogic(*this, name, type, lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// −e, with the sign moved inwards or cancelled.
static const Expr *negate(ExprContext &context, const Expr *expr, Type type) {
  if (expr->getKind() == Expr::Kind::Float)
    return context.getFloat(-expr->getFloat(), type);
  if (expr->isa<arith::NegFOp>())
    return expr->getOperands()[0];
  return nullptr;
}

static const Expr *simplifyProduct(ExprContext &context, Type type,
                                   const Expr *lhs, const Expr *rhs) {
  if (lhs->getKind() == Expr::Kind::Float)
    std::swap(lhs, rhs);
  if (rhs->isFloat(1))
    return lhs;
  // But for the sign of a zero.
  if (rhs->isFloat(0) && isKnownFinite(lhs))
    return context.getFloat(0, type);
  if (rhs->isFloat(-1))
    return context.apply<arith::NegFOp>(type, lhs);
  if (rhs->getKind() == Expr::Kind::Float && std::signbit(rhs->getFloat()))
    return context.apply<arith::NegFOp>(
        type,
        context.apply<arith::MulFOp>(
            type, {lhs, context.getFloat(-rhs->getFloat(), rhs->getType())}));
  // Signs come out of products.
  for (auto [a, b] : {std::pair(lhs, rhs), std::pair(rhs, lhs)})
    if (a->isa<arith::NegFOp>()) {
      const Expr *product =
          context.apply<arith::MulFOp>(type, {a->getOperands()[0], b});
      return context.apply<arith::NegFOp>(type, product);
    }
  return nullptr;
}

/// A quotient of which one side is negated, with the sign outside.
static const Expr *simplifyQuotient(ExprContext &context, Type type,
                                    const Expr *lhs, const Expr *rhs) {
  if (rhs->isFloat(1))
    return lhs;
  auto negated = [&](const Expr *a, const Expr *b) {
    return context.apply<arith::NegFOp>(
        type, context.apply<arith::DivFOp>(type, {a, b}));
  };
  if (lhs->isa<arith::NegFOp>())
    return negated(lhs->getOperands()[0], rhs);
  if (rhs->isa<arith::NegFOp>())
    return negated(lhs, rhs->getOperands()[0]);
  return nullptr;
}

/// Odd and even functions, and casts, of what is negated.
static const Expr *simplifyOfNegated(ExprContext &context, OperationName name,
                                     Type type, const Expr *operand) {
  if (!operand->isa<arith::NegFOp>())
    return nullptr;
  const Expr *inner = operand->getOperands()[0];
  if (is<math::CosOp>(name))
    return context.apply<math::CosOp>(type, inner);
  if (is<math::SinOp, arith::ExtFOp, arith::TruncFOp>(name))
    return context.apply<arith::NegFOp>(type,
                                        context.apply(name, {}, type, inner));
  return nullptr;
}

static const Expr *simplifySum(ExprContext &context, Type type, const Expr *lhs,
                               const Expr *rhs, bool subtract) {
  // Adding 0 changes at most the sign of a zero.
  if (rhs->isFloat(0))
    return lhs;
  if (lhs->isFloat(0))
    return subtract ? context.apply<arith::NegFOp>(type, rhs) : rhs;
  if (subtract) {
    const Expr *negated = context.apply<arith::NegFOp>(type, rhs);
    return context.apply<arith::AddFOp>(type, {lhs, negated});
  }
  return nullptr;
}

static const Expr *getRounded(ExprContext &context, double number, Type type) {
  APFloat value(number);
  bool losesInfo;
  value.convert(cast<FloatType>(type).getFloatSemantics(),
                APFloat::rmNearestTiesToEven, &losesInfo);
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return context.getFloat(value.convertToDouble(), type);
}

/// Widening twice is widening once, and narrowing back what was widened to
/// the type it had is nothing.
static const Expr *simplifyCast(ExprContext &context, OperationName name,
                                Type type, const Expr *operand) {
  if (operand->getKind() == Expr::Kind::Float)
    return getRounded(context, operand->getFloat(), type);
  if (is<arith::ExtFOp>(name) && operand->isa<arith::ExtFOp>())
    return context.apply<arith::ExtFOp>(type, operand->getOperands());
  if (is<arith::TruncFOp>(name) && operand->isa<arith::ExtFOp>()) {
    const Expr *inner = operand->getOperands()[0];
    if (inner->getType() == type)
      return inner;
  }
  return nullptr;
}

const Expr *ExprContext::simplifyFloat(OperationName name, Type type,
                                       ArrayRef<const Expr *> operands) {
  if (is<arith::NegFOp>(name))
    return negate(*this, operands[0], type);
  if (is<arith::MulFOp>(name))
    return simplifyProduct(*this, type, operands[0], operands[1]);
  if (is<arith::AddFOp, arith::SubFOp>(name))
    return simplifySum(*this, type, operands[0], operands[1],
                       is<arith::SubFOp>(name));
  if (is<arith::DivFOp>(name))
    return simplifyQuotient(*this, type, operands[0], operands[1]);
  if (operands.size() == 1)
    if (const Expr *simple = simplifyOfNegated(*this, name, type, operands[0]))
      return simple;
  if (is<arith::ExtFOp, arith::TruncFOp>(name))
    return simplifyCast(*this, name, type, operands[0]);
  if (is<arith::SIToFPOp>(name) && operands[0]->isInt())
    return getRounded(*this, static_cast<double>(operands[0]->getInt()), type);
  if (is<arith::UIToFPOp>(name) && getRange(operands[0]).isNotNegative())
    return apply<arith::SIToFPOp>(type, operands);
  if (is<math::FmaOp>(name)) {
    const Expr *product = apply<arith::MulFOp>(type, operands.take_front(2));
    return apply<arith::AddFOp>(type, {product, operands[2]});
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Complex numbers
//===----------------------------------------------------------------------===//

/// The real or imaginary part of a complex expression that is itself an op on
/// parts; null if it is not.
static const Expr *getPart(ExprContext &context, Type type, const Expr *expr,
                           bool imaginary) {
  auto part = [&](const Expr *e, bool im) {
    return im ? context.apply<complex::ImOp>(type, e)
              : context.apply<complex::ReOp>(type, e);
  };
  auto mul = [&](const Expr *a, const Expr *b) {
    return context.apply<arith::MulFOp>(type, {a, b});
  };
  if (expr->getKind() != Expr::Kind::Apply)
    return nullptr;
  ArrayRef<const Expr *> ops = expr->getOperands();
  if (expr->isa<complex::CreateOp>())
    return ops[imaginary];
  if (expr->isa<complex::NegOp>())
    return context.apply<arith::NegFOp>(type, part(ops[0], imaginary));
  if (expr->isa<complex::ConjOp>())
    return imaginary ? context.apply<arith::NegFOp>(type, part(ops[0], true))
                     : part(ops[0], false);
  if (expr->isa<complex::AddOp>() || expr->isa<complex::SubOp>()) {
    const Expr *parts[] = {part(ops[0], imaginary), part(ops[1], imaginary)};
    return expr->isa<complex::AddOp>()
               ? context.apply<arith::AddFOp>(type, parts)
               : context.apply<arith::SubFOp>(type, parts);
  }
  if (expr->isa<complex::MulOp>()) {
    const Expr *a = part(ops[0], false), *b = part(ops[0], true);
    const Expr *c = part(ops[1], false), *d = part(ops[1], true);
    if (imaginary)
      return context.apply<arith::AddFOp>(type, {mul(a, d), mul(b, c)});
    return context.apply<arith::SubFOp>(type, {mul(a, c), mul(b, d)});
  }
  // exp(x + iy) = exp(x)·(cos y + i·sin y)
  if (expr->isa<complex::ExpOp>()) {
    const Expr *angle = part(ops[0], true), *log = part(ops[0], false);
    const Expr *unit = imaginary ? context.apply<math::SinOp>(type, angle)
                                 : context.apply<math::CosOp>(type, angle);
    if (log->isFloat(0))
      return unit;
    return mul(context.apply<math::ExpOp>(type, log), unit);
  }
  return nullptr;
}

const Expr *ExprContext::simplifyComplex(OperationName name, Type type,
                                         ArrayRef<const Expr *> operands) {
  if (is<complex::ReOp>(name))
    return getPart(*this, type, operands[0], /*imaginary=*/false);
  if (is<complex::ImOp>(name))
    return getPart(*this, type, operands[0], /*imaginary=*/true);
  return nullptr;
}
