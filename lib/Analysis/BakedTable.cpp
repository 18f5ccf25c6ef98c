//===- BakedTable.cpp - Tables that a model holds as numbers --------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The phase of a pair grows by its frequency from row to row. It is followed
// over distances that double, so that the error shrinks with the number of
// rows; then every row is compared.
//
//===----------------------------------------------------------------------===//

#include "BakedTable.h"

#include "BakedAxes.h"
#include "ConstantColumns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "rope/Analysis/ConstantFold.h"
#include "rope/Analysis/ScheduleFit.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <complex>

using namespace mlir;
using namespace mlir::rope;

/// Rows of the longest table that is gone through.
static constexpr int64_t kMaxRows = int64_t(1) << 20;

/// Neighbours in f32 that are tried for a frequency, on each side.
static constexpr int kNeighbours = 4;

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

std::optional<BakedColumn> rope::getBakedColumn(const Expr *read,
                                                unsigned part) {
  BakedColumn column;
  column.part = part;
  if (read->getKind() == Expr::Kind::Float) {
    column.number = read->getFloat();
    return column;
  }
  auto constant = read->getValue().getDefiningOp<arith::ConstantOp>();
  if (constant)
    column.elements = dyn_cast<ElementsAttr>(constant.getValue());
  if (!column.elements || !ConstantReader(column.elements))
    return std::nullopt;
  ArrayRef<int64_t> shape = column.elements.getShapedType().getShape();
  int64_t stride = 1;
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
    const Expr *index = read->getOperands()[dim];
    if (index->isInt()) {
      column.start += index->getInt() * stride;
    } else if (column.row) {
      return std::nullopt;
    } else {
      column.row = index;
      column.rows = shape[dim];
      column.stride = stride;
    }
    stride *= shape[dim];
  }
  if (!column.row || column.rows > kMaxRows)
    return std::nullopt;
  return column;
}

SmallVector<double> BakedColumn::load() const {
  if (!elements)
    return SmallVector<double>(rows, factor * number);
  ConstantReader reader(elements);
  SmallVector<double> values;
  for (int64_t i = 0; i < rows; ++i)
    values.push_back(factor * reader.getNumber(start + i * stride, part));
  return values;
}

std::optional<ColumnSlope> rope::fitSlope(const BakedColumn &column) {
  SmallVector<double> values = column.load();
  auto isSet = [](double value) { return value != 0; };
  const double *first = llvm::find_if(values, isSet);
  if (first == values.begin() || first == values.end())
    return std::nullopt;
  ColumnSlope fit = {*first, first - values.begin()};
  for (size_t row = 2 * fit.unit; row < values.size() && !fit.radix;
       row += fit.unit)
    if (!isSet(values[row]))
      fit.radix = static_cast<int64_t>(row) / fit.unit;
  auto slope = static_cast<float>(fit.slope);
  for (auto [row, value] : llvm::enumerate(values)) {
    auto position =
        static_cast<float>(fit.getPosition(static_cast<int64_t>(row)));
    if (position * slope != static_cast<float>(value))
      return std::nullopt;
  }
  fit.slope = slope;
  return fit;
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

namespace {
/// A pair as a·exp(i·(phase + n·frequency)) at row n.
struct PairFit {
  double magnitude;
  double phase;
  double frequency;
};

/// One way to compute the angles of a table.
struct AngleFit {
  AngleMode mode;
  SmallVector<double> frequencies;
  double deviation;
};

class BakedTableMatcher {
public:
  BakedTableMatcher(ArrayRef<BakedPair> pairs, FloatType type)
      : pairs(pairs), type(type), rows(pairs.front().cos.rows),
        unit(std::ldexp(1.0, 1 - static_cast<int>(APFloat::semanticsPrecision(
                                     type.getFloatSemantics())))) {
    for (const BakedPair &pair : pairs)
      numbers.push_back({pair.cos.load(), pair.sin.load()});
  }

  BakedVerdict run();

private:
  LogicalResult fitPairs();
  LogicalResult settleDirection();
  LogicalResult settleStart();
  LogicalResult settleAxes();
  std::optional<AngleFit> settle();
  double getAngle(unsigned pair, AngleMode mode, double frequency,
                  int64_t row) const;
  double measure(unsigned pair, AngleMode mode, double frequency,
                 ArrayRef<int64_t> at) const;
  double chooseF32(unsigned pair, std::optional<double> scheduled) const;
  SmallVector<std::optional<double>> getScheduled() const;
  AngleFit fitAngles(AngleMode mode,
                     ArrayRef<std::optional<double>> scheduled) const;
  std::optional<AngleFit> chooseAngles() const;
  LogicalResult refute(const Twine &why) {
    verdict.refuted = why.str();
    return failure();
  }
  LogicalResult leave(StringRef why) {
    verdict.unknown = why;
    return failure();
  }

  ArrayRef<BakedPair> pairs;
  std::vector<PairNumbers> numbers;
  FloatType type;
  int64_t rows;
  /// The distance of neighbours of 1 in the type.
  double unit;
  SmallVector<PairFit> fits;
  double magnitude = 0;
  /// The position of row 0, or those of all rows along the axes of pairs.
  int64_t start = 0;
  BakedAxes listed;
  /// How far positions go.
  int64_t reach = 0;
  TableVerdict verdict;
};
} // namespace

static std::string nameChannels(const BakedPair &pair) {
  return "channels " + std::to_string(pair.u) + " and " +
         std::to_string(pair.v);
}

static PairFit fitPair(const PairNumbers &pair) {
  SmallVector<std::complex<double>> points;
  double sum = 0;
  for (auto [c, s] : llvm::zip_equal(pair.cos, pair.sin)) {
    points.emplace_back(c, s);
    sum += std::abs(points.back());
  }
  PairFit fit = {sum / static_cast<double>(points.size()),
                 std::arg(points.front()), 0};
  for (size_t distance = 1; distance < points.size(); distance *= 2) {
    auto steps = static_cast<double>(distance);
    double measured = std::arg(points[distance] * std::conj(points.front()));
    fit.frequency += wrapAngle(measured - steps * fit.frequency) / steps;
  }
  return fit;
}

/// All points of a pair lie on one circle, and all circles are one.
LogicalResult BakedTableMatcher::fitPairs() {
  if (rows < 2)
    return leave("a table of one row has no frequencies");
  for (auto [pair, values] : llvm::zip_equal(pairs, numbers)) {
    PairFit fit = fitPair(values);
    for (auto [c, s] : llvm::zip_equal(values.cos, values.sin))
      if (!(std::fabs(std::hypot(c, s) - fit.magnitude) <=
            3 * unit * fit.magnitude))
        return refute("cosines and sines of " + nameChannels(pair) +
                      " are of different angles");
    fits.push_back(fit);
    magnitude += fit.magnitude / static_cast<double>(pairs.size());
  }
  for (const PairFit &fit : fits)
    if (!(std::fabs(fit.magnitude - magnitude) <= 3 * unit * magnitude))
      return leave("pairs have different magnitudes");
  // The mean of many roundings is that of a number of few digits.
  for (double digits = 1; digits < 1e8; digits *= 10) {
    double rounded = std::round(magnitude * digits) / digits;
    if (std::fabs(rounded - magnitude) <= unit * magnitude) {
      magnitude = rounded;
      break;
    }
  }
  return success();
}

/// Sines may be negated throughout: then the table turns the other way.
LogicalResult BakedTableMatcher::settleDirection() {
  double slack = 2 * unit;
  bool changedPlaces = llvm::all_of(fits, [&](const PairFit &fit) {
    return fit.frequency <= 0 &&
           std::fabs(fit.phase - llvm::numbers::pi / 2) <= slack;
  });
  if (changedPlaces)
    return refute("cosines and sines have changed places");
  bool forward = false, backward = false;
  for (const PairFit &fit : fits) {
    forward |= fit.frequency > unit;
    backward |= fit.frequency < -unit;
  }
  if (forward && backward)
    return leave("pairs turn in different directions");
  verdict.opposite = backward;
  if (backward)
    for (PairFit &fit : fits)
      fit = {fit.magnitude, -fit.phase, -fit.frequency};
  return success();
}

/// The position of row 0, which the phase of the slowest pair tells.
LogicalResult BakedTableMatcher::settleStart() {
  const PairFit *slowest = nullptr;
  for (const PairFit &fit : fits)
    if (fit.frequency > unit &&
        (!slowest || fit.frequency < slowest->frequency))
      slowest = &fit;
  if (!slowest)
    return leave("no row differs from the first");
  start = std::llround(slowest->phase / slowest->frequency);
  for (const PairFit &fit : fits) {
    double expected = static_cast<double>(start) * fit.frequency;
    // A start far off is known no better than the frequencies are.
    double slack = 4 * unit * (1 + std::fabs(expected));
    if (std::fabs(wrapAngle(fit.phase - expected)) > slack)
      return leave("rows are at no consecutive positions");
  }
  reach = rows;
  return success();
}

/// Positions of several axes, or with gaps.
LogicalResult BakedTableMatcher::settleAxes() {
  // What consecutive positions left behind.
  start = 0;
  reach = 0;
  std::optional<BakedAxes> found = findAxes(numbers, unit);
  if (!found)
    return failure();
  listed = std::move(*found);
  for (const SmallVector<int64_t> &positions : listed.positions)
    for (int64_t position : positions)
      reach = std::max(reach, std::abs(position));
  if (reach == 0)
    return leave("no row differs from another");
  verdict.opposite = false;
  for (auto [fit, frequency] : llvm::zip_equal(fits, listed.frequencies)) {
    if (frequency < -unit)
      return leave("pairs turn in different directions");
    fit.frequency = frequency;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Angles
//===----------------------------------------------------------------------===//

double BakedTableMatcher::getAngle(unsigned pair, AngleMode mode,
                                   double frequency, int64_t row) const {
  int64_t position = listed.positions.empty()
                         ? row + start
                         : listed.positions[listed.axes[pair]][row];
  if (mode == AngleMode::Exact)
    return static_cast<double>(position) * frequency;
  return static_cast<float>(position) * static_cast<float>(frequency);
}

/// The largest difference of a pair's rows from the table.
double BakedTableMatcher::measure(unsigned pair, AngleMode mode,
                                  double frequency,
                                  ArrayRef<int64_t> at) const {
  double sign = verdict.opposite ? -1 : 1, deviation = 0;
  for (int64_t row : at) {
    double angle = getAngle(pair, mode, frequency, row);
    double c = numbers[pair].cos[row] - magnitude * std::cos(angle);
    double s = sign * numbers[pair].sin[row] - magnitude * std::sin(angle);
    deviation = std::max({deviation, std::fabs(c), std::fabs(s)});
  }
  return deviation;
}

/// The rows that tell frequencies apart best, and one in eight of the others.
static SmallVector<int64_t> getSampleRows(int64_t rows) {
  SmallVector<int64_t> sample;
  for (int64_t i = 0; i < 8; ++i)
    sample.push_back(i * (rows - 1) / 8);
  for (int64_t row = std::max<int64_t>(0, rows - 8); row < rows; ++row)
    sample.push_back(row);
  return sample;
}

/// The frequency in f32: that of the schedule if it gives the pair's numbers,
/// else the best of those around the measured one.
double BakedTableMatcher::chooseF32(unsigned pair,
                                    std::optional<double> scheduled) const {
  SmallVector<int64_t> sample = getSampleRows(rows);
  auto deviate = [&](float frequency) {
    return measure(pair, AngleMode::F32Angle, frequency, sample);
  };
  if (scheduled) {
    auto rounded = static_cast<float>(*scheduled);
    if (deviate(rounded) <= 0.75 * unit * magnitude)
      return rounded;
  }
  auto best = static_cast<float>(fits[pair].frequency);
  double least = deviate(best);
  float up = best, down = best;
  for (int i = 0; i < kNeighbours; ++i) {
    up = std::nextafterf(up, 2 * up);
    down = std::nextafterf(down, 0);
    for (float candidate : {up, down})
      if (double deviation = deviate(candidate); deviation < least) {
        least = deviation;
        best = candidate;
      }
  }
  return best;
}

AngleFit
BakedTableMatcher::fitAngles(AngleMode mode,
                             ArrayRef<std::optional<double>> scheduled) const {
  AngleFit fit = {mode, {}, 0};
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, rows));
  for (unsigned pair = 0; pair < pairs.size(); ++pair) {
    std::optional<double> known = scheduled[pair];
    double frequency = mode == AngleMode::F32Angle
                           ? chooseF32(pair, known)
                           : known.value_or(fits[pair].frequency);
    fit.frequencies.push_back(frequency);
    fit.deviation =
        std::max(fit.deviation, measure(pair, mode, frequency, all));
  }
  return fit;
}

/// The frequencies of the schedule that those along an axis come from, where
/// they come from one.
SmallVector<std::optional<double>> BakedTableMatcher::getScheduled() const {
  double error = unit / static_cast<double>(reach);
  SmallVector<std::optional<double>> scheduled(pairs.size());
  size_t axes = std::max<size_t>(1, listed.positions.size());
  for (size_t axis = 0; axis < axes; ++axis) {
    SmallVector<double> measured;
    SmallVector<size_t> its;
    for (auto [pair, fit] : llvm::enumerate(fits)) {
      if (axes > 1 && listed.axes[pair] != static_cast<int64_t>(axis))
        continue;
      its.push_back(pair);
      measured.push_back(std::fabs(fit.frequency) <= error
                             ? 0
                             : static_cast<float>(fit.frequency));
    }
    FailureOr<ScheduleFit> schedule =
        fitSchedule(type.getContext(), measured, magnitude, error);
    if (failed(schedule))
      continue;
    SmallVector<double> exact =
        schedule->schedule.computeFrequencies(its.size(), std::nullopt);
    for (auto [pair, frequency] : llvm::zip_equal(its, exact))
      scheduled[pair] = frequency;
  }
  return scheduled;
}

/// The arithmetic that comes closest, if it comes close enough: within a unit
/// in the last place and the error of the model's own cosine.
std::optional<AngleFit> BakedTableMatcher::chooseAngles() const {
  SmallVector<std::optional<double>> scheduled = getScheduled();
  std::optional<AngleFit> best;
  for (AngleMode mode : {AngleMode::F32Angle, AngleMode::Exact}) {
    // Most models round their angles to f32, which few rows may not show.
    AngleFit fit = fitAngles(mode, scheduled);
    if (!best || 1.2 * fit.deviation < best->deviation)
      best = std::move(fit);
  }
  if (best->deviation > 1.5 * unit * magnitude)
    return std::nullopt;
  return best;
}

/// Consecutive positions are tried first.
std::optional<AngleFit> BakedTableMatcher::settle() {
  if (succeeded(settleDirection()) && succeeded(settleStart())) {
    if (std::optional<AngleFit> angles = chooseAngles())
      return angles;
    verdict.unknown = "no angles give the constants";
  }
  if (verdict.refuted || failed(settleAxes()))
    return std::nullopt;
  return chooseAngles();
}

BakedVerdict BakedTableMatcher::run() {
  if (failed(fitPairs()))
    return {verdict, 0};
  std::optional<AngleFit> angles = settle();
  if (!angles)
    return {verdict, 0};
  MatchedTable table;
  verdict.unknown.clear();
  table.axes.assign(pairs.size(), 0);
  if (!listed.positions.empty())
    table.axes = listed.axes;
  table.listed = listed.positions;
  table.frequencies = angles->frequencies;
  table.magnitude = magnitude;
  table.mode = angles->mode;
  table.type = type;
  table.deviation = angles->deviation;
  verdict.table = std::move(table);
  return {verdict, start};
}

BakedVerdict rope::matchBakedTable(ArrayRef<BakedPair> pairs, FloatType type) {
  return BakedTableMatcher(pairs, type).run();
}
