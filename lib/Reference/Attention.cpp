//===- Attention.cpp - Softmax attention ----------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention row by row: largest score, weights, weighted mean of the values.
//
//===----------------------------------------------------------------------===//

#include "rope/Reference/Attention.h"
#include "AttentionScores.h"
#include "Checks.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir::rope::reference;

MaybeError mlir::rope::reference::findError(const AttentionInputs &inputs) {
  if (MaybeError error = checkScoreInputs(inputs))
    return error;
  AttentionExtents x(inputs);
  if (MaybeError error = checkShape("sink", inputs.sink, {x.h, x.g}))
    return error;
  return checkRole("output rotation", {x.b, x.h, x.g, x.m, x.e},
                   inputs.rerotateOutput);
}

/// Evaluates one row: writes the e output elements and returns the LSE. `sink`
/// is −inf when there is none.
static double attendRow(const AttentionScores &scores, double sink, int64_t b,
                        int64_t h, int64_t g, int64_t m, double *output) {
  AttentionScores::Row row = scores.getRow(b, h, g, m);
  double max = sink;
  for (double score : row.scores)
    max = std::isnan(score) ? score : std::max(max, score);
  if (row.keys.empty())
    return sink;

  double sum = std::exp(sink - max);
  for (size_t i = 0; i < row.keys.size(); ++i) {
    double weight = std::exp(row.scores[i] - max);
    sum += weight;
    scores.accumulate(weight, b, h, row.keys[i], output);
  }
  for (int64_t c = 0; c < scores.getExtents().e; ++c)
    output[c] /= sum;
  return max + std::log(sum);
}

AttentionResult
mlir::rope::reference::attention(const AttentionInputs &inputs) {
  if (MaybeError error = findError(inputs))
    reportInvalid(*error);
  AttentionScores scores(inputs);
  const AttentionExtents &x = scores.getExtents();
  AttentionResult result{Array({x.b, x.h, x.g, x.m, x.e}),
                         Array({x.b, x.h, x.g, x.m})};
  int64_t row = 0;
  for (int64_t b = 0; b < x.b; ++b)
    for (int64_t h = 0; h < x.h; ++h)
      for (int64_t g = 0; g < x.g; ++g)
        for (int64_t m = 0; m < x.m; ++m, ++row) {
          double sink = inputs.sink ? (*inputs.sink)[h * x.g + g]
                                    : -std::numeric_limits<double>::infinity();
          result.lse[row] = attendRow(scores, sink, b, h, g, m,
                                      result.output.data() + row * x.e);
        }
  if (inputs.rerotateOutput)
    result.output = rerotate(result.output, *inputs.rerotateOutput);
  return result;
}
