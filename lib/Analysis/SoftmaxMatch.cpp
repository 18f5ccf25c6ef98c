//===- SoftmaxMatch.cpp - Softmaxes in any spelling -----------------------===//
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
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rope;

/// An exponential: e^(factor · exponent).
static std::optional<ScaledTerm> getExponent(const Expr *expr) {
  if (expr->isa<math::ExpOp>())
    return ScaledTerm{expr->getOperands()[0], 1};
  if (expr->isa<math::Exp2Op>())
    return ScaledTerm{expr->getOperands()[0], llvm::numbers::ln2};
  return std::nullopt;
}

static bool isMinusInfinity(std::optional<double> number) {
  return number && std::isinf(*number) && *number < 0;
}

//===----------------------------------------------------------------------===//
// Denominators
//===----------------------------------------------------------------------===//

/// A term of the denominator that is no sum: the exponential of a sink,
/// shifted as the scores are.
LogicalResult ScoreMatcher::matchSink(const Expr *last,
                                      const ScaledTerms &shifts,
                                      SoftmaxMatch &match) {
  if (match.sink)
    return fail("the denominator has two terms besides the sum");
  const Expr *peeled = peel(last);
  std::optional<ScaledTerm> exponent = getExponent(peeled);
  std::optional<double> number = peelConstant(evaluator, peeled);
  if (number && *number > 0 && shifts.empty()) {
    match.sink = context.getFloat(std::log(*number), peeled->getType());
    return success();
  }
  if (!exponent)
    return fail("a term of the denominator is no exponential");
  FailureOr<ScaledTerms> terms =
      collectTerms(evaluator, exponent->expr, exponent->factor);
  if (failed(terms))
    return fail("the exponent of the sink has too many terms");
  for (ScaledTerm shift : shifts) {
    const Expr *expanded = evaluator.expandFully(shift.expr);
    auto *found = llvm::find_if(*terms, [&](const ScaledTerm &term) {
      return term.factor == shift.factor &&
             evaluator.expandFully(term.expr) == expanded;
    });
    if (found == terms->end())
      return fail("the sink is not shifted as the scores are");
    terms->erase(found);
  }
  if (terms->size() > 1)
    return fail("the sink is not shifted as the scores are");
  match.sink = terms->empty() ? context.getFloat(0, peeled->getType())
                              : getScaled(context, terms->front());
  return success();
}

/// Where the one element is that is summed besides those of the keys; null if
/// there is none.
FailureOr<const Expr *> ScoreMatcher::getElementMore(const Expr *summed) {
  const Expr *keys = ShapedType::isDynamic(key->getExtent())
                         ? key->getDynamicExtent()
                         : context.getInt(key->getExtent());
  if (summed && summed == keys)
    return static_cast<const Expr *>(nullptr);
  if (summed && keys && summed == context.add(keys, context.getInt(1)))
    return keys;
  return LogicalResult(
      fail(summed && keys && summed->isInt() && keys->isInt()
               ? "the denominator sums over another number of keys"
               : "the denominator is not known to sum over as many keys"));
}

/// The sum must be of the numerator itself, over the keys and at most one more
/// element.
LogicalResult ScoreMatcher::matchSumRead(const Expr *sum, const Expr *numerator,
                                         const ScaledTerms &shifts,
                                         SoftmaxMatch &match) {
  std::optional<unsigned> dim = evaluator.getReductionDim(sum);
  std::optional<Reduction> over = evaluator.evaluateReductionOver(sum, key);
  if (!dim || !over || over->kind != Reduction::Kind::Sum)
    return fail("the denominator is not a sum over one dim");
  if (evaluator.expandFully(peel(over->element)) !=
      evaluator.expandFully(peel(numerator)))
    return fail("the denominator does not sum the numerator");
  FailureOr<const Expr *> more =
      getElementMore(evaluator.evaluateReductionExtent(sum, *dim));
  if (failed(more))
    return failure();
  return *more ? matchSink(evaluator.evaluateReductionOver(sum, *more)->element,
                           shifts, match)
               : success();
}

LogicalResult ScoreMatcher::matchSum(const Expr *denominator,
                                     const Expr *numerator,
                                     const ScaledTerms &shifts,
                                     SoftmaxMatch &match) {
  FailureOr<ScaledTerms> terms = collectTerms(evaluator, denominator);
  if (failed(terms))
    return fail("the denominator has too many terms");
  bool sawSum = false;
  for (ScaledTerm term : *terms) {
    const Expr *peeled = peel(term.expr);
    if (term.factor != 1)
      return fail("a term of the denominator is scaled");
    bool isSum =
        peeled->getKind() == Expr::Kind::Read && evaluator.isReduction(peeled);
    if (isSum && sawSum)
      return fail("the denominator has two sums");
    sawSum |= isSum;
    if (failed(isSum ? matchSumRead(peeled, numerator, shifts, match)
                     : matchSink(peeled, shifts, match)))
      return failure();
  }
  return sawSum ? success() : fail("the denominator is no sum");
}

//===----------------------------------------------------------------------===//
// Quotients
//===----------------------------------------------------------------------===//

/// Masks outside of the exponential: a choice between it and 0.
const Expr *ScoreMatcher::stripMasks(const Expr *numerator,
                                     SoftmaxMatch &match) {
  const Expr *peeled = peel(numerator);
  while (peeled->isa<arith::SelectOp>()) {
    ArrayRef<const Expr *> operands = peeled->getOperands();
    if (peelConstant(evaluator, operands[2]) == 0.0) {
      match.keep.push_back(operands[0]);
      peeled = peel(operands[1]);
    } else if (peelConstant(evaluator, operands[1]) == 0.0) {
      match.keep.push_back(invertTruth(context, operands[0]));
      peeled = peel(operands[2]);
    } else {
      break;
    }
  }
  return peeled;
}

FailureOr<SoftmaxMatch> ScoreMatcher::matchQuotient(const Expr *numerator,
                                                    const Expr *denominator,
                                                    bool &isCandidate) {
  SoftmaxMatch match;
  const Expr *exponential = stripMasks(numerator, match);
  std::optional<ScaledTerm> exponent = getExponent(exponential);
  if (!exponent)
    return LogicalResult(fail("the numerator is no exponential"));
  isCandidate = true;
  FailureOr<ScaledTerms> terms =
      collectTerms(evaluator, exponent->expr, exponent->factor);
  if (failed(terms))
    return LogicalResult(fail("the exponent has too many terms"));
  ScaledTerms shifts;
  for (ScaledTerm term : *terms)
    (dependsOnKey(term.expr) ? match.score : shifts).push_back(term);
  if (match.score.empty())
    return LogicalResult(fail("the exponential does not depend on the key"));
  if (failed(matchSum(denominator, numerator, shifts, match)))
    return failure();
  return match;
}

/// exp(s − a − log Σ exp(s − a))
FailureOr<SoftmaxMatch> ScoreMatcher::matchLogarithm(const Expr *exponential,
                                                     bool &isCandidate) {
  FailureOr<ScaledTerms> terms =
      collectTerms(evaluator, exponential->getOperands()[0]);
  if (failed(terms))
    return failure();
  const Expr *rest = nullptr, *logged = nullptr;
  for (ScaledTerm term : *terms) {
    const Expr *peeled = peel(term.expr);
    if (term.factor == -1 && peeled->isa<math::LogOp>() && !logged) {
      logged = peeled->getOperands()[0];
      continue;
    }
    const Expr *addend = getScaled(context, term);
    rest = rest ? context.apply<arith::AddFOp>(exponential->getType(),
                                               {rest, addend})
                : addend;
  }
  if (!logged || !rest)
    return failure();
  return matchQuotient(context.apply<math::ExpOp>(exponential->getType(), rest),
                       logged, isCandidate);
}

/// linalg.softmax along the key.
FailureOr<SoftmaxMatch> ScoreMatcher::matchSoftmaxOp(const Expr *read,
                                                     bool &isCandidate) {
  auto op = read->getValue().getDefiningOp<linalg::SoftmaxOp>();
  if (!op || read->getOperands()[op.getDimension()] != key)
    return failure();
  for (auto [dim, index] : llvm::enumerate(read->getOperands()))
    if (dim != op.getDimension() && dependsOnKey(index))
      return failure();
  isCandidate = true;
  FailureOr<const Expr *> more = getElementMore(
      evaluator.evaluateExtent(op.getInput(), op.getDimension()));
  if (failed(more))
    return failure();
  SmallVector<const Expr *> index(read->getOperands());
  SoftmaxMatch match;
  match.score = {{context.getRead(op.getInput(), index), 1}};
  index[op.getDimension()] = *more;
  if (*more)
    match.sink = context.getRead(op.getInput(), index);
  return match;
}

FailureOr<SoftmaxMatch> ScoreMatcher::matchSoftmax(const Expr *probability,
                                                   bool &isCandidate) {
  const Expr *expr = peel(probability);
  if (expr->getKind() == Expr::Kind::Read)
    return matchSoftmaxOp(expr, isCandidate);
  if (expr->isa<arith::SelectOp>())
    return matchGuarded(expr, isCandidate);
  for (Quotient quotient : getQuotients(evaluator, expr))
    if (!dependsOnKey(quotient.denominator))
      return matchQuotient(quotient.numerator, quotient.denominator,
                           isCandidate);
  if (expr->isa<math::ExpOp>()) {
    FailureOr<SoftmaxMatch> match = matchLogarithm(expr, isCandidate);
    if (succeeded(match) || isCandidate)
      return match;
  }
  return LogicalResult(fail("it is no quotient of an exponential and its sum"));
}

//===----------------------------------------------------------------------===//
// Guards of empty rows
//===----------------------------------------------------------------------===//

/// Takes negations and movement off a truth.
Truth ScoreMatcher::peelTruth(const Expr *expr, bool negated) {
  while (true) {
    expr = peel(expr);
    const Expr *inner = nullptr;
    if (expr->isa<arith::XOrIOp>())
      for (unsigned i : {0, 1})
        if (expr->getOperands()[i]->isInt(1))
          inner = expr->getOperands()[1 - i];
    if (!inner)
      return {expr, negated};
    expr = inner;
    negated = !negated;
  }
}

/// Whether a truth holds for numbers that are none.
static bool isNaNTest(Truth truth) {
  if (!truth.expr->isa<arith::CmpFOp>() ||
      truth.expr->getOperands()[0] != truth.expr->getOperands()[1])
    return false;
  auto predicate =
      cast<arith::CmpFPredicateAttr>(truth.expr->getAttr()).getValue();
  if (truth.negated)
    return predicate == arith::CmpFPredicate::ORD ||
           predicate == arith::CmpFPredicate::OEQ;
  return predicate == arith::CmpFPredicate::UNO ||
         predicate == arith::CmpFPredicate::UNE;
}

/// select(no key, 0, p), or the same with a test of p for NaN: 0 / 0 is what an
/// empty row is without a guard.
FailureOr<SoftmaxMatch> ScoreMatcher::matchGuarded(const Expr *choice,
                                                   bool &isCandidate) {
  ArrayRef<const Expr *> operands = choice->getOperands();
  bool zeroFirst = peelConstant(evaluator, operands[1]) == 0.0;
  const Expr *probability = operands[zeroFirst ? 2 : 1];
  if (!zeroFirst && peelConstant(evaluator, operands[2]) != 0.0)
    return LogicalResult(fail("a choice that is no guard of empty rows"));
  FailureOr<SoftmaxMatch> inner = matchSoftmax(probability, isCandidate);
  if (failed(inner))
    return failure();
  Truth condition = peelTruth(operands[0], /*negated=*/!zeroFirst);
  if (isNaNTest(condition) &&
      evaluator.expandFully(condition.expr->getOperands()[0]) ==
          evaluator.expandFully(probability))
    return inner;
  const Expr *guarded = getGuarded(condition);
  if (!guarded)
    return LogicalResult(fail("a choice that is no guard of empty rows"));
  inner->guards.push_back(guarded);
  return inner;
}

/// What a test of a number against −∞ compares with it, if it holds where they
/// are equal; null for other tests.
const Expr *ScoreMatcher::getEqualToMinusInfinity(Truth test) {
  if (!test.expr->isa<arith::CmpFOp>())
    return nullptr;
  auto predicate =
      cast<arith::CmpFPredicateAttr>(test.expr->getAttr()).getValue();
  bool equal = predicate == arith::CmpFPredicate::OEQ ||
               predicate == arith::CmpFPredicate::UEQ;
  bool unequal = predicate == arith::CmpFPredicate::ONE ||
                 predicate == arith::CmpFPredicate::UNE;
  if (test.negated ? !unequal : !equal)
    return nullptr;
  for (unsigned i : {0, 1})
    if (isMinusInfinity(
            peelConstant(evaluator, test.expr->getOperands()[1 - i])))
      return peel(test.expr->getOperands()[i]);
  return nullptr;
}

/// The number that all (or, negated, not any) of the tests of a row compare
/// with −∞.
const Expr *ScoreMatcher::getGuardedByReduction(Truth condition) {
  std::optional<Reduction> all =
      evaluator.evaluateReductionWhole(condition.expr, key);
  if (!all || all->kind != (condition.negated ? Reduction::Kind::Or
                                              : Reduction::Kind::And))
    return nullptr;
  return getEqualToMinusInfinity(peelTruth(all->element, condition.negated));
}

/// The number that a condition says is −∞ for every key; null for others.
const Expr *ScoreMatcher::getGuarded(Truth condition) {
  if (condition.expr->getKind() == Expr::Kind::Read)
    return getGuardedByReduction(condition);
  // A maximum over the row says so too.
  const Expr *maximum = getEqualToMinusInfinity(condition);
  if (!maximum || maximum->getKind() != Expr::Kind::Read)
    return nullptr;
  std::optional<Reduction> largest =
      evaluator.evaluateReductionWhole(maximum, key);
  return largest && largest->kind == Reduction::Kind::Max
             ? peel(largest->element)
             : nullptr;
}

bool ScoreMatcher::areGuardsEmptyRows(const SoftmaxMatch &softmax,
                                      const MatchedScores &scores) {
  const Expr *score = nullptr;
  for (ScaledTerm term : softmax.score) {
    const Expr *addend = getScaled(context, term);
    score =
        score ? context.apply<arith::AddFOp>(addend->getType(), {score, addend})
              : addend;
  }
  return llvm::all_of(softmax.guards, [&](const Expr *guard) {
    const Expr *expanded = evaluator.expandFully(guard);
    if (expanded == evaluator.expandFully(peel(score)))
      return true;
    return llvm::any_of(scores.masks, [&](const MaskTerm &mask) {
      return mask.given && expanded == evaluator.expandFully(peel(mask.given));
    });
  });
}
