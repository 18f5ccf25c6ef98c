//===- ScoreMatch.cpp - Softmaxes and their scores ------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// softmax_n = exp(s_n − a) / Σ_n exp(s_n − a) for any a that does not depend
// on n. The numerator and what is summed are compared as expressions; the
// shift a, usually the row's maximum, cancels and is dropped.
//
//===----------------------------------------------------------------------===//

#include "ScoreMatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::rope;

/// Masks at or below this are meant to hide a key.
static constexpr double kHidden = -1e4;

//===----------------------------------------------------------------------===//
// Looking through
//===----------------------------------------------------------------------===//

bool ScoreMatcher::dependsOnKey(const Expr *expr) {
  auto [entry, inserted] = dependence.try_emplace(expr, false);
  if (!inserted)
    return entry->second;
  // A repeated value is read at the key, and does not depend on it.
  const Expr *peeled = peel(expr);
  bool depends = peeled == key ||
                 llvm::any_of(peeled->getOperands(), [&](const Expr *operand) {
                   return dependsOnKey(operand);
                 });
  dependence[expr] = depends;
  return depends;
}

const Expr *ScoreMatcher::peel(const Expr *expr) {
  while (true) {
    if (expr->isa<arith::ExtFOp>() || expr->isa<arith::TruncFOp>()) {
      expr = expr->getOperands()[0];
      continue;
    }
    if (expr->getKind() != Expr::Kind::Read || evaluator.isReduction(expr))
      return expr;
    const Expr *step = evaluator.expand(expr);
    if (!step)
      return expr;
    expr = step;
  }
}

/// Whether a read is of a contraction of numbers.
bool ScoreMatcher::isProduct(const Expr *read) {
  if (!evaluator.isReduction(read))
    return false;
  SmallVector<const Expr *> zeros(evaluator.getReductionExtents(read).size(),
                                  context.getInt(0));
  std::optional<Reduction> sum = evaluator.evaluateReduction(read, zeros);
  return sum && sum->kind == Reduction::Kind::Sum &&
         sum->element->isa<arith::MulFOp>();
}

/// Whether a contraction that depends on the key is behind an expression.
bool ScoreMatcher::hasProduct(const Expr *expr) {
  auto [entry, inserted] = products.try_emplace(expr, false);
  if (!inserted)
    return entry->second;
  const Expr *peeled = peel(expr);
  bool found = false;
  if (peeled->getKind() == Expr::Kind::Read)
    found = isProduct(peeled) && dependsOnKey(peeled);
  else
    found = llvm::any_of(peeled->getOperands(), [&](const Expr *operand) {
      return hasProduct(operand);
    });
  products[expr] = found;
  return found;
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Sums and differences as signed terms.
void ScoreMatcher::collectTerms(
    const Expr *expr, bool negative,
    SmallVectorImpl<std::pair<const Expr *, bool>> &terms) {
  const Expr *peeled = peel(expr);
  if (peeled->isa<arith::AddFOp>()) {
    for (const Expr *operand : peeled->getOperands())
      collectTerms(operand, negative, terms);
  } else if (peeled->isa<arith::NegFOp>()) {
    collectTerms(peeled->getOperands()[0], !negative, terms);
  } else {
    terms.emplace_back(expr, negative);
  }
}

static bool isMinusInfinity(const Expr *expr) {
  return expr->getKind() == Expr::Kind::Float && std::isinf(expr->getFloat()) &&
         expr->getFloat() < 0;
}

/// The number that a condition says is −∞ for every key: an all-of over the
/// keys of "it is −∞", or "its maximum over the keys is −∞"; null otherwise.
const Expr *ScoreMatcher::getGuarded(const Expr *condition) {
  const Expr *peeled = peel(condition);
  if (peeled->getKind() == Expr::Kind::Read && evaluator.isReduction(peeled)) {
    std::optional<Reduction> all = evaluator.evaluateReduction(peeled, key);
    if (!all || all->kind != Reduction::Kind::And)
      return nullptr;
    const Expr *test = peel(all->element);
    if (test->isa<arith::CmpFOp>())
      for (auto [number, bound] :
           {std::pair(test->getOperands()[0], test->getOperands()[1]),
            std::pair(test->getOperands()[1], test->getOperands()[0])})
        if (isMinusInfinity(evaluator.expandFully(bound)))
          return peel(number);
    return nullptr;
  }
  if (!peeled->isa<arith::CmpFOp>() ||
      !isMinusInfinity(evaluator.expandFully(peeled->getOperands()[1])))
    return nullptr;
  const Expr *maximum = peel(peeled->getOperands()[0]);
  if (maximum->getKind() != Expr::Kind::Read || !evaluator.isReduction(maximum))
    return nullptr;
  std::optional<Reduction> largest = evaluator.evaluateReduction(maximum, key);
  return largest && largest->kind == Reduction::Kind::Max
             ? peel(largest->element)
             : nullptr;
}

bool ScoreMatcher::areGuardsEmptyRows(const SoftmaxMatch &softmax,
                                      const MatchedScores &scores) {
  return llvm::all_of(softmax.guards, [&](const Expr *guard) {
    const Expr *expanded = evaluator.expandFully(guard);
    if (expanded == evaluator.expandFully(peel(softmax.score)))
      return true;
    return llvm::any_of(scores.masks, [&](const MaskTerm &mask) {
      return mask.given && expanded == evaluator.expandFully(peel(mask.given));
    });
  });
}

/// The last term of a sum over one key more: the exponential of a sink,
/// shifted as the scores are.
LogicalResult ScoreMatcher::matchSink(const Expr *last,
                                      const SignedTerms &shifts,
                                      SoftmaxMatch &match) {
  const Expr *exponential = peel(last);
  if (!exponential->isa<math::ExpOp>())
    return fail("the last term of the denominator is no exponential");
  SignedTerms terms;
  collectTerms(exponential->getOperands()[0], false, terms);
  for (const auto &shift : shifts) {
    const Expr *expanded = evaluator.expandFully(shift.first);
    auto *found = llvm::find_if(terms, [&](auto &term) {
      return term.second == shift.second &&
             evaluator.expandFully(term.first) == expanded;
    });
    if (found == terms.end())
      return fail("the sink is not shifted as the scores are");
    terms.erase(found);
  }
  if (terms.size() != 1 || terms[0].second)
    return fail("the sink is not shifted as the scores are");
  match.sink = terms[0].first;
  return success();
}

/// The sum must be of the numerator itself, and of at most one more term.
LogicalResult ScoreMatcher::matchSum(const Expr *denominator,
                                     const Expr *numerator,
                                     const SignedTerms &shifts,
                                     SoftmaxMatch &match) {
  const Expr *sum = peel(denominator);
  SmallVector<int64_t> extents = evaluator.getReductionExtents(sum);
  if (sum->getKind() != Expr::Kind::Read || extents.size() != 1)
    return fail("the denominator is not a sum over one dim");
  std::optional<Reduction> over = evaluator.evaluateReduction(sum, key);
  if (!over || over->kind != Reduction::Kind::Sum)
    return fail("the denominator is not a sum");
  if (evaluator.expandFully(over->element) != evaluator.expandFully(numerator))
    return fail("the denominator does not sum the numerator");
  int64_t keys = key->getExtent();
  if (extents[0] == keys)
    return success();
  if (ShapedType::isDynamic(keys) || extents[0] != keys + 1)
    return fail("the denominator sums over another number of keys");
  std::optional<Reduction> last =
      evaluator.evaluateReduction(sum, context.getInt(keys));
  return matchSink(last->element, shifts, match);
}

FailureOr<SoftmaxMatch> ScoreMatcher::matchQuotient(const Expr *numerator,
                                                    const Expr *denominator) {
  const Expr *exponential = peel(numerator);
  if (!exponential->isa<math::ExpOp>())
    return LogicalResult(fail("the numerator is no exponential"));
  SignedTerms terms, shifts;
  collectTerms(exponential->getOperands()[0], false, terms);
  SoftmaxMatch match;
  for (auto [term, negative] : terms) {
    if (!dependsOnKey(term)) {
      shifts.emplace_back(term, negative);
      continue;
    }
    if (negative)
      return LogicalResult(fail("a score is subtracted"));
    match.score = match.score ? context.apply<arith::AddFOp>(
                                    exponential->getOperands()[0]->getType(),
                                    {match.score, term})
                              : term;
  }
  if (!match.score)
    return LogicalResult(fail("the exponential does not depend on the key"));
  if (failed(matchSum(denominator, exponential, shifts, match)))
    return failure();
  return match;
}

FailureOr<SoftmaxMatch> ScoreMatcher::matchSoftmax(const Expr *probability,
                                                   bool &isCandidate) {
  const Expr *expr = peel(probability);
  ArrayRef<const Expr *> operands = expr->getOperands();
  if (expr->isa<arith::SelectOp>()) {
    // select(no key, 0, p)
    const Expr *guarded = getGuarded(operands[0]);
    if (guarded && evaluator.expandFully(operands[1])->isFloat(0)) {
      FailureOr<SoftmaxMatch> inner = matchSoftmax(operands[2], isCandidate);
      if (succeeded(inner))
        inner->guards.push_back(guarded);
      return inner;
    }
    return LogicalResult(fail("a choice that is no guard of empty rows"));
  }
  if (expr->isa<arith::DivFOp>() && !dependsOnKey(operands[1])) {
    isCandidate = peel(operands[0])->isa<math::ExpOp>();
    return matchQuotient(operands[0], operands[1]);
  }
  if (expr->isa<arith::MulFOp>())
    for (auto [e, inverse] : {std::pair(operands[0], operands[1]),
                              std::pair(operands[1], operands[0])}) {
      const Expr *quotient = peel(inverse);
      if (!dependsOnKey(inverse) && quotient->isa<arith::DivFOp>() &&
          evaluator.expandFully(quotient->getOperands()[0])->isFloat(1)) {
        isCandidate = peel(e)->isa<math::ExpOp>();
        return matchQuotient(e, quotient->getOperands()[1]);
      }
    }
  // exp(s − a − log Σ exp(s − a))
  if (expr->isa<math::ExpOp>()) {
    SmallVector<std::pair<const Expr *, bool>> terms;
    collectTerms(operands[0], false, terms);
    const Expr *rest = nullptr, *logged = nullptr;
    for (auto [term, negative] : terms) {
      const Expr *peeled = peel(term);
      if (negative && peeled->isa<math::LogOp>() && !logged) {
        logged = peeled->getOperands()[0];
        continue;
      }
      const Expr *addend =
          negative ? context.apply<arith::NegFOp>(expr->getType(), term) : term;
      rest = rest
                 ? context.apply<arith::AddFOp>(expr->getType(), {rest, addend})
                 : addend;
    }
    isCandidate = logged && rest;
    if (isCandidate)
      return matchQuotient(context.apply<math::ExpOp>(expr->getType(), rest),
                           logged);
  }
  return LogicalResult(fail("it is no quotient of an exponential and its sum"));
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

LogicalResult ScoreMatcher::scaleScores(double factor, MatchedScores &scores) {
  if (scores.softcap || !scores.masks.empty())
    return fail("scores are scaled after they were masked or capped");
  scores.scale *= factor;
  return success();
}

/// cap · tanh(s / cap)
LogicalResult ScoreMatcher::capScores(const Expr *tanh, double cap,
                                      MatchedScores &scores) {
  if (failed(addScore(tanh->getOperands()[0], scores)))
    return failure();
  if (scores.softcap || !scores.masks.empty())
    return fail("scores are capped after they were masked");
  // What is within tanh is scale·⟨q, k⟩ / cap.
  scores.softcap = cap;
  scores.scale *= cap;
  return success();
}

LogicalResult ScoreMatcher::addMask(const Expr *expr, MatchedScores &scores) {
  const Expr *mask = peel(expr);
  if (mask->isa<arith::SelectOp>()) {
    const Expr *shown = evaluator.expandFully(mask->getOperands()[1]);
    const Expr *hidden = evaluator.expandFully(mask->getOperands()[2]);
    if (shown->isFloat(0) && isMinusInfinity(hidden)) {
      scores.masks.push_back({mask->getOperands()[0], nullptr, expr});
      return success();
    }
  }
  scores.masks.push_back({nullptr, expr, expr});
  return success();
}

/// A choice between a score and a constant that hides.
LogicalResult ScoreMatcher::addChoice(const Expr *expr, MatchedScores &scores) {
  ArrayRef<const Expr *> operands = expr->getOperands();
  bool keepsFirst = hasProduct(operands[1]);
  const Expr *score = operands[keepsFirst ? 1 : 2];
  const Expr *other = evaluator.expandFully(operands[keepsFirst ? 2 : 1]);
  if (other->getKind() != Expr::Kind::Float || other->getFloat() > kHidden)
    return fail("a choice between a score and what is no mask");
  if (failed(addScore(score, scores)))
    return failure();
  Type truth = IntegerType::get(context.getMLIRContext(), 1);
  const Expr *keep = operands[0];
  if (!keepsFirst)
    keep = context.apply<arith::XOrIOp>(truth, {keep, context.getInt(1)});
  if (std::isinf(other->getFloat())) {
    scores.masks.push_back({keep, nullptr});
    return success();
  }
  // A finite mask hides a key only beside one that is shown: a row without
  // any is uniform, as a sum with the mask is.
  const Expr *addend = context.apply<arith::SelectOp>(
      other->getType(), {keep, context.getFloat(0, other->getType()), other});
  scores.masks.push_back({nullptr, addend});
  return success();
}

LogicalResult ScoreMatcher::addScore(const Expr *expr, MatchedScores &scores) {
  const Expr *peeled = peel(expr);
  ArrayRef<const Expr *> operands = peeled->getOperands();
  if (peeled->getKind() == Expr::Kind::Read) {
    if (!evaluator.isReduction(peeled))
      return fail("scores come from an op that cannot be looked through");
    scores.product = peeled;
    return success();
  }
  if (peeled->isa<arith::SelectOp>())
    return addChoice(peeled, scores);
  if (peeled->isa<arith::AddFOp>()) {
    bool first = hasProduct(operands[0]), second = hasProduct(operands[1]);
    if (first == second)
      return fail("scores are a sum of two products");
    if (failed(addScore(operands[first ? 0 : 1], scores)))
      return failure();
    return addMask(operands[first ? 1 : 0], scores);
  }
  bool divides = peeled->isa<arith::DivFOp>();
  if (peeled->isa<arith::MulFOp>() || divides) {
    for (auto [score, factor] : {std::pair(operands[0], operands[1]),
                                 std::pair(operands[1], operands[0])}) {
      const Expr *constant = evaluator.expandFully(factor);
      if (constant->getKind() != Expr::Kind::Float ||
          (divides && factor != operands[1]))
        continue;
      double value = constant->getFloat();
      if (divides)
        value = 1 / value;
      const Expr *inner = peel(score);
      if (inner->isa<math::TanhOp>())
        return capScores(inner, value, scores);
      if (failed(addScore(score, scores)))
        return failure();
      return scaleScores(value, scores);
    }
  }
  if (peeled->getKind() == Expr::Kind::Apply)
    return fail("scores go through " + peeled->getName().getStringRef());
  return fail("scores are no product of query and key");
}

FailureOr<MatchedScores> ScoreMatcher::matchScores(const Expr *score) {
  MatchedScores scores;
  if (failed(addScore(score, scores)))
    return failure();
  return scores;
}
