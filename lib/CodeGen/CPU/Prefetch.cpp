//===- Prefetch.cpp - Memory that is needed soon --------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products wait for nothing, but packing, loading queries and storing outputs
// wait for memory: one after the other, these phases leave it idle in between.
// So each of the first items of a block asks for a row of each operand.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

/// The head after the one at hand, in the same batch; the last one again.
static Value getNextHead(AttentionKernel &k) {
  return k.lesser(k.plus(k.head.h, 1), k.minus(k.numHeads, 1));
}

void cpu::prefetchRows(AttentionKernel &k, const Item &item) {
  // As many panels have an item for each row of a block.
  Value panels = k.minus(item.panel, k.block.firstPanel);
  k.when(k.isLess(panels, k.tileRows), [&] {
    Value number = k.plus(k.times(panels, k.block.strips), item.strip);
    Value row = k.plus(k.block.first, number);
    Value lastRow = k.minus(k.numRows, 1);
    prefetchRow(k, OperandRole::Output,
                k.getRowCoordinates(k.lesser(row, lastRow)));
    Value nextRow = k.lesser(k.plus(row, k.blockRows), lastRow);
    prefetchRow(k, OperandRole::Query, k.getRowCoordinates(nextRow));
    Value key = k.lesser(k.getRowCoordinates(row).m, k.minus(k.numKeys, 1));
    Coordinates next = k.getKeyCoordinates(key);
    next.h = getNextHead(k);
    prefetchRow(k, OperandRole::Key, next);
    prefetchRow(k, OperandRole::Value, next);
  });
}

/// Asks for the vector at a key of a panel, once for each line. These lines are
/// read once, and soon.
static void prefetchVector(AttentionKernel &k, OperandRole role, Value panel,
                           Value key, IndexLike channel, int64_t vector) {
  if (!k.prefetchesStream())
    return;
  int64_t bits = k.getElementType(role).getIntOrFloatBitWidth();
  if (vector * k.lanes * bits % (kLineBytes * 8) != 0)
    return;
  Value inHead = k.plus(k.times(panel, k.tileKeys), key);
  memref::PrefetchOp::create(
      k, k.getOperand(role),
      k.indices(k.getIndices(role, k.getKeyCoordinates(inHead), channel)),
      /*isWrite=*/false, /*localityHint=*/0, /*isDataCache=*/true);
}

void cpu::prefetchValues(AttentionKernel &k, const Item &item, Value key,
                         IndexLike channel, int64_t vector) {
  Value panel = k.greater(k.minus(item.panel, 1), 0);
  prefetchVector(k, OperandRole::Value, panel, key, channel, vector);
}

void cpu::prefetchKeys(AttentionKernel &k, const Item &item, Value key,
                       IndexLike channel, int64_t vector) {
  Value panel = k.lesser(k.plus(item.panel, 2), k.minus(k.head.panels, 1));
  prefetchVector(k, OperandRole::Key, panel, key, channel, vector);
}
