//===- TableBuilder.cpp - Tables of proven rotations ----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Raise/TableBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rope/IR/ElementTypes.h"
#include "rope/IR/Rope.h"
#include "rope/IR/TableFacts.h"
#include "rope/Raise/ExprBuilder.h"
#include "rope/Raise/RotationBuilder.h"
#include "llvm/Support/ScopedPrinter.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;

/// The extent of a dim of the source. One that is known to be that of an
/// argument is taken from there, so that tables of several sources have one
/// shape; others from the source, which keeps no more of the model's own code
/// alive.
static OpFoldResult getExtent(OpBuilder &builder, Location loc,
                              ElementEvaluator &evaluator, Value source,
                              int64_t dim) {
  const Expr *extent = evaluator.evaluateExtent(source, dim);
  if (extent->getKind() == Expr::Kind::Dim &&
      isa<BlockArgument>(extent->getValue()))
    return tensor::getMixedSize(builder, loc, extent->getValue(),
                                extent->getNumber());
  return tensor::getMixedSize(builder, loc, source, dim);
}

static FailureOr<ExprDomain> getDomain(OpBuilder &builder, Location loc,
                                       ElementEvaluator &evaluator,
                                       const RotationMatch &match,
                                       ArrayRef<const Expr *> exprs,
                                       std::string &reason) {
  ExprDomain domain;
  for (const Expr *symbol : collectSymbols(exprs))
    domain.symbols.push_back(symbol->getNumber());
  for (int64_t symbol : domain.symbols) {
    const SourceDim *found = llvm::find_if(
        match.dims, [&](const SourceDim &dim) { return dim.follows(symbol); });
    if (found == match.dims.end()) {
      reason = "the table varies along a dim that the source lacks";
      return failure();
    }
    int64_t extent = cast<ShapedType>(match.root.getType()).getDimSize(symbol);
    domain.extents.push_back(found->count == 1 || ShapedType::isDynamic(extent)
                                 ? getExtent(builder, loc, evaluator,
                                             match.source,
                                             found - match.dims.begin())
                                 : builder.getIndexAttr(extent));
  }
  return domain;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// The element type of positions: integers as i64, unless they are read as they
/// stand.
static Type getPositionType(OpBuilder &builder, const Expr *position) {
  if (position->getKind() == Expr::Kind::Read ||
      (position->getType() && isa<FloatType>(position->getType())))
    return position->getType();
  return builder.getI64Type();
}

/// The first of consecutive positions, if a position is a row number more than
/// it; null otherwise.
static const Expr *getStart(ExprContext &context, const ExprDomain &domain,
                            const Expr *position) {
  if (domain.symbols.size() != 1 ||
      (position->getType() && isa<FloatType>(position->getType())))
    return nullptr;
  for (const Expr *symbol : collectSymbols(position)) {
    const Expr *start = context.sub(position, symbol);
    if (collectSymbols(start).empty())
      return start;
  }
  return nullptr;
}

/// Whether positions are the slices of one tensor along its first dim, all of
/// them and in order, with the domain as its other dims.
static bool areSlices(ElementEvaluator &evaluator, const ExprDomain &domain,
                      ArrayRef<const Expr *> positions) {
  Value tensor = positions.front()->getValue();
  for (auto [axis, position] : llvm::enumerate(positions)) {
    if (position->getKind() != Expr::Kind::Read ||
        position->getValue() != tensor ||
        position->getOperands().size() != domain.symbols.size() + 1 ||
        !position->getOperands()[0]->isInt(static_cast<int64_t>(axis)))
      return false;
    for (auto [index, symbol] :
         llvm::zip_equal(position->getOperands().drop_front(), domain.symbols))
      if (index->getKind() != Expr::Kind::Sym || index->getNumber() != symbol)
        return false;
  }
  for (auto [dim, extent] : llvm::enumerate(domain.extents))
    if (!hasExtent(evaluator, tensor, dim + 1, extent))
      return false;
  return cast<ShapedType>(tensor.getType()).getDimSize(0) ==
         static_cast<int64_t>(positions.size());
}

/// Positions of several axes, which a leading dim lists.
static FailureOr<Value> buildAxes(OpBuilder &builder, Location loc,
                                  ElementEvaluator &evaluator,
                                  const ExprDomain &domain,
                                  ArrayRef<const Expr *> positions,
                                  std::string &reason) {
  if (areSlices(evaluator, domain, positions))
    return positions.front()->getValue();
  Type type = getPositionType(builder, positions.front());
  SmallVector<Value> rows;
  for (const Expr *position : positions) {
    if (isa<FloatType>(getPositionType(builder, position)) !=
        isa<FloatType>(type)) {
      reason = "positions are integers along some axes only";
      return failure();
    }
    FailureOr<Value> row =
        buildColumns(builder, loc, evaluator, domain, position, type,
                     /*scalar=*/true, reason);
    if (failed(row))
      return failure();
    auto rowType = cast<RankedTensorType>(row->getType());
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, *row);
    sizes.insert(sizes.begin(), builder.getIndexAttr(1));
    SmallVector<int64_t> shape(rowType.getShape());
    shape.insert(shape.begin(), 1);
    SmallVector<ReassociationIndices> groups;
    for (int64_t dim = 0; dim < rowType.getRank(); ++dim)
      groups.push_back({dim + 1});
    if (!groups.empty())
      groups.front().insert(groups.front().begin(), 0);
    rows.push_back(tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get(shape, type), *row, groups, sizes));
  }
  return tensor::ConcatOp::create(builder, loc, /*dim=*/0, rows).getResult();
}

/// Positions as the operand of rope.table: the start of consecutive rows, or a
/// tensor.
static FailureOr<Value> buildPositions(OpBuilder &builder, Location loc,
                                       ElementEvaluator &evaluator,
                                       const ExprDomain &domain,
                                       ArrayRef<const Expr *> positions,
                                       std::string &reason) {
  for (const Expr *position : positions)
    if (Type type = getPositionType(builder, position); !isOpPosition(type)) {
      reason = "positions are of " + llvm::to_string(type);
      return failure();
    }
  if (positions.size() > 1)
    return buildAxes(builder, loc, evaluator, domain, positions, reason);
  const Expr *position = positions.front();
  if (const Expr *start = getStart(evaluator.getContext(), domain, position))
    return buildInteger(builder, loc, start, reason);
  return buildColumns(builder, loc, evaluator, domain, position,
                      getPositionType(builder, position), /*scalar=*/true,
                      reason);
}

//===----------------------------------------------------------------------===//
// Frequencies
//===----------------------------------------------------------------------===//

namespace {
/// How a table states its frequencies.
struct StatedFrequencies {
  FrequencyAttrInterface attribute;
  AngleMode mode;
  /// The schedule that listed frequencies come from.
  FrequencyAttrInterface schedule;
  std::string description;
};
} // namespace

/// A number of three digits.
static std::string format(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1e", value);
  return text;
}

/// Whether a table of a schedule has the very angles of listed frequencies.
static bool hasSameAngles(FrequencyAttrInterface schedule,
                          const MatchedTable &table) {
  if (std::fabs(schedule.computeMagnitude() - table.magnitude) > 1e-12)
    return false;
  SmallVector<double> exact =
      schedule.computeFrequencies(table.frequencies.size(), std::nullopt);
  return llvm::all_of(
      llvm::zip_equal(exact, table.frequencies), [&](auto pair) {
        auto [a, b] = pair;
        if (table.mode == AngleMode::F32Angle)
          return static_cast<float>(a) == static_cast<float>(b);
        if (table.mode == AngleMode::F32Quotient)
          return static_cast<float>(1 / a) == static_cast<float>(1 / b);
        return std::fabs(a - b) <= 1e-15 * a;
      });
}

/// Divisors that are as round as can be make the base that was meant.
static double chooseBase(ArrayRef<double> frequencies) {
  auto pairs = static_cast<double>(frequencies.size());
  double best = 1e4;
  int most = 0;
  for (double base : {1e4, 1e5, 5e5, 1e6}) {
    int round = 0;
    for (auto [i, frequency] : llvm::enumerate(frequencies)) {
      double divisor =
          std::pow(base, -static_cast<double>(i) / pairs) / frequency;
      double hundredths = divisor * 100;
      round +=
          std::fabs(hundredths - std::round(hundredths)) < 1e-5 * hundredths;
    }
    if (round > most) {
      most = round;
      best = base;
    }
  }
  return best;
}

/// Frequencies that the length chooses, as divisors of a base's.
static StatedFrequencies stateChoice(Builder &builder,
                                     const MatchedTable &table) {
  auto pairs = static_cast<double>(table.frequencies.size());
  double base = chooseBase(table.frequencies);
  SmallVector<double> whenShort, whenLong;
  for (auto [i, frequency] : llvm::enumerate(table.frequencies)) {
    double whole = std::pow(base, -static_cast<double>(i) / pairs);
    whenShort.push_back(whole / frequency);
    whenLong.push_back(whole / table.choice->beyond[i]);
  }
  FloatAttr magnitude;
  if (table.magnitude != 1)
    magnitude = builder.getF64FloatAttr(table.magnitude);
  auto attribute = LongRopeAttr::get(
      builder.getContext(), builder.getF64FloatAttr(base),
      builder.getDenseF64ArrayAttr(whenShort),
      builder.getDenseF64ArrayAttr(whenLong), table.choice->trained, magnitude);
  return {attribute, table.mode, {}, "#rope.longrope by the length"};
}

static std::string describeMode(AngleMode mode) {
  return mode == AngleMode::Exact
             ? "exact angles"
             : (stringifyAngleMode(mode) + " angles").str();
}

/// By the schedule if it has the model's angles, else listed, with a note of
/// the schedule. With `exactAngles` by the schedule in any case.
static StatedFrequencies stateFrequencies(Builder &builder,
                                          const MatchedTable &table,
                                          ScheduleFits &fits,
                                          bool exactAngles) {
  if (table.choice)
    return stateChoice(builder, table);
  FloatAttr magnitude;
  if (table.magnitude != 1)
    magnitude = builder.getF64FloatAttr(table.magnitude);
  auto listed = ExplicitAttr::get(
      builder.getContext(), builder.getDenseF64ArrayAttr(table.frequencies),
      magnitude);
  FailureOr<ScheduleFit> fit = fits.get(table.frequencies, table.magnitude);
  StatedFrequencies result = {listed, table.mode, {}, "listed frequencies"};
  if (succeeded(fit)) {
    result.description = llvm::to_string(fit->schedule);
    if (hasSameAngles(fit->schedule, table)) {
      result.attribute = fit->schedule;
    } else {
      result.schedule = fit->schedule;
      result.description += " within " + format(fit->deviation);
    }
  }
  if (exactAngles && table.mode != AngleMode::Exact) {
    double difference = 0;
    bool scheduled =
        succeeded(fit) && fit->schedule.computeMagnitude() == table.magnitude;
    if (scheduled) {
      result.attribute = fit->schedule;
      result.schedule = {};
      for (auto [a, b] : llvm::zip_equal(
               table.frequencies, fit->schedule.computeFrequencies(
                                      table.frequencies.size(), std::nullopt)))
        difference = std::max(difference, std::fabs(a - b));
    }
    result.mode = AngleMode::Exact;
    result.description += ", made exact: angles differ by up to " +
                          format(difference) +
                          " a token, and by their rounding";
  }
  result.description += ", " + describeMode(result.mode);
  return result;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Positions as expressions: those that are listed as reads of a constant,
/// which is made here.
static SmallVector<const Expr *> getPositions(OpBuilder &builder, Location loc,
                                              ExprContext &context,
                                              const MatchedTable &table) {
  if (table.listed.empty())
    return table.positions;
  SmallVector<int64_t> shape = {static_cast<int64_t>(table.listed.size()),
                                static_cast<int64_t>(table.listed[0].size())};
  SmallVector<int64_t> numbers;
  for (const SmallVector<int64_t> &axis : table.listed)
    llvm::append_range(numbers, axis);
  if (shape.front() == 1)
    shape.erase(shape.begin());
  auto type = RankedTensorType::get(shape, builder.getI64Type());
  Value constant = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
  SmallVector<const Expr *> positions;
  for (auto [axis, row] : llvm::enumerate(table.positions)) {
    SmallVector<const Expr *> index = {row};
    if (type.getRank() == 2)
      index.insert(index.begin(), context.getInt(static_cast<int64_t>(axis)));
    positions.push_back(context.getRead(constant, index));
  }
  return positions;
}

static FailureOr<BuiltTable>
buildComputed(OpBuilder &builder, Location loc, ElementEvaluator &evaluator,
              const RotationMatch &match, const MatchedTable &computed,
              ScheduleFits &fits, bool exactAngles, std::string &reason) {
  if (!isOpFloat(computed.type)) {
    reason = "its table is of " + llvm::to_string(computed.type);
    return failure();
  }
  SmallVector<const Expr *> given =
      getPositions(builder, loc, evaluator.getContext(), computed);
  FailureOr<ExprDomain> domain =
      getDomain(builder, loc, evaluator, match, given, reason);
  if (failed(domain))
    return failure();
  FailureOr<Value> positions =
      buildPositions(builder, loc, evaluator, *domain, given, reason);
  if (failed(positions))
    return failure();
  FailureOr<Value> length = Value();
  if (computed.choice)
    length = buildInteger(builder, loc, computed.choice->length, reason);
  if (failed(length))
    return failure();
  SmallVector<OpFoldResult> shape(domain->extents);
  shape.push_back(builder.getIndexAttr(2));
  shape.push_back(builder.getIndexAttr(computed.frequencies.size()));
  Value init = tensor::EmptyOp::create(builder, loc, shape, computed.type);
  StatedFrequencies stated =
      stateFrequencies(builder, computed, fits, exactAngles);
  DenseI64ArrayAttr axes;
  if (computed.positions.size() > 1)
    axes = builder.getDenseI64ArrayAttr(computed.axes);
  auto table = TableOp::create(builder, loc, stated.attribute, *positions, init,
                               stated.mode, *length, axes);
  if (stated.schedule)
    table->setAttr(kScheduleAttrName, stated.schedule);
  std::string description = "a table of " + stated.description;
  if (computed.deviation)
    description +=
        ", within " + format(*computed.deviation) + " of the model's constants";
  return BuiltTable{table.getResult(), domain->symbols, description};
}

/// The numbers of all pairs. Where some are constants, say, and others are
/// read, they are built apart and stand side by side. Not if the two rows of a
/// pair may be different numbers: then only their common structure speaks for a
/// table.
static FailureOr<Value> buildPlane(OpBuilder &builder, Location loc,
                                   ElementEvaluator &evaluator,
                                   const ExprDomain &domain,
                                   ArrayRef<const Expr *> columns, Type type,
                                   bool full, std::string &reason) {
  FailureOr<Value> whole =
      buildColumns(builder, loc, evaluator, domain, columns, type,
                   /*scalar=*/false, reason);
  if (succeeded(whole) || full || columns.size() == 1)
    return whole;
  size_t half = columns.size() / 2;
  FailureOr<Value> first =
      buildPlane(builder, loc, evaluator, domain, columns.take_front(half),
                 type, full, reason);
  if (failed(first))
    return failure();
  FailureOr<Value> second =
      buildPlane(builder, loc, evaluator, domain, columns.drop_front(half),
                 type, full, reason);
  if (failed(second))
    return failure();
  return tensor::ConcatOp::create(builder, loc, domain.symbols.size(),
                                  ValueRange{*first, *second})
      .getResult();
}

static FailureOr<BuiltTable> buildAssembled(OpBuilder &builder, Location loc,
                                            ElementEvaluator &evaluator,
                                            const RotationMatch &match,
                                            std::string &reason) {
  Type type = match.pairs.front().cos[0]->getType();
  if (!isOpFloat(type)) {
    reason = "its table is of " + llvm::to_string(type);
    return failure();
  }
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
  FailureOr<ExprDomain> built =
      getDomain(builder, loc, evaluator, match, all, reason);
  if (failed(built))
    return failure();
  ExprDomain &domain = *built;
  FailureOr<Value> cosPlane = buildPlane(builder, loc, evaluator, domain, cos,
                                         type, match.full, reason);
  if (failed(cosPlane))
    return failure();
  FailureOr<Value> sinPlane = buildPlane(builder, loc, evaluator, domain, sin,
                                         type, match.full, reason);
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

FailureOr<BuiltTable>
rope::buildTable(OpBuilder &builder, Location loc, ElementEvaluator &evaluator,
                 const RotationMatch &match, const TableVerdict &verdict,
                 ScheduleFits &fits, bool exactAngles, std::string &reason) {
  std::string unknown = verdict.unknown;
  if (verdict.table) {
    FailureOr<BuiltTable> computed =
        buildComputed(builder, loc, evaluator, match, *verdict.table, fits,
                      exactAngles, unknown);
    if (succeeded(computed))
      return computed;
  }
  FailureOr<BuiltTable> table =
      buildAssembled(builder, loc, evaluator, match, reason);
  if (succeeded(table) && !unknown.empty())
    table->description += " (" + unknown + ")";
  return table;
}
