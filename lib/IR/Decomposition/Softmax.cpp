//===- Softmax.cpp - Scores, masks and weights of attention ---------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One linalg.generic for each step: products, then scale, softcap and masks
// in place, maximum, exponentials in place, sum, products with the values.
//
//===----------------------------------------------------------------------===//

#include "Softmax.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::detail;

static constexpr double kMinusInfinity =
    -std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Which keys a row sees
//===----------------------------------------------------------------------===//

bool rope::detail::mayHideKeys(AttentionLikeOpInterface op,
                               const ScoreOptions &options) {
  return options.causal || options.window ||
         op.getRoleOperand(OperandRole::Mask) ||
         op.getRoleOperand(OperandRole::KeyLength);
}

namespace {
/// The operands that say what a row sees. Those that are shaped are inputs of
/// the generic, the others are used from outside.
class Visibility {
public:
  Visibility(DomainBuilder &domain, const ScoreOptions &options);

  ArrayRef<Term> getInputs() const { return inputs; }

  /// The score with a float mask added, or −inf if the key is hidden.
  Value apply(CellBuilder &cell, Value score) const;

private:
  /// An operand of the op: an input of the generic or a scalar, or neither.
  struct Slot {
    std::optional<unsigned> input;
    Value scalar;
    /// It lists positions along this dim; else it is that of the first one.
    bool isList = false;

    explicit operator bool() const { return input || scalar; }
  };

  Slot addOperand(DomainBuilder &domain, OperandRole role,
                  std::optional<DomainDim> listed);
  Value load(CellBuilder &cell, const Slot &slot) const;
  Value getPosition(CellBuilder &cell, const Slot &slot, DomainDim dim) const;
  /// Whether lhs − rhs ≤ bound, where the difference may overflow.
  Value isWithin(CellBuilder &cell, Value lhs, Value rhs, int64_t bound) const;
  /// All of the conditions on positions, or null if there is none.
  Value getCondition(CellBuilder &cell) const;

  const ScoreOptions &options;
  SmallVector<Term> inputs;
  Slot mask, queryPos, keyPos, keyLength;
};
} // namespace

Visibility::Visibility(DomainBuilder &domain, const ScoreOptions &options)
    : options(options) {
  mask = addOperand(domain, OperandRole::Mask, std::nullopt);
  keyLength = addOperand(domain, OperandRole::KeyLength, std::nullopt);
  if (!options.causal && !options.window)
    return;
  queryPos = addOperand(domain, OperandRole::QueryPos, DomainDim::M);
  keyPos = addOperand(domain, OperandRole::KeyPos, DomainDim::N);
}

Visibility::Slot Visibility::addOperand(DomainBuilder &domain, OperandRole role,
                                        std::optional<DomainDim> listed) {
  Slot slot;
  Value operand = domain.getOp().getRoleOperand(role);
  if (!operand)
    return slot;
  if (!isa<ShapedType>(operand.getType())) {
    slot.scalar = operand;
    return slot;
  }
  slot.input = inputs.size();
  inputs.push_back(domain.getOperand(role));
  slot.isList = listed && llvm::is_contained(inputs.back().dims, *listed);
  return slot;
}

Value Visibility::load(CellBuilder &cell, const Slot &slot) const {
  return cell.toI64(slot.input ? cell.inputs[*slot.input] : slot.scalar);
}

Value Visibility::getPosition(CellBuilder &cell, const Slot &slot,
                              DomainDim dim) const {
  if (!slot)
    return cell.getIndex(dim);
  Value position = load(cell, slot);
  if (slot.isList)
    return position;
  return arith::AddIOp::create(cell, position, cell.getIndex(dim));
}

Value Visibility::isWithin(CellBuilder &cell, Value lhs, Value rhs,
                           int64_t bound) const {
  Value isBelow =
      arith::CmpIOp::create(cell, arith::CmpIPredicate::sle, lhs, rhs);
  Value limit = arith::ConstantOp::create(cell, cell.getI64IntegerAttr(bound));
  Value distance = arith::SubIOp::create(cell, lhs, rhs);
  Value isNear =
      arith::CmpIOp::create(cell, arith::CmpIPredicate::ule, distance, limit);
  return arith::OrIOp::create(cell, isBelow, isNear);
}

Value Visibility::getCondition(CellBuilder &cell) const {
  SmallVector<Value> conditions;
  if (keyLength)
    conditions.push_back(arith::CmpIOp::create(cell, arith::CmpIPredicate::slt,
                                               cell.getIndex(DomainDim::N),
                                               load(cell, keyLength)));
  if (options.causal || options.window) {
    Value query = getPosition(cell, queryPos, DomainDim::M);
    Value key = getPosition(cell, keyPos, DomainDim::N);
    if (options.causal)
      conditions.push_back(
          arith::CmpIOp::create(cell, arith::CmpIPredicate::sle, key, query));
    if (options.window && (*options.window)[0] >= 0)
      conditions.push_back(isWithin(cell, query, key, (*options.window)[0]));
    if (options.window && (*options.window)[1] >= 0)
      conditions.push_back(isWithin(cell, key, query, (*options.window)[1]));
  }
  Value all;
  for (Value condition : conditions)
    all = all ? arith::AndIOp::create(cell, all, condition).getResult()
              : condition;
  return all;
}

/// A finite float mask stays finite in the type of scores, and so does its sum
/// with a score: only −inf masks.
static Value addFloatMask(CellBuilder &cell, Value score, Value mask) {
  Type type = score.getType();
  Value lowest = cell.getConstant(
      type, APFloat::getLargest(cast<FloatType>(type).getFloatSemantics(),
                                /*Negative=*/true)
                .convertToDouble());
  Value infinity = cell.getConstant(mask.getType(), kMinusInfinity);
  Value isHidden =
      arith::CmpFOp::create(cell, arith::CmpFPredicate::OEQ, mask, infinity);
  Value sum = arith::AddFOp::create(cell, score, cell.convert(mask, type));
  sum = arith::MaximumFOp::create(cell, sum, lowest);
  return arith::SelectOp::create(cell, isHidden,
                                 cell.getConstant(type, kMinusInfinity), sum);
}

Value Visibility::apply(CellBuilder &cell, Value score) const {
  Value isVisible = getCondition(cell);
  if (mask.input) {
    Value value = cell.inputs[*mask.input];
    if (!value.getType().isInteger(1))
      score = addFloatMask(cell, score, value);
    else if (isVisible)
      isVisible = arith::AndIOp::create(cell, isVisible, value);
    else
      isVisible = value;
  }
  if (!isVisible)
    return score;
  return arith::SelectOp::create(
      cell, isVisible, score,
      cell.getConstant(score.getType(), kMinusInfinity));
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// What x is multiplied by first: scale, or scale/softcap. Where the quotient
/// overflows any number as large has the same tanh, but for x = 0.
static double getFactor(const ScoreOptions &options) {
  constexpr double largest = std::numeric_limits<double>::max();
  return std::clamp(options.scale / options.softcap.value_or(1.0), -largest,
                    largest);
}

SmallVector<double>
rope::detail::getScoreConstants(const ScoreOptions &options) {
  return {getFactor(options), options.softcap.value_or(1.0)};
}

/// scale·x, or softcap·tanh(scale·x / softcap).
static Value buildScore(CellBuilder &cell, const ScoreOptions &options,
                        Value x) {
  Type type = x.getType();
  x = arith::MulFOp::create(cell, x,
                            cell.getConstant(type, getFactor(options)));
  if (!options.softcap)
    return x;
  return arith::MulFOp::create(cell, math::TanhOp::create(cell, x),
                               cell.getConstant(type, *options.softcap));
}

Term rope::detail::buildScores(DomainBuilder &domain,
                               const ScoreOptions &options) {
  Term query = domain.getOperand(OperandRole::Query);
  Term key = domain.getOperand(OperandRole::Key);
  Term products =
      domain.contract(query, key,
                      domain.createFilled(domain.getRowsAnd(DomainDim::N),
                                          domain.getComputeType(), 0.0));
  Visibility visibility(domain, options);
  SmallVector<Term> inputs(visibility.getInputs());
  inputs.push_back(products);
  return domain.createGeneric(
      inputs, products.dims, domain.getComputeType(),
      [&](CellBuilder &cell) -> Value {
        return visibility.apply(cell,
                                buildScore(cell, options, cell.inputs.back()));
      });
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

Term rope::detail::reduceMax(DomainBuilder &domain, const Term &scores,
                             Term max) {
  return domain.createGeneric(scores, max, [](CellBuilder &cell) -> Value {
    return arith::MaximumFOp::create(cell, cell.output, cell.inputs[0]);
  });
}

Value rope::detail::buildExp(CellBuilder &cell, Value x, Value max) {
  // If max is −inf so is x, and any finite number in its place gives exp(−inf).
  Type type = max.getType();
  Value isEmpty = arith::CmpFOp::create(cell, arith::CmpFPredicate::OEQ, max,
                                        cell.getConstant(type, kMinusInfinity));
  Value reference =
      arith::SelectOp::create(cell, isEmpty, cell.getConstant(type, 0.0), max);
  return math::ExpOp::create(cell, arith::SubFOp::create(cell, x, reference));
}

Term rope::detail::buildWeights(DomainBuilder &domain, const Term &scores,
                                const Term &max) {
  return domain.createGeneric({scores, max}, scores.dims,
                              domain.getComputeType(), [](CellBuilder &cell) {
                                return buildExp(cell, cell.inputs[0],
                                                cell.inputs[1]);
                              });
}

Term rope::detail::reduceSum(DomainBuilder &domain, const Term &weights,
                             Term sum) {
  return domain.createGeneric(
      weights, std::move(sum), [](CellBuilder &cell) -> Value {
        return arith::AddFOp::create(
            cell, cell.output,
            cell.convert(cell.inputs[0], cell.output.getType()));
      });
}

Term rope::detail::accumulateValues(DomainBuilder &domain, const Term &weights,
                                    const Term &values, bool hidden,
                                    Term output) {
  if (!hidden)
    return domain.contract(weights, values, std::move(output));
  return domain.createGeneric(
      {weights, values}, std::move(output), [](CellBuilder &cell) -> Value {
        Value weight = cell.inputs[0];
        Type type = weight.getType();
        Value zero = cell.getConstant(type, 0.0);
        Value isHidden = arith::CmpFOp::create(cell, arith::CmpFPredicate::OEQ,
                                               weight, zero);
        Value value = arith::SelectOp::create(
            cell, isHidden, zero, cell.convert(cell.inputs[1], type));
        return arith::AddFOp::create(
            cell, cell.output, arith::MulFOp::create(cell, weight, value));
      });
}
