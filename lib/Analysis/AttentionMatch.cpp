//===- AttentionMatch.cpp - Proves that a value is attention --------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The index of the result is made of symbols. Where an operand is read at a
// quotient or a remainder of one (heads within a batch, groups within heads),
// the symbol is split in two and the match is done again, until each dim of
// each operand is one symbol, or a group of them.
//
//===----------------------------------------------------------------------===//

#include "rope/Analysis/AttentionMatch.h"

#include "ScoreMatch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::rope;

/// Symbols of the contracted dims, beyond those of results.
static constexpr int64_t kKeySymbol = 1000;
static constexpr int64_t kChannelSymbol = 1001;
static constexpr int64_t kFirstSplitSymbol = 1002;

namespace {
class AttentionMatcher {
public:
  AttentionMatcher(ElementEvaluator &evaluator, Value root, bool &isCandidate,
                   std::string &reason)
      : evaluator(evaluator), context(evaluator.getContext()),
        isCandidate(isCandidate), reason(reason) {
    match.root = root;
    match.rootIndex = evaluator.getSymbolicIndex(root);
  }

  FailureOr<AttentionMatch> run();

private:
  LogicalResult fail(const Twine &why) {
    reason = why.str();
    return failure();
  }
  LogicalResult matchOnce();
  LogicalResult matchProduct(ScoreMatcher &matcher);
  FailureOr<MatchedOperand> findOperand(const Expr *element, double &scale);
  bool splitSymbols();
  void split(const Expr *symbol, int64_t divisor);
  LogicalResult name(const Expr *symbol, DomainDim dim);
  LogicalResult nameSymbols();
  LogicalResult nameRows(ArrayRef<const Expr *> symbols);
  bool isGroup(const Expr *index);
  bool isWhole(const Expr *read);
  bool hasExtentOf(Value tensor, int64_t dim, const Expr *index);
  LogicalResult checkOperands();

  ElementEvaluator &evaluator;
  ExprContext &context;
  bool &isCandidate;
  std::string &reason;
  AttentionMatch match;
  const Expr *key = nullptr;
  const Expr *channel = nullptr;
  int64_t nextSymbol = kFirstSplitSymbol;
};
} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Whether an index is one that a dim of an operand can be: a symbol, a
/// constant, a quotient or remainder of a symbol (which is split later), or a
/// group of symbols that came from splits.
static bool isDimLike(const Expr *index) {
  switch (index->getKind()) {
  case Expr::Kind::Sym:
  case Expr::Kind::Int:
    return true;
  case Expr::Kind::Apply:
    return index->isa<arith::FloorDivSIOp>() &&
           isDimLike(index->getOperands()[0]);
  case Expr::Kind::Linear: {
    ArrayRef<const Expr *> atoms = index->getOperands();
    bool divides = llvm::any_of(
        atoms, [](const Expr *e) { return e->isa<arith::FloorDivSIOp>(); });
    return llvm::all_of(atoms, [&](const Expr *atom) {
      return atom->getKind() == Expr::Kind::Sym
                 ? divides || atom->getNumber() >= kFirstSplitSymbol
                 : isDimLike(atom);
    });
  }
  default:
    return false;
  }
}

/// Whether the dims of a tensor that are read at a symbol end where it does.
bool AttentionMatcher::isWhole(const Expr *read) {
  return llvm::all_of(llvm::enumerate(read->getOperands()), [&](auto entry) {
    return entry.value()->getKind() != Expr::Kind::Sym ||
           hasExtentOf(read->getValue(), entry.index(), entry.value());
  });
}

/// Where a number is taken from: factors are stripped into `scale`, then ops
/// that only move elements are followed as far as dims stay dims.
FailureOr<MatchedOperand> AttentionMatcher::findOperand(const Expr *element,
                                                        double &scale) {
  std::optional<MatchedOperand> found;
  while (true) {
    if (element->isa<arith::ExtFOp>()) {
      element = element->getOperands()[0];
    } else if (element->isa<arith::MulFOp>()) {
      ArrayRef<const Expr *> operands = element->getOperands();
      const Expr *first = evaluator.expandFully(operands[0]);
      const Expr *second = evaluator.expandFully(operands[1]);
      bool isFirst = first->getKind() == Expr::Kind::Float;
      if (!isFirst && second->getKind() != Expr::Kind::Float)
        break;
      scale *= (isFirst ? first : second)->getFloat();
      element = operands[isFirst ? 1 : 0];
      found.reset();
    } else if (element->getKind() == Expr::Kind::Read) {
      if (llvm::all_of(element->getOperands(), isDimLike) &&
          (!found || isWhole(element)))
        found = {element->getValue(),
                 SmallVector<const Expr *>(element->getOperands())};
      const Expr *step =
          evaluator.isReduction(element) ? nullptr : evaluator.expand(element);
      if (!step)
        break;
      element = step;
    } else {
      break;
    }
  }
  if (!found)
    return LogicalResult(fail("an operand stands in no tensor"));
  return *found;
}

/// The scores' product must contract one dim of a query and a key.
LogicalResult AttentionMatcher::matchProduct(ScoreMatcher &matcher) {
  SmallVector<int64_t> extents =
      evaluator.getReductionExtents(match.scores.product);
  // Several dims of channels count as one.
  int64_t channels = 1;
  for (int64_t extent : extents) {
    if (ShapedType::isDynamic(extent))
      return fail("scores are contracted over a dynamic dim");
    channels *= extent;
  }
  channel = context.getSym(kChannelSymbol, channels);
  SmallVector<const Expr *> at(extents.size());
  const Expr *rest = channel;
  for (size_t i = extents.size(); i-- > 0;) {
    const Expr *extent = context.getInt(extents[i]);
    at[i] = i == 0 ? rest : context.mod(rest, extent);
    rest = context.floorDiv(rest, extent);
  }
  std::optional<Reduction> product =
      evaluator.evaluateReduction(match.scores.product, at);
  if (!product || product->kind != Reduction::Kind::Sum ||
      !product->element->isa<arith::MulFOp>())
    return fail("scores are no contraction");
  ArrayRef<const Expr *> factors = product->element->getOperands();
  bool firstIsKey = matcher.dependsOnKey(factors[0]);
  if (firstIsKey == matcher.dependsOnKey(factors[1]))
    return fail("scores are not of a query and a key");
  FailureOr<MatchedOperand> keys =
      findOperand(factors[firstIsKey ? 0 : 1], match.scores.scale);
  if (failed(keys))
    return failure();
  FailureOr<MatchedOperand> queries =
      findOperand(factors[firstIsKey ? 1 : 0], match.scores.scale);
  if (failed(queries))
    return failure();
  match.key = *keys;
  match.query = *queries;
  return success();
}

LogicalResult AttentionMatcher::matchOnce() {
  const Expr *read = context.getRead(match.root, match.rootIndex);
  SmallVector<int64_t> extents = evaluator.getReductionExtents(read);
  if (extents.size() != 1)
    return fail("not a contraction of one dim");
  key = context.getSym(kKeySymbol, extents[0],
                       evaluator.evaluateReductionExtent(read));
  std::optional<Reduction> product = evaluator.evaluateReduction(read, key);
  if (!product || product->kind != Reduction::Kind::Sum ||
      !product->element->isa<arith::MulFOp>())
    return fail("not a contraction");
  ArrayRef<const Expr *> factors = product->element->getOperands();
  ScoreMatcher matcher(evaluator, key, reason);
  for (auto [probability, value] :
       {std::pair(factors[0], factors[1]), std::pair(factors[1], factors[0])}) {
    bool hasOutline = false;
    FailureOr<SoftmaxMatch> softmax =
        matcher.matchSoftmax(probability, hasOutline);
    isCandidate |= hasOutline;
    if (failed(softmax) && hasOutline)
      return failure();
    if (failed(softmax))
      continue;
    match.sink = softmax->sink;
    FailureOr<MatchedScores> scores = matcher.matchScores(softmax->score);
    if (failed(scores))
      return failure();
    if (!matcher.areGuardsEmptyRows(*softmax, *scores))
      return fail("a guard of empty rows is of other numbers");
    match.scores = *scores;
    double unit = 1;
    FailureOr<MatchedOperand> values = findOperand(value, unit);
    if (failed(values))
      return failure();
    if (unit != 1)
      return fail("values are scaled");
    match.value = *values;
    return matchProduct(matcher);
  }
  return failure();
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

/// Whether a symbol comes apart evenly; one of dynamic extent is compared with
/// the extents of operands later. The channels are never split.
static bool isSplittable(const Expr *symbol, const Expr *divisor) {
  return symbol->getKind() == Expr::Kind::Sym &&
         symbol->getNumber() != kChannelSymbol && divisor->isInt() &&
         divisor->getInt() > 0 &&
         (ShapedType::isDynamic(symbol->getExtent()) ||
          symbol->getExtent() % divisor->getInt() == 0);
}

/// A division of a symbol by a constant within an index, or null.
static const Expr *findDivision(const Expr *index) {
  if (index->isa<arith::FloorDivSIOp>() &&
      isSplittable(index->getOperands()[0], index->getOperands()[1]))
    return index;
  for (const Expr *operand : index->getOperands())
    if (const Expr *found = findDivision(operand))
      return found;
  return nullptr;
}

/// Replaces a symbol of the result's index by divisor · outer + inner.
void AttentionMatcher::split(const Expr *symbol, int64_t divisor) {
  int64_t extent = symbol->getExtent();
  const Expr *dynamic = symbol->getDynamicExtent();
  const Expr *outer = context.getSym(
      nextSymbol++, ShapedType::isDynamic(extent) ? extent : extent / divisor,
      dynamic ? context.floorDiv(dynamic, context.getInt(divisor)) : nullptr);
  const Expr *inner = context.getSym(nextSymbol++, divisor);
  const Expr *whole =
      context.add(context.mul(outer, context.getInt(divisor)), inner);
  for (const Expr *&index : match.rootIndex) {
    if (index == symbol) {
      index = whole;
    } else if (index->getKind() == Expr::Kind::Linear) {
      const Expr *sum = context.getInt(index->getInt());
      for (auto [atom, coefficient] :
           llvm::zip(index->getOperands(), index->getCoefficients()))
        sum = context.add(sum, context.mul(atom == symbol ? whole : atom,
                                           context.getInt(coefficient)));
      index = sum;
    }
  }
}

bool AttentionMatcher::splitSymbols() {
  for (MatchedOperand *operand : {&match.query, &match.key, &match.value})
    for (const Expr *index : operand->index)
      if (const Expr *division = findDivision(index)) {
        split(division->getOperands()[0], division->getOperands()[1]->getInt());
        return true;
      }
  return false;
}

static bool reads(const MatchedOperand &operand, const Expr *symbol) {
  return llvm::any_of(operand.index, [&](const Expr *index) {
    return index == symbol || llvm::is_contained(index->getOperands(), symbol);
  });
}

/// Whether a symbol shares a dim of an operand with another.
static bool isGrouped(const MatchedOperand &operand, const Expr *symbol) {
  return llvm::any_of(operand.index, [&](const Expr *index) {
    return index != symbol && llvm::is_contained(index->getOperands(), symbol);
  });
}

LogicalResult AttentionMatcher::name(const Expr *symbol, DomainDim dim) {
  if (llvm::any_of(match.domain, [&](auto &d) { return d.dim == dim; }))
    return fail(Twine("two dims of the result are both ") +
                Twine(getLetter(dim)));
  match.domain.push_back({symbol, dim});
  return success();
}

/// What each symbol is follows from the operands that have it.
LogicalResult AttentionMatcher::nameSymbols() {
  SmallVector<const Expr *> symbols, batches;
  for (const Expr *index : match.rootIndex)
    for (const Expr *symbol : index->getKind() == Expr::Kind::Linear
                                  ? index->getOperands()
                                  : ArrayRef(index))
      if (symbol->getKind() == Expr::Kind::Sym)
        symbols.push_back(symbol);
  for (const Expr *symbol : symbols) {
    bool inQuery = reads(match.query, symbol), inKey = reads(match.key, symbol);
    bool inValue = reads(match.value, symbol);
    LogicalResult named = success();
    if (inQuery && inKey && inValue)
      batches.push_back(symbol);
    else if (inValue && !inQuery && !inKey)
      named = name(symbol, DomainDim::E);
    else if (inQuery && !inKey && !inValue)
      batches.push_back(symbol);
    else
      named = fail("a dim of the result is in key or value, but not in both");
    if (failed(named))
      return failure();
  }
  if (failed(nameRows(batches)))
    return failure();
  match.domain.push_back({key, DomainDim::N});
  match.domain.push_back({channel, DomainDim::D});
  return success();
}

/// Among the dims that are no channel: b and h are of all operands, in the
/// query's order; of those of the query alone the one nearest to the channels
/// of the result is m.
LogicalResult AttentionMatcher::nameRows(ArrayRef<const Expr *> symbols) {
  SmallVector<const Expr *> shared, own;
  for (const Expr *symbol : symbols)
    (reads(match.key, symbol) ? shared : own).push_back(symbol);
  if (shared.size() > 2 || own.size() > 2)
    return fail("more dims than b, h, g and m");
  if (shared.size() == 2 && (failed(name(shared[0], DomainDim::B)) ||
                             failed(name(shared[1], DomainDim::H))))
    return failure();
  if (shared.size() == 1 && failed(name(shared[0], DomainDim::H)))
    return failure();
  for (const Expr *symbol : llvm::reverse(own)) {
    bool isHead = isGrouped(match.query, symbol) ||
                  llvm::any_of(match.domain, [](auto &entry) {
                    return entry.dim == DomainDim::M;
                  });
    if (failed(name(symbol, isHead ? DomainDim::G : DomainDim::M)))
      return failure();
  }
  return success();
}

/// Whether an index is g + extent(g)·h.
bool AttentionMatcher::isGroup(const Expr *index) {
  if (index->getKind() != Expr::Kind::Linear || index->getInt() != 0 ||
      index->getOperands().size() != 2)
    return false;
  ArrayRef<const Expr *> parts = index->getOperands();
  bool firstIsHead = match.getDim(parts[0]) == DomainDim::H;
  const Expr *head = parts[firstIsHead ? 0 : 1];
  const Expr *group = parts[firstIsHead ? 1 : 0];
  if (ShapedType::isDynamic(group->getExtent()))
    return false;
  return match.getDim(head) == DomainDim::H &&
         match.getDim(group) == DomainDim::G &&
         index ==
             context.add(group,
                         context.mul(head, context.getInt(group->getExtent())));
}

/// Whether a dim of an operand is known to be as long as what is read of it:
/// the rest of a longer one, such as a cache, is no part of the attention.
bool AttentionMatcher::hasExtentOf(Value tensor, int64_t dim,
                                   const Expr *index) {
  const Expr *extent = context.getInt(1);
  for (const Expr *symbol : index->getKind() == Expr::Kind::Sym
                                ? ArrayRef(index)
                                : index->getOperands()) {
    const Expr *factor = ShapedType::isDynamic(symbol->getExtent())
                             ? symbol->getDynamicExtent()
                             : context.getInt(symbol->getExtent());
    if (!factor)
      return false;
    extent = context.mul(extent, factor);
  }
  return evaluator.evaluateExtent(tensor, dim) == extent;
}

/// Each dim of an operand is a symbol, the group (hg), or of extent 1.
LogicalResult AttentionMatcher::checkOperands() {
  for (MatchedOperand *operand : {&match.query, &match.key, &match.value}) {
    auto type = cast<RankedTensorType>(operand->tensor.getType());
    for (auto [dim, extent, index] :
         llvm::enumerate(type.getShape(), operand->index)) {
      if (index->isInt(0) && extent == 1)
        continue;
      if (index->getKind() != Expr::Kind::Sym && !isGroup(index))
        return fail("a dim of an operand is no dim of attention");
      if (!hasExtentOf(operand->tensor, dim, index))
        return fail("an operand is not known to be as long as what is read of "
                    "it");
    }
  }
  return success();
}

FailureOr<AttentionMatch> AttentionMatcher::run() {
  // Each split refines a symbol; there are few to refine.
  for (int round = 0; round < 6; ++round) {
    if (failed(matchOnce()))
      return failure();
    if (splitSymbols())
      continue;
    if (failed(nameSymbols()) || failed(checkOperands()))
      return failure();
    return match;
  }
  return LogicalResult(fail("dims of operands do not come apart"));
}

FailureOr<AttentionMatch> rope::matchAttention(ElementEvaluator &evaluator,
                                               Value root, bool &isCandidate,
                                               std::string &reason) {
  auto op = dyn_cast_or_null<linalg::LinalgOp>(root.getDefiningOp());
  auto type = dyn_cast<RankedTensorType>(root.getType());
  if (!op || !type || !isa<FloatType>(type.getElementType()) ||
      op->getNumResults() != 1 || op.getNumReductionLoops() != 1)
    return failure();
  return AttentionMatcher(evaluator, root, isCandidate, reason).run();
}
