//===- TableMatch.cpp - What the coefficients of a rotation are -----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Analysis/TableMatch.h"

#include "BakedTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "rope/Analysis/ConstantFold.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;

/// Position axes of one table.
static constexpr size_t kMaxAxes = 8;

//===----------------------------------------------------------------------===//
// Coefficients
//===----------------------------------------------------------------------===//

namespace {
struct Coefficient {
  enum class Kind { Cosine, Sine, Constant, Other };
  Kind kind = Kind::Other;
  /// The angle, or the read of a constant, or a number.
  const Expr *inner = nullptr;
  /// Of a complex constant, whether it is the imaginary part.
  unsigned part = 0;
  double magnitude = 1;
  bool negative = false;
  Type type;

  bool isTrigonometric() const {
    return kind == Kind::Cosine || kind == Kind::Sine;
  }
};
} // namespace

/// What a coefficient is once casts, signs and factors are off.
static void readInner(const Expr *expr, Coefficient &result) {
  bool isPart = expr->isa<complex::ReOp>() || expr->isa<complex::ImOp>();
  if (expr->isa<math::CosOp>() || expr->isa<math::SinOp>()) {
    result.kind = expr->isa<math::SinOp>() ? Coefficient::Kind::Sine
                                           : Coefficient::Kind::Cosine;
    result.inner = expr->getOperands()[0];
    return;
  }
  result.part = expr->isa<complex::ImOp>() ? 1 : 0;
  const Expr *read = isPart ? expr->getOperands()[0] : expr;
  if (read->getKind() == Expr::Kind::Read &&
      read->getValue().getDefiningOp<arith::ConstantOp>()) {
    result.kind = Coefficient::Kind::Constant;
    result.inner = read;
  }
  // A column of a constant that is the same in every row.
  if (expr->getKind() == Expr::Kind::Float) {
    result.kind = Coefficient::Kind::Constant;
    result.inner = expr;
  }
}

/// Reads a fully expanded coefficient.
static Coefficient readCoefficient(const Expr *expr) {
  Coefficient result;
  result.type = expr->getType();
  while (expr->getKind() == Expr::Kind::Apply) {
    ArrayRef<const Expr *> operands = expr->getOperands();
    if (expr->isa<arith::TruncFOp>() || expr->isa<arith::ExtFOp>()) {
      if (expr->isa<arith::TruncFOp>())
        result.type = expr->getType();
      expr = operands[0];
    } else if (expr->isa<arith::NegFOp>()) {
      result.negative ^= true;
      expr = operands[0];
    } else if (expr->isa<arith::MulFOp>()) {
      std::optional<double> first = foldConstant(operands[0]);
      std::optional<double> second = foldConstant(operands[1]);
      if (!first && !second)
        return result;
      result.magnitude *= first ? *first : *second;
      expr = operands[first ? 1 : 0];
    } else {
      break;
    }
  }
  // What was narrow before it was widened is no wider.
  if (expr->getType() && isa<FloatType>(expr->getType()) &&
      expr->getType().getIntOrFloatBitWidth() <
          result.type.getIntOrFloatBitWidth())
    result.type = expr->getType();
  readInner(expr, result);
  return result;
}

/// Why the coefficients of one row of a pair are those of no rotation by an
/// angle.
static std::optional<std::string> refute(const Coefficient &cos,
                                         const Coefficient &sin,
                                         const RotatedPair &pair, bool full) {
  std::string channels =
      std::to_string(pair.u) + " and " + std::to_string(pair.v);
  bool constant = cos.kind == Coefficient::Kind::Constant &&
                  sin.kind == Coefficient::Kind::Constant;
  if (constant && full)
    return "the two rows of channels " + channels + " have different constants";
  if (!cos.isTrigonometric() && !sin.isTrigonometric())
    return std::nullopt;
  if (!cos.isTrigonometric() || !sin.isTrigonometric())
    return "only one coefficient of channels " + channels +
           " is a cosine or sine";
  if (cos.kind == Coefficient::Kind::Sine ||
      sin.kind == Coefficient::Kind::Cosine)
    return "cosines and sines have changed places";
  if (cos.inner != sin.inner)
    return "cosine and sine of channels " + channels +
           " are of different angles";
  if (cos.magnitude != sin.magnitude)
    return "cosine and sine of channels " + channels +
           " have different magnitudes";
  if (full)
    return "the two rows of channels " + channels + " turn by different angles";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Angles
//===----------------------------------------------------------------------===//

namespace {
/// The angle of a pair: position · frequency.
struct Angle {
  const Expr *position;
  double frequency;
  AngleMode mode;
  /// A frequency that the length of the sequence chooses.
  const Expr *length = nullptr;
  int64_t trained = 0;
  double beyond = 0;
};

/// A test of a length: whether it is over a number.
struct LengthTest {
  const Expr *length;
  int64_t trained;
  bool holdsBeyond;
};
} // namespace

/// Reads a comparison of an integer, or of the same as a float, with a
/// constant.
static std::optional<LengthTest> getLengthTest(const Expr *condition) {
  if (!condition->isa<arith::CmpIOp>())
    return std::nullopt;
  const Expr *lhs = condition->getOperands()[0];
  const Expr *rhs = condition->getOperands()[1];
  auto predicate =
      cast<arith::CmpIPredicateAttr>(condition->getAttr()).getValue();
  if (!rhs->isInt())
    return std::nullopt;
  switch (predicate) {
  case arith::CmpIPredicate::sgt:
    return LengthTest{lhs, rhs->getInt(), true};
  case arith::CmpIPredicate::sge:
    return LengthTest{lhs, rhs->getInt() - 1, true};
  case arith::CmpIPredicate::sle:
    return LengthTest{lhs, rhs->getInt(), false};
  case arith::CmpIPredicate::slt:
    return LengthTest{lhs, rhs->getInt() - 1, false};
  default:
    return std::nullopt;
  }
}

/// position · frequency, where the frequency is a constant or a choice of two.
static std::optional<Angle>
getScaledAngle(const Expr *position, const Expr *frequency, AngleMode mode) {
  if (std::optional<double> constant = foldConstant(frequency))
    return Angle{position, *constant, mode};
  if (!frequency->isa<arith::SelectOp>())
    return std::nullopt;
  ArrayRef<const Expr *> operands = frequency->getOperands();
  std::optional<LengthTest> test = getLengthTest(operands[0]);
  std::optional<double> first = foldConstant(operands[1]);
  std::optional<double> second = foldConstant(operands[2]);
  if (!test || !first || !second || test->trained <= 0)
    return std::nullopt;
  if (!test->holdsBeyond)
    std::swap(first, second);
  return Angle{position, *second, mode, test->length, test->trained, *first};
}

/// Reads an angle as a product of a position and a constant, in the arithmetic
/// that the model uses. Angles narrower than f32 have no mode.
static std::optional<Angle> getAngle(ExprContext &context, const Expr *angle) {
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
      if (std::optional<Angle> result = getScaledAngle(p, w, product))
        return result;
  if (angle->isa<arith::DivFOp>())
    if (std::optional<double> timescale = foldConstant(operands[1]))
      return Angle{operands[0], 1 / *timescale,
                   inF32 ? AngleMode::F32Quotient : AngleMode::Exact};
  // A column of a constant may hold the products.
  if (angle->getKind() == Expr::Kind::Read && inF32)
    if (std::optional<BakedColumn> column = getBakedColumn(angle, /*part=*/0))
      if (std::optional<ColumnSlope> fit = fitSlope(*column)) {
        const Expr *position =
            context.floorDiv(column->row, context.getInt(fit->unit));
        if (fit->radix)
          position = context.mod(position, context.getInt(fit->radix));
        return Angle{position, fit->slope, product};
      }
  // The frequency 1 is multiplied by nothing.
  if (angle->isa<arith::SIToFPOp>() || angle->isa<arith::UIToFPOp>())
    return Angle{angle, 1.0, product};
  return std::nullopt;
}

/// The integer that a position was converted from, or the position.
static const Expr *stripConversion(const Expr *position) {
  return position->isa<arith::SIToFPOp>() ? position->getOperands()[0]
                                          : position;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

namespace {
/// Puts the angles of pairs together, as long as they agree.
class AngleCollector {
public:
  explicit AngleCollector(ExprContext &context) : context(context) {}

  /// Fails, with a reason, for an angle that the table cannot have beside the
  /// others.
  LogicalResult add(const Coefficient &cos);
  FailureOr<MatchedTable> finish();

  std::string reason;

private:
  LogicalResult fail(StringRef why) {
    reason = why;
    return failure();
  }
  LogicalResult addChoice(const Angle &angle);
  LogicalResult placeBare();

  ExprContext &context;
  MatchedTable table;
  /// The frequencies beyond the trained length.
  SmallVector<double> beyond;
  /// Pairs whose angle is multiplied by nothing, and the angle.
  SmallVector<std::pair<size_t, const Expr *>> bare;
  std::optional<AngleMode> mode;
};
} // namespace

static constexpr StringLiteral kNoProduct =
    "an angle is no product of a position and a constant";

/// A frequency that does not depend on the length is the same beyond it.
LogicalResult AngleCollector::addChoice(const Angle &angle) {
  beyond.push_back(angle.length ? angle.beyond : angle.frequency);
  if (!angle.length)
    return success();
  if (!table.choice)
    table.choice = LengthChoice{angle.length, angle.trained, {}};
  return table.choice->length == angle.length &&
                 table.choice->trained == angle.trained
             ? success()
             : fail("frequencies of some pairs depend on another length");
}

LogicalResult AngleCollector::add(const Coefficient &cos) {
  if (table.axes.empty()) {
    table.magnitude = cos.magnitude;
    table.type = cos.type;
  }
  if (table.magnitude != cos.magnitude || table.type != cos.type)
    return fail("pairs differ in arithmetic or magnitude");
  std::optional<Angle> angle = getAngle(context, cos.inner);
  if (!angle) {
    bare.emplace_back(table.axes.size(), cos.inner);
    table.axes.push_back(0);
    table.frequencies.push_back(1);
    beyond.push_back(1);
    return success();
  }
  if (!std::isfinite(angle->frequency) || !std::isfinite(angle->beyond))
    return fail(kNoProduct);
  if (!mode)
    mode = angle->mode;
  if (mode != angle->mode)
    return fail("pairs differ in arithmetic or magnitude");
  if (failed(addChoice(*angle)))
    return failure();
  const Expr *position = stripConversion(angle->position);
  const auto *found = llvm::find(table.positions, position);
  table.axes.push_back(found - table.positions.begin());
  if (found == table.positions.end())
    table.positions.push_back(position);
  if (table.positions.size() > kMaxAxes)
    return fail("its pairs have many positions");
  table.frequencies.push_back(angle->frequency);
  return success();
}

/// An angle that is a position of other pairs has the frequency 1.
LogicalResult AngleCollector::placeBare() {
  for (auto [pair, angle] : bare) {
    const auto *found = llvm::find(table.positions, stripConversion(angle));
    if (found == table.positions.end())
      return fail(kNoProduct);
    table.axes[pair] = found - table.positions.begin();
  }
  return success();
}

FailureOr<MatchedTable> AngleCollector::finish() {
  if (failed(placeBare()))
    return failure();
  table.mode = *mode;
  if (!std::isnormal(table.magnitude) || table.magnitude < 0) {
    reason = "its magnitude is no positive number";
    return failure();
  }
  if (table.choice)
    table.choice->beyond = beyond;
  return std::move(table);
}

/// The columns of a pair's coefficients; nullopt if they are no plain ones.
static std::optional<BakedPair> getBakedPair(const Coefficient &cos,
                                             const Coefficient &sin,
                                             const RotatedPair &pair) {
  auto getColumn = [](const Coefficient &c) -> std::optional<BakedColumn> {
    if (c.kind != Coefficient::Kind::Constant)
      return std::nullopt;
    std::optional<BakedColumn> column = getBakedColumn(c.inner, c.part);
    if (column)
      column->factor = c.negative ? -c.magnitude : c.magnitude;
    return column;
  };
  std::optional<BakedColumn> cosines = getColumn(cos), sines = getColumn(sin);
  if (!cosines || !sines)
    return std::nullopt;
  return BakedPair{*cosines, *sines, pair.u, pair.v};
}

/// Columns of one number have the rows of the others.
static void completeRows(MutableArrayRef<BakedPair> pairs) {
  const BakedColumn *known = nullptr;
  for (const BakedPair &pair : pairs)
    for (const BakedColumn *column : {&pair.cos, &pair.sin})
      if (column->row)
        known = column;
  for (BakedPair &pair : pairs)
    for (BakedColumn *column : {&pair.cos, &pair.sin})
      if (known && !column->row) {
        column->row = known->row;
        column->rows = known->rows;
      }
}

/// What is the same for the same columns, whatever row is read.
static std::vector<int64_t> getKey(ArrayRef<BakedPair> pairs, Type type) {
  std::vector<int64_t> key = {
      reinterpret_cast<intptr_t>(type.getAsOpaquePointer())};
  for (const BakedPair &pair : pairs)
    for (const BakedColumn *column : {&pair.cos, &pair.sin})
      key.insert(key.end(), {reinterpret_cast<intptr_t>(
                                 column->elements.getAsOpaquePointer()),
                             column->start, column->stride, column->part,
                             llvm::bit_cast<int64_t>(column->factor),
                             llvm::bit_cast<int64_t>(column->number)});
  return key;
}

TableVerdict TableMatcher::matchBaked(ArrayRef<BakedPair> pairs, Type type) {
  const BakedColumn &first = pairs.front().cos;
  for (const BakedPair &pair : pairs)
    for (const BakedColumn *column : {&pair.cos, &pair.sin})
      if (column->row != first.row || column->rows != first.rows) {
        TableVerdict verdict;
        verdict.unknown = "its columns are read at different rows";
        return verdict;
      }
  auto [entry, inserted] = baked.try_emplace(getKey(pairs, type));
  if (inserted)
    entry->second = std::make_unique<BakedVerdict>(
        matchBakedTable(pairs, cast<FloatType>(type)));
  TableVerdict verdict = entry->second->verdict;
  if (!verdict.table)
    return verdict;
  ExprContext &context = evaluator.getContext();
  const Expr *start = context.getInt(entry->second->start);
  verdict.table->positions.assign(
      std::max<size_t>(1, verdict.table->listed.size()),
      context.add(first.row, start));
  return verdict;
}

TableMatcher::TableMatcher(ElementEvaluator &evaluator)
    : evaluator(evaluator) {}

TableMatcher::~TableMatcher() = default;

TableVerdict TableMatcher::match(const RotationMatch &rotation) {
  TableVerdict verdict;
  AngleCollector angles(evaluator.getContext());
  SmallVector<BakedPair> columns;
  bool computed = !rotation.full;
  Type type;
  for (const RotatedPair &pair : rotation.pairs) {
    for (int row : {0, 1}) {
      Coefficient cos = readCoefficient(evaluator.expandFully(pair.cos[row]));
      Coefficient sin = readCoefficient(evaluator.expandFully(pair.sin[row]));
      verdict.refuted = refute(cos, sin, pair, rotation.full);
      if (verdict.refuted)
        return verdict;
      if (row != 0 || rotation.full)
        continue;
      if (std::optional<BakedPair> constants = getBakedPair(cos, sin, pair))
        columns.push_back(std::move(*constants));
      type = cos.type;
      // Cosine and sine of −t are those of t with one sign turned.
      computed = computed && cos.isTrigonometric() && !cos.negative &&
                 !sin.negative && succeeded(angles.add(cos));
    }
  }
  if (columns.size() == rotation.pairs.size()) {
    completeRows(columns);
    return matchBaked(columns, type);
  }
  if (!computed) {
    verdict.unknown =
        rotation.full ? "nothing is known of the coefficients" : angles.reason;
    return verdict;
  }
  FailureOr<MatchedTable> table = angles.finish();
  if (succeeded(table))
    verdict.table = std::move(*table);
  else
    verdict.unknown = angles.reason;
  return verdict;
}
