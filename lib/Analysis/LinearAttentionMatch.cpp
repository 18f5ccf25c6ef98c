//===- LinearAttentionMatch.cpp - Proves linear attention -----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Analysis/LinearAttentionMatch.h"

#include "FeatureMapMatch.h"
#include "OperandMatch.h"
#include "ScoreMatch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "rope/Analysis/MaskClassifier.h"

using namespace mlir;
using namespace mlir::rope;

/// Splits of symbols, each of which refines one: there are few to refine.
static constexpr int kMaxRounds = 8;

namespace {
/// A factor of the product: an element, and the same before it was rotated.
struct RotatedFactor {
  /// The read of the rotation's input, or the factor itself.
  const Expr *plain = nullptr;
  RotateOp rotation;
};

/// The three factors of the product and what is masked.
struct Chain {
  RotatedFactor query, key;
  const Expr *value = nullptr;
  SmallVector<const Expr *> keep;
};

class LinearAttentionMatcher {
public:
  LinearAttentionMatcher(ElementEvaluator &evaluator, Value root,
                         AttentionFailure &why)
      : evaluator(evaluator), context(evaluator.getContext()), why(why),
        operands(evaluator, match, why.reason) {
    match.root = root;
    match.rootIndex = evaluator.getSymbolicIndex(root);
  }

  FailureOr<LinearAttentionMatch> run();

private:
  LogicalResult fail(const Twine &reason) {
    why.reason = reason.str();
    return failure();
  }
  const Expr *peel(const Expr *expr) { return rope::peel(evaluator, expr); }
  const Expr *getProduct(const Expr *factor);
  bool dependsOn(const Expr *expr, const Expr *symbol);
  bool isSame(const Expr *a, const Expr *b) {
    return evaluator.expandFully(peel(a)) == evaluator.expandFully(peel(b));
  }
  RotatedFactor getRotated(const Expr *factor);
  const Expr *stripTruths(const Expr *weights, SmallVector<const Expr *> &keep);

  LogicalResult matchOnce();
  LogicalResult matchProduct(const Expr *product, const Expr *denominator);
  FailureOr<Chain> matchKeysOutermost(const Expr *product);
  FailureOr<Chain> matchChannelsOutermost(const Expr *product);
  LogicalResult matchNormalizer(const Chain &chain, const Expr *denominator);
  bool isSumOfKeys(const Chain &chain, const Expr *sum);
  bool isSumOfChannels(const Chain &chain, const Expr *sum);
  bool areQueryAndKey(const Chain &chain, ArrayRef<const Expr *> factors);
  bool isKnownToBeLinear(const Chain &chain);
  LogicalResult findOperands(const Chain &chain);
  FailureOr<Rotation> place(const RotatedFactor &factor,
                            const MatchedOperand &operand);
  LogicalResult placeInputs(const Chain &chain, const FeatureMapMatch &query,
                            const FeatureMapMatch &key);
  LogicalResult matchCausal();

  ElementEvaluator &evaluator;
  ExprContext &context;
  AttentionFailure &why;
  LinearAttentionMatch match;
  SmallVector<const Expr *> keep;
  OperandMatcher operands;
};
} // namespace

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

/// The contraction that a factor is behind movement; null if it is none.
const Expr *LinearAttentionMatcher::getProduct(const Expr *factor) {
  const Expr *read = peel(factor);
  bool isProduct = read->getKind() == Expr::Kind::Read &&
                   evaluator.getReductionDim(read).has_value();
  return isProduct ? read : nullptr;
}

bool LinearAttentionMatcher::dependsOn(const Expr *expr, const Expr *symbol) {
  std::string unused;
  return ScoreMatcher(evaluator, symbol, unused).dependsOnKey(expr);
}

RotatedFactor LinearAttentionMatcher::getRotated(const Expr *factor) {
  const Expr *read = peel(factor);
  if (read->getKind() == Expr::Kind::Read)
    if (auto op = read->getValue().getDefiningOp<RotateOp>())
      return {context.getRead(op.getInput(), read->getOperands()), op};
  return {factor, nullptr};
}

/// The truth that a number is 1 or 0 for; null for other numbers.
static const Expr *getTruth(ElementEvaluator &evaluator, const Expr *number) {
  const Expr *peeled = peel(evaluator, number);
  ArrayRef<const Expr *> operands = peeled->getOperands();
  if (peeled->isa<arith::SIToFPOp>() && operands[0]->getType() &&
      operands[0]->getType().isInteger(1))
    return operands[0];
  if (!peeled->isa<arith::SelectOp>())
    return nullptr;
  std::optional<double> first = peelConstant(evaluator, operands[1]);
  std::optional<double> second = peelConstant(evaluator, operands[2]);
  if (first == 1.0 && second == 0.0)
    return operands[0];
  if (first == 0.0 && second == 1.0)
    return invertTruth(evaluator.getContext(), operands[0]);
  return nullptr;
}

/// Takes truths that weights are multiplied by, or chosen by, off them.
const Expr *
LinearAttentionMatcher::stripTruths(const Expr *weights,
                                    SmallVector<const Expr *> &keep) {
  const Expr *peeled = peel(weights);
  while (true) {
    ArrayRef<const Expr *> operands = peeled->getOperands();
    const Expr *rest = nullptr;
    if (peeled->isa<arith::SelectOp>() &&
        peelConstant(evaluator, operands[2]) == 0.0) {
      keep.push_back(operands[0]);
      rest = operands[1];
    } else if (peeled->isa<arith::MulFOp>()) {
      for (unsigned i : {0, 1})
        if (const Expr *truth = getTruth(evaluator, operands[i])) {
          keep.push_back(truth);
          rest = operands[1 - i];
          break;
        }
    }
    if (!rest)
      return peeled;
    peeled = peel(rest);
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Σ_n (Σ_d q·k)·v
FailureOr<Chain>
LinearAttentionMatcher::matchKeysOutermost(const Expr *product) {
  if (failed(operands.makeKey(product)))
    return failure();
  FailureOr<ProductFactors> outer = operands.getProductOverKeys(product);
  if (failed(outer) || outer->factors.size() != 2 || outer->constant != 1)
    return failure();
  for (unsigned i : {0, 1}) {
    Chain chain;
    chain.value = outer->factors[1 - i];
    const Expr *weights =
        getProduct(stripTruths(outer->factors[i], chain.keep));
    if (!weights)
      continue;
    FailureOr<ProductFactors> inner = operands.getProductOverChannels(weights);
    if (failed(inner) || inner->factors.size() != 2 || inner->constant != 1)
      continue;
    bool firstIsKey = dependsOn(inner->factors[0], operands.getKey());
    if (firstIsKey == dependsOn(inner->factors[1], operands.getKey()))
      continue;
    chain.key = getRotated(inner->factors[firstIsKey ? 0 : 1]);
    chain.query = getRotated(inner->factors[firstIsKey ? 1 : 0]);
    return chain;
  }
  return failure();
}

/// Σ_d q·(Σ_n k·v)
FailureOr<Chain>
LinearAttentionMatcher::matchChannelsOutermost(const Expr *product) {
  FailureOr<ProductFactors> outer = operands.getProductOverChannels(product);
  if (failed(outer) || outer->factors.size() != 2 || outer->constant != 1)
    return failure();
  for (unsigned i : {0, 1}) {
    Chain chain;
    const Expr *state = getProduct(outer->factors[i]);
    if (!state || failed(operands.makeKey(state)))
      continue;
    FailureOr<ProductFactors> inner = operands.getProductOverKeys(state);
    if (failed(inner) || inner->factors.size() != 2 || inner->constant != 1)
      continue;
    bool firstIsKey = dependsOn(inner->factors[0], operands.getChannel());
    if (firstIsKey == dependsOn(inner->factors[1], operands.getChannel()))
      continue;
    chain.query = getRotated(outer->factors[1 - i]);
    chain.key = getRotated(inner->factors[firstIsKey ? 0 : 1]);
    chain.value = inner->factors[firstIsKey ? 1 : 0];
    return chain;
  }
  return failure();
}

//===----------------------------------------------------------------------===//
// Divisors
//===----------------------------------------------------------------------===//

bool LinearAttentionMatcher::areQueryAndKey(const Chain &chain,
                                            ArrayRef<const Expr *> factors) {
  return factors.size() == 2 && ((isSame(factors[0], chain.query.plain) &&
                                  isSame(factors[1], chain.key.plain)) ||
                                 (isSame(factors[1], chain.query.plain) &&
                                  isSame(factors[0], chain.key.plain)));
}

/// Σ_n Σ_d q·k, masked as the product is.
bool LinearAttentionMatcher::isSumOfKeys(const Chain &chain, const Expr *sum) {
  std::optional<Reduction> keys =
      evaluator.evaluateReductionWhole(sum, operands.getKey());
  if (!keys || keys->kind != Reduction::Kind::Sum)
    return false;
  SmallVector<const Expr *> truths;
  const Expr *weights = getProduct(stripTruths(keys->element, truths));
  if (!weights || truths.size() != chain.keep.size() ||
      !llvm::all_of(llvm::zip(truths, chain.keep), [&](auto pair) {
        return isSame(std::get<0>(pair), std::get<1>(pair));
      }))
    return false;
  std::optional<Reduction> channels =
      evaluator.evaluateReductionWhole(weights, operands.getChannel());
  double constant = 1;
  return channels && channels->kind == Reduction::Kind::Sum &&
         areQueryAndKey(chain,
                        getFactors(evaluator, channels->element, constant)) &&
         constant == 1;
}

/// Σ_d q·(Σ_n k), where nothing is masked.
bool LinearAttentionMatcher::isSumOfChannels(const Chain &chain,
                                             const Expr *sum) {
  std::optional<Reduction> channels =
      evaluator.evaluateReductionWhole(sum, operands.getChannel());
  if (!channels || channels->kind != Reduction::Kind::Sum ||
      !chain.keep.empty())
    return false;
  double constant = 1;
  SmallVector<const Expr *> factors =
      getFactors(evaluator, channels->element, constant);
  if (factors.size() != 2 || constant != 1)
    return false;
  for (unsigned i : {0, 1}) {
    const Expr *state = getProduct(factors[i]);
    std::optional<Reduction> keys =
        state ? evaluator.evaluateReductionWhole(state, operands.getKey())
              : std::nullopt;
    if (keys && keys->kind == Reduction::Kind::Sum &&
        areQueryAndKey(chain, {factors[1 - i], keys->element}))
      return true;
  }
  return false;
}

LogicalResult LinearAttentionMatcher::matchNormalizer(const Chain &chain,
                                                      const Expr *denominator) {
  FailureOr<ScaledTerms> terms = collectTerms(evaluator, denominator);
  if (failed(terms))
    return fail("the divisor has too many terms");
  double epsilon = 0;
  bool sawSum = false;
  for (ScaledTerm term : *terms) {
    if (std::optional<double> number = peelConstant(evaluator, term.expr)) {
      epsilon += *number * term.factor;
      continue;
    }
    const Expr *sum = getProduct(term.expr);
    if (!sum || sawSum || term.factor != 1 ||
        (!isSumOfKeys(chain, sum) && !isSumOfChannels(chain, sum)))
      return fail("the divisor is not the sum without values");
    sawSum = true;
  }
  if (!sawSum || epsilon < 0)
    return fail("the divisor is not the sum without values");
  match.normalizer = epsilon;
  return success();
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The rotation of a factor as one of an operand that its plain form is
/// computed from: along the dims that have the same symbols.
FailureOr<Rotation>
LinearAttentionMatcher::place(const RotatedFactor &factor,
                              const MatchedOperand &operand) {
  Rotation result;
  RotateOp op = factor.rotation;
  if (!op)
    return result;
  if (operand.index.back() != operands.getChannel())
    return failure();
  SmallVector<int64_t> along;
  for (int64_t dim : op.getRotary().getAlong()) {
    const Expr *symbol = factor.plain->getOperands()[dim];
    const auto *found = llvm::find(operand.index, symbol);
    if (symbol->getKind() != Expr::Kind::Sym || found == operand.index.end())
      return failure();
    along.push_back(found - operand.index.begin());
  }
  result.table = op.getTable();
  result.rotary = op.getRotary().withAlong(along);
  return result;
}

/// Takes the feature map into the op, if the rotations follow what it is
/// applied to.
LogicalResult LinearAttentionMatcher::placeInputs(const Chain &chain,
                                                  const FeatureMapMatch &query,
                                                  const FeatureMapMatch &key) {
  FailureOr<MatchedOperand> queries = operands.findOperand(query.input);
  FailureOr<MatchedOperand> keys = operands.findOperand(key.input);
  if (failed(queries) || failed(keys))
    return failure();
  FailureOr<Rotation> rotateQuery = place(chain.query, *queries);
  FailureOr<Rotation> rotateKey = place(chain.key, *keys);
  if (failed(rotateQuery) || failed(rotateKey))
    return failure();
  match.query = *queries;
  match.key = *keys;
  match.rotateQuery = *rotateQuery;
  match.rotateKey = *rotateKey;
  match.featureMap = query.map;
  return success();
}

LogicalResult LinearAttentionMatcher::findOperands(const Chain &chain) {
  FailureOr<MatchedOperand> values = operands.findOperand(chain.value);
  if (failed(values))
    return failure();
  match.value = *values;
  FeatureMapMatch query = matchFeatureMap(evaluator, chain.query.plain);
  FeatureMapMatch key = matchFeatureMap(evaluator, chain.key.plain);
  if (query.map == key.map && succeeded(placeInputs(chain, query, key)))
    return success();
  FeatureMapMatch plainQuery = {FeatureMap::Identity, chain.query.plain};
  FeatureMapMatch plainKey = {FeatureMap::Identity, chain.key.plain};
  if (succeeded(placeInputs(chain, plainQuery, plainKey)))
    return success();
  return fail("a rotation follows dims that its operand lacks");
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// Three matrices in a row are linear attention only if more says so.
bool LinearAttentionMatcher::isKnownToBeLinear(const Chain &chain) {
  if (match.normalizer || (chain.query.rotation && chain.key.rotation))
    return true;
  FeatureMapMatch query = matchFeatureMap(evaluator, chain.query.plain);
  FeatureMapMatch key = matchFeatureMap(evaluator, chain.key.plain);
  return query.map == key.map && query.map != FeatureMap::Identity;
}

LogicalResult LinearAttentionMatcher::matchProduct(const Expr *product,
                                                   const Expr *denominator) {
  for (bool keysOutermost : {true, false}) {
    match.normalizer.reset();
    FailureOr<Chain> chain = keysOutermost ? matchKeysOutermost(product)
                                           : matchChannelsOutermost(product);
    if (failed(chain))
      continue;
    if (denominator && failed(matchNormalizer(*chain, denominator)))
      continue;
    if (!isKnownToBeLinear(*chain))
      continue;
    why.isCandidate = true;
    keep = chain->keep;
    match.product = product->getValue();
    return findOperands(*chain);
  }
  return failure();
}

LogicalResult LinearAttentionMatcher::matchOnce() {
  const Expr *read = context.getRead(match.root, match.rootIndex);
  if (const Expr *product = getProduct(read); product == read)
    return matchProduct(read, nullptr);
  const Expr *step = evaluator.expand(read);
  if (!step)
    return failure();
  for (Quotient quotient : getQuotients(evaluator, step))
    if (const Expr *product = getProduct(quotient.numerator))
      return matchProduct(product, quotient.denominator);
  return failure();
}

/// All keys, or those up to the row.
LogicalResult LinearAttentionMatcher::matchCausal() {
  SmallVector<MaskTerm> masks;
  for (const Expr *truth : keep)
    masks.push_back({truth, nullptr, nullptr});
  MaskBands bands = classifyMasks(evaluator, match, masks);
  if (!bands.isBandOnly() || bands.left || bands.right)
    return fail("its mask is not causal");
  match.causal = bands.causal;
  if (!match.causal)
    return success();
  const Expr *row = match.getSymbol(DomainDim::M);
  const Expr *key = operands.getKey();
  bool square = row && row->getExtent() == key->getExtent() &&
                row->getDynamicExtent() == key->getDynamicExtent();
  return square ? success() : fail("there are not as many keys as rows");
}

FailureOr<LinearAttentionMatch> LinearAttentionMatcher::run() {
  for (int round = 0; round < kMaxRounds; ++round) {
    if (failed(matchOnce()))
      return failure();
    if (operands.splitSymbols())
      continue;
    if (failed(operands.nameSymbols()) || failed(matchCausal()))
      return failure();
    return match;
  }
  return LogicalResult(fail("dims of operands do not come apart"));
}

FailureOr<LinearAttentionMatch>
rope::matchLinearAttention(ElementEvaluator &evaluator, Value root,
                           AttentionFailure &why) {
  auto type = dyn_cast<RankedTensorType>(root.getType());
  if (!type || !isa<FloatType>(type.getElementType()) || !root.getDefiningOp())
    return failure();
  return LinearAttentionMatcher(evaluator, root, why).run();
}
