//===- Splits.cpp - Keys that threads share -------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decoding reads the keys of each head once, for few rows. Where heads are few
// as well, the keys of a head are split into runs of panels, whose states
// (outputs so far, sums of weights, references) are merged after all of them
// are there. How many splits there are does not depend on the number of
// threads, and so no result does.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

/// With that many heads it does not matter much who gets one more.
static constexpr int64_t kManyHeads = 8;
/// Panels that are worth a state of their own.
static constexpr int64_t kMinPanels = 2;

void cpu::setUpSplits(AttentionKernel &k) {
  if (!k.threads || !k.streams)
    return;
  Value heads = k.greater(k.times(k.numBatches, k.numHeads), 1);
  Value panels = k.quotientUp(k.numKeys, k.tileKeys);
  Value splits = k.lesser(k.quotientUp(kManyHeads, heads),
                          k.greater(k.quotient(panels, kMinPanels), 1));
  splits = k.select(k.paysForTeam(), splits, k.index(1));
  if (IndexLike(splits).getNumber() == 1)
    return;
  k.splits.count = splits;
  auto type = MemRefType::get(
      {ShapedType::kDynamic, k.paddedValueChannels + 2 * k.lanes},
      k.getF32Type());
  k.splits.states = memref::AllocOp::create(
      k, type, k.times(k.times(heads, splits), k.numRows),
      k.getI64IntegerAttr(64));
}

void cpu::takeSplit(AttentionKernel &k) {
  Value first = k.block.firstPanel;
  Value panels = k.greater(k.minus(k.block.endPanel, first), 0);
  auto getBound = [&](Value split) {
    return k.plus(first, k.quotient(k.times(panels, split), k.splits.count));
  };
  k.block.firstPanel = getBound(k.splits.current);
  k.block.endPanel = getBound(k.plus(k.splits.current, 1));
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

namespace {
/// Where the state of a row by one split of the keys is: a row of memory, of
/// the output, the sums, and minus the reference in all lanes.
struct State {
  AttentionKernel &k;
  Value at;

  State(AttentionKernel &k, Value split, Value row) : k(k) {
    Value head = k.plus(k.times(k.head.b, k.numHeads), k.head.h);
    Value run = k.plus(k.times(head, k.splits.count), split);
    at = k.plus(k.times(run, k.numRows), row);
  }

  SmallVector<IndexLike> output() { return {at, 0}; }
  SmallVector<IndexLike> sums() { return {at, k.paddedValueChannels}; }
  SmallVector<IndexLike> reference() {
    return {at, k.paddedValueChannels + k.lanes};
  }
  Value load(ArrayRef<IndexLike> from, int64_t count = 0) {
    return k.loadVector(k.splits.states, from, count);
  }
  Value loadReference() { return k.load(k.splits.states, reference()); }
  Value isEmpty() {
    return arith::CmpFOp::create(k, arith::CmpFPredicate::OEQ,
                                 k.sumOfLanes(load(sums())), k.number(0.0));
  }
};
} // namespace

void cpu::storeState(AttentionKernel &k) {
  k.loop(0, k.block.rows, 1, [&](Value row) {
    State state(k, k.splits.current, k.plus(k.block.first, row));
    Value output =
        k.loadVector(k.scratch.output, {row, 0}, k.paddedValueChannels);
    k.storeVector(output, k.splits.states, state.output());
    k.storeVector(k.loadVector(k.scratch.sums, {row, 0}), k.splits.states,
                  state.sums());
    k.storeVector(k.broadcast(k.load(k.scratch.references, {row})),
                  k.splits.states, state.reference());
  });
}

/// The least of what is minus the reference, of splits with keys that the row
/// sees; 0 without such.
static Value findReference(AttentionKernel &k, Value row) {
  Value none = k.number(std::numeric_limits<double>::infinity());
  Value least =
      k.loop(0, k.splits.count, 1, none, [&](Value split, ValueRange carried) {
         State state(k, split, row);
         Value own = state.loadReference();
         Value isLess = arith::CmpFOp::create(k, arith::CmpFPredicate::OLT, own,
                                              carried[0]);
         Value counts = k.both(isLess, k.isNot(state.isEmpty()));
         return SmallVector<Value>{k.select(counts, own, carried[0])};
       }).front();
  Value isNone =
      arith::CmpFOp::create(k, arith::CmpFPredicate::OEQ, least, none);
  return k.select(isNone, k.number(0.0), least);
}

/// What a state counts for, in all lanes.
static Value getWeight(AttentionKernel &k, State &state, Value minusReference) {
  Value difference =
      arith::SubFOp::create(k, minusReference, state.loadReference());
  Value weight = buildCarefulExp2(k, k.broadcast(difference));
  // The reference of an empty one may be far above.
  return k.select(state.isEmpty(), k.numbers(0.0), weight);
}

/// Sums up a term of each split.
static Value addUp(AttentionKernel &k, Value row, Type type,
                   function_ref<Value(State &)> getTerm) {
  Value zeros = arith::ConstantOp::create(k, k.getZeroAttr(type));
  auto addTerm = [&](Value split, ValueRange carried) {
    State state(k, split, row);
    Value term = k.sub(getTerm(state), carried[1]);
    Value sum = k.add(carried[0], term);
    return SmallVector<Value>{sum, findLost(k, carried[0], term, sum)};
  };
  SmallVector<Value> start = {zeros, zeros};
  return k.loop(0, k.splits.count, 1, start, addTerm).front();
}

void cpu::mergeStates(AttentionKernel &k, Value row) {
  Value minusReference = findReference(k, row);
  Value sums = addUp(k, row, k.getFloats(), [&](State &state) {
    return k.mul(state.load(state.sums()), getWeight(k, state, minusReference));
  });
  // A sum of outputs that are not divided yet may be infinite.
  auto getOutput = [&](Value factor) {
    auto type = VectorType::get(k.valueChannels, k.getF32Type());
    Value output = addUp(k, row, type, [&](State &state) {
      Value weight =
          vector::ExtractOp::create(k, getWeight(k, state, minusReference), 0);
      return k.mul(state.load(state.output(), k.valueChannels),
                   vector::BroadcastOp::create(k, type, k.mul(weight, factor)));
    });
    return k.splitsValues ? joinPairs(k, output) : output;
  };
  storeOutput(k, k.getRowCoordinates(row), k.sumOfLanes(sums), minusReference,
              getOutput);
}
