//===- Prefetch.cpp - Memory that is needed soon --------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products wait for nothing, but packing, loading queries and storing outputs
// wait for memory: one after the other, these phases leave it idle in between.
// So each of some items of a block asks for a row of each operand.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"

#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

/// The head after the one at hand, in the same batch; the last one again.
static Value getNextHead(AttentionKernel &k) {
  return k.lesser(k.plus(k.head.h, 1), k.minus(k.numHeads, 1));
}

void cpu::prefetchRows(AttentionKernel &k, const Item &item) {
  // As many panels have an item for each row of a block. They are so late that
  // what they ask for is still there in the end, and early enough for the rows
  // of a causal block to see them all.
  Value first =
      k.greater(k.minus(k.block.endPanel, 2 * k.tileRows), k.block.firstPanel);
  Value panels = k.minus(item.panel, first);
  Value asks = k.both(k.isLess(-1, panels), k.isLess(panels, k.tileRows));
  k.when(asks, [&] {
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

/// Asks for a part of the lines of some keys of a panel, or of their values, in
/// the order in which they lie in memory: the machine looks ahead by itself as
/// well, and is led astray by any other. These lines are read once, and soon.
static void prefetchPart(AttentionKernel &k, OperandRole role, Value panel,
                         const PanelPart &part) {
  int64_t perLine =
      kLineBytes * 8 / k.getElementType(role).getIntOrFloatBitWidth();
  int64_t channels = role == OperandRole::Key ? k.channels : k.valueChannels;
  int64_t linesOfKey = llvm::divideCeil(channels, perLine);
  int64_t count = llvm::divideCeil(part.keys * linesOfKey, part.parts);
  // Lines are counted by as many as keep together from part to part, so that
  // which key they are of is computed once.
  int64_t unit = std::gcd(count, linesOfKey), unitsOfKey = linesOfKey / unit;
  Value firstUnit = k.times(part.part, count / unit);
  Value firstKey = k.plus(k.times(panel, k.tileKeys), part.firstKey);
  for (int64_t i = 0; i < count; ++i) {
    Value at = k.plus(firstUnit, i / unit);
    Value key = k.plus(firstKey, k.quotient(at, unitsOfKey));
    Value line = k.plus(k.times(k.remainder(at, unitsOfKey), unit), i % unit);
    memref::PrefetchOp::create(
        k, k.getOperand(role),
        k.indices(k.getIndices(role, k.getKeyCoordinates(key),
                               k.times(line, perLine))),
        /*isWrite=*/false, /*localityHint=*/0, /*isDataCache=*/true);
  }
}

void cpu::prefetchValues(AttentionKernel &k, const Item &item,
                         const PanelPart &part) {
  Value panel = k.greater(k.minus(item.panel, 1), 0);
  prefetchPart(k, OperandRole::Value, panel, part);
}

void cpu::prefetchKeys(AttentionKernel &k, const Item &item,
                       const PanelPart &part) {
  Value panel = k.lesser(k.plus(item.panel, 2), k.minus(k.head.panels, 1));
  prefetchPart(k, OperandRole::Key, panel, part);
}
