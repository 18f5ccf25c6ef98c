//===- ConstantFold.cpp - Values of constant expressions ------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Analysis/ConstantFold.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;

double rope::roundTo(double value, Type type) {
  auto real = dyn_cast_or_null<FloatType>(type);
  if (!real)
    return value;
  APFloat rounded(value);
  bool losesInfo;
  rounded.convert(real.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
  rounded.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
  return rounded.convertToDouble();
}

static std::optional<double> evaluateArithmetic(const Expr *expr,
                                                ArrayRef<double> x) {
  if (expr->isa<arith::NegFOp>())
    return -x[0];
  if (expr->isa<arith::ExtFOp>() || expr->isa<arith::TruncFOp>() ||
      expr->isa<arith::SIToFPOp>() || expr->isa<arith::UIToFPOp>())
    return x[0];
  if (expr->isa<arith::MulFOp>())
    return x[0] * x[1];
  if (expr->isa<arith::AddFOp>())
    return x[0] + x[1];
  if (expr->isa<arith::SubFOp>())
    return x[0] - x[1];
  if (expr->isa<arith::DivFOp>())
    return x[0] / x[1];
  if (expr->isa<arith::MaximumFOp>() || expr->isa<arith::MaxNumFOp>())
    return std::max(x[0], x[1]);
  if (expr->isa<arith::MinimumFOp>() || expr->isa<arith::MinNumFOp>())
    return std::min(x[0], x[1]);
  if (expr->isa<arith::SelectOp>())
    return x[0] != 0 ? x[1] : x[2];
  return std::nullopt;
}

static std::optional<double> evaluateFunction(const Expr *expr,
                                              ArrayRef<double> x) {
  if (expr->isa<math::PowFOp>() || expr->isa<math::FPowIOp>())
    return std::pow(x[0], x[1]);
  if (expr->isa<math::ExpOp>())
    return std::exp(x[0]);
  if (expr->isa<math::ExpM1Op>())
    return std::expm1(x[0]);
  if (expr->isa<math::Exp2Op>())
    return std::exp2(x[0]);
  if (expr->isa<math::LogOp>())
    return std::log(x[0]);
  if (expr->isa<math::Log2Op>())
    return std::log2(x[0]);
  if (expr->isa<math::SqrtOp>())
    return std::sqrt(x[0]);
  if (expr->isa<math::RsqrtOp>())
    return 1 / std::sqrt(x[0]);
  if (expr->isa<math::AbsFOp>())
    return std::fabs(x[0]);
  if (expr->isa<math::TanhOp>())
    return std::tanh(x[0]);
  return std::nullopt;
}

/// Comparisons of numbers that are no NaN.
static std::optional<double> evaluateComparison(const Expr *expr,
                                                ArrayRef<double> x) {
  if (!expr->isa<arith::CmpFOp>())
    return std::nullopt;
  switch (cast<arith::CmpFPredicateAttr>(expr->getAttr()).getValue()) {
  case arith::CmpFPredicate::OGT:
  case arith::CmpFPredicate::UGT:
    return x[0] > x[1];
  case arith::CmpFPredicate::OGE:
  case arith::CmpFPredicate::UGE:
    return x[0] >= x[1];
  case arith::CmpFPredicate::OLT:
  case arith::CmpFPredicate::ULT:
    return x[0] < x[1];
  case arith::CmpFPredicate::OLE:
  case arith::CmpFPredicate::ULE:
    return x[0] <= x[1];
  default:
    return std::nullopt;
  }
}

std::optional<double> rope::evaluateOp(const Expr *op,
                                       ArrayRef<double> operands) {
  if (op->isa<arith::CmpFOp>())
    return evaluateComparison(op, operands);
  // Attributes, such as a rounding mode, change what an op computes.
  if (op->getKind() != Expr::Kind::Apply || op->getAttr())
    return std::nullopt;
  if (std::optional<double> value = evaluateArithmetic(op, operands))
    return value;
  return evaluateFunction(op, operands);
}

static std::optional<double>
fold(const Expr *expr,
     llvm::DenseMap<const Expr *, std::optional<double>> &known) {
  if (expr->getKind() == Expr::Kind::Float)
    return expr->getFloat();
  if (expr->isInt())
    return static_cast<double>(expr->getInt());
  if (expr->getKind() != Expr::Kind::Apply)
    return std::nullopt;
  if (auto found = known.find(expr); found != known.end())
    return found->second;
  SmallVector<double> operands;
  std::optional<double> result;
  for (const Expr *operand : expr->getOperands())
    if (std::optional<double> value = fold(operand, known))
      operands.push_back(*value);
    else
      break;
  if (operands.size() == expr->getOperands().size())
    if (std::optional<double> value = evaluateOp(expr, operands))
      result = roundTo(*value, expr->getType());
  known[expr] = result;
  return result;
}

std::optional<double> rope::foldConstant(const Expr *expr) {
  llvm::DenseMap<const Expr *, std::optional<double>> known;
  return fold(expr, known);
}

/// The magnitude up to which no number of a type rounds to infinity: half of
/// the largest leaves room for roundings on the way.
static double getRoom(FloatType type) {
  APFloat largest = APFloat::getLargest(type.getFloatSemantics());
  bool losesInfo;
  largest.convert(APFloat::IEEEdouble(), APFloat::rmTowardZero, &losesInfo);
  return largest.convertToDouble() / 2;
}

static std::optional<double> getMagnitudeBound(const Expr *expr, int depth);

/// The bound of a result by those of its operands.
static std::optional<double> getResultBound(const Expr *expr, int depth) {
  // No integer of more than 64 bits is looked into.
  if (expr->isa<arith::SIToFPOp>() || expr->isa<arith::UIToFPOp>())
    return std::ldexp(1.0, 64);
  SmallVector<double, 2> bounds;
  for (const Expr *operand : expr->getOperands()) {
    std::optional<double> bound = getMagnitudeBound(operand, depth);
    if (!bound)
      return std::nullopt;
    bounds.push_back(*bound);
  }
  if (expr->isa<arith::NegFOp>() || expr->isa<arith::ExtFOp>())
    return bounds[0];
  if (expr->isa<arith::AddFOp>())
    return bounds[0] + bounds[1];
  if (expr->isa<arith::MulFOp>())
    return bounds[0] * bounds[1];
  return std::nullopt;
}

/// A bound of what an expression over few ops is at most, by magnitude; nullopt
/// if it may not be finite, be it on the way.
static std::optional<double> getMagnitudeBound(const Expr *expr, int depth) {
  auto type = dyn_cast_or_null<FloatType>(expr->getType());
  if (!type)
    return std::nullopt;
  std::optional<double> bound;
  if (expr->getKind() == Expr::Kind::Float)
    bound = std::fabs(expr->getFloat());
  else if (expr->getKind() == Expr::Kind::Apply && depth > 0)
    bound = getResultBound(expr, depth - 1);
  if (!bound || !(*bound <= getRoom(type)))
    return std::nullopt;
  return bound;
}

bool rope::isKnownFinite(const Expr *expr) {
  constexpr int kMaxDepth = 8;
  return getMagnitudeBound(expr, kMaxDepth).has_value();
}
