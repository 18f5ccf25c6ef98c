//===- RotationMatch.cpp - Proves that a value is a rotation --------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Analysis/RotationMatch.h"

#include "RotationMatcher.h"
#include "RotationSources.h"
#include "RotationSums.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::rope;

/// Channels of the widest rotation.
static constexpr int64_t kMaxChannels = 4096;

/// Tries dims of the root as the channels.
static FailureOr<RotationMatch>
matchAlong(ElementEvaluator &evaluator, Value root, int64_t dim, int64_t dims,
           function_ref<bool(Value)> isKnown, MatchFailure &why) {
  int64_t channels = 1;
  for (int64_t extent :
       cast<ShapedType>(root.getType()).getShape().slice(dim, dims)) {
    if (ShapedType::isDynamic(extent) || extent > kMaxChannels)
      return failure();
    channels *= extent;
  }
  if (channels < 2 || channels > kMaxChannels)
    return failure();
  // Rotated channels lie at one of the ends, or everywhere.
  for (int64_t probe : {int64_t(0), channels - 1}) {
    const Expr *element = evaluator.getContext().getRead(
        root, getRootIndex(evaluator, root, dim, dims, probe));
    if (!isSum(evaluator, element))
      continue;
    SmallVector<Value> sources = findSources(evaluator, root, element, isKnown);
    if (sources.empty() && !why.isCandidate)
      if (std::optional<std::string> reason = explainSum(evaluator, element))
        why = {/*isCandidate=*/true, {}, *reason};
    for (Value source : sources) {
      MatchFailure attempt = {/*isCandidate=*/true, {}, {}};
      FailureOr<RotationMatch> match =
          RotationMatcher(evaluator, root, dim, dims, source, attempt).run();
      if (succeeded(match))
        return match;
      Value mixed = attempt.mixedSource ? attempt.mixedSource : why.mixedSource;
      if (!why.isCandidate || attempt.mixedSource)
        why = attempt;
      why.mixedSource = mixed;
    }
  }
  return failure();
}

FailureOr<RotationMatch> rope::matchRotation(ElementEvaluator &evaluator,
                                             Value root,
                                             function_ref<bool(Value)> isKnown,
                                             MatchFailure &why) {
  auto type = dyn_cast<RankedTensorType>(root.getType());
  if (!type || !isa<FloatType>(type.getElementType()))
    return failure();
  // Parts side by side, as of complex numbers, are two dims of channels.
  int64_t rank = type.getRank();
  if (rank >= 2 && type.getDimSize(rank - 1) == 2) {
    FailureOr<RotationMatch> match =
        matchAlong(evaluator, root, rank - 2, 2, isKnown, why);
    if (succeeded(match))
      return match;
  }
  for (int64_t dim = rank - 1; dim >= 0; --dim) {
    FailureOr<RotationMatch> match =
        matchAlong(evaluator, root, dim, 1, isKnown, why);
    if (succeeded(match))
      return match;
  }
  return failure();
}
