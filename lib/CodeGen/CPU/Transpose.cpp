//===- Transpose.cpp - Transposition in registers -------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transpose.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

/// In each 4 words: those from 2·`half` on of x and of y, `width` at a time in
/// turn. One instruction of x86.
static Value unpack(KernelBuilder &b, Value x, Value y, int64_t width,
                    int64_t half) {
  SmallVector<int64_t> mask;
  for (int64_t quad = 0; quad < b.lanes; quad += 4)
    for (int64_t i = 0; i < 2; i += width)
      for (int64_t source : {int64_t(0), b.lanes})
        for (int64_t j = 0; j < width; ++j)
          mask.push_back(source + quad + 2 * half + i + j);
  return vector::ShuffleOp::create(b, x, y, mask);
}

/// Every other group of `width` words of x and then of y, from `parity` on.
static Value takeGroups(KernelBuilder &b, Value x, Value y, int64_t width,
                        int64_t parity) {
  SmallVector<int64_t> mask;
  for (int64_t i = 0; i < b.lanes; ++i)
    mask.push_back((2 * (i / width) + parity) * width + i % width);
  return vector::ShuffleOp::create(b, x, y, mask);
}

SmallVector<Value> cpu::transposeGroups(KernelBuilder &b, ArrayRef<Value> rows,
                                        int64_t width) {
  if (rows.size() == 1)
    return {rows.front()};
  SmallVector<Value> results(rows.size());
  for (int64_t parity : {0, 1}) {
    SmallVector<Value> halves;
    for (size_t i = 0; i < rows.size(); i += 2)
      halves.push_back(takeGroups(b, rows[i], rows[i + 1], width, parity));
    for (auto [i, row] : llvm::enumerate(transposeGroups(b, halves, width)))
      results[2 * i + parity] = row;
  }
  return results;
}

SmallVector<Value> cpu::transpose(KernelBuilder &b, ArrayRef<Value> rows) {
  if (b.lanes == 1)
    return SmallVector<Value>(rows);
  if (b.lanes == 2)
    return {
        vector::ShuffleOp::create(b, rows[0], rows[1], ArrayRef<int64_t>{0, 2}),
        vector::ShuffleOp::create(b, rows[0], rows[1],
                                  ArrayRef<int64_t>{1, 3})};
  // Squares of 4 by 4 words, of all quads at once.
  SmallVector<SmallVector<Value>> columns(4);
  for (int64_t i = 0; i < b.lanes; i += 4) {
    for (int64_t half : {0, 1}) {
      Value x = unpack(b, rows[i], rows[i + 1], 1, half);
      Value y = unpack(b, rows[i + 2], rows[i + 3], 1, half);
      columns[2 * half].push_back(unpack(b, x, y, 2, 0));
      columns[2 * half + 1].push_back(unpack(b, x, y, 2, 1));
    }
  }
  SmallVector<Value> results(b.lanes);
  for (int64_t i = 0; i < 4; ++i)
    for (auto [quad, row] : llvm::enumerate(transposeGroups(b, columns[i], 4)))
      results[4 * quad + i] = row;
  return results;
}
