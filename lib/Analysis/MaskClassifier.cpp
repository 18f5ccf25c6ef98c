//===- MaskClassifier.cpp - What a mask shows -----------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// KeyBandFinder finds the bands; which of a model's masks are truths is told
// apart here.
//
//===----------------------------------------------------------------------===//

#include "rope/Analysis/MaskClassifier.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "rope/Analysis/KeyBands.h"

#include <limits>

using namespace mlir;
using namespace mlir::rope;

/// Masks at or below this hide a key beside one that is shown.
static constexpr double kHidden = -1e30;

namespace {
class Classifier {
public:
  Classifier(ElementEvaluator &evaluator, const OperandMatch &match)
      : evaluator(evaluator), row(match.getSymbol(DomainDim::M)),
        key(match.getSymbol(DomainDim::N)),
        finder(evaluator, row, key, constants) {}

  void add(const MaskTerm &term);
  MaskBands finish();

private:
  bool addNumbers(const Expr *addend, double hidden);
  bool showsAKey(const KeyBands &bands) const;
  void settleAddends();

  ElementEvaluator &evaluator;
  /// Null for a single row.
  const Expr *row;
  const Expr *key;
  ConstantBands constants;
  KeyBandFinder finder;
  /// As they are given.
  SmallVector<const Expr *> addends;
};
} // namespace

/// Whether each row sees a key of a band, which has its own: there must be one.
bool Classifier::showsAKey(const KeyBands &bands) const {
  if (!bands.left)
    return true;
  if (ShapedType::isDynamic(row->getExtent()))
    return row->getDynamicExtent() &&
           row->getDynamicExtent() == key->getDynamicExtent();
  return !ShapedType::isDynamic(key->getExtent()) &&
         row->getExtent() <= key->getExtent();
}

/// Adds numbers that are 0 in a band, and at most `hidden` outside. Where a row
/// sees no key, finite numbers hide none, so that only whole bands count.
bool Classifier::addNumbers(const Expr *addend, double hidden) {
  KeyBandFinder attempt = finder;
  addend = evaluator.expandFully(addend);
  ArrayRef<const Expr *> operands = addend->getOperands();
  bool isChoice = addend->isa<arith::SelectOp>() && operands[1]->isFloat(0) &&
                  operands[2]->getKind() == Expr::Kind::Float &&
                  operands[2]->getFloat() <= hidden;
  if (isChoice)
    attempt.addTruth(operands[0]);
  else if (!attempt.addConstant(addend, hidden))
    return false;
  const KeyBands &bands = attempt.getBands();
  if (bands.keep.size() != finder.getBands().keep.size() || !bands.hasBand() ||
      !showsAKey(bands))
    return false;
  finder = std::move(attempt);
  return true;
}

void Classifier::add(const MaskTerm &term) {
  if (term.keep)
    return finder.addTruth(evaluator.expandFully(term.keep));
  if (!evaluator.expandFully(term.addend)->isFloat(0))
    addends.push_back(term.addend);
}

/// Takes addends for bands. Beside another mask a row may see no key of a band,
/// and those that finite numbers hide instead: then only infinite ones count.
void Classifier::settleAddends() {
  llvm::erase_if(addends, [&](const Expr *addend) {
    return addNumbers(addend, -std::numeric_limits<double>::infinity());
  });
  // Which constants are bands depends on what hides.
  constants.clear();
  KeyBandFinder before = finder;
  if (finder.getBands().keep.empty() &&
      llvm::all_of(addends, [&](const Expr *addend) {
        return addNumbers(addend, kHidden);
      }))
    addends.clear();
  else
    finder = std::move(before);
}

MaskBands Classifier::finish() {
  settleAddends();
  const KeyBands &found = finder.getBands();
  MaskBands bands = {/*causal=*/false, found.left, found.right, found.keep,
                     addends};
  // No key after the row is what causal says.
  if (bands.right == 0) {
    bands.causal = true;
    bands.right.reset();
  }
  return bands;
}

MaskBands rope::classifyMasks(ElementEvaluator &evaluator,
                              const OperandMatch &match,
                              ArrayRef<MaskTerm> masks) {
  Classifier classifier(evaluator, match);
  for (const MaskTerm &term : masks)
    classifier.add(term);
  return classifier.finish();
}
