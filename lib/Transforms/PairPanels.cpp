//===- PairPanels.cpp - Panels of pairs of bf16 ---------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PairPanels.h"
#include "LinalgTiles.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::rope;
using linalg::GenericOp;

// Whether a map names these dims, in this order.
static bool isMapOf(AffineMap map, ArrayRef<unsigned> dims) {
  return map.getNumResults() == dims.size() &&
         llvm::all_of(llvm::enumerate(dims), [&](auto dim) {
           return map.getResult(dim.index()) ==
                  getAffineDimExpr(dim.value(), map.getContext());
         });
}

bool rope::canSumPairs(GenericOp op, const Roles &roles) {
  if (roles.steps.size() != 1 || !roles.outer.empty() ||
      !getElementTypeOrSelf(op.getResultTypes()[0]).isF32() ||
      !llvm::all_of(op.getDpsInputs(), [](Value input) {
        return getElementTypeOrSelf(input).isBF16();
      }))
    return false;
  unsigned step = roles.steps.front(), lane = roles.lane;
  SmallVector<unsigned> left, result;
  if (roles.row)
    left = result = {*roles.row};
  left.push_back(step);
  result.push_back(lane);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap panel = maps[roles.panelOperand];
  return isMapOf(maps[1 - roles.panelOperand], left) &&
         (isMapOf(panel, {lane, step}) || isMapOf(panel, {step, lane})) &&
         isMapOf(maps[2], result);
}

namespace {
// What the code of panels and of tiles is written with.
class PairBuilder : public ImplicitLocOpBuilder {
public:
  PairBuilder(RewriterBase &rewriter, GenericOp op, int64_t lanes)
      : ImplicitLocOpBuilder(op.getLoc(), rewriter), lanes(lanes) {
    setInsertionPoint(op);
    Type bf16 = getBF16Type();
    zero = number(0);
    noPair = arith::ConstantOp::create(*this, getZeroAttr(bf16));
    noSum = arith::ConstantOp::create(*this, getZeroAttr(getF32Type()));
    sums = VectorType::get(lanes, getF32Type());
    pairs = VectorType::get(2 * lanes, bf16);
  }

  Value number(int64_t value) {
    return arith::ConstantIndexOp::create(*this, value);
  }
  /// An expression of one number, which is symbol 0.
  Value apply(AffineExpr expr, OpFoldResult of) {
    return getValueOrCreateConstantIndexOp(
        *this, getLoc(),
        affine::makeComposedFoldedAffineApply(*this, getLoc(), expr, {of}));
  }
  AffineExpr symbol() { return getAffineSymbolExpr(0); }

  using Body = llvm::function_ref<SmallVector<Value>(Value, ValueRange)>;
  SmallVector<Value> loop(Value from, Value to, int64_t step, ValueRange inits,
                          Body body) {
    auto result = scf::ForOp::create(*this, from, to, number(step), inits);
    OpBuilder::InsertionGuard guard(*this);
    setInsertionPointToStart(result.getBody());
    SmallVector<Value> next =
        body(result.getInductionVar(), result.getRegionIterArgs());
    // An empty loop has a terminator already.
    if (!inits.empty())
      scf::YieldOp::create(*this, next);
    return result.getResults();
  }

  Value read(VectorType type, Value tensor, ValueRange at,
             ArrayRef<bool> inBounds) {
    Value padding = type.getElementType().isF32() ? noSum : noPair;
    return vector::TransferReadOp::create(*this, type, tensor, at, padding,
                                          inBounds);
  }
  Value write(Value vector, Value tensor, ValueRange at,
              ArrayRef<bool> inBounds) {
    return vector::TransferWriteOp::create(*this, vector, tensor, at, inBounds)
        .getResult();
  }
  Value dot(Value sum, Value a, Value b) {
    return x86vector::DotBF16Op::create(*this, sums, sum, a, b);
  }

  int64_t lanes;
  Value zero, noPair, noSum;
  VectorType sums, pairs;
};

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

class PairPacker {
public:
  PairPacker(RewriterBase &rewriter, GenericOp op, const Roles &roles,
             int64_t lanes, int64_t width)
      : b(rewriter, op, lanes), width(width) {
    OpOperand *operand = op.getDpsInputOperand(roles.panelOperand);
    source = operand->get();
    hasStepsLast = !isLaneContiguous(op, roles);
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(b, b.getLoc(), source);
    steps = sizes[hasStepsLast ? 1 : 0];
    isFull = isConstantIntValue(sizes[hasStepsLast ? 0 : 1], width);
  }

  Value pack(int64_t maxSteps) {
    // Squares of as many pairs as lanes are written as a whole.
    int64_t pairs = llvm::alignTo(llvm::divideCeil(maxSteps, 2), b.lanes);
    Value panel = tensor::EmptyOp::create(
        b, ArrayRef<int64_t>{pairs, 2 * width}, b.getBF16Type());
    return hasStepsLast ? packRows(panel) : packColumns(panel);
  }

private:
  // Transposes squares of pairs, which are words. A few rows at a time are read
  // from end to end.
  Value packRows(Value panel) {
    AffineExpr n = b.symbol();
    int64_t size = 2 * b.lanes;
    Value whole = b.apply(n.floorDiv(size) * size, steps);
    Value all = b.apply(n, steps);
    auto squares = [&](Value lane, Value from, Value to, ValueRange panels,
                       bool inBounds) {
      return b.loop(from, to, size, panels,
                    [&](Value step, ValueRange carried) {
                      return SmallVector<Value>{
                          packSquare(lane, step, inBounds, carried.front())};
                    });
    };
    return b
        .loop(b.zero, b.number(width), b.lanes, panel,
              [&](Value lane, ValueRange carried) {
                SmallVector<Value> main =
                    squares(lane, b.zero, whole, carried, true);
                return squares(lane, whole, all, main, false);
              })
        .front();
  }

  Value packSquare(Value lane, Value step, bool inBounds, Value panel) {
    auto type = VectorType::get({b.lanes, 2 * b.lanes}, b.getBF16Type());
    auto words = VectorType::get({b.lanes, b.lanes}, b.getI32Type());
    Value rows = b.read(type, source, {lane, step}, {isFull, inBounds});
    Value square = vector::BitCastOp::create(b, words, rows);
    square = vector::TransposeOp::create(b, square, ArrayRef<int64_t>{1, 0});
    Value columns = vector::BitCastOp::create(b, type, square);
    AffineExpr n = b.symbol();
    return b.write(columns, panel,
                   {b.apply(n.floorDiv(2), step), b.apply(n * 2, lane)},
                   {true, true});
  }

  // Merges the rows of two steps.
  Value packColumns(Value panel) {
    AffineExpr n = b.symbol();
    auto type = VectorType::get(width, b.getBF16Type());
    Value none = arith::ConstantOp::create(b, b.getZeroAttr(type));
    auto merge = [&](Value from, Value to, Value panel, bool hasSecond) {
      return b
          .loop(from, to, 1, panel,
                [&](Value pair, ValueRange carried) {
                  Value first = readStep(type, b.apply(n * 2, pair));
                  Value second = hasSecond
                                     ? readStep(type, b.apply(n * 2 + 1, pair))
                                     : none;
                  Value merged = vector::InterleaveOp::create(b, first, second);
                  return SmallVector<Value>{
                      b.write(merged, carried.front(), {pair, b.zero}, {true})};
                })
          .front();
    };
    Value whole = b.apply(n.floorDiv(2), steps);
    panel = merge(b.zero, whole, panel, true);
    return merge(whole, b.apply(n.ceilDiv(2), steps), panel, false);
  }

  Value readStep(VectorType type, Value step) {
    return b.read(type, source, {step, b.zero}, {isFull});
  }

  PairBuilder b;
  int64_t width;
  Value source;
  OpFoldResult steps;
  bool hasStepsLast, isFull;
};
} // namespace

Value rope::packPairs(RewriterBase &rewriter, GenericOp op, const Roles &roles,
                      int64_t lanes, int64_t maxSteps, int64_t width) {
  return PairPacker(rewriter, op, roles, lanes, width).pack(maxSteps);
}

//===----------------------------------------------------------------------===//
// Sums of a tile
//===----------------------------------------------------------------------===//

namespace {
class PairTile {
public:
  PairTile(RewriterBase &rewriter, GenericOp op, const Roles &roles,
           Value panel, int64_t lanes, int64_t width, SumStart start,
           const PanelPrefetch *prefetch)
      : b(rewriter, op, lanes), op(op), panel(panel), start(start),
        prefetch(prefetch), left(op.getDpsInputs()[1 - roles.panelOperand]),
        right(op.getDpsInputs()[roles.panelOperand]),
        rows(roles.row ? op.getStaticLoopRanges()[*roles.row] : 1),
        columns(width / lanes), hasRows(roles.row),
        isFull(op.getStaticLoopRanges()[roles.lane] == width) {
    steps = tensor::getMixedSizes(b, b.getLoc(), left).back();
  }

  Value compute() {
    AffineExpr n = b.symbol();
    SmallVector<Value> sums;
    for (int64_t i = 0; i < rows * columns; ++i)
      sums.push_back(readSum(i));
    Value whole = b.apply(n.floorDiv(2), steps);
    auto add = [&](Value from, Value to, bool hasSecond, ValueRange sums) {
      return b.loop(from, to, 1, sums, [&](Value pair, ValueRange carried) {
        return addPair(pair, hasSecond, carried);
      });
    };
    if (prefetch) {
      int64_t size = PanelPrefetch::kIterations;
      sums = b.loop(
          b.zero, whole, size, sums, [&](Value first, ValueRange carried) {
            prefetch->fetch(b, b.getLoc(), first);
            Value last =
                arith::MinSIOp::create(b, b.apply(n + size, first), whole);
            return add(first, last, true, carried);
          });
    } else {
      sums = add(b.zero, whole, true, sums);
    }
    sums = add(whole, b.apply(n.ceilDiv(2), steps), false, sums);
    Value result = op.getDpsInits()[0];
    for (auto [i, sum] : llvm::enumerate(sums))
      result = b.write(sum, result, getIndices(i), {isFull});
    return result;
  }

private:
  SmallVector<Value> getIndices(int64_t i) {
    SmallVector<Value> at;
    if (hasRows)
      at.push_back(b.number(i / columns));
    at.push_back(b.number(i % columns * b.lanes));
    return at;
  }

  Value readSum(int64_t i) {
    Value first;
    if (start.value)
      first = vector::BroadcastOp::create(b, b.sums, start.value);
    if (first && !start.isFirst)
      return first;
    Value old = b.read(b.sums, op.getDpsInits()[0], getIndices(i), {isFull});
    if (!first)
      return old;
    // In each lane: a choice of the whole vector would double the loops.
    auto type = VectorType::get(b.lanes, b.getI1Type());
    Value isFirst = vector::BroadcastOp::create(b, type, start.isFirst);
    return arith::SelectOp::create(b, isFirst, first, old);
  }

  // The pair of a row in every lane.
  Value readPair(int64_t row, Value pair, bool hasSecond) {
    SmallVector<Value> at;
    if (hasRows)
      at.push_back(b.number(row));
    at.push_back(b.apply(b.symbol() * 2, pair));
    auto type = VectorType::get(2, b.getBF16Type());
    Value numbers;
    if (hasSecond) {
      numbers = b.read(type, left, at, {true});
    } else {
      Value last = tensor::ExtractOp::create(b, left, at);
      numbers =
          vector::FromElementsOp::create(b, type, ValueRange{last, b.noPair});
    }
    Value word = vector::BitCastOp::create(
        b, VectorType::get(1, b.getI32Type()), numbers);
    word = vector::ExtractOp::create(b, word, 0);
    auto words = VectorType::get(b.lanes, b.getI32Type());
    return vector::BitCastOp::create(
        b, b.pairs, vector::BroadcastOp::create(b, words, word));
  }

  // The pairs of a vector of columns.
  Value readWeights(int64_t column, Value pair, bool hasSecond) {
    if (panel)
      return b.read(b.pairs, panel, {pair, b.number(2 * column * b.lanes)},
                    {true});
    auto type = VectorType::get(b.lanes, b.getBF16Type());
    auto readStep = [&](int64_t step) {
      Value at = b.apply(b.symbol() * 2 + step, pair);
      return b.read(type, right, {at, b.number(column * b.lanes)}, {isFull});
    };
    Value second = hasSecond
                       ? readStep(1)
                       : arith::ConstantOp::create(b, b.getZeroAttr(type));
    return vector::InterleaveOp::create(b, readStep(0), second);
  }

  SmallVector<Value> addPair(Value pair, bool hasSecond, ValueRange sums) {
    SmallVector<Value> weights, next;
    for (int64_t c = 0; c < columns; ++c)
      weights.push_back(readWeights(c, pair, hasSecond));
    for (int64_t r = 0; r < rows; ++r) {
      Value numbers = readPair(r, pair, hasSecond);
      for (int64_t c = 0; c < columns; ++c)
        next.push_back(b.dot(sums[r * columns + c], numbers, weights[c]));
    }
    return next;
  }

  PairBuilder b;
  GenericOp op;
  Value panel;
  SumStart start;
  const PanelPrefetch *prefetch;
  Value left, right;
  int64_t rows, columns;
  bool hasRows, isFull;
  OpFoldResult steps;
};
} // namespace

void rope::sumPairs(RewriterBase &rewriter, GenericOp op, const Roles &roles,
                    Value panel, int64_t lanes, int64_t width, SumStart start,
                    const PanelPrefetch *prefetch) {
  Value result =
      PairTile(rewriter, op, roles, panel, lanes, width, start, prefetch)
          .compute();
  rewriter.replaceOp(op, result);
}

//===----------------------------------------------------------------------===//
// Sums in lanes
//===----------------------------------------------------------------------===//

namespace {
class PairDots {
public:
  PairDots(RewriterBase &rewriter, GenericOp op, const Roles &roles,
           int64_t lanes, int64_t vectors)
      : b(rewriter, op, lanes), op(op), vectors(vectors),
        left(op.getDpsInputs()[1 - roles.panelOperand]),
        panel(op.getDpsInputs()[roles.panelOperand]),
        rows(roles.row ? op.getStaticLoopRanges()[*roles.row] : 1),
        columns(op.getStaticLoopRanges()[roles.lane]), hasRows(roles.row) {
    steps = tensor::getMixedSizes(b, b.getLoc(), left).back();
  }

  Value compute() {
    Value none = arith::ConstantOp::create(b, b.getZeroAttr(b.sums));
    SmallVector<Value> sums(rows * columns * vectors, none);
    int64_t one = 2 * b.lanes, many = vectors * one;
    AffineExpr n = b.symbol();
    Value whole = b.apply(n.floorDiv(many) * many, steps);
    Value filled = b.apply(n.floorDiv(one) * one, steps);
    auto add = [&](Value from, Value to, int64_t count, bool inBounds) {
      sums = b.loop(from, to, count * one, sums,
                    [&](Value step, ValueRange carried) {
                      return addVectors(step, count, inBounds, carried);
                    });
    };
    add(b.zero, whole, vectors, true);
    add(whole, filled, 1, true);
    add(filled, b.apply(n, steps), 1, false);
    Value result = op.getDpsInits()[0];
    for (int64_t i = 0; i < rows * columns; ++i)
      result = store(ArrayRef(sums).slice(i * vectors, vectors), i, result);
    return result;
  }

private:
  Value readRow(Value tensor, std::optional<int64_t> row, Value step,
                bool inBounds) {
    SmallVector<Value> at;
    if (row)
      at.push_back(b.number(*row));
    at.push_back(step);
    return b.read(b.pairs, tensor, at, {inBounds});
  }

  SmallVector<Value> addVectors(Value step, int64_t count, bool inBounds,
                                ValueRange carried) {
    SmallVector<Value> next(carried);
    for (int64_t v = 0; v < count; ++v) {
      Value at = b.apply(b.symbol() + 2 * v * b.lanes, step);
      SmallVector<Value> numbers;
      for (int64_t r = 0; r < rows; ++r)
        numbers.push_back(readRow(
            left, hasRows ? std::optional(r) : std::nullopt, at, inBounds));
      for (int64_t c = 0; c < columns; ++c) {
        Value weights = readRow(panel, c, at, inBounds);
        for (int64_t r = 0; r < rows; ++r) {
          Value &sum = next[(r * columns + c) * vectors + v];
          sum = b.dot(sum, numbers[r], weights);
        }
      }
    }
    return next;
  }

  Value store(ArrayRef<Value> parts, int64_t i, Value result) {
    SmallVector<Value> at;
    if (hasRows)
      at.push_back(b.number(i / columns));
    at.push_back(b.number(i % columns));
    Value total = parts.front();
    for (Value part : parts.drop_front())
      total = arith::AddFOp::create(b, total, part);
    Value old = tensor::ExtractOp::create(b, op.getDpsInits()[0], at);
    Value sum =
        vector::ReductionOp::create(b, vector::CombiningKind::ADD, total, old);
    return tensor::InsertOp::create(b, sum, result, at);
  }

  PairBuilder b;
  GenericOp op;
  int64_t vectors;
  Value left, panel;
  int64_t rows, columns;
  bool hasRows;
  OpFoldResult steps;
};
} // namespace

void rope::sumPairsInLanes(RewriterBase &rewriter, GenericOp op,
                           const Roles &roles, int64_t lanes, int64_t vectors) {
  Value result = PairDots(rewriter, op, roles, lanes, vectors).compute();
  rewriter.replaceOp(op, result);
}
