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

#include "rope/Analysis/Expr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

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

static bool isNotNegative(IntRange range) {
  return range.low && *range.low >= 0;
}

/// Booleans are the integers 0 and 1.
static const Expr *simplifyLogic(ExprContext &context, OperationName name,
                                 const Expr *lhs, const Expr *rhs) {
  if (lhs->isInt())
    std::swap(lhs, rhs);
  if (is<arith::AndIOp>(name)) {
    if (rhs->isInt(0))
      return rhs;
    if (rhs->isInt(1) || rhs->isInt(-1) || lhs == rhs)
      return lhs;
  } else if (is<arith::OrIOp>(name)) {
    if (rhs->isInt(1) || rhs->isInt(-1))
      return rhs;
    if (rhs->isInt(0) || lhs == rhs)
      return lhs;
  } else if (is<arith::XOrIOp>(name)) {
    if (rhs->isInt(0))
      return lhs;
    if (lhs->isInt() && rhs->isInt())
      return context.getInt(lhs->getInt() ^ rhs->getInt());
  }
  return nullptr;
}

/// Casts between integers keep the value, but for those from and to booleans.
static const Expr *simplifyIntegerCast(ExprContext &context, OperationName name,
                                       Type type, const Expr *operand) {
  bool fromBoolean = operand->getType() && operand->getType().isInteger(1);
  if (is<arith::TruncIOp>(name))
    return type.isInteger(1) ? nullptr : operand;
  if (is<arith::ExtSIOp>(name))
    return fromBoolean ? context.mul(operand, context.getInt(-1)) : operand;
  if (is<arith::ExtUIOp>(name))
    return isNotNegative(context.getRange(operand)) ? operand : nullptr;
  if (is<arith::IndexCastOp, arith::IndexCastUIOp>(name))
    return operand;
  return nullptr;
}

const Expr *ExprContext::simplifySelect(ArrayRef<const Expr *> operands) {
  const Expr *condition = operands[0];
  if (operands[1] == operands[2])
    return operands[1];
  if (condition->isInt())
    return condition->isInt(0) ? operands[2] : operands[1];
  // select(extent == 1, 0, i) is i where i is below that extent.
  bool broadcasts =
      condition->isa<arith::CmpIOp>() &&
      cast<arith::CmpIPredicateAttr>(condition->getAttr()).getValue() ==
          arith::CmpIPredicate::eq;
  if (!broadcasts || !operands[1]->isInt(0))
    return nullptr;
  ArrayRef<const Expr *> sides = condition->getOperands();
  const Expr *extent = operands[2]->getDynamicExtent();
  if (extent && ((sides[0] == extent && sides[1]->isInt(1)) ||
                 (sides[1] == extent && sides[0]->isInt(1))))
    return operands[2];
  return nullptr;
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
  if (is<arith::AddIOp>(name))
    return add(lhs, rhs);
  if (is<arith::SubIOp>(name))
    return sub(lhs, rhs);
  if (is<arith::MulIOp>(name))
    return mul(lhs, rhs);
  bool positiveDivisor = rhs->isInt() && rhs->getInt() > 0;
  bool towardsZeroIsDown = positiveDivisor && isNotNegative(getRange(lhs));
  if (is<arith::FloorDivSIOp>(name) && positiveDivisor)
    return floorDiv(lhs, rhs);
  if (is<arith::DivSIOp, arith::DivUIOp>(name) && towardsZeroIsDown)
    return floorDiv(lhs, rhs);
  if (is<arith::CeilDivSIOp, arith::CeilDivUIOp>(name) && towardsZeroIsDown)
    return floorDiv(add(lhs, getInt(rhs->getInt() - 1)), rhs);
  if (is<arith::RemSIOp, arith::RemUIOp>(name) && towardsZeroIsDown)
    return mod(lhs, rhs);
  if (is<arith::CmpIOp>(name)) {
    auto predicate = cast<arith::CmpIPredicateAttr>(attr).getValue();
    if (isUnsigned(predicate) &&
        !(isNotNegative(getRange(lhs)) && isNotNegative(getRange(rhs))))
      return nullptr;
    if (std::optional<bool> truth = decide(predicate, getRange(sub(lhs, rhs))))
      return getInt(*truth);
    return nullptr;
  }
  if (is<arith::MaxSIOp, arith::MinSIOp>(name)) {
    bool wantsLarger = is<arith::MaxSIOp>(name);
    IntRange difference = getRange(sub(lhs, rhs));
    if (isNotNegative(difference))
      return wantsLarger ? lhs : rhs;
    if (difference.high && *difference.high <= 0)
      return wantsLarger ? rhs : lhs;
  }
  return simplifyLogic(*this, name, lhs, rhs);
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
  if (rhs->isFloat(-1))
    return context.apply<arith::NegFOp>(type, lhs);
  // Signs come out of products.
  for (auto [a, b] : {std::pair(lhs, rhs), std::pair(rhs, lhs)})
    if (a->isa<arith::NegFOp>()) {
      const Expr *product =
          context.apply<arith::MulFOp>(type, {a->getOperands()[0], b});
      return context.apply<arith::NegFOp>(type, product);
    }
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

/// Widening twice is widening once, and narrowing back what was widened to
/// the type it had is nothing.
static const Expr *simplifyCast(ExprContext &context, OperationName name,
                                Type type, const Expr *operand) {
  if (operand->getKind() == Expr::Kind::Float) {
    APFloat value(operand->getFloat());
    bool losesInfo;
    value.convert(cast<FloatType>(type).getFloatSemantics(),
                  APFloat::rmNearestTiesToEven, &losesInfo);
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    return context.getFloat(value.convertToDouble(), type);
  }
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
  if (is<arith::ExtFOp, arith::TruncFOp>(name))
    return simplifyCast(*this, name, type, operands[0]);
  if (is<arith::SIToFPOp, arith::UIToFPOp>(name) && operands[0]->isInt())
    return getFloat(static_cast<double>(operands[0]->getInt()), type);
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
