//===- FuseMasks.cpp - Masks that are positions and lengths ---------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mask that the model computes is looked at element by element: what compares
// the key with the row, or with a length, is an attribute or an operand of
// attention, and its tensor need not exist. What is left stays a mask.
//
//===----------------------------------------------------------------------===//

#include "AttentionEdits.h"
#include "Fuse.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rope/Analysis/KeyBands.h"
#include "rope/Raise/ExprBuilder.h"
#include "rope/Transforms/Transforms.h"

#include <limits>

using namespace mlir;
using namespace mlir::rope;

/// What a float mask adds to the score of a key that a row does not see.
static constexpr double kHidden = -std::numeric_limits<double>::infinity();

namespace {
/// The symbols of a mask's dims, by dim of the domain; the group (hg) has its
/// own.
class MaskSymbols {
public:
  MaskSymbols(ElementEvaluator &evaluator, AttentionLikeOpInterface op);

  /// The symbol of a dim; null if the mask does not have it.
  const Expr *get(DomainDim dim) const {
    return symbols[static_cast<unsigned>(dim)];
  }
  ArrayRef<const Expr *> getIndex() const { return index; }

private:
  std::array<const Expr *, kNumDomainDims> symbols = {};
  SmallVector<const Expr *> index;
};

/// Takes the mask of one op apart.
template <typename OpTy> class MaskFuser {
public:
  MaskFuser(ElementEvaluator &evaluator, ConstantBands &constants, OpTy op)
      : evaluator(evaluator), context(evaluator.getContext()),
        constants(constants), op(op), symbols(evaluator, op), builder(op) {}

  bool run();

private:
  bool splitIntoTruths(const Expr *mask, SmallVectorImpl<const Expr *> &terms);
  FailureOr<Value> build(const Expr *expr, Type type, bool perBatch);
  FailureOr<Value> buildRest(const KeyBands &bands);
  LogicalResult apply(const KeyBands &bands);

  ElementEvaluator &evaluator;
  ExprContext &context;
  ConstantBands &constants;
  OpTy op;
  MaskSymbols symbols;
  OpBuilder builder;
};
} // namespace

MaskSymbols::MaskSymbols(ElementEvaluator &evaluator,
                         AttentionLikeOpInterface op) {
  ExprContext &context = evaluator.getContext();
  Value mask = op.getRoleOperand(OperandRole::Mask);
  for (auto [i, label] : llvm::enumerate(op.getLabels(OperandRole::Mask))) {
    int64_t extent = cast<ShapedType>(mask.getType()).getDimSize(i);
    if (label.empty() || extent == 1) {
      index.push_back(context.getInt(0));
      continue;
    }
    // The numbers of single dims come before that of the group.
    unsigned number = label.size() == 1 ? static_cast<unsigned>(label.front())
                                        : kNumDomainDims;
    const Expr *dynamic = ShapedType::isDynamic(extent)
                              ? evaluator.evaluateExtent(mask, i)
                              : nullptr;
    index.push_back(context.getSym(number, extent, dynamic));
    if (label.size() == 1)
      symbols[number] = index.back();
  }
}

/// Reads a mask as a conjunction of truths: a boolean, or 0 where true and −∞
/// where not. A finite number in its place hides nothing where it hides all.
template <typename OpTy>
bool MaskFuser<OpTy>::splitIntoTruths(const Expr *mask,
                                      SmallVectorImpl<const Expr *> &terms) {
  if (!isa<FloatType>(getElementTypeOrSelf(op.getMask()))) {
    terms.push_back(mask);
    return true;
  }
  if (mask->isFloat(0))
    return true;
  ArrayRef<const Expr *> operands = mask->getOperands();
  if (mask->isa<arith::AddFOp>())
    return splitIntoTruths(operands[0], terms) &&
           splitIntoTruths(operands[1], terms);
  if (!mask->isa<arith::SelectOp>())
    return false;
  const Expr *truth = operands[0];
  if (operands[2]->isFloat(kHidden)) {
    terms.push_back(truth);
    return splitIntoTruths(operands[1], terms);
  }
  if (!operands[1]->isFloat(kHidden))
    return false;
  terms.push_back(context.apply<arith::XOrIOp>(builder.getI1Type(),
                                               {truth, context.getInt(1)}));
  return splitIntoTruths(operands[2], terms);
}

/// An integer or truth as a tensor: of one element, or one for each batch.
template <typename OpTy>
FailureOr<Value> MaskFuser<OpTy>::build(const Expr *expr, Type type,
                                        bool perBatch) {
  ExprDomain domain;
  if (perBatch) {
    domain.symbols.push_back(symbols.get(DomainDim::B)->getNumber());
    domain.extents.push_back(AttentionLikeOpInterface(op).getExtent(
        builder, op.getLoc(), DomainDim::B));
  }
  std::string reason;
  return buildColumns(builder, op.getLoc(), evaluator, domain, expr, type,
                      /*scalar=*/true, reason);
}

static bool dependsOn(const Expr *expr, const Expr *symbol) {
  if (expr == symbol)
    return true;
  return symbol && llvm::any_of(expr->getOperands(), [&](const Expr *operand) {
           return dependsOn(operand, symbol);
         });
}

/// What is no band, as a boolean mask of the same dims; null if nothing.
template <typename OpTy>
FailureOr<Value> MaskFuser<OpTy>::buildRest(const KeyBands &bands) {
  if (bands.keep.empty())
    return Value();
  const Expr *keep = nullptr;
  for (const Expr *term : bands.keep)
    keep = keep
               ? context.apply<arith::AndIOp>(builder.getI1Type(), {keep, term})
               : term;
  ExprDomain domain;
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, op.getLoc(), op.getMask());
  for (auto [i, size] : llvm::zip_equal(symbols.getIndex(), sizes)) {
    if (i->isInt())
      continue;
    domain.symbols.push_back(i->getNumber());
    domain.extents.push_back(size);
  }
  std::string reason;
  return buildColumns(builder, op.getLoc(), evaluator, domain, keep,
                      builder.getI1Type(),
                      /*scalar=*/true, reason);
}

template <typename OpTy>
LogicalResult MaskFuser<OpTy>::apply(const KeyBands &bands) {
  const Expr *batch = symbols.get(DomainDim::B);
  FailureOr<Value> start = Value(), length = Value();
  Type position = builder.getI64Type();
  bool startPerBatch = bands.queryStart && dependsOn(bands.queryStart, batch);
  bool lengthPerBatch = bands.keyLength && dependsOn(bands.keyLength, batch);
  if (bands.queryStart)
    start = build(bands.queryStart, position, startPerBatch);
  if (bands.keyLength)
    length = build(bands.keyLength, position, lengthPerBatch);
  FailureOr<Value> rest = buildRest(bands);
  if (failed(start) || failed(length) || failed(rest))
    return failure();
  auto getLabels = [](bool perBatch) {
    return perBatch ? DimLabels{{DomainDim::B}} : DimLabels();
  };
  if (*start)
    setRoleOperand(op, OperandRole::QueryPos, *start, getLabels(startPerBatch));
  if (*length)
    setRoleOperand(op, OperandRole::KeyLength, *length,
                   getLabels(lengthPerBatch));
  // No key after the row is what causal says.
  std::optional<int64_t> right = bands.right;
  if (right == 0) {
    op.setCausal(true);
    right.reset();
  }
  if (bands.left || right)
    op.setWindow(
        ArrayRef<int64_t>{bands.left.value_or(-1), right.value_or(-1)});
  if (*rest) {
    // Dims of extent 1 are left out.
    DimLabels labels;
    for (auto [label, i] : llvm::zip_equal(
             AttentionLikeOpInterface(op).getLabels(OperandRole::Mask),
             symbols.getIndex()))
      if (!i->isInt())
        labels.push_back(label);
    setRoleOperand(op, OperandRole::Mask, *rest, labels);
  } else {
    op.getMaskMutable().clear();
    setLabels(op, OperandRole::Mask, {});
  }
  return success();
}

template <typename OpTy> bool MaskFuser<OpTy>::run() {
  const Expr *mask =
      evaluator.expandFully(context.getRead(op.getMask(), symbols.getIndex()));
  if (evaluator.isBudgetSpent())
    return false;
  // Positions and bands that attention has are of another origin.
  bool isOrdered = op.getCausal() || op.getWindow();
  bool isPlain = !op.getQueryPos() && !op.getKeyPos();
  KeyBandFinder finder(
      evaluator, isPlain && !isOrdered ? symbols.get(DomainDim::M) : nullptr,
      symbols.get(DomainDim::N), constants);
  finder.allowPositions(symbols.get(DomainDim::B),
                        /*length=*/!op.getKeyLength());
  SmallVector<const Expr *> truths;
  bool isTruth = !isa<FloatType>(getElementTypeOrSelf(op.getMask()));
  if (splitIntoTruths(mask, truths)) {
    for (const Expr *truth : truths)
      finder.addTruth(truth);
    if (isTruth && !finder.getBands().isFound() &&
        !finder.getBands().keep.empty())
      return false;
  } else if (!finder.addConstant(mask, kHidden)) {
    return false;
  }
  if (failed(apply(finder.getBands())))
    return false;
  reportFused(op, "fuse-mask", "mask read as positions, lengths and truths");
  return true;
}

template <typename OpTy>
static bool fuseMask(Operation *op, ElementEvaluator &evaluator,
                     ConstantBands &constants) {
  auto attention = dyn_cast<OpTy>(op);
  return attention && attention.getMask() &&
         attention.hasPureTensorSemantics() &&
         MaskFuser<OpTy>(evaluator, constants, attention).run();
}

bool rope::fuseMasks(Operation *root) {
  ExprContext context(root->getContext());
  ElementEvaluator evaluator(context);
  ConstantBands constants;
  bool changed = false;
  // Nothing that was evaluated is erased meanwhile.
  root->walk([&](Operation *op) {
    changed |= fuseMask<AttentionOp>(op, evaluator, constants) ||
               fuseMask<OnlineAttentionOp>(op, evaluator, constants);
  });
  return changed;
}
