//===- Rotation.cpp - Decomposition of rotations --------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// rope.rotate and rope.rerotate become one elementwise op over the pairs, which
// reads the first and second channels of all pairs as two slices and writes
// two slices. The rows of the table are broadcast by its indexing maps.
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "rope/IR/Rope.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::detail;

namespace {
/// What rotate and rerotate have in common.
struct Rotator {
  ImplicitLocOpBuilder &builder;
  RotaryAttr rotary;
  Value input, table, init;
  bool opposite;

  int64_t getChannelDim() const {
    return cast<ShapedType>(input.getType()).getRank() - 1;
  }
  int64_t getWidth() const {
    return cast<ShapedType>(table.getType()).getShape().back();
  }
  int64_t getPairs() const { return rotary.getNumPairs(getWidth()); }

  /// The first or second channels of all pairs, a part of `whole`.
  Slice getChannels(Slice whole, Pairing pairing, bool second) const;
  /// The entries of a plane of the table for those channels.
  Value getEntries(Slice whole, int64_t plane, bool second) const;
  /// u, v, c, s, and c and s of v if the table is full.
  SmallVector<Value> getInputs() const;
  SmallVector<AffineMap> getMaps(size_t entries) const;
  SmallVector<Value> turn(ImplicitLocOpBuilder &scalar, ValueRange pair,
                          FloatType type) const;
  Value copyOtherChannels(Value dest) const;
  Value run() const;
};
} // namespace

Slice Rotator::getChannels(Slice whole, Pairing pairing, bool second) const {
  int64_t first = rotary.getOffset(), stride = 2, distance = 1;
  if (pairing == Pairing::Half) {
    stride = 1;
    distance = rotary.getDistance().value_or(getPairs());
  }
  return whole.range(getChannelDim(), first + (second ? distance : 0),
                     getPairs(), stride);
}

Value Rotator::getEntries(Slice whole, int64_t plane, bool second) const {
  int64_t rank = cast<ShapedType>(table.getType()).getRank();
  whole.at(rank - 2, plane);
  if (rotary.getFull()) {
    bool half = rotary.getReadPairing() == Pairing::Half;
    int64_t offset = second ? (half ? getPairs() : 1) : 0;
    whole.range(rank - 1, offset, getPairs(), half ? 1 : 2);
  }
  return whole.extract(builder, table);
}

SmallVector<Value> Rotator::getInputs() const {
  SmallVector<Value> inputs;
  Slice wholeInput(builder, input);
  for (bool second : {false, true})
    inputs.push_back(getChannels(wholeInput, rotary.getReadPairing(), second)
                         .extract(builder, input));
  Slice wholeTable(builder, table);
  for (bool second : {false, true})
    if (!second || rotary.getFull())
      for (int64_t plane : {0, 1})
        inputs.push_back(getEntries(wholeTable, plane, second));
  return inputs;
}

SmallVector<AffineMap> Rotator::getMaps(size_t entries) const {
  MLIRContext *context = builder.getContext();
  int64_t rank = getChannelDim() + 1;
  AffineMap channels = AffineMap::getMultiDimIdentityMap(rank, context);
  SmallVector<AffineExpr> row;
  for (int64_t dim : rotary.getAlong())
    row.push_back(getAffineDimExpr(dim, context));
  row.push_back(getAffineDimExpr(getChannelDim(), context));
  SmallVector<AffineMap> maps(2, channels);
  maps.append(entries, AffineMap::get(rank, 0, row, context));
  maps.append(2, channels);
  return maps;
}

/// `lhs`·c ± `rhs`·s, where the compiler may fuse one product with the sum.
static Value createTurned(ImplicitLocOpBuilder &b, Value lhs, Value c,
                          Value rhs, Value s, bool minus) {
  auto contract = arith::FastMathFlags::contract;
  Value first = arith::MulFOp::create(b, lhs, c, contract);
  Value second = arith::MulFOp::create(b, rhs, s, contract);
  if (minus)
    return arith::SubFOp::create(b, first, second, contract);
  return arith::AddFOp::create(b, first, second, contract);
}

SmallVector<Value> Rotator::turn(ImplicitLocOpBuilder &scalar, ValueRange args,
                                 FloatType type) const {
  Type element = args.front().getType();
  SmallVector<Value> x;
  for (Value arg : args)
    x.push_back(convertFloat(scalar, arg, type));
  if (!rotary.getFull())
    x.append({x[2], x[3]});
  Value u = createTurned(scalar, x[0], x[2], x[1], x[3], !opposite);
  Value v = createTurned(scalar, x[1], x[4], x[0], x[5], opposite);
  return {convertFloat(scalar, u, element), convertFloat(scalar, v, element)};
}

/// Passes the channels through that are in no pair: the runs between those
/// that are.
Value Rotator::copyOtherChannels(Value dest) const {
  if (input == init)
    return dest;
  int64_t channels = cast<ShapedType>(input.getType()).getShape().back();
  BitVector turned(channels);
  for (int64_t i = 0, pairs = getPairs(); i < pairs; ++i) {
    auto [first, second] = rotary.getReadChannels(i, pairs);
    turned.set(first);
    turned.set(second);
  }
  Slice whole(builder, input);
  for (int start = turned.find_first_unset(); start >= 0;) {
    int next = turned.find_next(start);
    int64_t end = next < 0 ? channels : next;
    Slice slice = Slice(whole).range(getChannelDim(), start, end - start);
    Value part = slice.extract(builder, input);
    if (isa<MemRefType>(dest.getType())) {
      Value view = slice.extract(builder, dest);
      AffineMap map = AffineMap::getMultiDimIdentityMap(getChannelDim() + 1,
                                                        builder.getContext());
      createElementwise(builder, part, view, {map, map},
                        [](ImplicitLocOpBuilder &, ValueRange args) {
                          return SmallVector<Value>(args);
                        });
    }
    dest = slice.insert(builder, part, dest);
    start = turned.find_next_unset(end - 1);
  }
  return dest;
}

Value Rotator::run() const {
  SmallVector<Value> inputs = getInputs();
  Slice whole(builder, init);
  Slice first = getChannels(whole, rotary.getWritePairing(), false);
  Slice second = getChannels(whole, rotary.getWritePairing(), true);
  SmallVector<Value> outputs = {first.extract(builder, init),
                                second.extract(builder, init)};
  FloatType type = getComputeType({input, table});
  SmallVector<Value> turned =
      createElementwise(builder, inputs, outputs, getMaps(inputs.size() - 2),
                        [&](ImplicitLocOpBuilder &scalar, ValueRange args) {
                          return turn(scalar, args, type);
                        });
  Value result = copyOtherChannels(init);
  result = first.insert(builder, turned[0], result);
  return second.insert(builder, turned[1], result);
}

template <typename OpTy>
static FailureOr<SmallVector<Value>> decompose(OpTy op, OpBuilder &builder,
                                               bool opposite) {
  if (isEmpty(op))
    return getInitsAsResults(op);
  RotaryAttr rotary = op.getRotary();
  bool samePlaces = rotary.getReadPairing() == rotary.getWritePairing();
  bool onTensors = op.hasPureTensorSemantics();
  if (!onTensors && !canWriteWhileReading(op, /*inPlace=*/samePlaces))
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), builder);
  Value result =
      Rotator{b, rotary, op.getInput(), op.getTable(), op.getInit(), opposite}
          .run();
  return onTensors ? SmallVector<Value>{result} : SmallVector<Value>();
}

FailureOr<SmallVector<Value>> RotateOp::decomposeOperation(OpBuilder &builder) {
  return decompose(*this, builder, /*opposite=*/false);
}

FailureOr<SmallVector<Value>>
RerotateOp::decomposeOperation(OpBuilder &builder) {
  return decompose(*this, builder, /*opposite=*/true);
}
