//===- Softmax.h - Scores, masks and weights of attention -------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts that rope.attention and rope.online_attention have in common. A
// hidden key has the score −inf, and a row without a key has the maximum −inf.
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_LIB_IR_DECOMPOSITION_SOFTMAX_H
#define ROPE_LIB_IR_DECOMPOSITION_SOFTMAX_H

#include "DomainBuilder.h"

namespace mlir::rope::detail {

/// The attributes that scores depend on.
struct ScoreOptions {
  double scale;
  bool causal;
  std::optional<ArrayRef<int64_t>> window;
  std::optional<double> softcap;
};

template <typename OpTy> ScoreOptions getScoreOptions(OpTy op) {
  ScoreOptions options{op.getScale().convertToDouble(), op.getCausal(),
                       op.getWindow(), std::nullopt};
  if (std::optional<APFloat> softcap = op.getSoftcap())
    options.softcap = softcap->convertToDouble();
  return options;
}

/// The constants that scores are multiplied by.
SmallVector<double> getScoreConstants(const ScoreOptions &options);

/// Whether some row may not see some key.
bool mayHideKeys(AttentionLikeOpInterface op, const ScoreOptions &options);

/// [rows, n]: scores after scale, softcap and mask; −inf for hidden keys.
Term buildScores(DomainBuilder &domain, const ScoreOptions &options);

/// The larger of `max` and the scores of the row.
Term reduceMax(DomainBuilder &domain, const Term &scores, Term max);

/// exp(x − max), where x and max may be −inf: 0 then.
Value buildExp(CellBuilder &cell, Value x, Value max);

/// [rows, n]: exp(scores − max).
Term buildWeights(DomainBuilder &domain, const Term &scores, const Term &max);

/// sum + Σ_n weights.
Term reduceSum(DomainBuilder &domain, const Term &weights, Term sum);

/// output + Σ_n weights·values. With `hidden` a key of weight 0 adds nothing
/// whatever its values are: it may be a slot that was never written.
Term accumulateValues(DomainBuilder &domain, const Term &weights,
                      const Term &values, bool hidden, Term output);

} // namespace mlir::rope::detail

#endif // ROPE_LIB_IR_DECOMPOSITION_SOFTMAX_H
