//===- LinearChunks.cpp - Chunks of linear attention ----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All products are sums in registers, of a few rows by a few vectors. Memory
// rows past the end of a chunk hold anything: what is computed from them is
// not stored, and no row meets a key after its own.
//
//===----------------------------------------------------------------------===//

#include "LinearKernel.h"
#include "Transpose.h"

#include "rope/IR/FeatureMaps.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// The indices of the row of the state for one channel of keys.
static SmallVector<IndexLike> getStateIndices(LinearKernel &k, Value channel) {
  return k.getIndices(OperandRole::KvState, {k.b, k.h, {}, {}, {}, channel});
}

static Value getZeros(KernelBuilder &k, int64_t length) {
  return arith::ConstantOp::create(
      k, k.getZeroAttr(VectorType::get(length, k.getF32Type())));
}

void cpu::loadStates(LinearKernel &k) {
  Value initial = k.getOperand(OperandRole::KvState);
  k.loop(0, k.channels, 1, [&](Value channel) {
    Value row = initial
                    ? k.pad(k.loadVector(initial, getStateIndices(k, channel),
                                         k.valueChannels),
                            k.paddedValueChannels)
                    : getZeros(k, k.paddedValueChannels);
    k.storeVector(row, k.state, {channel, 0});
  });
  if (!k.hasNormalizer)
    return;
  Value sum = k.getOperand(OperandRole::KSum)
                  ? loadStoredRow(k, OperandRole::KSum, {k.b, k.h, {}, {}, {}})
                  : getZeros(k, k.channels);
  k.storeVector(sum, k.keySum, {0});
}

void cpu::storeStates(LinearKernel &k) {
  if (Value result = k.getOperand(OperandRole::KvState))
    k.loop(0, k.channels, 1, [&](Value channel) {
      Value row = k.loadVector(k.state, {channel, 0}, k.valueChannels);
      k.storeVector(row, result, getStateIndices(k, channel));
    });
  if (k.getOperand(OperandRole::KSum))
    storeRow(k, k.loadVector(k.keySum, {0}, k.channels), OperandRole::KSum,
             {k.b, k.h, {}, {}, {}});
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

static Value loadFeatures(LinearKernel &k, OperandRole role,
                          const Coordinates &at) {
  return buildFeature(k, k.getLoc(), k.op.getFeatureMap(),
                      loadStoredRow(k, role, at));
}

static void stageKey(LinearKernel &k, const Coordinates &at, Value i) {
  Value features = loadFeatures(k, OperandRole::Key, at);
  if (k.hasNormalizer) {
    Value sum = k.add(k.loadVector(k.keySum, {0}, k.channels), features);
    k.storeVector(sum, k.keySum, {0});
    if (k.op.getCausal())
      k.storeVector(sum, k.keySums, {i, 0});
  }
  Value rotated = rotateRow(k, features, OperandRole::Key, at);
  k.storeVector(k.pad(rotated, k.paddedChannels), k.keys, {i, 0});
}

static void transposeKeys(LinearKernel &k) {
  k.loop(0, k.chunkKeys, k.lanes, [&](Value key) {
    k.loop(0, k.paddedChannels, k.lanes, [&](Value channel) {
      SmallVector<Value> rows;
      for (int64_t i = 0; i < k.lanes; ++i)
        rows.push_back(k.loadVector(k.keys, {k.plus(key, i), channel}));
      for (auto [i, column] : llvm::enumerate(transpose(k, rows)))
        k.storeVector(column, k.keyColumns,
                      {k.plus(channel, static_cast<int64_t>(i)), key});
    });
  });
}

/// The same row of the next chunk, or the last there is.
static Value getNextRow(LinearKernel &k, const Chunk &chunk, Value i,
                        Value extent) {
  Value row = k.plus(k.plus(chunk.first, i), k.chunkKeys);
  return k.lesser(row, k.minus(extent, 1));
}

void cpu::stageKeys(LinearKernel &k, const Chunk &chunk) {
  k.loop(0, chunk.count, 1, [&](Value i) {
    Coordinates next = k.getKeyCoordinates(getNextRow(k, chunk, i, k.numKeys));
    prefetchRow(k, OperandRole::Key, next);
    prefetchRow(k, OperandRole::Value, next);
    Coordinates at = k.getKeyCoordinates(k.plus(chunk.first, i));
    stageKey(k, at, i);
    if (!k.readsValues)
      k.storeVector(k.pad(loadStoredRow(k, OperandRole::Value, at),
                          k.paddedValueChannels),
                    k.values, {i, 0});
  });
  if (k.op.getCausal())
    transposeKeys(k);
}

void cpu::stageQueries(LinearKernel &k, const Chunk &chunk, Value g) {
  k.loop(0, chunk.count, 1, [&](Value i) {
    Value next = getNextRow(k, chunk, i, k.numPositions);
    prefetchRow(k, OperandRole::Query, {k.b, k.h, g, next, {}});
    Coordinates at{k.b, k.h, g, k.plus(chunk.first, i), {}};
    prefetchRow(k, OperandRole::Output, at);
    Value features = loadFeatures(k, OperandRole::Query, at);
    if (k.hasNormalizer) {
      Value sums = k.op.getCausal()
                       ? k.loadVector(k.keySums, {i, 0}, k.channels)
                       : k.loadVector(k.keySum, {0}, k.channels);
      Value sum = k.sumOfLanes(k.mul(features, sums));
      double eps = k.op.getNormalizerEps()->convertToDouble();
      k.store(k.add(sum, k.number(eps)), k.normalizers, {i});
    }
    Value rotated = rotateRow(k, features, OperandRole::Query, at);
    k.storeVector(k.pad(rotated, k.paddedChannels), k.queries, {i, 0});
  });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// Sums of a register tile, row by row.
struct Tile {
  int64_t rows, vectors;
  /// The factor of a row in one step, and that of a vector.
  function_ref<Value(int64_t, Value)> left;
  function_ref<Value(int64_t, Value)> right;
};
} // namespace

/// Adds the products of one step to the rows from `firstRow` on.
static SmallVector<Value> addStep(KernelBuilder &k, const Tile &tile,
                                  ValueRange sums, Value step,
                                  int64_t firstRow = 0) {
  SmallVector<Value> results(sums), factors;
  for (int64_t i = 0; i < tile.vectors; ++i)
    factors.push_back(tile.right(i, step));
  for (int64_t row = firstRow; row < tile.rows; ++row) {
    Value factor = k.broadcast(tile.left(row, step));
    for (int64_t i = 0; i < tile.vectors; ++i) {
      Value &sum = results[row * tile.vectors + i];
      sum = k.fma(factor, factors[i], sum);
    }
  }
  return results;
}

static SmallVector<Value> addSteps(KernelBuilder &k, const Tile &tile,
                                   ValueRange sums, IndexLike steps) {
  return k.loop(0, steps, 1, sums, [&](Value step, ValueRange carried) {
    return addStep(k, tile, carried, step);
  });
}

/// Calls `body` with the first of so many and their number, so that all of
/// `extent` are covered.
static void forEachPiece(KernelBuilder &k, int64_t extent, int64_t size,
                         function_ref<void(Value, int64_t)> body) {
  int64_t whole = extent / size * size;
  if (whole != 0)
    k.loop(0, whole, size, [&](Value first) { body(first, size); });
  if (whole != extent)
    body(k.index(whole), extent - whole);
}

/// The same for vectors of `extent` elements.
static void forEachVectors(LinearKernel &k, int64_t extent, int64_t vectors,
                           function_ref<void(Value, int64_t)> body) {
  forEachPiece(k, extent, vectors * k.lanes,
               [&](Value first, int64_t size) { body(first, size / k.lanes); });
}

static Value loadValue(LinearKernel &k, const Chunk &chunk, Value key,
                       Value channel) {
  if (!k.readsValues)
    return k.loadVector(k.values, {key, channel});
  Coordinates at = k.getKeyCoordinates(k.plus(chunk.first, key));
  return k.loadVector(k.getOperand(OperandRole::Value),
                      k.getIndices(OperandRole::Value, at, channel));
}

/// The products of some queries and some vectors of columns of `matrix`,
/// [channel][column].
static SmallVector<Value> multiplyQueries(LinearKernel &k, Value row,
                                          int64_t rows, Value matrix,
                                          Value column, int64_t vectors) {
  auto query = [&](int64_t i, Value channel) {
    return k.load(k.queries, {k.plus(row, i), channel});
  };
  auto columns = [&](int64_t i, Value channel) {
    return k.loadVector(matrix, {channel, k.plus(column, i * k.lanes)});
  };
  SmallVector<Value> zeros(rows * vectors, k.numbers(0.0));
  return addSteps(k, {rows, vectors, query, columns}, zeros, k.channels);
}

static void storeTile(LinearKernel &k, ValueRange sums, int64_t vectors,
                      Value memory, Value row, Value column) {
  for (auto [i, sum] : llvm::enumerate(sums)) {
    int64_t index = static_cast<int64_t>(i);
    k.storeVector(sum, memory,
                  {k.plus(row, index / vectors),
                   k.plus(column, index % vectors * k.lanes)});
  }
}

void cpu::computeScores(LinearKernel &k, const Chunk &chunk) {
  k.loop(0, chunk.count, k.scoreRows, [&](Value row) {
    auto compute = [&](Value key, int64_t vectors) {
      SmallVector<Value> sums =
          multiplyQueries(k, row, k.scoreRows, k.keyColumns, key, vectors);
      storeTile(k, sums, vectors, k.scores, row, key);
    };
    forEachVectors(k, k.chunkKeys, k.scoreVectors, compute);
  });
}

/// Adds the values of keys up to each row's own.
static SmallVector<Value> addPastValues(LinearKernel &k, const Chunk &chunk,
                                        ValueRange sums, Value row,
                                        Value channel) {
  auto score = [&](int64_t i, Value key) {
    return k.load(k.scores, {k.plus(row, i), key});
  };
  auto value = [&](int64_t i, Value key) {
    return loadValue(k, chunk, key, k.plus(channel, i * k.lanes));
  };
  int64_t vectors = static_cast<int64_t>(sums.size()) / k.tileRows;
  Tile tile{k.tileRows, vectors, score, value};
  SmallVector<Value> results = addSteps(k, tile, sums, row);
  Value last = k.minus(chunk.count, 1);
  for (int64_t i = 0; i < k.tileRows; ++i)
    results = addStep(k, tile, results, k.lesser(k.plus(row, i), last), i);
  return results;
}

static void sumOutputs(LinearKernel &k, const Chunk &chunk) {
  k.loop(0, chunk.count, k.tileRows, [&](Value row) {
    auto compute = [&](Value first, int64_t vectors) {
      SmallVector<Value> sums =
          multiplyQueries(k, row, k.tileRows, k.state, first, vectors);
      if (k.op.getCausal())
        sums = addPastValues(k, chunk, sums, row, first);
      storeTile(k, sums, vectors, k.outputs, row, first);
    };
    forEachVectors(k, k.paddedValueChannels, k.tileVectors, compute);
  });
}

void cpu::computeOutputs(LinearKernel &k, const Chunk &chunk, Value g) {
  sumOutputs(k, chunk);
  k.loop(0, chunk.count, 1, [&](Value i) {
    Value output = k.loadVector(k.outputs, {i, 0}, k.valueChannels);
    if (k.hasNormalizer) {
      Value normalizer = k.load(k.normalizers, {i});
      output = arith::DivFOp::create(
          k, output,
          vector::BroadcastOp::create(k, output.getType(), normalizer));
    }
    storeRow(k, output, OperandRole::Output,
             {k.b, k.h, g, k.plus(chunk.first, i), {}});
  });
}

/// Adds the products of keys and values to a tile of the state.
static void updateTile(LinearKernel &k, const Chunk &chunk, Value channel,
                       int64_t rows, Value first, int64_t vectors) {
  auto key = [&](int64_t i, Value step) {
    return k.load(k.keys, {step, k.plus(channel, i)});
  };
  auto value = [&](int64_t i, Value step) {
    return loadValue(k, chunk, step, k.plus(first, i * k.lanes));
  };
  SmallVector<Value> sums;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < vectors; ++j)
      sums.push_back(k.loadVector(
          k.state, {k.plus(channel, i), k.plus(first, j * k.lanes)}));
  sums = addSteps(k, {rows, vectors, key, value}, sums, chunk.count);
  storeTile(k, sums, vectors, k.state, channel, first);
}

void cpu::updateState(LinearKernel &k, const Chunk &chunk) {
  forEachPiece(k, k.channels, k.tileRows, [&](Value channel, int64_t rows) {
    auto update = [&](Value first, int64_t vectors) {
      updateTile(k, chunk, channel, rows, first, vectors);
    };
    forEachVectors(k, k.paddedValueChannels, k.tileVectors, update);
  });
}
