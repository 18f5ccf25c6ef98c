//===- OperandMatch.cpp - Operands of contractions ------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OperandMatch.h"

#include "Quotient.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "rope/IR/ElementTypes.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace mlir::rope;

/// Symbols of the contracted dims, beyond those of results.
static constexpr int64_t kKeySymbol = 1000;
static constexpr int64_t kChannelSymbol = 1001;
static constexpr int64_t kFirstSplitSymbol = 1002;

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

LogicalResult OperandMatcher::makeKey(const Expr *product) {
  std::optional<unsigned> dim = evaluator.getReductionDim(product);
  if (!dim)
    return fail("not a contraction of one dim");
  key = context.getSym(kKeySymbol, evaluator.getReductionExtents(product)[*dim],
                       evaluator.evaluateReductionExtent(product, *dim));
  return success();
}

FailureOr<ProductFactors>
OperandMatcher::getFactors(const Expr *product, ArrayRef<const Expr *> at) {
  std::optional<Reduction> sum = evaluator.evaluateReduction(product, at);
  if (!sum || sum->kind != Reduction::Kind::Sum)
    return LogicalResult(fail("not a contraction"));
  ProductFactors result;
  result.factors = rope::getFactors(evaluator, sum->element, result.constant);
  return result;
}

FailureOr<ProductFactors>
OperandMatcher::getProductOverKeys(const Expr *product) {
  SmallVector<const Expr *> at(evaluator.getReductionExtents(product).size(),
                               context.getInt(0));
  at[*evaluator.getReductionDim(product)] = key;
  return getFactors(product, at);
}

FailureOr<ProductFactors>
OperandMatcher::getProductOverChannels(const Expr *product) {
  SmallVector<int64_t> extents = evaluator.getReductionExtents(product);
  // Several dims of channels count as one.
  int64_t count = 1;
  for (int64_t extent : extents) {
    if (ShapedType::isDynamic(extent))
      return LogicalResult(fail("scores are contracted over a dynamic dim"));
    count *= extent;
  }
  channel = context.getSym(kChannelSymbol, count);
  channels.insert(channel);
  SmallVector<const Expr *> at(extents.size());
  const Expr *rest = channel;
  for (size_t i = extents.size(); i-- > 0;) {
    const Expr *extent = context.getInt(extents[i]);
    at[i] = i == 0 ? rest : context.mod(rest, extent);
    rest = context.floorDiv(rest, extent);
  }
  return getFactors(product, at);
}

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

/// Whether the dims of a tensor that are read at a symbol end where it does,
/// and those that are read at a constant have nothing else: one of several
/// tensors that are packed into one is no operand by itself.
bool OperandMatcher::isWhole(const Expr *read) {
  ArrayRef<int64_t> shape =
      cast<ShapedType>(read->getValue().getType()).getShape();
  return llvm::all_of(llvm::enumerate(read->getOperands()), [&](auto entry) {
    const Expr *index = entry.value();
    if (index->isInt())
      return shape[entry.index()] == 1;
    return index->getKind() != Expr::Kind::Sym ||
           hasExtentOf(read->getValue(), entry.index(), index);
  });
}

FailureOr<MatchedOperand> OperandMatcher::findOperand(const Expr *element,
                                                      double *scale) {
  std::optional<MatchedOperand> found;
  double factor = 1;
  double &foundFactor = scale ? *scale : factor;
  const double outer = foundFactor;
  Type refused;
  while (element) {
    if (element->getKind() == Expr::Kind::Read) {
      if (!isOpFloat(element->getType())) {
        refused = element->getType();
      } else if (llvm::all_of(element->getOperands(), isDimLike) &&
                 isWhole(element)) {
        found = {element->getValue(),
                 SmallVector<const Expr *>(element->getOperands())};
        foundFactor = outer * factor;
      }
      element =
          evaluator.isReduction(element) ? nullptr : evaluator.expand(element);
    } else if (element->isa<arith::ExtFOp>()) {
      element = element->getOperands()[0];
    } else if (scale && (element->isa<arith::MulFOp>() ||
                         element->isa<arith::DivFOp>())) {
      SmallVector<const Expr *> operands(element->getOperands());
      std::optional<double> number = peelConstant(evaluator, operands[1]);
      if (!number && element->isa<arith::MulFOp>()) {
        std::swap(operands[0], operands[1]);
        number = peelConstant(evaluator, operands[1]);
      }
      if (!number || *number == 0)
        break;
      factor =
          element->isa<arith::MulFOp>() ? factor * *number : factor / *number;
      element = operands[0];
    } else {
      break;
    }
  }
  if (!found)
    return LogicalResult(
        fail(refused ? "an operand is of " + llvm::to_string(refused)
                     : "an operand stands in no tensor"));
  return *found;
}

/// Whether a dim of an operand is known to be as long as what is read of it:
/// the rest of a longer one, such as a cache, is no part of the attention.
bool OperandMatcher::hasExtentOf(Value tensor, int64_t dim, const Expr *index) {
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

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

/// Whether a symbol comes apart evenly; one of dynamic extent is compared with
/// the extents of operands later. The channels are never split.
static bool isSplittable(const Expr *symbol, const Expr *divisor) {
  return symbol->getKind() == Expr::Kind::Sym &&
         symbol->getNumber() != kChannelSymbol &&
         symbol->getNumber() != kKeySymbol && divisor->isInt() &&
         divisor->getInt() > 0 &&
         (ShapedType::isDynamic(symbol->getExtent()) ||
          symbol->getExtent() % divisor->getInt() == 0);
}

/// A division of a symbol by a constant within an index, or null.
static const Expr *findDivision(const Expr *index,
                                llvm::SmallDenseSet<const Expr *> &seen) {
  if (!seen.insert(index).second)
    return nullptr;
  if (index->isa<arith::FloorDivSIOp>() &&
      isSplittable(index->getOperands()[0], index->getOperands()[1]))
    return index;
  for (const Expr *operand : index->getOperands())
    if (const Expr *found = findDivision(operand, seen))
      return found;
  return nullptr;
}

/// Replaces a symbol of the result's index by divisor · outer + inner.
void OperandMatcher::split(const Expr *symbol, int64_t divisor) {
  int64_t extent = symbol->getExtent();
  const Expr *dynamic = symbol->getDynamicExtent();
  const Expr *outer = context.getSym(
      kFirstSplitSymbol + splits++,
      ShapedType::isDynamic(extent) ? extent : extent / divisor,
      dynamic ? context.floorDiv(dynamic, context.getInt(divisor)) : nullptr);
  const Expr *inner = context.getSym(kFirstSplitSymbol + splits++, divisor);
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

bool OperandMatcher::splitSymbols() {
  llvm::SmallDenseSet<const Expr *> seen;
  for (const MatchedOperand *operand : match.getOperands())
    for (const Expr *index : operand->index)
      if (const Expr *division = findDivision(index, seen)) {
        split(division->getOperands()[0], division->getOperands()[1]->getInt());
        return true;
      }
  return false;
}

//===----------------------------------------------------------------------===//
// Names of symbols
//===----------------------------------------------------------------------===//

std::optional<SmallVector<const Expr *>> rope::getDigits(ExprContext &context,
                                                         const Expr *index) {
  if (index->getKind() == Expr::Kind::Sym)
    return SmallVector<const Expr *>{index};
  if (index->getKind() != Expr::Kind::Linear || index->getInt() != 0)
    return std::nullopt;
  SmallVector<std::pair<int64_t, const Expr *>> parts;
  for (auto [atom, coefficient] :
       llvm::zip(index->getOperands(), index->getCoefficients()))
    parts.emplace_back(coefficient, atom);
  llvm::sort(parts, [](auto &a, auto &b) { return a.first > b.first; });
  SmallVector<const Expr *> digits;
  for (auto [i, part] : llvm::enumerate(parts)) {
    const Expr *next = i + 1 < parts.size() ? parts[i + 1].second : nullptr;
    int64_t unit = next ? parts[i + 1].first : 1;
    int64_t radix = next ? next->getExtent() : 1;
    if (part.second->getKind() != Expr::Kind::Sym ||
        ShapedType::isDynamic(radix) || part.first != unit * radix)
      return std::nullopt;
    digits.push_back(part.second);
  }
  return digits;
}

static bool reads(const MatchedOperand &operand, const Expr *symbol) {
  return llvm::any_of(operand.index, [&](const Expr *index) {
    return index == symbol || llvm::is_contained(index->getOperands(), symbol);
  });
}

/// Whether a symbol shares a dim of an operand with one of others.
static bool isGrouped(const MatchedOperand &operand, const Expr *symbol,
                      ArrayRef<const Expr *> others) {
  return llvm::any_of(operand.index, [&](const Expr *index) {
    return llvm::is_contained(index->getOperands(), symbol) &&
           llvm::any_of(index->getOperands(), [&](const Expr *other) {
             return llvm::is_contained(others, other);
           });
  });
}

LogicalResult OperandMatcher::name(const Expr *symbol, DomainDim dim) {
  if (match.getSymbol(dim))
    return fail(Twine("two dims of the result are both ") +
                Twine(getLetter(dim)));
  match.domain.push_back({symbol, dim});
  return success();
}

/// b and h, in the order of the result; h is the one that shares a dim of the
/// query with the group.
LogicalResult OperandMatcher::nameShared(ArrayRef<const Expr *> shared) {
  if (shared.size() > 2)
    return fail("more dims than b, h, g and m");
  if (shared.size() == 1)
    return name(shared[0], DomainDim::H);
  if (shared.empty())
    return success();
  SmallVector<const Expr *> own;
  for (const Expr *index : match.query.index)
    for (const Expr *symbol : index->getOperands())
      if (!llvm::is_contained(shared, symbol))
        own.push_back(symbol);
  bool firstIsHead = isGrouped(match.query, shared[0], own);
  return success(succeeded(name(shared[firstIsHead ? 1 : 0], DomainDim::B)) &&
                 succeeded(name(shared[firstIsHead ? 0 : 1], DomainDim::H)));
}

/// Of the dims of the query alone the one nearest to the channels of the
/// result is m, unless it shares a dim with a head.
LogicalResult OperandMatcher::nameRows(ArrayRef<const Expr *> own) {
  if (own.size() > 2)
    return fail("more dims than b, h, g and m");
  SmallVector<const Expr *> heads;
  if (const Expr *head = match.getSymbol(DomainDim::H))
    heads.push_back(head);
  for (const Expr *symbol : llvm::reverse(own)) {
    bool isHead =
        isGrouped(match.query, symbol, heads) || match.getSymbol(DomainDim::M);
    if (failed(name(symbol, isHead ? DomainDim::G : DomainDim::M)))
      return failure();
  }
  return success();
}

LogicalResult OperandMatcher::nameSymbols() {
  SmallVector<const Expr *> shared, own;
  for (const Expr *index : match.rootIndex) {
    if (index->isInt())
      continue;
    auto digits = getDigits(context, index);
    if (!digits)
      return fail("a dim of the result does not come apart");
    for (const Expr *symbol : *digits) {
      bool inQuery = reads(match.query, symbol) ||
                     (match.added && reads(match.added->first, symbol));
      bool inKey = reads(match.key, symbol) ||
                   (match.added && reads(match.added->second, symbol));
      bool inValue = reads(match.value, symbol);
      if (inKey || (inQuery && inValue))
        shared.push_back(symbol);
      else if (inQuery)
        own.push_back(symbol);
      else if (!inValue)
        return fail("a dim of the result is in no operand");
      else if (failed(name(symbol, DomainDim::E)))
        return failure();
    }
  }
  if (failed(nameShared(shared)) || failed(nameRows(own)))
    return failure();
  match.domain.push_back({key, DomainDim::N});
  for (const Expr *symbol : channels)
    match.domain.push_back({symbol, DomainDim::D});
  return checkOperands();
}

/// Each dim of an operand is made of symbols, or of extent 1.
LogicalResult OperandMatcher::checkOperands() {
  for (const MatchedOperand *operand : match.getOperands()) {
    auto type = cast<RankedTensorType>(operand->tensor.getType());
    for (auto [dim, extent, index] :
         llvm::enumerate(type.getShape(), operand->index)) {
      if (index->isInt(0) && extent == 1)
        continue;
      auto digits = getDigits(context, index);
      if (!digits || !llvm::all_of(*digits, [&](const Expr *symbol) {
            return match.getDim(symbol).has_value();
          }))
        return fail("a dim of an operand is no dim of attention");
      if (!hasExtentOf(operand->tensor, dim, index))
        return fail("an operand is not known to be as long as what is read of "
                    "it");
    }
  }
  return success();
}
