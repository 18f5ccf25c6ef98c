//===- RotationMatcher.cpp - One root against one source ------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RotationMatcher.h"

#include "Quotient.h"
#include "RotationSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::rope;

SmallVector<const Expr *> rope::getRootIndex(ElementEvaluator &evaluator,
                                             Value root, int64_t dim,
                                             int64_t dims, int64_t channel) {
  SmallVector<const Expr *> index = evaluator.getSymbolicIndex(root);
  ArrayRef<int64_t> shape = cast<ShapedType>(root.getType()).getShape();
  for (int64_t i = dim + dims - 1; i >= dim; --i) {
    index[i] = evaluator.getContext().getInt(channel % shape[i]);
    channel /= shape[i];
  }
  return index;
}

SignedCoefficient RotationMatcher::getCoefficient(const LinearTerm &term) {
  const Expr *given = term.coefficient;
  bool negative = false;
  const Expr *expanded = evaluator.expandFully(given);
  if (expanded->isa<arith::NegFOp>()) {
    negative = true;
    expanded = expanded->getOperands()[0];
  } else if (expanded->getKind() == Expr::Kind::Float &&
             expanded->getFloat() < 0) {
    negative = true;
    expanded = context.getFloat(-expanded->getFloat(), expanded->getType());
  }
  // The sign as given may be within a tensor of negated sines.
  if (negative)
    given = context.apply<arith::NegFOp>(term.read->getType(), given);
  return {negative, given, expanded};
}

int64_t RotationMatcher::getChannel(const LinearTerm &term) {
  ArrayRef<int64_t> shape = cast<ShapedType>(match.source.getType()).getShape();
  int64_t channel = 0;
  for (auto [dim, index, extent] :
       llvm::zip_equal(match.dims, term.read->getOperands(), shape))
    if (dim.kind == SourceDim::Kind::Channels)
      channel = channel * extent + index->getInt();
  return channel;
}

/// The neighbouring dims of the root whose row-major number an index is.
static std::optional<SourceDim> getFollowed(const Expr *index,
                                            ArrayRef<int64_t> rootShape) {
  if (index->getKind() == Expr::Kind::Sym)
    return SourceDim{SourceDim::Kind::Follows, index->getNumber()};
  if (index->getKind() != Expr::Kind::Linear || index->getInt() != 0)
    return std::nullopt;
  SmallVector<std::pair<int64_t, int64_t>> parts;
  for (auto [atom, coefficient] :
       llvm::zip(index->getOperands(), index->getCoefficients())) {
    if (atom->getKind() != Expr::Kind::Sym)
      return std::nullopt;
    parts.emplace_back(atom->getNumber(), coefficient);
  }
  llvm::sort(parts);
  int64_t stride = 1;
  for (auto [i, part] : llvm::enumerate(llvm::reverse(parts))) {
    auto [dim, coefficient] = part;
    if (coefficient != stride ||
        dim != parts.back().first - static_cast<int64_t>(i))
      return std::nullopt;
    stride *= rootShape[dim];
  }
  return SourceDim{SourceDim::Kind::Follows, parts.front().first,
                   static_cast<int64_t>(parts.size())};
}

/// Whether a dim of the source is known to be as long as the dims of the root
/// that it follows: rows that the root leaves out are none of its own.
bool RotationMatcher::hasExtentOf(unsigned dim, const SourceDim &followed) {
  const Expr *extent = context.getInt(1);
  for (int64_t i = 0; i < followed.count; ++i)
    extent = context.mul(
        extent, evaluator.evaluateExtent(match.root, followed.value + i));
  return evaluator.evaluateExtent(match.source, dim) == extent;
}

/// The dims of the root that a dim of the source follows, read at an index that
/// is no constant.
FailureOr<SourceDim> RotationMatcher::findFollowed(unsigned dim,
                                                   const Expr *index) {
  auto followed =
      getFollowed(index, cast<ShapedType>(match.root.getType()).getShape());
  if (!followed)
    return fail("dims of the source are not dims of the result");
  if (!hasExtentOf(dim, *followed))
    return fail("the source is not known to be as long as the result");
  return *followed;
}

/// All reads agree on what a dim of the source is.
LogicalResult RotationMatcher::matchDim(unsigned dim) {
  const Expr *first = forms.front().front().read->getOperands()[dim];
  bool equal = true;
  for (const LinearForm &form : forms)
    for (const LinearTerm &term : form) {
      const Expr *index = term.read->getOperands()[dim];
      equal &= index == first;
      if (index != first && !(index->isInt() && first->isInt()))
        return fail("channels are read from different places");
    }
  if (!equal) {
    match.dims.push_back({SourceDim::Kind::Channels});
  } else if (first->isInt()) {
    match.dims.push_back({SourceDim::Kind::Fixed, first->getInt()});
  } else {
    FailureOr<SourceDim> followed = findFollowed(dim, first);
    if (failed(followed))
      return failure();
    match.dims.push_back(*followed);
  }
  return success();
}

/// Dims of extent 1 of the source are those of the root at the same place, so
/// that no reshape is needed for them.
void RotationMatcher::followUnitDims(llvm::SmallDenseSet<int64_t> &followed) {
  ArrayRef<int64_t> root = cast<ShapedType>(match.root.getType()).getShape();
  ArrayRef<int64_t> source =
      cast<ShapedType>(match.source.getType()).getShape();
  if (root.size() != source.size())
    return;
  for (auto [dim, is] : llvm::enumerate(match.dims)) {
    int64_t at = dim;
    if (is.kind == SourceDim::Kind::Fixed && source[dim] == 1 &&
        root[dim] == 1 && !match.isChannelDim(at) && followed.insert(at).second)
      is = {SourceDim::Kind::Follows, at};
  }
}

LogicalResult RotationMatcher::matchDims() {
  auto type = cast<RankedTensorType>(match.source.getType());
  llvm::SmallDenseSet<int64_t> followed;
  std::optional<int64_t> lastOfChannels;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (failed(matchDim(dim)))
      return failure();
    SourceDim &last = match.dims.back();
    for (int64_t i = 0; last.follows(last.value + i); ++i)
      if (!followed.insert(last.value + i).second)
        return fail("two dims of the source are one dim of the result");
    if (last.kind != SourceDim::Kind::Channels)
      continue;
    if (lastOfChannels && *lastOfChannels != dim - 1)
      return fail("the channels of the source are not neighbours");
    lastOfChannels = dim;
  }
  followUnitDims(followed);
  // A dim of the result that the source lacks is a repetition.
  auto root = cast<RankedTensorType>(match.root.getType());
  for (int64_t dim = 0; dim < root.getRank(); ++dim)
    if (!match.isChannelDim(dim) && root.getDimSize(dim) != 1 &&
        !followed.contains(dim)) {
      if (root.isDynamicDim(dim))
        return fail("the result repeats the source a dynamic number of times");
      match.repeated.push_back(dim);
    }
  return success();
}

const Expr *rope::stripFactor(ElementEvaluator &evaluator, const Expr *element,
                              Value source, double &factor) {
  while (true) {
    ArrayRef<const Expr *> operands = element->getOperands();
    if (element->getKind() == Expr::Kind::Read) {
      const Expr *step =
          element->getValue() == source ? nullptr : evaluator.expand(element);
      if (!step)
        return element;
      element = step;
    } else if (element->isa<arith::ExtFOp>() ||
               element->isa<arith::TruncFOp>()) {
      element = operands[0];
    } else if (element->isa<arith::MulFOp>()) {
      std::optional<double> first = peelConstant(evaluator, operands[0]);
      std::optional<double> second =
          first ? first : peelConstant(evaluator, operands[1]);
      if (!second || *second <= 0)
        return element;
      factor *= *second;
      element = operands[first ? 1 : 0];
    } else if (element->isa<arith::DivFOp>()) {
      std::optional<double> divisor = peelConstant(evaluator, operands[1]);
      if (!divisor || *divisor <= 0)
        return element;
      factor /= *divisor;
      element = operands[0];
    } else {
      return element;
    }
  }
}

const Expr *RotationMatcher::getElement(int64_t channel) {
  return context.getRead(match.root,
                         getRootIndex(evaluator, match.root, match.rootDim,
                                      match.rootDims, channel));
}

/// The channels of the root, without the factor that all of them have outside
/// of the sum: the scale of attention is often applied there.
SmallVector<const Expr *> RotationMatcher::getElements() {
  SmallVector<const Expr *> whole, stripped;
  bool common = true;
  for (int64_t c = 0, e = match.getNumChannels(); c < e; ++c) {
    whole.push_back(getElement(c));
    double factor = 1;
    stripped.push_back(
        stripFactor(evaluator, whole.back(), match.source, factor));
    common &= c == 0 || factor == match.factor;
    match.factor = factor;
  }
  if (common && match.factor != 1)
    return stripped;
  match.factor = 1;
  return whole;
}

FailureOr<LinearForm> RotationMatcher::buildForm(int64_t channel,
                                                 const Expr *element) {
  FailureOr<LinearForm> form = builder.build(element);
  if (failed(form))
    return fail(builder.getReason());
  llvm::erase_if(*form, [&](const LinearTerm &term) {
    return evaluator.expandFully(term.coefficient)->isFloat(0);
  });
  if (form->empty() || form->size() > 2)
    return fail("channel " + Twine(channel) + " has " + Twine(form->size()) +
                " terms");
  return form;
}

LogicalResult RotationMatcher::buildForms() {
  for (auto [c, element] : llvm::enumerate(getElements())) {
    FailureOr<LinearForm> form = buildForm(c, element);
    if (failed(form))
      return failure();
    forms.push_back(std::move(*form));
  }
  return success();
}

/// Most attempts fail at every channel, so that one is looked at before all.
LogicalResult RotationMatcher::checkFirstElement() {
  FailureOr<LinearForm> form = buildForm(0, getElement(0));
  if (failed(form))
    return failure();
  for (auto [dim, index] : llvm::enumerate(form->front().read->getOperands()))
    if (!index->isInt() && failed(findFollowed(dim, index)))
      return failure();
  return success();
}

LogicalResult RotationMatcher::matchUnchanged(int64_t channel) {
  const LinearTerm &term = forms[channel].front();
  if (!evaluator.expandFully(term.coefficient)->isFloat(1))
    return fail("channel " + Twine(channel) + " is scaled, and not turned");
  match.unchanged.emplace_back(getChannel(term), channel);
  return success();
}

/// [[cosU, −sinU], [sinV, cosV]], by signs first and then by values.
LogicalResult RotationMatcher::checkPair(RotatedPair &pair,
                                         SignedCoefficient cosU,
                                         SignedCoefficient sinU,
                                         SignedCoefficient cosV,
                                         SignedCoefficient sinV) {
  if (sinU.negative == sinV.negative)
    return fail("the two sines have the same sign: not orthogonal");
  if (cosU.negative || cosV.negative)
    return fail("a cosine is negated");
  bool turnsBack = sinV.negative;
  if (inverse && *inverse != turnsBack)
    return fail("pairs turn in different directions");
  inverse = turnsBack;
  bool equal = cosU.expanded == cosV.expanded && sinU.expanded == sinV.expanded;
  match.full |= !equal;
  pair.cos[0] = cosU.given;
  pair.cos[1] = cosV.given;
  pair.sin[0] = sinU.given;
  pair.sin[1] = sinV.given;
  match.pairs.push_back(pair);
  return success();
}

LogicalResult RotationMatcher::matchPair(int64_t first, int64_t second) {
  LinearForm rows[2] = {forms[first], forms[second]};
  for (LinearForm &row : rows)
    llvm::sort(row, [&](const LinearTerm &a, const LinearTerm &b) {
      return getChannel(a) < getChannel(b);
    });
  int64_t u = getChannel(rows[0][0]), v = getChannel(rows[0][1]);
  SignedCoefficient m[2][2];
  for (int r : {0, 1})
    for (int c : {0, 1})
      m[r][c] = getCoefficient(rows[r][c]);
  // The first row is that of u unless its coefficient of u is a sine.
  bool swapped = isSine(m[0][0].expanded) && !isSine(m[0][1].expanded);
  RotatedPair pair = {u, v, first, second, {}, {}};
  if (swapped && first == u)
    return fail("cosines and sines have changed places");
  if (!swapped)
    return checkPair(pair, m[0][0], m[0][1], m[1][1], m[1][0]);
  std::swap(pair.writtenU, pair.writtenV);
  return checkPair(pair, m[1][0], m[1][1], m[0][1], m[0][0]);
}

LogicalResult RotationMatcher::pairUp() {
  // The channels that each pair of source channels goes to.
  llvm::MapVector<std::pair<int64_t, int64_t>, SmallVector<int64_t>> targets;
  for (auto [c, form] : llvm::enumerate(forms)) {
    if (form.size() == 1) {
      if (failed(matchUnchanged(c)))
        return failure();
      continue;
    }
    auto [low, high] = std::minmax(getChannel(form[0]), getChannel(form[1]));
    targets[{low, high}].push_back(c);
  }
  llvm::SmallDenseSet<int64_t> used;
  for (auto [from, to] : match.unchanged)
    if (!used.insert(from).second)
      return fail("channel " + Twine(from) + " is used twice");
  for (auto &[channels, to] : targets) {
    if (to.size() != 2)
      return fail("channels " + Twine(channels.first) + " and " +
                  Twine(channels.second) + " go to " + Twine(to.size()) +
                  " channels");
    if (!used.insert(channels.first).second ||
        !used.insert(channels.second).second)
      return fail("channel " + Twine(channels.first) + " or " +
                  Twine(channels.second) + " is in two pairs");
    if (failed(matchPair(to[0], to[1]))) {
      why.mixedSource = match.source;
      return failure();
    }
  }
  if (match.pairs.empty())
    return fail("no channel turns");
  llvm::sort(match.pairs, [](const RotatedPair &a, const RotatedPair &b) {
    return a.u < b.u;
  });
  return success();
}

static bool readsSymbolOtherThan(const Expr *expr,
                                 const llvm::SmallDenseSet<int64_t> &known,
                                 llvm::SmallDenseSet<const Expr *> &seen) {
  if (!seen.insert(expr).second)
    return false;
  if (expr->getKind() == Expr::Kind::Sym)
    return !known.contains(expr->getNumber());
  return llvm::any_of(expr->getOperands(), [&](const Expr *operand) {
    return readsSymbolOtherThan(operand, known, seen);
  });
}

/// A product of two complex numbers is a rotation of either by the other. The
/// table is the one with fewer dims.
LogicalResult RotationMatcher::checkTableDims() {
  llvm::SmallDenseSet<int64_t> followed;
  for (const SourceDim &dim : match.dims)
    for (int64_t i = 0; dim.follows(dim.value + i); ++i)
      followed.insert(dim.value + i);
  llvm::SmallDenseSet<const Expr *> seen;
  for (const RotatedPair &pair : match.pairs)
    for (const Expr *coefficient : {pair.cos[0], pair.sin[0]})
      if (readsSymbolOtherThan(coefficient, followed, seen))
        return fail("the table varies along a dim that the source lacks");
  return success();
}

FailureOr<RotationMatch> RotationMatcher::run() {
  if (failed(checkFirstElement()) || failed(buildForms()) ||
      failed(matchDims()) || failed(pairUp()) || failed(checkTableDims()))
    return failure();
  match.inverse = *inverse;
  return match;
}
