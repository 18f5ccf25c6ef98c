//===- AttentionScores.cpp - Scores of a query row ------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Visibility of keys and scores before the softmax.
//
//===----------------------------------------------------------------------===//

#include "AttentionScores.h"

#include "Checks.h"
#include <cmath>
#include <limits>

using namespace mlir::rope::reference;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

AttentionExtents::AttentionExtents(const AttentionInputs &inputs)
    : b(inputs.query.getDim(0)), h(inputs.query.getDim(1)),
      g(inputs.query.getDim(2)), m(inputs.query.getDim(3)),
      n(inputs.key.getDim(2)), d(inputs.query.getDim(4)),
      e(inputs.value.getDim(3)) {}

/// Checks the mask, each extent of which may also be 1.
static MaybeError checkMask(const std::optional<Array> &mask,
                            const Shape &full) {
  if (!mask)
    return std::nullopt;
  bool fits = mask->getShape().size() == full.size();
  for (size_t i = 0; fits && i < full.size(); ++i)
    fits = mask->getDim(i) == 1 || mask->getDim(i) == full[i];
  if (fits)
    return std::nullopt;
  return "mask of shape " + toString(mask->getShape()) +
         " does not broadcast to " + toString(full);
}

static MaybeError checkOptions(const AttentionInputs &inputs) {
  if (inputs.softcap && !(*inputs.softcap > 0.0))
    return "softcap must be positive, not " + std::to_string(*inputs.softcap);
  if (inputs.window && (inputs.window->left < -1 || inputs.window->right < -1))
    return std::string("a window bound must be at least -1");
  return std::nullopt;
}

MaybeError
mlir::rope::reference::checkScoreInputs(const AttentionInputs &inputs) {
  if (inputs.query.getRank() != 5 || inputs.key.getRank() != 4 ||
      inputs.value.getRank() != 4)
    return std::string("query, key and value must have ranks 5, 4 and 4");
  AttentionExtents x(inputs);
  const Shape &query = inputs.query.getShape(), &key = inputs.key.getShape(),
              &value = inputs.value.getShape();
  MaybeError errors[] = {
      checkShape("key", key, {x.b, x.h, x.n, x.d}),
      checkShape("value", value, {x.b, x.h, x.n, x.e}),
      checkMask(inputs.mask, {x.b, x.h, x.g, x.m, x.n}),
      checkShape("query positions", inputs.queryPositions, {x.b, x.m}),
      checkShape("key positions", inputs.keyPositions, {x.b, x.n}),
      checkShape("key length", inputs.keyLength, {x.b}),
      checkOptions(inputs),
      checkRole("query rotation", query, inputs.rotateQuery),
      checkRole("key rotation", key, inputs.rotateKey),
      checkRole("value rotation", value, inputs.rotateValue)};
  for (MaybeError &error : errors)
    if (error)
      return error;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

static Array rotateRole(const Array &operand,
                        const std::optional<RoleRotation> &rotation) {
  return rotation ? rotate(operand, *rotation) : operand;
}

AttentionScores::AttentionScores(const AttentionInputs &inputs)
    : inputs(inputs), extents(inputs),
      query(rotateRole(inputs.query, inputs.rotateQuery)),
      key(rotateRole(inputs.key, inputs.rotateKey)),
      value(rotateRole(inputs.value, inputs.rotateValue)) {}

/// Whether lhs − rhs ≤ bound; unlike the difference this cannot overflow.
static bool isWithin(int64_t lhs, int64_t rhs, int64_t bound) {
  return lhs <= rhs ||
         static_cast<uint64_t>(lhs) - static_cast<uint64_t>(rhs) <=
             static_cast<uint64_t>(bound);
}

bool AttentionScores::isVisible(int64_t b, int64_t m, int64_t n) const {
  if (inputs.keyLength && n >= (*inputs.keyLength)[b])
    return false;
  int64_t queryPosition =
      inputs.queryPositions ? (*inputs.queryPositions)[b * extents.m + m] : m;
  int64_t keyPosition =
      inputs.keyPositions ? (*inputs.keyPositions)[b * extents.n + n] : n;
  if (inputs.causal && keyPosition > queryPosition)
    return false;
  if (!inputs.window)
    return true;
  auto [left, right] = *inputs.window;
  return (left == -1 || isWithin(queryPosition, keyPosition, left)) &&
         (right == -1 || isWithin(keyPosition, queryPosition, right));
}

double AttentionScores::getDot(int64_t b, int64_t h, int64_t g, int64_t m,
                               int64_t n) const {
  const auto &x = extents;
  const double *q = query.data() + (((b * x.h + h) * x.g + g) * x.m + m) * x.d;
  const double *k = key.data() + ((b * x.h + h) * x.n + n) * x.d;
  double sum = 0.0;
  for (int64_t c = 0; c < x.d; ++c)
    sum += q[c] * k[c];
  return sum;
}

const double *AttentionScores::getMaskElement(int64_t b, int64_t h, int64_t g,
                                              int64_t m, int64_t n) const {
  if (!inputs.mask)
    return nullptr;
  const Array &mask = *inputs.mask;
  int64_t flat = 0, dim = 0;
  for (int64_t index : {b, h, g, m, n}) {
    int64_t extent = mask.getDim(dim++);
    flat = flat * extent + (extent == 1 ? 0 : index);
  }
  return mask.data() + flat;
}

AttentionScores::Row AttentionScores::getRow(int64_t b, int64_t h, int64_t g,
                                             int64_t m) const {
  constexpr double hidden = -std::numeric_limits<double>::infinity();
  Row row;
  for (int64_t n = 0; n < extents.n; ++n) {
    if (!isVisible(b, m, n))
      continue;
    const double *mask = getMaskElement(b, h, g, m, n);
    bool additive = mask && inputs.maskKind == MaskKind::Additive;
    if (mask && (additive ? *mask == hidden : *mask == 0.0))
      continue;
    double score = inputs.scale * getDot(b, h, g, m, n);
    if (inputs.softcap)
      score = *inputs.softcap * std::tanh(score / *inputs.softcap);
    if (additive)
      score += *mask;
    if (score == hidden)
      continue;
    row.keys.push_back(n);
    row.scores.push_back(score);
  }
  return row;
}

void AttentionScores::accumulate(double weight, int64_t b, int64_t h, int64_t n,
                                 double *acc) const {
  const double *v =
      value.data() + ((b * extents.h + h) * extents.n + n) * extents.e;
  for (int64_t c = 0; c < extents.e; ++c)
    acc[c] += weight * v[c];
}
