//===- ElementBodies.cpp - What ops compute for one element ---------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scalar ops, the bodies of structured ops and elementwise ops on
// tensors.
//
//===----------------------------------------------------------------------===//

#include "ElementExpansion.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rope;

/// Reductions of at most this many steps are unrolled, as are sums of as many
/// terms that are not 0, of at most kMaxSparse.
static constexpr int64_t kMaxUnrolled = 8;
static constexpr int64_t kMaxSparse = 1024;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

namespace {
/// Evaluates values of one body: its arguments and indices are given.
class BodyEvaluator {
public:
  BodyEvaluator(ElementEvaluator &evaluator, Block *body = nullptr,
                Index iteration = {},
                llvm::function_ref<const Expr *(unsigned)> argument = {})
      : evaluator(evaluator), context(evaluator.getContext()), body(body),
        iteration(iteration), argument(argument) {}

  /// The expression of a value; null if it is computed within the body by an
  /// op that cannot be looked into, and so differs between iterations.
  const Expr *evaluateWhole(Value value) {
    const Expr *result = evaluate(value);
    return sawOpaque ? nullptr : result;
  }
  const Expr *evaluate(Value value);

private:
  const Expr *getOpaque(Value value) {
    sawOpaque |= body != nullptr;
    return context.getScalar(value);
  }
  const Expr *evaluateOp(Operation *op, Value value);
  const Expr *evaluateChoice(scf::IfOp op, unsigned result);
  const Expr *evaluateAffine(AffineExpr expr, ArrayRef<const Expr *> dims,
                             ArrayRef<const Expr *> symbols);
  SmallVector<const Expr *> evaluateAll(ValueRange values) {
    return llvm::map_to_vector(values, [&](Value v) { return evaluate(v); });
  }

  ElementEvaluator &evaluator;
  ExprContext &context;
  Block *body;
  Index iteration;
  llvm::function_ref<const Expr *(unsigned)> argument;
  llvm::SmallDenseMap<Value, const Expr *, 16> known;
  bool sawOpaque = false;
};
} // namespace

const Expr *BodyEvaluator::evaluate(Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  const Expr *result;
  auto blockArgument = dyn_cast<BlockArgument>(value);
  if (blockArgument && blockArgument.getOwner() == body)
    result = argument(blockArgument.getArgNumber());
  else if (blockArgument)
    result = context.getScalar(value);
  else if (body && !body->findAncestorOpInBlock(*value.getDefiningOp()))
    result = evaluator.evaluateScalar(value);
  else
    result = evaluateOp(value.getDefiningOp(), value);
  known[value] = result;
  return result;
}

const Expr *BodyEvaluator::evaluateAffine(AffineExpr expr,
                                          ArrayRef<const Expr *> dims,
                                          ArrayRef<const Expr *> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return context.getInt(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  const Expr *lhs = evaluateAffine(binary.getLHS(), dims, symbols);
  const Expr *rhs = evaluateAffine(binary.getRHS(), dims, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return context.add(lhs, rhs);
  case AffineExprKind::Mul:
    return context.mul(lhs, rhs);
  case AffineExprKind::FloorDiv:
    return context.floorDiv(lhs, rhs);
  case AffineExprKind::Mod:
    return context.mod(lhs, rhs);
  default:
    // ceildiv: ⌈a/b⌉ = ⌊(a + b − 1)/b⌋ for b > 0.
    return context.floorDiv(
        context.sub(context.add(lhs, rhs), context.getInt(1)), rhs);
  }
}

/// Whether an attribute allows to compute less strictly, which need not be made
/// use of.
static bool isLicence(StringRef name) {
  return llvm::is_contained({"fastmath", "overflowFlags", "isExact", "nonNeg"},
                            name);
}

/// What tells two ops of one name and type apart: all attributes but licences.
static Attribute getDiscriminator(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return compare.getPredicateAttr();
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return compare.getPredicateAttr();
  SmallVector<NamedAttribute> kept(op->getDiscardableAttrs());
  // One by one: a dictionary of all would be made anew each time.
  for (StringAttr name : op->getName().getAttributeNames())
    if (!isLicence(name))
      if (Attribute value = op->getInherentAttr(name).value_or(Attribute()))
        kept.emplace_back(name, value);
  return kept.empty() ? Attribute()
                      : DictionaryAttr::get(op->getContext(), kept);
}

static bool isBoolean(Type type) {
  return getElementTypeOrSelf(type).isInteger(1);
}

/// The op that a signed or wrapping op on booleans is on the integers 0 and 1,
/// where true is −1 to the op.
static const Expr *applyToBooleans(ExprContext &context, Operation *op,
                                   ArrayRef<const Expr *> operands) {
  Type truth = IntegerType::get(op->getContext(), 1);
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return context.apply<arith::XOrIOp>(truth, operands);
  if (isa<arith::MulIOp, arith::MaxSIOp, arith::MinUIOp>(op))
    return context.apply<arith::AndIOp>(truth, operands);
  if (isa<arith::MinSIOp, arith::MaxUIOp>(op))
    return context.apply<arith::OrIOp>(truth, operands);
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare)
    return nullptr;
  arith::CmpIPredicate predicate = compare.getPredicate();
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    predicate = arith::CmpIPredicate::ugt;
    break;
  case arith::CmpIPredicate::sle:
    predicate = arith::CmpIPredicate::uge;
    break;
  case arith::CmpIPredicate::sgt:
    predicate = arith::CmpIPredicate::ult;
    break;
  case arith::CmpIPredicate::sge:
    predicate = arith::CmpIPredicate::ule;
    break;
  default:
    break;
  }
  return context.apply<arith::CmpIOp>(
      truth, operands,
      arith::CmpIPredicateAttr::get(op->getContext(), predicate));
}

/// Casts from integers, whose width only the op knows.
static const Expr *applyCast(ExprContext &context, Operation *op, Type type,
                             const Expr *operand) {
  Type from = getElementTypeOrSelf(op->getOperand(0).getType());
  if (isa<arith::ExtSIOp, arith::IndexCastOp>(op) && isBoolean(from))
    return context.mul(operand, context.getInt(-1));
  if (isa<arith::SIToFPOp>(op) && isBoolean(from))
    return context.apply<arith::NegFOp>(
        type, context.apply<arith::UIToFPOp>(type, operand));
  // The number whose low bits are kept, as a signed one.
  if (isa<arith::TruncIOp>(op) && type.getIntOrFloatBitWidth() < 62) {
    unsigned bits = type.getIntOrFloatBitWidth();
    const Expr *modulus = context.getInt(int64_t(1) << bits);
    if (bits == 1)
      return context.mod(operand, modulus);
    const Expr *half = context.getInt(int64_t(1) << (bits - 1));
    return context.sub(context.mod(context.add(operand, half), modulus), half);
  }
  // A negative number is read without its sign.
  if (isa<arith::ExtUIOp, arith::IndexCastUIOp, arith::UIToFPOp>(op) &&
      !isBoolean(from) && from.isInteger() &&
      from.getIntOrFloatBitWidth() < 62) {
    const Expr *modulus =
        context.getInt(int64_t(1) << from.getIntOrFloatBitWidth());
    const Expr *number = context.mod(operand, modulus);
    return isa<arith::UIToFPOp>(op)
               ? context.apply<arith::SIToFPOp>(type, number)
               : number;
  }
  return nullptr;
}

/// Numbers that ops are looked into for: integers have 64 bits at most.
static bool isLookedInto(Type type) {
  return isa<ComplexType, FloatType, IndexType>(type) ||
         (type.isInteger() && type.getIntOrFloatBitWidth() <= 64);
}

/// A scalar op, or an elementwise one on elements.
static const Expr *applyOp(ExprContext &context, Operation *op, Type type,
                           ArrayRef<const Expr *> operands) {
  const Expr *special = nullptr;
  if (operands.size() == 2 && isBoolean(op->getOperand(0).getType()))
    special = applyToBooleans(context, op, operands);
  else if (operands.size() == 1)
    special = applyCast(context, op, type, operands[0]);
  if (special)
    return special;
  return context.apply(op->getName(), getDiscriminator(op), type, operands);
}

/// The branch that the condition decides for, or a choice of both.
const Expr *BodyEvaluator::evaluateChoice(scf::IfOp op, unsigned result) {
  const Expr *condition = evaluate(op.getCondition());
  auto branch = [&](Region &region) {
    return evaluate(region.front().getTerminator()->getOperand(result));
  };
  if (condition->isInt())
    return branch(condition->isInt(0) ? op.getElseRegion()
                                      : op.getThenRegion());
  return context.apply<arith::SelectOp>(
      op.getResult(result).getType(),
      {condition, branch(op.getThenRegion()), branch(op.getElseRegion())});
}

const Expr *BodyEvaluator::evaluateOp(Operation *op, Value value) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    if (const Expr *number = getConstant(context, constant))
      return number;
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return iteration.empty() ? getOpaque(value) : iteration[index.getDim()];
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return context.getRead(extract.getTensor(),
                           evaluateAll(extract.getIndices()));
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    if (std::optional<int64_t> index = dim.getConstantIndex())
      return evaluator.evaluateExtent(dim.getSource(), *index);
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    SmallVector<const Expr *> operands = evaluateAll(apply.getMapOperands());
    auto all = ArrayRef(operands);
    return evaluateAffine(map.getResult(0), all.take_front(map.getNumDims()),
                          all.drop_front(map.getNumDims()));
  }
  if (auto sincos = dyn_cast<math::SincosOp>(op)) {
    const Expr *angle = evaluate(sincos.getOperand());
    return value == sincos.getSin()
               ? context.apply<math::SinOp>(value.getType(), angle)
               : context.apply<math::CosOp>(value.getType(), angle);
  }
  if (auto choice = dyn_cast<scf::IfOp>(op))
    return evaluateChoice(choice, cast<OpResult>(value).getResultNumber());
  if (!llvm::all_of(op->getOperandTypes(), isLookedInto) ||
      op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      op->getNumOperands() == 0 || !isPure(op))
    return getOpaque(value);
  return applyOp(context, op, value.getType(), evaluateAll(op->getOperands()));
}

const Expr *rope::evaluateScalarOp(ElementEvaluator &evaluator, Value value) {
  return BodyEvaluator(evaluator).evaluate(value);
}

//===----------------------------------------------------------------------===//
// Structured ops
//===----------------------------------------------------------------------===//

/// The element that a map reads at an iteration.
static SmallVector<const Expr *> applyMap(ExprContext &context, AffineMap map,
                                          Index iteration);

static const Expr *applyExpr(ExprContext &context, AffineExpr expr,
                             Index iteration) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return context.getInt(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return iteration[dim.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  const Expr *lhs = applyExpr(context, binary.getLHS(), iteration);
  const Expr *rhs = applyExpr(context, binary.getRHS(), iteration);
  if (expr.getKind() == AffineExprKind::Add)
    return context.add(lhs, rhs);
  if (expr.getKind() == AffineExprKind::Mul)
    return context.mul(lhs, rhs);
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return context.floorDiv(lhs, rhs);
  return context.mod(lhs, rhs);
}

static SmallVector<const Expr *> applyMap(ExprContext &context, AffineMap map,
                                          Index iteration) {
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) {
    return applyExpr(context, expr, iteration);
  });
}

FailureOr<SmallVector<const Expr *>> rope::invertMap(AffineMap map, Index index,
                                                     unsigned dims) {
  SmallVector<const Expr *> iteration(dims, nullptr);
  for (auto [expr, i] : llvm::zip_equal(map.getResults(), index)) {
    if (isa<AffineConstantExpr>(expr))
      continue;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || iteration[dim.getPosition()])
      return failure();
    iteration[dim.getPosition()] = i;
  }
  return iteration;
}

/// Numbers the points of the reduction dims; fails if there are too many.
static FailureOr<int64_t> countReduction(ArrayRef<int64_t> ranges,
                                         Index iteration) {
  int64_t points = 1;
  for (auto [extent, at] : llvm::zip_equal(ranges, iteration)) {
    if (at)
      continue;
    if (ShapedType::isDynamic(extent) || extent > kMaxUnrolled)
      return failure();
    points *= extent;
  }
  if (points > kMaxUnrolled)
    return failure();
  return points;
}

const Expr *rope::evaluateStep(ElementEvaluator &evaluator, linalg::LinalgOp op,
                               unsigned number, Index iteration,
                               const Expr *current) {
  ExprContext &context = evaluator.getContext();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto argument = [&](unsigned i) -> const Expr * {
    OpOperand &operand = op->getOpOperand(i);
    if (current && op.isDpsInit(&operand) && i - op.getNumDpsInputs() == number)
      return current;
    if (!isa<ShapedType>(operand.get().getType()))
      return evaluator.evaluateScalar(operand.get());
    return context.getRead(operand.get(),
                           applyMap(context, maps[i], iteration));
  };
  Block *body = op.getBlock();
  BodyEvaluator bodyEvaluator(evaluator, body, iteration, argument);
  return bodyEvaluator.evaluateWhole(body->getTerminator()->getOperand(number));
}

/// A sum of products with a constant, of which few terms are not 0: an exchange
/// of channels by a matrix. Null if there are more terms.
static const Expr *expandSparseSum(ElementEvaluator &evaluator,
                                   linalg::LinalgOp op, const Expr *read) {
  bool readsConstant = llvm::any_of(op.getDpsInputs(), [](Value input) {
    return input.getDefiningOp<arith::ConstantOp>();
  });
  std::optional<unsigned> dim = evaluator.getReductionDim(read);
  if (!readsConstant || !dim)
    return nullptr;
  int64_t extent = evaluator.getReductionExtents(read)[*dim];
  if (ShapedType::isDynamic(extent) || extent > kMaxSparse)
    return nullptr;
  ExprContext &context = evaluator.getContext();
  const Expr *sum = nullptr;
  int64_t terms = 0;
  for (int64_t i = 0; i < extent; ++i) {
    std::optional<Reduction> step =
        evaluator.evaluateReductionOver(read, context.getInt(i));
    if (!step || step->kind != Reduction::Kind::Sum ||
        !step->element->isa<arith::MulFOp>())
      return nullptr;
    // The constant is all that is looked at here.
    SmallVector<const Expr *> factors;
    for (const Expr *factor : step->element->getOperands()) {
      bool isConstant = factor->getKind() == Expr::Kind::Read &&
                        factor->getValue().getDefiningOp<arith::ConstantOp>();
      const Expr *number = isConstant ? evaluator.expand(factor) : nullptr;
      factors.push_back(number ? number : factor);
    }
    if (factors[0]->isFloat(0) || factors[1]->isFloat(0))
      continue;
    if (++terms > kMaxUnrolled)
      return nullptr;
    Type type = step->element->getType();
    const Expr *term = context.apply<arith::MulFOp>(type, factors);
    sum = sum ? context.apply<arith::AddFOp>(type, {sum, term}) : term;
  }
  return sum ? sum : context.getFloat(0, read->getType());
}

static const Expr *expandStructured(ElementEvaluator &evaluator,
                                    linalg::LinalgOp op, unsigned number,
                                    Index index) {
  OpOperand *init = op.getDpsInitOperand(number);
  FailureOr<SmallVector<const Expr *>> iteration =
      invertMap(op.getMatchingIndexingMap(init), index, op.getNumLoops());
  if (failed(iteration))
    return nullptr;
  if (llvm::all_of(*iteration, [](const Expr *e) { return e; }))
    return evaluateStep(evaluator, op, number, *iteration, nullptr);
  // Several results that depend on each other are not unrolled.
  if (op->getNumResults() != 1)
    return nullptr;
  SmallVector<int64_t> ranges = getLoopExtents(op);
  FailureOr<int64_t> points = countReduction(ranges, *iteration);
  if (failed(points))
    return expandSparseSum(
        evaluator, op, evaluator.getContext().getRead(op->getResult(0), index));
  const Expr *current = evaluator.getContext().getRead(init->get(), index);
  for (int64_t point = 0; point < *points; ++point) {
    SmallVector<const Expr *> step(*iteration);
    int64_t rest = point;
    for (int64_t dim = step.size() - 1; dim >= 0; --dim)
      if (!step[dim]) {
        step[dim] = evaluator.getContext().getInt(rest % ranges[dim]);
        rest /= ranges[dim];
      }
    current = evaluateStep(evaluator, op, number, step,
                           evaluator.expandFully(current));
    if (!current)
      return nullptr;
  }
  return current;
}

//===----------------------------------------------------------------------===//
// Ops on tensors
//===----------------------------------------------------------------------===//

/// An elementwise op on tensors, and scalars among its operands.
static const Expr *expandElementwise(ElementEvaluator &evaluator, Operation *op,
                                     Value value, Index index) {
  ExprContext &context = evaluator.getContext();
  SmallVector<const Expr *> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isa<RankedTensorType>(operand.getType())
                           ? context.getRead(operand, index)
                           : evaluator.evaluateScalar(operand));
  return applyOp(context, op, getElementTypeOrSelf(value.getType()), operands);
}

const Expr *rope::expandComputation(ElementEvaluator &evaluator,
                                    OpResult result, Index index) {
  Operation *op = result.getOwner();
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    if (!structured.hasPureTensorSemantics())
      return nullptr;
    return expandStructured(evaluator, structured, result.getResultNumber(),
                            index);
  }
  if (auto generate = dyn_cast<tensor::GenerateOp>(op)) {
    Block *body = &generate.getBody().front();
    BodyEvaluator bodyEvaluator(evaluator, body, {},
                                [&](unsigned i) { return index[i]; });
    return bodyEvaluator.evaluateWhole(body->getTerminator()->getOperand(0));
  }
  if (op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 &&
      op->getNumRegions() == 0 &&
      llvm::all_of(op->getOperandTypes(), [](Type type) {
        return isLookedInto(getElementTypeOrSelf(type));
      }))
    return expandElementwise(evaluator, op, result, index);
  return nullptr;
}
