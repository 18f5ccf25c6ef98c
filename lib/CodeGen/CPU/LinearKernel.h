//===- LinearKernel.h - What the code of linear attention is made of ------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keys and rows come in chunks. The state of a key-value head is the sum of the
// products of keys and values of all chunks before; within a causal chunk, rows
// meet keys one by one.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_CODEGEN_CPU_LINEARKERNEL_H
#define ROPE_LIB_CODEGEN_CPU_LINEARKERNEL_H

#include "DomainKernel.h"

namespace mlir::rope::cpu {

/// Some keys or rows of a head: the first, and how many there are, at least one
/// and at most `chunkKeys`. Both are indices.
struct Chunk {
  Value first, count;
};

struct LinearKernel : DomainKernel {
  LinearKernel(LinearAttentionOp op, CPUPlanAttr plan, OpBuilder &builder);

  LinearAttentionOp op;

  /// Rows and vectors of a register tile; keys, and rows, of a chunk.
  int64_t tileRows, tileVectors, chunkKeys;
  /// Rows and vectors of a tile of scores.
  int64_t scoreRows, scoreVectors;
  /// Rows of memory for a chunk: whole tiles.
  int64_t chunkRows;
  /// Channels of keys and of values, up to whole vectors.
  int64_t paddedChannels, paddedValueChannels;
  bool hasNormalizer;
  /// Values are read where they lie.
  bool readsValues;

  //===--------------------------------------------------------------------===//
  // Memory that one head is computed in, of f32
  //===--------------------------------------------------------------------===//

  /// [channel][value channel] and [channel], the states before a chunk.
  Value state, keySum;
  /// [key][channel] rotated features of keys, the same as [channel][key], and
  /// the sums of features up to each key.
  Value keys, keyColumns, keySums;
  /// [key][value channel]; null if values are read where they lie.
  Value values;
  /// [row][channel] rotated features of queries, and their normalisers.
  Value queries, normalizers;
  /// [row][key] products of queries and keys, [row][value channel] sums.
  Value scores, outputs;

  /// The key-value head at hand.
  Value b, h;

  Coordinates getKeyCoordinates(Value key) { return {b, h, {}, {}, key}; }
};

/// Sets the states to those carried in, or to 0; stores them.
void loadStates(LinearKernel &k);
void storeStates(LinearKernel &k);

/// Puts features of keys, and values, in place, and adds keys to their sum.
void stageKeys(LinearKernel &k, const Chunk &chunk);
/// Puts features of the queries of group `g` in place.
void stageQueries(LinearKernel &k, const Chunk &chunk, Value g);
/// Computes the products of queries and keys of a causal chunk.
void computeScores(LinearKernel &k, const Chunk &chunk);
/// Computes and stores the rows of group `g`, from the state and, if the op is
/// causal, the chunk's keys.
void computeOutputs(LinearKernel &k, const Chunk &chunk, Value g);
/// Adds the products of the chunk's keys and values to the state.
void updateState(LinearKernel &k, const Chunk &chunk);

} // namespace mlir::rope::cpu

#endif // ROPE_LIB_CODEGEN_CPU_LINEARKERNEL_H
