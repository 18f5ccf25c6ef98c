//===- TableBuilder.cpp - Tables of proven rotations ----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Recognises angles that the model computes, and builds the table of a
// rotation.
//
//===----------------------------------------------------------------------===//

#include "rope/Raise/TableBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rope/Analysis/ConstantFold.h"
#include "rope/IR/Rope.h"
#include "rope/Raise/ExprBuilder.h"
#include "rope/Raise/RotationBuilder.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Coefficients
//===----------------------------------------------------------------------===//

std::optional<TrigCoefficient> rope::getTrigCoefficient(const Expr *expr) {
  TrigCoefficient result = {nullptr, 1, false, false, expr->getType()};
  while (expr->getKind() == Expr::Kind::Apply) {
    ArrayRef<const Expr *> operands = expr->getOperands();
    if (expr->isa<math::CosOp>() || expr->isa<math::SinOp>()) {
      result.isSine = expr->isa<math::SinOp>();
      result.angle = operands[0];
      // cos(−t) = cos t and sin(−t) = −sin t.
      if (result.angle->isa<arith::NegFOp>()) {
        result.angle = result.angle->getOperands()[0];
        result.negative ^= result.isSine;
      }
      return result;
    }
    if (expr->isa<arith::TruncFOp>())
      result.type = expr->getType();
    else if (expr->isa<arith::NegFOp>())
      result.negative ^= true;
    else if (!expr->isa<arith::ExtFOp>() && !expr->isa<arith::MulFOp>())
      return std::nullopt;
    if (expr->isa<arith::MulFOp>()) {
      std::optional<double> first = foldConstant(operands[0]);
      std::optional<double> second = foldConstant(operands[1]);
      if (!first && !second)
        return std::nullopt;
      result.magnitude *= first ? *first : *second;
      expr = operands[first ? 1 : 0];
      continue;
    }
    expr = operands[0];
  }
  return std::nullopt;
}

namespace {
/// The angle of a pair: position · frequency.
struct Angle {
  const Expr *position;
  double frequency;
  AngleMode mode;
};
} // namespace

/// Reads an angle as a product of a position and a constant, in the arithmetic
/// that the model uses. Angles narrower than f32 have no mode.
static std::optional<Angle> getAngle(const Expr *angle) {
  while (angle->isa<arith::ExtFOp>())
    angle = angle->getOperands()[0];
  Type type = angle->getType();
  if (!type || (!type.isF32() && !type.isF64()))
    return std::nullopt;
  bool inF32 = type.isF32();
  AngleMode product = inF32 ? AngleMode::F32Angle : AngleMode::Exact;
  ArrayRef<const Expr *> operands = angle->getOperands();
  if (angle->isa<arith::MulFOp>())
    for (auto [p, w] : {std::pair(operands[0], operands[1]),
                        std::pair(operands[1], operands[0])})
      if (std::optional<double> frequency = foldConstant(w))
        return Angle{p, *frequency, product};
  if (angle->isa<arith::DivFOp>())
    if (std::optional<double> timescale = foldConstant(operands[1]))
      return Angle{operands[0], 1 / *timescale,
                   inF32 ? AngleMode::F32Quotient : AngleMode::Exact};
  // The frequency 1 is multiplied by nothing.
  if (angle->isa<arith::SIToFPOp>() || angle->isa<arith::UIToFPOp>())
    return Angle{angle, 1.0, product};
  return std::nullopt;
}

LogicalResult rope::checkCoefficients(ElementEvaluator &evaluator,
                                      const RotationMatch &match,
                                      std::string &reason) {
  for (const RotatedPair &pair : match.pairs)
    for (int row : {0, 1}) {
      auto cos = getTrigCoefficient(evaluator.expandFully(pair.cos[row]));
      auto sin = getTrigCoefficient(evaluator.expandFully(pair.sin[row]));
      if (!cos && !sin)
        continue;
      std::string channels =
          std::to_string(pair.u) + " and " + std::to_string(pair.v);
      if (!cos || !sin)
        reason = "only one coefficient of channels " + channels +
                 " is a cosine or sine";
      else if (cos->isSine || !sin->isSine)
        reason = "cosines and sines have changed places";
      else if (cos->angle != sin->angle)
        reason = "cosine and sine of channels " + channels +
                 " are of different angles";
      else if (cos->magnitude != sin->magnitude)
        reason = "cosine and sine of channels " + channels +
                 " have different magnitudes";
      else if (match.full)
        reason = "the two rows of channels " + channels +
                 " turn by different angles";
      else
        continue;
      return failure();
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

static FailureOr<ExprDomain> getDomain(OpBuilder &builder, Location loc,
                                       const RotationMatch &match,
                                       ArrayRef<const Expr *> exprs,
                                       std::string &reason) {
  ExprDomain domain;
  for (const Expr *symbol : collectSymbols(exprs))
    domain.symbols.push_back(symbol->getNumber());
  for (int64_t symbol : domain.symbols) {
    // The source has the dim, and does not keep the model's own code alive.
    const SourceDim *found = llvm::find_if(
        match.dims, [&](const SourceDim &dim) { return dim.follows(symbol); });
    if (found == match.dims.end()) {
      reason = "the table varies along a dim that the source lacks";
      return failure();
    }
    int64_t extent = cast<ShapedType>(match.root.getType()).getDimSize(symbol);
    domain.extents.push_back(
        found->count == 1 || ShapedType::isDynamic(extent)
            ? tensor::getMixedSize(builder, loc, match.source,
                                   found - match.dims.begin())
            : builder.getIndexAttr(extent));
  }
  return domain;
}

namespace {
/// The parts that the angles of all pairs share, and their frequencies.
struct ComputedTable {
  const Expr *position;
  SmallVector<double> frequencies;
  double magnitude;
  AngleMode mode;
  Type type;
};
} // namespace

static std::optional<ComputedTable>
getComputedTable(ElementEvaluator &evaluator, const RotationMatch &match) {
  ComputedTable table = {nullptr, {}, 1, AngleMode::F32Angle, {}};
  for (const RotatedPair &pair : match.pairs) {
    auto cos = getTrigCoefficient(evaluator.expandFully(pair.cos[0]));
    auto sin = getTrigCoefficient(evaluator.expandFully(pair.sin[0]));
    // Cosine and sine of −t are those of t with one sign turned: not a table.
    if (!cos || !sin || cos->negative || sin->negative)
      return std::nullopt;
    std::optional<Angle> angle = getAngle(cos->angle);
    if (!angle || !std::isfinite(angle->frequency))
      return std::nullopt;
    if (!table.position)
      table = {angle->position, {}, cos->magnitude, angle->mode, cos->type};
    if (table.position != angle->position || table.mode != angle->mode ||
        table.magnitude != cos->magnitude || table.type != cos->type)
      return std::nullopt;
    table.frequencies.push_back(angle->frequency);
  }
  if (!std::isnormal(table.magnitude) || table.magnitude < 0)
    return std::nullopt;
  return table;
}

/// The integer that a position was converted from, or the position.
static const Expr *stripConversion(const Expr *position) {
  if (position->isa<arith::SIToFPOp>())
    return position->getOperands()[0];
  return position;
}

/// Positions as the operand of rope.table: the start of consecutive rows, or a
/// tensor.
static FailureOr<Value> buildPositions(OpBuilder &builder, Location loc,
                                       const ExprDomain &domain,
                                       const Expr *position,
                                       std::string &reason) {
  const Expr *integer = stripConversion(position);
  bool consecutive =
      domain.symbols.size() == 1 && integer->getKind() == Expr::Kind::Sym;
  if (consecutive)
    return arith::ConstantIndexOp::create(builder, loc, 0).getResult();
  Type type = builder.getI64Type();
  if (integer->getKind() == Expr::Kind::Read)
    type = integer->getType();
  else if (integer->getType() && isa<FloatType>(integer->getType()))
    type = integer->getType();
  return buildColumns(builder, loc, domain, integer, type, /*scalar=*/true,
                      reason);
}

static FailureOr<BuiltTable> buildComputed(OpBuilder &builder, Location loc,
                                           const RotationMatch &match,
                                           const ComputedTable &computed,
                                           std::string &reason) {
  FailureOr<ExprDomain> built =
      getDomain(builder, loc, match, computed.position, reason);
  if (failed(built))
    return failure();
  ExprDomain &domain = *built;
  FailureOr<Value> positions =
      buildPositions(builder, loc, domain, computed.position, reason);
  if (failed(positions))
    return failure();
  SmallVector<OpFoldResult> shape(domain.extents);
  shape.push_back(builder.getIndexAttr(2));
  shape.push_back(builder.getIndexAttr(computed.frequencies.size()));
  Value init = tensor::EmptyOp::create(builder, loc, shape, computed.type);
  FloatAttr magnitude;
  if (computed.magnitude != 1)
    magnitude = builder.getF64FloatAttr(computed.magnitude);
  auto frequencies = ExplicitAttr::get(
      builder.getContext(), builder.getDenseF64ArrayAttr(computed.frequencies),
      magnitude);
  auto table = TableOp::create(builder, loc, frequencies, *positions, init,
                               computed.mode);
  return BuiltTable{table.getResult(), domain.symbols, "a computed table"};
}

static FailureOr<BuiltTable> buildAssembled(OpBuilder &builder, Location loc,
                                            const RotationMatch &match,
                                            std::string &reason) {
  FailureOr<RotaryFit> fit = fitRotary(match, {}, reason);
  if (failed(fit))
    return failure();
  // The entries of a full table are in the order of the channels.
  int64_t pairs = match.pairs.size();
  SmallVector<const Expr *> cos(match.full ? 2 * pairs : pairs), sin = cos;
  for (auto [i, pair] : llvm::enumerate(match.pairs)) {
    auto [first, second] = fit->rotary.getTableEntries(i, pairs);
    std::tie(cos[first], sin[first]) = std::pair(pair.cos[0], pair.sin[0]);
    std::tie(cos[second], sin[second]) = std::pair(pair.cos[1], pair.sin[1]);
  }
  SmallVector<const Expr *> all(cos);
  llvm::append_range(all, sin);
  FailureOr<ExprDomain> built = getDomain(builder, loc, match, all, reason);
  if (failed(built))
    return failure();
  ExprDomain &domain = *built;
  Type type = cos.front()->getType();
  FailureOr<Value> cosPlane =
      buildColumns(builder, loc, domain, cos, type, /*scalar=*/false, reason);
  if (failed(cosPlane))
    return failure();
  FailureOr<Value> sinPlane =
      buildColumns(builder, loc, domain, sin, type, /*scalar=*/false, reason);
  if (failed(sinPlane))
    return failure();
  SmallVector<OpFoldResult> shape(domain.extents);
  shape.push_back(builder.getIndexAttr(2));
  shape.push_back(builder.getIndexAttr(cos.size()));
  Value init = tensor::EmptyOp::create(builder, loc, shape, type);
  auto table = AssembleOp::create(builder, loc, *cosPlane, *sinPlane, init);
  return BuiltTable{table.getResult(), domain.symbols,
                    match.full ? "the model's own cos and sin, full width"
                               : "the model's own cos and sin"};
}

FailureOr<BuiltTable> rope::buildTable(OpBuilder &builder, Location loc,
                                       ElementEvaluator &evaluator,
                                       const RotationMatch &match,
                                       std::string &reason) {
  if (!match.full)
    if (auto computed = getComputedTable(evaluator, match))
      return buildComputed(builder, loc, match, *computed, reason);
  return buildAssembled(builder, loc, match, reason);
}
