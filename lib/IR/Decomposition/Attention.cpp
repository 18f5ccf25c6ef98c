//===- Attention.cpp - Decomposition of rope.attention --------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention in whole rows: all scores of a row are stored before the softmax.
//
//===----------------------------------------------------------------------===//

#include "Softmax.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::detail;

/// What the maximum of a row starts from: the sink, a score of no key, or −inf.
static Term buildFirstMax(DomainBuilder &domain) {
  SmallVector<DomainDim> rows = domain.getRows();
  Type type = domain.getComputeType();
  if (!domain.getOp().getRoleOperand(OperandRole::Sink))
    return domain.createFilled(rows, type,
                               -std::numeric_limits<double>::infinity());
  return domain.createGeneric(
      domain.getOperand(OperandRole::Sink), rows, type,
      [](CellBuilder &cell) -> Value { return cell.inputs[0]; });
}

/// What the sum of a row starts from: the sink's part of it, or 0.
static Term buildFirstSum(DomainBuilder &domain, const Term &max, Type type) {
  if (!domain.getOp().getRoleOperand(OperandRole::Sink))
    return domain.createFilled(domain.getRows(), type, 0.0);
  return domain.createGeneric(
      {domain.getOperand(OperandRole::Sink), max}, domain.getRows(), type,
      [](CellBuilder &cell) {
        Value max = cell.inputs[1];
        return buildExp(cell, cell.convert(cell.inputs[0], max.getType()), max);
      });
}

/// accumulated / sum, and 0 for a row without a key.
static Value buildMean(CellBuilder &cell) {
  Value accumulated = cell.inputs[0];
  Type type = accumulated.getType();
  Value sum = cell.convert(cell.inputs[1], type);
  Value zero = cell.getConstant(type, 0.0);
  Value isEmpty =
      arith::CmpFOp::create(cell, arith::CmpFPredicate::OEQ, sum, zero);
  Value mean = arith::DivFOp::create(cell, accumulated, sum);
  return arith::SelectOp::create(cell, isEmpty, zero, mean);
}

/// max + ln sum: −inf for a row without a key.
static Value buildLse(CellBuilder &cell) {
  Value sum = cell.inputs[1];
  return arith::AddFOp::create(cell,
                               cell.convert(cell.inputs[0], sum.getType()),
                               math::LogOp::create(cell, sum));
}

FailureOr<SmallVector<Value>>
AttentionOp::decomposeOperation(OpBuilder &builder) {
  if (!hasPureTensorSemantics())
    return failure();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(*this);
  ScoreOptions options = getScoreOptions(*this);
  Type computeType = detail::getComputeType({getQuery(), getKey(), getValue()},
                                            getScoreConstants(options));
  DomainBuilder domain(builder, *this, computeType);

  Term scores = buildScores(domain, options);
  Term max = reduceMax(domain, scores, buildFirstMax(domain));
  Term weights = buildWeights(domain, scores, max);
  // The logarithm of the sum is rounded once, so that the sum may not be off.
  bool hasLse = domain.getOp().getRoleOperand(OperandRole::Lse) != nullptr;
  Type sumType = hasLse ? builder.getF64Type() : computeType;
  Term sum = reduceSum(domain, weights, buildFirstSum(domain, max, sumType));
  Term values = domain.getOperand(OperandRole::Value);
  Term accumulated = accumulateValues(
      domain, weights, values, mayHideKeys(*this, options),
      domain.createFilled(domain.getRowsAnd(DomainDim::E), computeType, 0.0));

  domain.computeOutput({accumulated, sum}, buildMean);
  if (hasLse)
    domain.computeInit(OperandRole::Lse, {max, sum}, buildLse);
  return domain.getResults();
}
