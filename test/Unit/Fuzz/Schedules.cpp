//===- Schedules.cpp - Random frequency schedules -------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::test;
using reference::getFrequencies;

namespace {
/// What schedules are made of.
struct Parameters {
  Parameters(Draw &draw, MLIRContext *context, int64_t pairs)
      : draw(draw), builder(context), pairs(pairs),
        theta(draw.pick(
            {1e4, 5e5, 1e7, draw.uniform(2, 30), draw.uniform(2, 1e5)})),
        factor(draw.pick({1.0, 2.0, 8.0, 40.0, draw.uniform(0.5, 10)})),
        trained(draw.pick<int64_t>({6, 100, 512, 2048, 4096, 8192})),
        length(draw.pick<int64_t>(
            {1, trained - 1, trained, trained + 1, 4 * trained})) {}

  FloatAttr number(double value) { return builder.getF64FloatAttr(value); }
  /// The number, or nothing if the caller leaves it out.
  FloatAttr number(const std::optional<double> &value) {
    return value ? number(*value) : FloatAttr();
  }
  std::optional<double> maybe(double low, double high) {
    if (draw.chance(0.5))
      return std::nullopt;
    return draw.uniform(low, high);
  }
  std::vector<double> list(double low, double high) {
    return draw.array({pairs}, low, high).getElements();
  }

  Draw &draw;
  Builder builder;
  int64_t pairs;
  double theta, factor;
  int64_t trained, length;
};
} // namespace

static DrawnSchedule drawDefault(Parameters &p) {
  return {DefaultAttr::get(p.builder.getContext(), p.number(p.theta)),
          getFrequencies(reference::DefaultSchedule{p.theta}, p.pairs),
          {}};
}

static DrawnSchedule drawLinear(Parameters &p) {
  return {LinearAttr::get(p.builder.getContext(), p.number(p.theta),
                          p.number(p.factor)),
          getFrequencies(reference::LinearSchedule{p.theta, p.factor}, p.pairs),
          {}};
}

static DrawnSchedule drawNtk(Parameters &p) {
  return {NTKAttr::get(p.builder.getContext(), p.number(p.theta),
                       p.number(p.factor)),
          getFrequencies(reference::NtkSchedule{p.theta, p.factor}, p.pairs),
          {}};
}

static DrawnSchedule drawDynamicNtk(Parameters &p) {
  reference::DynamicNtkSchedule schedule{p.theta, p.factor, p.trained,
                                         p.length};
  return {DynamicNTKAttr::get(p.builder.getContext(), p.number(p.theta),
                              p.number(p.factor), p.trained),
          getFrequencies(schedule, p.pairs), p.length};
}

static DrawnSchedule drawYarn(Parameters &p) {
  reference::YarnSchedule schedule;
  schedule.theta = p.theta;
  schedule.factor = p.factor;
  schedule.trainedLength = p.trained;
  std::optional<double> fast = p.maybe(8, 40), slow = p.maybe(0.5, 2);
  BoolAttr truncate;
  schedule.betaFast = fast.value_or(32);
  schedule.betaSlow = slow.value_or(1);
  if (p.draw.chance(0.5)) {
    schedule.truncate = p.draw.chance(0.5);
    truncate = p.builder.getBoolAttr(schedule.truncate);
  }
  schedule.attentionFactor = p.maybe(0.5, 1.5);
  schedule.mscale = p.maybe(0.1, 1.5);
  if (schedule.mscale)
    schedule.mscaleAllDim = p.draw.uniform(0.1, 1.5);
  return {YarnAttr::get(
              p.builder.getContext(), p.number(p.theta), p.number(p.factor),
              p.trained, p.number(fast), p.number(slow), truncate,
              p.number(schedule.attentionFactor), p.number(schedule.mscale),
              p.number(schedule.mscaleAllDim)),
          getFrequencies(schedule, p.pairs),
          {}};
}

static DrawnSchedule drawLlama3(Parameters &p) {
  double low = p.draw.uniform(0.5, 2), high = low + p.draw.uniform(0.5, 4);
  reference::Llama3Schedule schedule{p.theta, p.factor, low, high, p.trained};
  return {Llama3Attr::get(p.builder.getContext(), p.number(p.theta),
                          p.number(p.factor), p.number(low), p.number(high),
                          p.trained),
          getFrequencies(schedule, p.pairs),
          {}};
}

static DrawnSchedule drawLongRope(Parameters &p) {
  reference::LongropeSchedule schedule;
  schedule.theta = p.theta;
  schedule.shortFactors = p.list(1, 2);
  schedule.longFactors = p.list(1, 64);
  schedule.trainedLength = p.trained;
  schedule.length = p.length;
  schedule.magnitude = p.maybe(0.5, 1.5);
  MLIRContext *context = p.builder.getContext();
  return {
      LongRopeAttr::get(context, p.number(p.theta),
                        DenseF64ArrayAttr::get(context, schedule.shortFactors),
                        DenseF64ArrayAttr::get(context, schedule.longFactors),
                        p.trained, p.number(schedule.magnitude)),
      getFrequencies(schedule, p.pairs), p.length};
}

static DrawnSchedule drawProportional(Parameters &p) {
  double share = p.draw.pick({0.25, 0.5, 1.0, p.draw.uniform(0.01, 1)});
  return {
      ProportionalAttr::get(p.builder.getContext(), p.number(p.theta),
                            p.number(share)),
      getFrequencies(reference::ProportionalSchedule{p.theta, share}, p.pairs),
      {}};
}

static DrawnSchedule drawExplicit(Parameters &p) {
  std::vector<double> list = p.list(-2, 2);
  if (p.draw.chance(0.3))
    list[p.draw.range(0, p.pairs - 1)] = 0;
  std::optional<double> magnitude = p.maybe(0.5, 1.5);
  MLIRContext *context = p.builder.getContext();
  return {ExplicitAttr::get(context, DenseF64ArrayAttr::get(context, list),
                            p.number(magnitude)),
          reference::Frequencies{list, magnitude.value_or(1)},
          {},
          /*isExact=*/true};
}

DrawnSchedule test::drawSchedule(Draw &draw, MLIRContext *context,
                                 int64_t pairs) {
  Parameters parameters(draw, context, pairs);
  std::vector<DrawnSchedule (*)(Parameters &)> kinds = {
      drawDefault,  drawLinear,       drawYarn,    drawLlama3,
      drawLongRope, drawProportional, drawExplicit};
  // These have no base for a single pair.
  if (pairs > 1) {
    kinds.push_back(drawNtk);
    kinds.push_back(drawDynamicNtk);
  }
  return draw.pick(kinds)(parameters);
}
