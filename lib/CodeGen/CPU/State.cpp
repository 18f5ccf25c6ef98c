//===- State.cpp - Queries, state and outputs of a block ------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What comes before the first item of a block and after its last one.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

static Value createSplat(KernelBuilder &b, int64_t length, double value) {
  auto type = VectorType::get(length, b.getF32Type());
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, static_cast<float>(value)));
}

void cpu::loadQueries(AttentionKernel &k) {
  double factor = k.op.getScale().convertToDouble();
  // The softcap wants scores as multiples of it.
  factor *=
      k.op.getSoftcap() ? 1.0 / k.op.getSoftcap()->convertToDouble() : kLog2E;
  Value scale = createSplat(k, k.channels, factor);
  Value zeros = createSplat(k, k.paddedChannels, 0.0);
  k.loop(0, k.times(k.block.strips, k.tileRows), 1, [&](Value row) {
    Value query = loadRow(k, OperandRole::Query, k.getBlockRowCoordinates(row));
    query = k.mul(query, scale);
    if (k.splitsKeys)
      query = splitPairs(k, query);
    if (k.channels != k.paddedChannels)
      query = vector::InsertStridedSliceOp::create(
          k, query, zeros, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1});
    k.storeVector(toWords(k, query), k.scratch.query, {row, 0});
  });
}

void cpu::resetState(AttentionKernel &k) {
  Value zeros = createSplat(k, k.paddedValueChannels, 0.0);
  k.loop(0, k.times(k.block.strips, k.tileRows), 1, [&](Value row) {
    k.storeVector(zeros, k.scratch.output, {row, 0});
    k.storeVector(k.numbers(0.0), k.scratch.sums, {row, 0});
    k.store(k.number(0.0), k.scratch.references, {row});
    if (!k.scratch.lostOutput)
      return;
    k.storeVector(zeros, k.scratch.lostOutput, {row, 0});
    k.storeVector(k.numbers(0.0), k.scratch.lostSums, {row, 0});
  });
}

Value cpu::findLost(AttentionKernel &k, Value before, Value x, Value after) {
  // Of a sum that is infinite nothing is lost.
  Value difference = k.sub(k.sub(after, before), x);
  Value isNumber = arith::CmpFOp::create(k, arith::CmpFPredicate::ORD,
                                         difference, difference);
  Value zeros = arith::ConstantOp::create(k, k.getZeroAttr(x.getType()));
  return k.select(isNumber, difference, zeros);
}

void cpu::accumulate(AttentionKernel &k, Value x, Value memory, Value lost,
                     ArrayRef<IndexLike> at) {
  Value before = k.loadVector(memory, at);
  if (lost)
    x = k.sub(x, k.loadVector(lost, at));
  Value after = k.add(before, x);
  k.storeVector(after, memory, at);
  if (lost)
    k.storeVector(findLost(k, before, x, after), lost, at);
}

static Value loadSum(AttentionKernel &k, Value row) {
  return k.sumOfLanes(k.loadVector(k.scratch.sums, {row, 0}));
}

/// The largest magnitude of a row of the output, as bits.
static Value getLargestBits(AttentionKernel &k, Value row) {
  Value output =
      k.loadVector(k.scratch.output, {row, 0}, k.paddedValueChannels);
  auto ints = VectorType::get(k.paddedValueChannels, k.getI32Type());
  Value bits = arith::BitcastOp::create(k, ints, output);
  Value mask = arith::ConstantOp::create(
      k, DenseElementsAttr::get(ints, int32_t(0x7FFFFFFF)));
  bits = arith::AndIOp::create(k, bits, mask);
  return vector::ReductionOp::create(k, vector::CombiningKind::MAXUI, bits);
}

Doubts cpu::findDoubts(AttentionKernel &k) {
  auto isBelow = [&](Value x, double bound) -> Value {
    return arith::CmpFOp::create(k, arith::CmpFPredicate::OLT, x,
                                 k.number(bound));
  };
  auto compareBits = [&](arith::CmpIPredicate predicate, Value bits,
                         float bound) -> Value {
    return arith::CmpIOp::create(
        k, predicate, bits,
        arith::ConstantOp::create(
            k, k.getI32IntegerAttr(llvm::bit_cast<int32_t>(bound))));
  };
  Value none = k.condition(false);
  SmallVector<Value> found = k.loop(
      0, k.block.rows, 1, SmallVector<Value>{none, none},
      [&](Value row, ValueRange carried) {
        Value sum = loadSum(k, row), bits = getLargestBits(k, row);
        // A row that sees no key has a sum of 0.
        Value isEmpty = arith::CmpFOp::create(k, arith::CmpFPredicate::OEQ, sum,
                                              k.number(0.0));
        Value isFaint = k.both(isBelow(sum, kFaintestSum), k.isNot(isEmpty));
        Value isInfinite = compareBits(arith::CmpIPredicate::uge, bits,
                                       std::numeric_limits<float>::infinity());
        Value isSmall =
            k.both(compareBits(arith::CmpIPredicate::ult, bits, 0x1p-100f),
                   compareBits(arith::CmpIPredicate::ne, bits, 0.0f));
        Value isOdd = k.either(isInfinite, k.both(isSmall, isBelow(sum, 1.0)));
        return SmallVector<Value>{k.either(carried[0], isFaint),
                                  k.either(carried[1], isOdd)};
      });
  return {found[0], found[1]};
}

namespace {
/// How a row ends: o = output · factor, lse = reference + ln sum.
struct RowEnd {
  Value factor, reference, sum;
};
} // namespace

/// One more term of the sum that has no value: the reference goes up to it if
/// it is larger.
static void addSink(AttentionKernel &k, const Coordinates &at, RowEnd &end,
                    Value &weight) {
  Value sink = k.toF32(k.load(k.getOperand(OperandRole::Sink),
                              k.getIndices(OperandRole::Sink, at)));
  auto isAbove = [&](Value x, Value y) -> Value {
    return arith::CmpFOp::create(k, arith::CmpFPredicate::OGT, x, y);
  };
  Value isEmpty = arith::CmpFOp::create(k, arith::CmpFPredicate::OEQ, end.sum,
                                        k.number(0.0));
  Value moves = k.either(isEmpty, isAbove(sink, end.reference));
  Value highest = k.select(moves, sink, end.reference);
  auto exp = [&](Value x) -> Value {
    return math::ExpOp::create(k, arith::SubFOp::create(k, x, highest));
  };
  Value isNone =
      arith::CmpFOp::create(k, arith::CmpFPredicate::OEQ, sink,
                            k.number(-std::numeric_limits<double>::infinity()));
  weight = k.select(isEmpty, k.number(0.0), exp(end.reference));
  Value term = k.select(isNone, k.number(0.0), exp(sink));
  end.sum = k.add(k.mul(end.sum, weight), term);
  end.reference = highest;
}

static RowEnd finishRow(AttentionKernel &k, const Coordinates &at, Value sum,
                        Value minusReference) {
  RowEnd end;
  end.sum = sum;
  end.reference = k.mul(minusReference, k.number(-kLn2));
  Value isEmpty = arith::CmpFOp::create(k, arith::CmpFPredicate::OEQ, end.sum,
                                        k.number(0.0));
  Value weight;
  if (k.getOperand(OperandRole::Sink))
    addSink(k, at, end, weight);
  Value inverse = arith::DivFOp::create(k, k.number(1.0), end.sum);
  if (weight)
    inverse = k.mul(inverse, weight);
  end.factor = k.select(isEmpty, k.number(0.0), inverse);
  return end;
}

static void storeLse(AttentionKernel &k, const RowEnd &end,
                     const Coordinates &at) {
  auto widen = [&](Value x) -> Value {
    return arith::ExtFOp::create(k, k.getF64Type(), x);
  };
  // Rounded once. −∞ for a row that sees nothing.
  Value log = math::LogOp::create(k, widen(end.sum));
  Value lse = arith::AddFOp::create(k, widen(end.reference), log);
  if (k.getElementType(OperandRole::Lse).isF32())
    lse = arith::TruncFOp::create(k, k.getF32Type(), lse);
  k.store(lse, k.getOperand(OperandRole::Lse),
          k.getIndices(OperandRole::Lse, at));
}

void cpu::storeOutput(AttentionKernel &k, const Coordinates &at, Value sum,
                      Value minusReference,
                      function_ref<Value(Value)> getOutput) {
  RowEnd end = finishRow(k, at, sum, minusReference);
  Value output = rotateRow(k, getOutput(end.factor), OperandRole::Output, at);
  storeRow(k, output, OperandRole::Output, at);
  if (k.getOperand(OperandRole::Lse))
    storeLse(k, end, at);
}

void cpu::storeOutputs(AttentionKernel &k) {
  k.loop(0, k.block.rows, 1, [&](Value row) {
    Coordinates at = k.getRowCoordinates(k.plus(k.block.first, row));
    auto getOutput = [&](Value factor) {
      Value output = k.loadVector(k.scratch.output, {row, 0}, k.valueChannels);
      if (k.splitsValues)
        output = joinPairs(k, output);
      return k.mul(output,
                   vector::BroadcastOp::create(k, output.getType(), factor));
    };
    Value sum = loadSum(k, row);
    storeOutput(k, at, sum, k.load(k.scratch.references, {row}), getOutput);
  });
}
