//===- MaskClassifier.cpp - What a mask shows -----------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A comparison of n with m shifted by a constant is a band; everything else
// stays an expression.
//
//===----------------------------------------------------------------------===//

#include "rope/Analysis/MaskClassifier.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::rope;

namespace {
class Classifier {
public:
  Classifier(ElementEvaluator &evaluator, const OperandMatch &match)
      : evaluator(evaluator), context(evaluator.getContext()),
        row(match.getSymbol(DomainDim::M)), key(match.getSymbol(DomainDim::N)) {
  }

  void add(const MaskTerm &term);
  MaskBands bands;

private:
  void addKeep(const Expr *keep);
  bool addBand(const Expr *keep);
  void limit(std::optional<int64_t> &side, int64_t bound) {
    side = side ? std::min(*side, bound) : bound;
  }

  ElementEvaluator &evaluator;
  ExprContext &context;
  /// Null for a single row.
  const Expr *row;
  const Expr *key;
};
} // namespace

/// The bound b of `difference ≤ b` that a comparison of lhs and rhs states,
/// where difference = lhs − rhs or its opposite; nullopt for equalities.
static std::optional<std::pair<int64_t, bool>>
getBound(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return std::make_pair(0, false);
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return std::make_pair(-1, false);
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return std::make_pair(0, true);
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return std::make_pair(-1, true);
  default:
    return std::nullopt;
  }
}

static bool isUnsigned(arith::CmpIPredicate predicate) {
  return predicate == arith::CmpIPredicate::ule ||
         predicate == arith::CmpIPredicate::ult ||
         predicate == arith::CmpIPredicate::uge ||
         predicate == arith::CmpIPredicate::ugt;
}

/// Whether an integer is a sum of indices and of nothing below zero.
static bool isNonNegative(const Expr *expr) {
  if (expr->getKind() == Expr::Kind::Sym)
    return true;
  if (expr->isInt())
    return expr->getInt() >= 0;
  return expr->getKind() == Expr::Kind::Linear && expr->getInt() >= 0 &&
         llvm::all_of(expr->getCoefficients(),
                      [](int64_t factor) { return factor >= 0; }) &&
         llvm::all_of(expr->getOperands(), [](const Expr *atom) {
           return atom->getKind() == Expr::Kind::Sym;
         });
}

bool Classifier::addBand(const Expr *keep) {
  if (!row || !keep->isa<arith::CmpIOp>())
    return false;
  arith::CmpIPredicate predicate =
      cast<arith::CmpIPredicateAttr>(keep->getAttr()).getValue();
  auto bound = getBound(predicate);
  // Below zero, an unsigned comparison sees a large number.
  if (!bound || (isUnsigned(predicate) &&
                 !llvm::all_of(keep->getOperands(), isNonNegative)))
    return false;
  auto [limitOf, opposite] = *bound;
  const Expr *difference =
      context.sub(keep->getOperands()[0], keep->getOperands()[1]);
  if (opposite)
    difference = context.mul(difference, context.getInt(-1));
  // n − m + c ≤ b, or m − n + c ≤ b.
  for (auto [first, second, side] : {std::tuple(key, row, &bands.right),
                                     std::tuple(row, key, &bands.left)}) {
    const Expr *rest = context.sub(difference, context.sub(first, second));
    if (!rest->isInt())
      continue;
    int64_t most = limitOf - rest->getInt();
    // A row must see itself, or its band is no band of attention.
    if (most < 0)
      return false;
    limit(*side, most);
    return true;
  }
  return false;
}

void Classifier::addKeep(const Expr *keep) {
  if (keep->isa<arith::AndIOp>()) {
    for (const Expr *operand : keep->getOperands())
      addKeep(operand);
    return;
  }
  if (!keep->isInt(1) && !addBand(keep))
    bands.keep.push_back(keep);
}

void Classifier::add(const MaskTerm &term) {
  if (term.keep)
    return addKeep(evaluator.expandFully(term.keep));
  const Expr *addend = evaluator.expandFully(term.addend);
  if (addend->isFloat(0))
    return;
  // select(band, 0, very negative)
  if (addend->isa<arith::SelectOp>()) {
    ArrayRef<const Expr *> operands = addend->getOperands();
    bool hides = operands[2]->getKind() == Expr::Kind::Float &&
                 operands[2]->getFloat() < -1e30;
    if (operands[1]->isFloat(0) && hides && addBand(operands[0]))
      return;
  }
  bands.addends.push_back(term.addend);
}

MaskBands rope::classifyMasks(ElementEvaluator &evaluator,
                              const OperandMatch &match,
                              ArrayRef<MaskTerm> masks) {
  Classifier classifier(evaluator, match);
  for (const MaskTerm &term : masks)
    classifier.add(term);
  MaskBands &bands = classifier.bands;
  // No key after the row is what causal says.
  if (bands.right == 0) {
    bands.causal = true;
    bands.right.reset();
  }
  return bands;
}
