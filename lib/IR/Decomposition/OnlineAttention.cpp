//===- OnlineAttention.cpp - Decomposition of rope.online_attention -------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As attention, but maximum, sum and accumulator start from what is carried.
//
//===----------------------------------------------------------------------===//

#include "Softmax.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::detail;

/// state·exp(max − newMax).
static Term rescale(DomainBuilder &domain, Term state, const Term &max,
                    const Term &newMax) {
  return domain.createGeneric(
      {max, newMax}, std::move(state), [](CellBuilder &cell) -> Value {
        Value factor = buildExp(cell, cell.inputs[0], cell.inputs[1]);
        return arith::MulFOp::create(cell, cell.output, factor);
      });
}

FailureOr<SmallVector<Value>>
OnlineAttentionOp::decomposeOperation(OpBuilder &builder) {
  if (!hasPureTensorSemantics())
    return failure();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(*this);
  SmallVector<Value> operands = {getQuery(), getKey(), getValue()};
  llvm::append_range(operands, getInits());
  ScoreOptions options = getScoreOptions(*this);
  DomainBuilder domain(
      builder, *this,
      detail::getComputeType(operands, getScoreConstants(options)));

  Term scores = buildScores(domain, options);
  Term max = domain.readInit(OperandRole::Lse);
  Term newMax = reduceMax(domain, scores, max);
  Term weights = buildWeights(domain, scores, newMax);
  Term sum = rescale(domain, domain.readInit(OperandRole::Sum), max, newMax);
  Term acc = rescale(domain, domain.readInit(OperandRole::Output), max, newMax);
  Term values = domain.getOperand(OperandRole::Value);
  acc = accumulateValues(domain, weights, values, mayHideKeys(*this, options),
                         acc);
  domain.writeInit(OperandRole::Output, acc);
  domain.writeInit(OperandRole::Lse, newMax);
  domain.writeInit(OperandRole::Sum, reduceSum(domain, weights, sum));
  return domain.getResults();
}
