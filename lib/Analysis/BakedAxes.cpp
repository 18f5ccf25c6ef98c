//===- BakedAxes.cpp - Positions of the rows of a table -------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pair that stays within half a turn tells the positions along its axis: they
// are its phases, counted in the smallest of them. Other pairs then must have a
// frequency along one of the axes.
//
//===----------------------------------------------------------------------===//

#include "BakedAxes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;

/// Axes of one table.
static constexpr size_t kMaxAxes = 4;

/// Rows of the longest table whose positions are listed.
static constexpr size_t kMaxListed = size_t(1) << 16;

using Phases = SmallVector<double>;
using Positions = SmallVector<int64_t>;

double rope::wrapAngle(double angle) {
  return std::remainder(angle, 2 * llvm::numbers::pi);
}

static Phases getPhases(const PairNumbers &pair) {
  Phases phases;
  for (auto [c, s] : llvm::zip_equal(pair.cos, pair.sin))
    phases.push_back(std::atan2(s, c));
  return phases;
}

static double getReach(const Phases &phases) {
  double reach = 0;
  for (double phase : phases)
    reach = std::max(reach, std::fabs(phase));
  return reach;
}

/// Whole positions that phases are even multiples of; nullopt if they are too
/// close to tell, or may have gone round.
static std::optional<Positions> getPositions(const Phases &phases,
                                             double unit) {
  double smallest = 0.9 * llvm::numbers::pi;
  if (getReach(phases) > smallest)
    return std::nullopt;
  for (double phase : phases)
    if (std::fabs(phase) > 8 * unit)
      smallest = std::min(smallest, std::fabs(phase));
  Positions positions;
  for (double phase : phases) {
    double position = std::round(phase / smallest);
    double slack = 8 * unit * (1 + std::fabs(position)) / smallest;
    if (slack > 0.25 || std::fabs(phase / smallest - position) > slack)
      return std::nullopt;
    positions.push_back(static_cast<int64_t>(position));
  }
  return positions;
}

namespace {
/// A frequency, and how far phases are from it at most, in their slack.
struct AxisFit {
  double frequency;
  double residual;
};
} // namespace

/// Follows phases over growing positions, so that the error shrinks.
static AxisFit fitFrequency(const Phases &phases, const Positions &positions,
                            double unit) {
  SmallVector<size_t> order =
      llvm::to_vector(llvm::seq<size_t>(0, phases.size()));
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(std::abs(positions[a]), a) <
           std::pair(std::abs(positions[b]), b);
  });
  AxisFit fit = {0, 0};
  for (size_t row : order)
    if (auto position = static_cast<double>(positions[row]))
      fit.frequency +=
          wrapAngle(phases[row] - position * fit.frequency) / position;
  for (auto [phase, position] : llvm::zip_equal(phases, positions)) {
    double angle = static_cast<double>(position) * fit.frequency;
    double slack = 4 * unit * (1 + std::fabs(angle));
    fit.residual =
        std::max(fit.residual, std::fabs(wrapAngle(phase - angle)) / slack);
  }
  return fit;
}

namespace {
class AxisFinder {
public:
  AxisFinder(ArrayRef<PairNumbers> pairs, double unit)
      : phases(llvm::map_to_vector(pairs, getPhases)), unit(unit) {}

  std::optional<BakedAxes> run();

private:
  /// Whether an axis has a frequency for the pair.
  bool place(size_t pair);
  /// Whether no axis is there for one pair alone: that explains anything.
  bool areShared() const;

  SmallVector<Phases> phases;
  double unit;
  BakedAxes result;
};
} // namespace

bool AxisFinder::place(size_t pair) {
  std::optional<AxisFit> best;
  for (auto [axis, positions] : llvm::enumerate(result.positions)) {
    AxisFit fit = fitFrequency(phases[pair], positions, unit);
    if (fit.residual > 1 || (best && best->residual <= fit.residual))
      continue;
    best = fit;
    result.axes[pair] = static_cast<int64_t>(axis);
    result.frequencies[pair] = fit.frequency;
  }
  return best.has_value();
}

bool AxisFinder::areShared() const {
  return llvm::all_of(
      llvm::seq<int64_t>(0, result.positions.size()), [&](int64_t axis) {
        int64_t turning = 0;
        for (auto [its, reached] : llvm::zip_equal(result.axes, phases))
          turning += its == axis && getReach(reached) > 8 * unit;
        return turning > 1;
      });
}

std::optional<BakedAxes> AxisFinder::run() {
  // The farther a pair gets, the better it tells positions.
  SmallVector<size_t> order =
      llvm::to_vector(llvm::seq<size_t>(0, phases.size()));
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(-getReach(phases[a]), a) <
           std::pair(-getReach(phases[b]), b);
  });
  result.axes.assign(phases.size(), 0);
  result.frequencies.assign(phases.size(), 0);
  for (size_t pair : order) {
    std::optional<Positions> positions = getPositions(phases[pair], unit);
    if (!positions || getReach(phases[pair]) <= 8 * unit || place(pair))
      continue;
    result.positions.push_back(std::move(*positions));
    if (result.positions.size() > kMaxAxes)
      return std::nullopt;
  }
  for (size_t pair : order)
    if (!place(pair))
      return std::nullopt;
  if (!areShared())
    return std::nullopt;
  return std::move(result);
}

std::optional<BakedAxes> rope::findAxes(ArrayRef<PairNumbers> pairs,
                                        double unit) {
  if (pairs.front().cos.size() > kMaxListed)
    return std::nullopt;
  return AxisFinder(pairs, unit).run();
}
