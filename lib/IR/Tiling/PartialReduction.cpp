//===- PartialReduction.cpp - Split keys and their merge ------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PartialReductionOpInterface of rope.online_attention. Each part of the keys
// has a state (acc, max, sum) of its own, in a slot of tensors with one more
// leading dim; the merge brings them to the largest max:
//
//   M = max(max, max_s),  x' = x·w(max) + Σ_s x_s·w(max_s),  w(y) = exp(y − M)
//
// for x = acc, sum. w(−∞) is 0 also where M is −∞, as for a row that has seen
// no key.
//
//===----------------------------------------------------------------------===//

#include "AttentionModel.h"
#include "rope/IR/Tiling.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static LogicalResult verifyTensors(OnlineAttentionOp op) {
  if (op.hasPureTensorSemantics())
    return success();
  return op.emitOpError("can be split along its keys on tensors only");
}

FailureOr<SmallVector<Value>>
OnlineAttentionOp::generateInitialTensorForPartialReduction(
    OpBuilder &builder, Location loc, ArrayRef<OpFoldResult> tileSizes,
    const SetVector<unsigned> &) {
  if (failed(verifyTensors(*this)))
    return failure();
  // Upstream tiling would leave the op with these inits, but without a loop.
  if (hasEmptyOperand(*this))
    return emitOpError("has an empty operand, of which nothing can be split");
  SmallVector<Value> states;
  for (auto [i, init] : llvm::enumerate(getInits())) {
    auto type = cast<FloatType>(getElementTypeOrSelf(init.getType()));
    SmallVector<OpFoldResult> shape = tensor::getMixedSizes(builder, loc, init);
    shape.insert(shape.begin(), tileSizes[getLoop(DomainDim::N)]);
    Value empty = tensor::EmptyOp::create(builder, loc, shape, type);
    // The state before any key: (0, −∞, 0).
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    APFloat identity = i == 1 ? APFloat::getInf(semantics, /*Negative=*/true)
                              : APFloat::getZero(semantics);
    Value fill = arith::ConstantOp::create(
        builder, loc, builder.getFloatAttr(type, identity));
    states.push_back(
        linalg::FillOp::create(builder, loc, fill, empty).getResult(0));
  }
  return states;
}

/// The slot of a part. One after the other, all parts use the first: the
/// slots are for parts that run at the same time.
static OpFoldResult getSlot(OpBuilder &builder,
                            ReductionTilingStrategy strategy,
                            ArrayRef<OpFoldResult> splitIvs) {
  if (strategy == ReductionTilingStrategy::PartialReductionOuterParallel)
    return splitIvs.front();
  return builder.getIndexAttr(0);
}

/// The state in a slot, of the type of the op's result.
static tensor::ExtractSliceOp createSlotSlice(OpBuilder &builder, Location loc,
                                              Type type, Value states,
                                              OpFoldResult slot) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, states);
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  offsets.front() = slot;
  sizes.front() = builder.getIndexAttr(1);
  return tensor::ExtractSliceOp::create(builder, loc,
                                        cast<RankedTensorType>(type), states,
                                        offsets, sizes, strides);
}

FailureOr<TilingResult> OnlineAttentionOp::tileToPartialReduction(
    OpBuilder &builder, Location loc, ReductionTilingStrategy strategy,
    ValueRange init, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, const llvm::SetVector<unsigned> &,
    ArrayRef<OpFoldResult> splitReductionIvs) {
  if (failed(verifyTensors(*this)))
    return failure();
  // This op over the state of one slot, to be tiled as any other.
  SmallVector<Operation *> slices;
  SmallVector<Value> operands(getDpsInputs());
  OpFoldResult slot = getSlot(builder, strategy, splitReductionIvs);
  for (auto [states, type] : llvm::zip_equal(init, getResultTypes())) {
    slices.push_back(createSlotSlice(builder, loc, type, states, slot));
    operands.push_back(slices.back()->getResult(0));
  }
  auto base =
      cast<OnlineAttentionOp>(cloneOnOperands(builder, *this, operands));
  FailureOr<TilingResult> result =
      base.getTiledImplementation(builder, offsets, sizes);
  base.erase();
  if (failed(result))
    return failure();
  slices.append(result->generatedSlices);
  result->generatedSlices = std::move(slices);
  return result;
}

LogicalResult OnlineAttentionOp::getPartialResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ReductionTilingStrategy strategy,
    ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
    const SetVector<unsigned> &, ArrayRef<OpFoldResult> splitReductionIvs,
    SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  if (failed(getResultTilePosition(builder, resultNumber, offsets, sizes,
                                   resultOffsets, resultSizes)))
    return failure();
  resultOffsets.insert(resultOffsets.begin(),
                       getSlot(builder, strategy, splitReductionIvs));
  resultSizes.insert(resultSizes.begin(), builder.getIndexAttr(1));
  return success();
}

//===----------------------------------------------------------------------===//
// Merge
//===----------------------------------------------------------------------===//

/// x · exp(max − largest), and 0 for max = −∞, in the wider type of the two.
static Value scaleToMax(OpBuilder &builder, Location loc, Value x, Value max,
                        Value largest) {
  auto type = cast<FloatType>(max.getType());
  if (type.getWidth() < x.getType().getIntOrFloatBitWidth())
    type = cast<FloatType>(x.getType());
  auto convert = [&](Value value, Type to) {
    return convertScalarToDtype(builder, loc, value, to,
                                /*isUnsignedCast=*/false);
  };
  auto constant = [&](APFloat value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(type, value));
  };
  max = convert(max, type);
  Value empty =
      constant(APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true));
  Value zero = constant(APFloat::getZero(type.getFloatSemantics()));
  Value none = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                     max, empty);
  Value distance =
      arith::SubFOp::create(builder, loc, max, convert(largest, type));
  Value weight = math::ExpOp::create(builder, loc, distance);
  weight = arith::SelectOp::create(builder, loc, none, zero, weight);
  Value scaled = arith::MulFOp::create(builder, loc, convert(x, type), weight);
  return convert(scaled, x.getType());
}

namespace {
/// Builds the merge of the states in the slots with that of the inits.
class Merge {
public:
  Merge(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  /// The largest of `max` and the maxima in the slots.
  Value reduceMax(Value slots, Value max);
  /// x·w(max) + Σ_s x_s·w(max_s); `maxDims` says which dim of x each dim of
  /// max is.
  Value combine(Value x, Value slots, Value max, Value maxSlots, Value largest,
                ArrayRef<AffineExpr> maxDims);

  SmallVector<Operation *> ops;

private:
  using BodyFn = function_ref<Value(OpBuilder &, Location, ValueRange)>;
  Value create(ValueRange inputs, Value output, ArrayRef<AffineMap> maps,
               BodyFn body);

  OpBuilder &builder;
  Location loc;
};
} // namespace

/// A generic op whose loops are the dims of the output, then slots if the maps
/// have one more dim.
Value Merge::create(ValueRange inputs, Value output, ArrayRef<AffineMap> maps,
                    BodyFn body) {
  unsigned rank = cast<ShapedType>(output.getType()).getRank();
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.resize(maps.front().getNumDims(), utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(
      builder, loc, output.getType(), inputs, output, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        linalg::YieldOp::create(nested, loc, body(nested, loc, args));
      });
  ops.push_back(generic);
  return generic.getResult(0);
}

/// Maps of a value and of its slots, for loops (dims of the output, slot).
static std::pair<AffineMap, AffineMap>
getMaps(ArrayRef<AffineExpr> dims, unsigned rank, MLIRContext *context) {
  SmallVector<AffineExpr> slots{getAffineDimExpr(rank, context)};
  llvm::append_range(slots, dims);
  return {AffineMap::get(rank + 1, 0, dims, context),
          AffineMap::get(rank + 1, 0, slots, context)};
}

static SmallVector<AffineExpr> getDims(unsigned rank, MLIRContext *context) {
  return llvm::map_to_vector(llvm::seq(rank), [&](unsigned dim) {
    return getAffineDimExpr(dim, context);
  });
}

Value Merge::reduceMax(Value slots, Value max) {
  MLIRContext *context = builder.getContext();
  unsigned rank = cast<ShapedType>(max.getType()).getRank();
  auto [one, all] = getMaps(getDims(rank, context), rank, context);
  return create(
      slots, max, {all, one}, [](OpBuilder &b, Location loc, ValueRange args) {
        return arith::MaximumFOp::create(b, loc, args[0], args[1]).getResult();
      });
}

Value Merge::combine(Value x, Value slots, Value max, Value maxSlots,
                     Value largest, ArrayRef<AffineExpr> maxDims) {
  MLIRContext *context = builder.getContext();
  unsigned rank = cast<ShapedType>(x.getType()).getRank();
  auto maxMap = AffineMap::get(rank, 0, maxDims, context);
  Value rescaled = create(
      {max, largest}, x, {maxMap, maxMap, builder.getMultiDimIdentityMap(rank)},
      [](OpBuilder &b, Location loc, ValueRange args) {
        return scaleToMax(b, loc, args[2], args[0], args[1]);
      });
  auto [xOne, xAll] = getMaps(getDims(rank, context), rank, context);
  auto [maxOne, maxAll] = getMaps(maxDims, rank, context);
  return create(
      {slots, maxSlots, largest}, rescaled, {xAll, maxAll, maxOne, xOne},
      [](OpBuilder &b, Location loc, ValueRange args) {
        Value part = scaleToMax(b, loc, args[0], args[1], args[2]);
        return arith::AddFOp::create(b, loc, args[3], part).getResult();
      });
}

/// Which dim of the accumulator each dim of the maximum is.
static FailureOr<SmallVector<AffineExpr>>
getMaxDims(AttentionLikeOpInterface op) {
  MLIRContext *context = op.getContext();
  DimLabels acc = op.getLabels(OperandRole::Output);
  SmallVector<AffineExpr> dims;
  for (const DimLabel &label : op.getLabels(OperandRole::Lse)) {
    auto *found = llvm::find(acc, label);
    if (!label.empty() && found == acc.end())
      return op.emitOpError("cannot merge parts of its keys: the dims of max "
                            "are not dims of acc");
    dims.push_back(label.empty()
                       ? getAffineConstantExpr(0, context)
                       : getAffineDimExpr(found - acc.begin(), context));
  }
  return dims;
}

FailureOr<MergeResult>
OnlineAttentionOp::mergeReductions(OpBuilder &builder, Location loc,
                                   ValueRange partialReduce,
                                   const SetVector<unsigned> &) {
  FailureOr<SmallVector<AffineExpr>> maxDims = getMaxDims(*this);
  if (failed(verifyTensors(*this)) || failed(maxDims))
    return failure();
  Value acc = getInits()[0], max = getInits()[1], sum = getInits()[2];
  Merge merge(builder, loc);
  Value largest = merge.reduceMax(partialReduce[1], max);
  acc = merge.combine(acc, partialReduce[0], max, partialReduce[1], largest,
                      *maxDims);
  unsigned rank = cast<ShapedType>(max.getType()).getRank();
  sum = merge.combine(sum, partialReduce[2], max, partialReduce[1], largest,
                      getDims(rank, getContext()));
  return MergeResult{merge.ops, {acc, largest, sum}};
}
