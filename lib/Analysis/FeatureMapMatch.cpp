//===- FeatureMapMatch.cpp - Feature maps of linear attention -------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FeatureMapMatch.h"

#include "rope/Analysis/ConstantFold.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;

/// Parts of an expression that are tried.
static constexpr size_t kMaxParts = 64;

namespace {
/// Computes an expression for a number in place of one of its parts.
class PartEvaluator {
public:
  PartEvaluator(ElementEvaluator &evaluator, const Expr *part, double number)
      : evaluator(evaluator), part(part), number(number) {}

  /// Nullopt if there is anything but the part and constants in it.
  std::optional<double> evaluate(const Expr *expr);

private:
  std::optional<double> compute(const Expr *expr);

  ElementEvaluator &evaluator;
  const Expr *part;
  double number;
  llvm::DenseMap<const Expr *, std::optional<double>> known;
};
} // namespace

static const Expr *getStep(ElementEvaluator &evaluator, const Expr *read) {
  return evaluator.isReduction(read) ? nullptr : evaluator.expand(read);
}

std::optional<double> PartEvaluator::compute(const Expr *expr) {
  if (expr == part)
    return number;
  if (expr->getKind() == Expr::Kind::Read) {
    const Expr *step = getStep(evaluator, expr);
    return step ? evaluate(step) : std::nullopt;
  }
  if (expr->getKind() != Expr::Kind::Apply)
    return foldConstant(expr);
  SmallVector<double> operands;
  for (const Expr *operand : expr->getOperands()) {
    std::optional<double> value = evaluate(operand);
    if (!value)
      return std::nullopt;
    operands.push_back(*value);
  }
  return evaluateOp(expr, operands);
}

std::optional<double> PartEvaluator::evaluate(const Expr *expr) {
  auto [entry, inserted] = known.try_emplace(expr, std::nullopt);
  if (!inserted)
    return entry->second;
  std::optional<double> value = compute(expr);
  known[expr] = value;
  return value;
}

static double applyMap(FeatureMap map, double x) {
  switch (map) {
  case FeatureMap::Identity:
    return x;
  case FeatureMap::EluPlusOne:
    return x > 0 ? x + 1 : std::exp(x);
  case FeatureMap::Relu:
    return std::max(x, 0.0);
  case FeatureMap::Exp:
    return std::exp(x);
  }
  llvm_unreachable("unknown feature map");
}

/// Numbers of both signs and of all magnitudes, closest where maps bend.
static SmallVector<double> getSamples() {
  SmallVector<double> samples = {0};
  for (double magnitude :
       {1e-30, 1e-12, 1e-6, 1e-3, 0.03, 0.2,  0.5, 0.9,  1.0,
        1.1,   2.0,   2.9,  3.1,  5.9,  6.1,  9.0, 17.0, 40.0,
        90.0,  3e2,   1e3,  1e4,  1e6,  1e12, 1e30})
    llvm::append_values(samples, magnitude, -magnitude);
  return samples;
}

static bool computesMap(ElementEvaluator &evaluator, const Expr *element,
                        const Expr *part, FeatureMap map,
                        ArrayRef<double> samples) {
  return llvm::all_of(samples, [&](double x) {
    std::optional<double> value =
        PartEvaluator(evaluator, part, x).evaluate(element);
    double expected = applyMap(map, x);
    if (!value)
      return false;
    return *value == expected || std::fabs(*value - expected) <=
                                     1e-9 * std::max(1.0, std::fabs(expected));
  });
}

FeatureMapMatch rope::matchFeatureMap(ElementEvaluator &evaluator,
                                      const Expr *element) {
  static const SmallVector<double> samples = getSamples();
  llvm::SmallSetVector<const Expr *, 16> parts;
  parts.insert(element);
  for (size_t i = 0; i < parts.size() && parts.size() < kMaxParts; ++i) {
    const Expr *part = parts[i];
    if (part->getKind() == Expr::Kind::Apply)
      parts.insert(part->getOperands().begin(), part->getOperands().end());
    else if (part->getKind() == Expr::Kind::Read)
      if (const Expr *step = getStep(evaluator, part))
        parts.insert(step);
  }
  for (const Expr *part : ArrayRef(parts.getArrayRef()).drop_front())
    for (FeatureMap map :
         {FeatureMap::EluPlusOne, FeatureMap::Relu, FeatureMap::Exp})
      if (computesMap(evaluator, element, part, map, samples))
        return {map, part};
  return {FeatureMap::Identity, element};
}
