//===- LinearAttention.cpp - Decomposition of rope.linear_attention -------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without `causal` every row reads the states that include all keys, and the
// cost is linear in the number of keys. With it a row reads the states carried
// in and, by products of queries and keys, the keys up to its own.
//
//===----------------------------------------------------------------------===//

#include "DomainBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "rope/IR/FeatureMaps.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::detail;

namespace {
/// The features of queries or keys.
struct Features {
  Term plain, rotated;
};

class LinearAttentionBuilder {
public:
  LinearAttentionBuilder(DomainBuilder &domain, LinearAttentionOp op)
      : domain(domain), op(op),
        isRotated(op.getQueryTable() || op.getKeyTable()),
        query(getFeatures(OperandRole::Query)),
        key(getFeatures(OperandRole::Key)),
        value(domain.getOperand(OperandRole::Value)) {}

  void build();

private:
  Features getFeatures(OperandRole role);
  bool hasInit(OperandRole role) {
    return static_cast<AttentionLikeOpInterface>(op).getRoleOperand(role) !=
           nullptr;
  }
  bool hasNormalizer() { return op.getNormalizerEps().has_value(); }

  Term zeros(ArrayRef<DomainDim> dims) {
    return domain.createFilled(dims, domain.getComputeType(), 0.0);
  }
  /// The carried state of a role, or zeros of these dims.
  Term readState(OperandRole role, ArrayRef<DomainDim> dims);
  void writeState(OperandRole role, const Term &state);
  /// The states with the keys of this op.
  Term updateKvState();
  Term updateKSum();

  /// The numerator and the normaliser of each row.
  void buildAll(Term &numerator, Term &normalizer);
  void buildCausal(Term &numerator, Term &normalizer);
  void buildOutput(const Term &numerator, const Term &normalizer);

  DomainBuilder &domain;
  LinearAttentionOp op;
  bool isRotated;
  Features query, key;
  Term value;
};
} // namespace

Features LinearAttentionBuilder::getFeatures(OperandRole role) {
  AttentionLikeOpInterface self = op;
  FeatureMap map = op.getFeatureMap();
  Type type = domain.getComputeType();
  Value operand = self.getRoleOperand(role);
  if (map == FeatureMap::Identity)
    operand = self.getRotation(role) ? domain.convertOperand(operand) : operand;
  else
    operand = domain.mapOperand(operand, type, [&](CellBuilder &cell) {
      return buildFeature(cell, cell.getLoc(), map,
                          cell.convert(cell.inputs[0], type));
    });
  DimLabels labels = self.getLabels(role);
  Term plain = domain.getView(operand, labels).term;
  Rotation rotation = self.getRotation(role);
  if (!rotation)
    return {plain, plain};
  Value rotated = domain.rotateOperand(operand, rotation);
  return {plain, domain.getView(rotated, labels).term};
}

Term LinearAttentionBuilder::readState(OperandRole role,
                                       ArrayRef<DomainDim> dims) {
  return hasInit(role) ? domain.readInit(role) : zeros(dims);
}

void LinearAttentionBuilder::writeState(OperandRole role, const Term &state) {
  if (hasInit(role))
    domain.writeInit(role, state);
}

/// Those of b and h that a term has, and then the others.
static SmallVector<DomainDim> getHeadsAnd(const Term &lhs, const Term &rhs,
                                          ArrayRef<DomainDim> others) {
  SmallVector<DomainDim> dims;
  for (DomainDim dim : {DomainDim::B, DomainDim::H})
    if (llvm::is_contained(lhs.dims, dim) || llvm::is_contained(rhs.dims, dim))
      dims.push_back(dim);
  llvm::append_range(dims, others);
  return dims;
}

Term LinearAttentionBuilder::updateKvState() {
  Term state =
      readState(OperandRole::KvState,
                getHeadsAnd(key.rotated, value, {DomainDim::D, DomainDim::E}));
  return domain.contract(key.rotated, value, state);
}

Term LinearAttentionBuilder::updateKSum() {
  Term state = readState(OperandRole::KSum,
                         getHeadsAnd(key.plain, key.plain, {DomainDim::D}));
  return domain.createGeneric(key.plain, state, [](CellBuilder &cell) -> Value {
    return arith::AddFOp::create(
        cell, cell.output, cell.convert(cell.inputs[0], cell.output.getType()));
  });
}

void LinearAttentionBuilder::buildAll(Term &numerator, Term &normalizer) {
  Term kvState = updateKvState();
  numerator = domain.contract(query.rotated, kvState, numerator);
  writeState(OperandRole::KvState, kvState);
  if (!hasNormalizer())
    return;
  Term kSum = updateKSum();
  normalizer = domain.contract(query.plain, kSum, normalizer);
  writeState(OperandRole::KSum, kSum);
}

/// x where key n is at most row m, else 0.
static Value selectPast(CellBuilder &cell, Value x) {
  Value isPast = arith::CmpIOp::create(cell, arith::CmpIPredicate::sle,
                                       cell.getIndex(DomainDim::N),
                                       cell.getIndex(DomainDim::M));
  return arith::SelectOp::create(cell, isPast, x,
                                 cell.getConstant(x.getType(), 0.0));
}

void LinearAttentionBuilder::buildCausal(Term &numerator, Term &normalizer) {
  SmallVector<DomainDim> pairs = domain.getRowsAnd(DomainDim::N);
  Term scores = domain.contract(query.rotated, key.rotated, zeros(pairs));
  if (hasInit(OperandRole::KvState))
    numerator = domain.contract(
        query.rotated, domain.readInit(OperandRole::KvState), numerator);
  numerator = domain.createGeneric(
      {scores, value}, numerator, [](CellBuilder &cell) -> Value {
        Type type = cell.output.getType();
        Value product = arith::MulFOp::create(
            cell, cell.inputs[0], cell.convert(cell.inputs[1], type));
        return arith::AddFOp::create(cell, cell.output,
                                     selectPast(cell, product));
      });
  if (hasNormalizer()) {
    if (isRotated)
      scores = domain.contract(query.plain, key.plain, zeros(pairs));
    if (hasInit(OperandRole::KSum))
      normalizer = domain.contract(
          query.plain, domain.readInit(OperandRole::KSum), normalizer);
    normalizer = domain.createGeneric(
        scores, normalizer, [](CellBuilder &cell) -> Value {
          return arith::AddFOp::create(cell, cell.output,
                                       selectPast(cell, cell.inputs[0]));
        });
  }
  if (hasInit(OperandRole::KvState))
    writeState(OperandRole::KvState, updateKvState());
  if (hasInit(OperandRole::KSum))
    writeState(OperandRole::KSum, updateKSum());
}

void LinearAttentionBuilder::buildOutput(const Term &numerator,
                                         const Term &normalizer) {
  if (!hasNormalizer())
    return domain.computeOutput(
        numerator, [](CellBuilder &cell) -> Value { return cell.inputs[0]; });
  double eps = op.getNormalizerEps()->convertToDouble();
  domain.computeOutput(
      {numerator, normalizer}, [&](CellBuilder &cell) -> Value {
        Value sum = cell.inputs[1];
        sum = arith::AddFOp::create(cell, sum,
                                    cell.getConstant(sum.getType(), eps));
        return arith::DivFOp::create(cell, cell.inputs[0], sum);
      });
}

void LinearAttentionBuilder::build() {
  Term numerator = zeros(domain.getRowsAnd(DomainDim::E));
  Term normalizer;
  if (hasNormalizer())
    normalizer = zeros(domain.getRows());
  if (op.getCausal())
    buildCausal(numerator, normalizer);
  else
    buildAll(numerator, normalizer);
  buildOutput(numerator, normalizer);
}

FailureOr<SmallVector<Value>>
LinearAttentionOp::decomposeOperation(OpBuilder &builder) {
  if (!hasPureTensorSemantics())
    return failure();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(*this);
  SmallVector<Value> operands = {getQuery(), getKey(), getValue()};
  llvm::append_range(operands, getInits().drop_front());
  SmallVector<double> constants;
  if (std::optional<APFloat> eps = getNormalizerEps())
    constants.push_back(eps->convertToDouble());
  DomainBuilder domain(builder, *this,
                       detail::getComputeType(operands, constants));
  LinearAttentionBuilder(domain, *this).build();
  return domain.getResults();
}
