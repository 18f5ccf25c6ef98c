//===- OnlineAttention.cpp - Attention with carried state -----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Updates, merges and finalizes the running state of attention.
//
//===----------------------------------------------------------------------===//

#include "rope/Reference/OnlineAttention.h"
#include "AttentionScores.h"
#include "Checks.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir::rope::reference;

static constexpr double minusInfinity =
    -std::numeric_limits<double>::infinity();

OnlineState mlir::rope::reference::makeEmptyState(const Shape &rows,
                                                  int64_t valueChannels) {
  Shape acc = rows;
  acc.push_back(valueChannels);
  return {Array(acc), Array::filled(rows, minusInfinity), Array(rows)};
}

/// Checks that the parts of a state have shapes [b, h, g, m(, e)].
static MaybeError checkState(const OnlineState &state) {
  Shape rows = state.acc.getShape();
  if (rows.size() != 5)
    return "acc of shape " + toString(rows) + " must have rank 5";
  rows.pop_back();
  if (state.max.getShape() != rows || state.sum.getShape() != rows)
    return "max of shape " + toString(state.max.getShape()) +
           " and sum of shape " + toString(state.sum.getShape()) +
           ", expected " + toString(rows);
  return std::nullopt;
}

MaybeError mlir::rope::reference::findError(const AttentionInputs &inputs,
                                            const OnlineState &state) {
  if (MaybeError error = checkScoreInputs(inputs))
    return error;
  if (inputs.sink || inputs.rerotateOutput)
    return std::string("the sink and the output's rotation come at the end");
  if (MaybeError error = checkState(state))
    return error;
  AttentionExtents x(inputs);
  return checkShape("acc", state.acc.getShape(), {x.b, x.h, x.g, x.m, x.e});
}

/// exp(max − newMax), 0 for an empty state: not NaN when both are −inf.
static double getRescale(double max, double newMax) {
  return max == minusInfinity ? 0.0 : std::exp(max - newMax);
}

/// The larger one; NaN if either is.
static double maxOrNaN(double lhs, double rhs) {
  return std::isnan(lhs) || std::isnan(rhs) ? lhs + rhs : std::max(lhs, rhs);
}

/// Adds the keys of one row to its e accumulators, maximum and sum.
static void updateRow(const AttentionScores &scores, int64_t b, int64_t h,
                      int64_t g, int64_t m, double *acc, double &max,
                      double &sum) {
  AttentionScores::Row row = scores.getRow(b, h, g, m);
  double newMax = max;
  for (double score : row.scores)
    newMax = maxOrNaN(newMax, score);
  double rescale = getRescale(max, newMax);
  for (int64_t c = 0; c < scores.getExtents().e; ++c)
    acc[c] *= rescale;
  sum *= rescale;
  for (size_t i = 0; i < row.keys.size(); ++i) {
    double weight = std::exp(row.scores[i] - newMax);
    sum += weight;
    scores.accumulate(weight, b, h, row.keys[i], acc);
  }
  max = newMax;
}

OnlineState
mlir::rope::reference::onlineAttention(const AttentionInputs &inputs,
                                       OnlineState state) {
  if (MaybeError error = findError(inputs, state))
    reportInvalid(*error);
  AttentionScores scores(inputs);
  const AttentionExtents &x = scores.getExtents();
  int64_t row = 0;
  for (int64_t b = 0; b < x.b; ++b)
    for (int64_t h = 0; h < x.h; ++h)
      for (int64_t g = 0; g < x.g; ++g)
        for (int64_t m = 0; m < x.m; ++m, ++row)
          updateRow(scores, b, h, g, m, state.acc.data() + row * x.e,
                    state.max[row], state.sum[row]);
  return state;
}

MaybeError mlir::rope::reference::findMergeError(const OnlineState &lhs,
                                                 const OnlineState &rhs) {
  for (const OnlineState *state : {&lhs, &rhs})
    if (MaybeError error = checkState(*state))
      return error;
  if (lhs.acc.getShape() != rhs.acc.getShape())
    return "states of shapes " + toString(lhs.acc.getShape()) + " and " +
           toString(rhs.acc.getShape());
  return std::nullopt;
}

OnlineState mlir::rope::reference::merge(const OnlineState &lhs,
                                         const OnlineState &rhs) {
  if (MaybeError error = findMergeError(lhs, rhs))
    reportInvalid(*error);
  OnlineState result = lhs;
  int64_t e = lhs.acc.getShape().back();
  for (int64_t row = 0; row < lhs.max.getNumElements(); ++row) {
    double max = maxOrNaN(lhs.max[row], rhs.max[row]);
    double left = getRescale(lhs.max[row], max);
    double right = getRescale(rhs.max[row], max);
    result.max[row] = max;
    result.sum[row] = left * lhs.sum[row] + right * rhs.sum[row];
    for (int64_t c = row * e; c < (row + 1) * e; ++c)
      result.acc[c] = left * lhs.acc[c] + right * rhs.acc[c];
  }
  return result;
}

MaybeError mlir::rope::reference::findFinalizeError(
    const OnlineState &state, const std::optional<Array> &sink,
    const std::optional<RoleRotation> &rerotateOutput) {
  if (MaybeError error = checkState(state))
    return error;
  const Shape &acc = state.acc.getShape();
  if (MaybeError error = checkShape("sink", sink, {acc[1], acc[2]}))
    return error;
  return checkRole("output rotation", acc, rerotateOutput);
}

AttentionResult mlir::rope::reference::finalize(
    const OnlineState &state, const std::optional<Array> &sink,
    const std::optional<RoleRotation> &rerotateOutput) {
  if (MaybeError error = findFinalizeError(state, sink, rerotateOutput))
    reportInvalid(*error);
  AttentionResult result{state.acc, state.max};
  const Shape &shape = state.acc.getShape();
  int64_t m = shape[3], e = shape[4], heads = shape[1] * shape[2];
  for (int64_t row = 0; row < state.max.getNumElements(); ++row) {
    double logit = sink ? (*sink)[row / m % heads] : minusInfinity;
    double max = maxOrNaN(state.max[row], logit);
    double rescale = getRescale(state.max[row], max);
    double sum = rescale * state.sum[row] + getRescale(logit, max);
    for (int64_t c = row * e; c < (row + 1) * e; ++c)
      result.output[c] =
          state.max[row] == minusInfinity ? 0.0 : state.acc[c] * rescale / sum;
    result.lse[row] = max + std::log(sum);
  }
  if (rerotateOutput)
    result.output = rerotate(result.output, *rerotateOutput);
  return result;
}
