//===- LinearAttention.cpp - Linear attention -----------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linear attention by its sums over keys, and the states by theirs.
//
//===----------------------------------------------------------------------===//

#include "rope/Reference/LinearAttention.h"
#include "Checks.h"
#include <algorithm>
#include <cmath>

using namespace mlir::rope::reference;

namespace {
/// The extents of canonical operands.
struct LinearExtents {
  explicit LinearExtents(const LinearAttentionInputs &inputs)
      : b(inputs.query.getDim(0)), h(inputs.query.getDim(1)),
        g(inputs.query.getDim(2)), m(inputs.query.getDim(3)),
        n(inputs.key.getDim(2)), d(inputs.query.getDim(4)),
        e(inputs.value.getDim(3)) {}

  int64_t b, h, g, m, n, d, e;
};

/// Features of queries and keys, before and after their rotation.
struct Features {
  Array query, key, rotatedQuery, rotatedKey;
};
} // namespace

MaybeError
mlir::rope::reference::findError(const LinearAttentionInputs &inputs) {
  if (inputs.query.getRank() != 5 || inputs.key.getRank() != 4 ||
      inputs.value.getRank() != 4)
    return std::string("query, key and value must have ranks 5, 4 and 4");
  LinearExtents x(inputs);
  Shape kvState = {x.b, x.h, x.d, x.e}, kSum = {x.b, x.h, x.d};
  MaybeError errors[] = {
      checkShape("key", inputs.key.getShape(), {x.b, x.h, x.n, x.d}),
      checkShape("value", inputs.value.getShape(), {x.b, x.h, x.n, x.e}),
      checkShape("kv state", inputs.kvState, kvState),
      checkShape("k sum", inputs.kSum, kSum),
      checkRole("query rotation", inputs.query.getShape(), inputs.rotateQuery),
      checkRole("key rotation", inputs.key.getShape(), inputs.rotateKey)};
  for (MaybeError &error : errors)
    if (error)
      return error;
  return std::nullopt;
}

static double applyFeatureMap(FeatureMap map, double x) {
  switch (map) {
  case FeatureMap::Identity:
    return x;
  case FeatureMap::EluPlusOne:
    return x > 0.0 ? x + 1.0 : std::exp(x);
  case FeatureMap::Relu:
    return x < 0.0 ? 0.0 : x;
  case FeatureMap::Exp:
    return std::exp(x);
  }
  return x;
}

static Array applyFeatureMap(FeatureMap map, Array array) {
  for (int64_t i = 0; i < array.getNumElements(); ++i)
    array[i] = applyFeatureMap(map, array[i]);
  return array;
}

static Features computeFeatures(const LinearAttentionInputs &inputs) {
  Array query = applyFeatureMap(inputs.featureMap, inputs.query);
  Array key = applyFeatureMap(inputs.featureMap, inputs.key);
  Array rotatedQuery =
      inputs.rotateQuery ? rotate(query, *inputs.rotateQuery) : query;
  Array rotatedKey = inputs.rotateKey ? rotate(key, *inputs.rotateKey) : key;
  return {std::move(query), std::move(key), std::move(rotatedQuery),
          std::move(rotatedKey)};
}

static double getDot(const double *lhs, const double *rhs, int64_t size) {
  double sum = 0.0;
  for (int64_t c = 0; c < size; ++c)
    sum += lhs[c] * rhs[c];
  return sum;
}

/// acc += weight · vector, for `size` elements.
static void addScaled(double weight, const double *vector, int64_t size,
                      double *acc) {
  for (int64_t c = 0; c < size; ++c)
    acc[c] += weight * vector[c];
}

/// Evaluates query row m of a head into the e elements of `output`. `row`
/// counts the rows of the queries, `head` those of b and h.
static void attendRow(const LinearAttentionInputs &inputs,
                      const Features &features, const LinearExtents &x,
                      int64_t row, int64_t head, int64_t m, double *output) {
  const double *query = features.query.data() + row * x.d;
  const double *rotatedQuery = features.rotatedQuery.data() + row * x.d;
  double normalizer = 0.0;
  if (inputs.kSum)
    normalizer = getDot(query, inputs.kSum->data() + head * x.d, x.d);
  if (inputs.kvState)
    for (int64_t c = 0; c < x.d; ++c)
      addScaled(rotatedQuery[c],
                inputs.kvState->data() + (head * x.d + c) * x.e, x.e, output);

  int64_t visible = inputs.causal ? std::min(m + 1, x.n) : x.n;
  for (int64_t n = 0; n < visible; ++n) {
    int64_t key = head * x.n + n;
    normalizer += getDot(query, features.key.data() + key * x.d, x.d);
    double weight =
        getDot(rotatedQuery, features.rotatedKey.data() + key * x.d, x.d);
    addScaled(weight, inputs.value.data() + key * x.e, x.e, output);
  }
  if (inputs.normalizerEps)
    for (int64_t c = 0; c < x.e; ++c)
      output[c] /= normalizer + *inputs.normalizerEps;
}

/// Adds all keys of the chunk to the states.
static void updateStates(const LinearAttentionInputs &inputs,
                         const Features &features, const LinearExtents &x,
                         LinearAttentionResult &result) {
  for (int64_t head = 0; head < x.b * x.h; ++head)
    for (int64_t key = head * x.n; key < (head + 1) * x.n; ++key)
      for (int64_t c = 0; c < x.d; ++c) {
        result.kSum[head * x.d + c] += features.key[key * x.d + c];
        addScaled(features.rotatedKey[key * x.d + c],
                  inputs.value.data() + key * x.e, x.e,
                  result.kvState.data() + (head * x.d + c) * x.e);
      }
}

LinearAttentionResult
mlir::rope::reference::linearAttention(const LinearAttentionInputs &inputs) {
  if (MaybeError error = findError(inputs))
    reportInvalid(*error);
  LinearExtents x(inputs);
  Features features = computeFeatures(inputs);
  LinearAttentionResult result{
      Array({x.b, x.h, x.g, x.m, x.e}),
      inputs.kvState ? *inputs.kvState : Array({x.b, x.h, x.d, x.e}),
      inputs.kSum ? *inputs.kSum : Array({x.b, x.h, x.d})};
  int64_t rows = x.b * x.h * x.g * x.m;
  for (int64_t row = 0; row < rows; ++row)
    attendRow(inputs, features, x, row, row / (x.g * x.m), row % x.m,
              result.output.data() + row * x.e);
  updateStates(inputs, features, x, result);
  return result;
}
