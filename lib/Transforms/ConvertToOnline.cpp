//===- ConvertToOnline.cpp - Attention as its online form -----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-convert-to-online. With the state (acc, max, sum) after all
// keys and the sink z of a head (−∞ without one), a row is
//
//   M = max(max, z),  L = sum·exp(max − M) + exp(z − M)
//   o = acc·exp(max − M) / L, or 0 where no key was seen
//   lse = M + ln L
//
// with exp(−∞ − M) = 0 also for M = −∞.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "rope/IR/Rope.h"
#include "rope/Transforms/Passes.h"
#include "rope/Transforms/Transforms.h"

namespace mlir::rope {
#define GEN_PASS_DEF_CONVERTTOONLINEPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

static bool isDim(const DimLabel &label) { return !label.empty(); }

/// The labels of max and sum: those of lse if there is one, else those of the
/// rows of the output. Fails if lse groups heads in another way.
static FailureOr<DimLabels> getStateLabels(AttentionLikeOpInterface op) {
  DimLabels rows = llvm::to_vector(
      llvm::make_filter_range(op.getLabels(OperandRole::Output), isDim));
  llvm::erase(rows, DimLabel{DomainDim::E});
  if (!op.getRoleOperand(OperandRole::Lse))
    return rows;
  DimLabels lse = op.getLabels(OperandRole::Lse);
  auto isIn = [](ArrayRef<DimLabel> labels) {
    return [=](const DimLabel &label) {
      return label.empty() || llvm::is_contained(labels, label);
    };
  };
  if (!llvm::all_of(lse, isIn(rows)) || !llvm::all_of(rows, isIn(lse)))
    return failure();
  return lse;
}

/// The layout of the online form: lse names max and sum, and there is no sink.
static LayoutAttr getOnlineLayout(AttentionOp op, StringAttr state) {
  LayoutAttr layout = op.getLayoutAttr();
  auto get = [&](OperandRole role) {
    return layout ? layout.getLetters(role) : StringAttr();
  };
  return LayoutAttr::get(
      op.getContext(), get(OperandRole::Query), get(OperandRole::Key),
      get(OperandRole::Value), get(OperandRole::Output), get(OperandRole::Mask),
      get(OperandRole::QueryPos), get(OperandRole::KeyPos),
      get(OperandRole::KeyLength), /*sink=*/StringAttr(), state,
      /*kv_state=*/StringAttr(), /*k_sum=*/StringAttr());
}

/// Where dims of one operand are among those of another.
static FailureOr<AffineMap> getMap(MLIRContext *context,
                                   ArrayRef<DimLabel> loops,
                                   ArrayRef<DimLabel> labels) {
  SmallVector<AffineExpr> dims;
  for (const DimLabel &label : labels) {
    const DimLabel *found = llvm::find(loops, label);
    if (label.empty())
      dims.push_back(getAffineConstantExpr(0, context));
    else if (found != loops.end())
      dims.push_back(getAffineDimExpr(found - loops.begin(), context));
    else
      return failure();
  }
  return AffineMap::get(loops.size(), 0, dims, context);
}

//===----------------------------------------------------------------------===//
// The online form
//===----------------------------------------------------------------------===//

static Value createConstant(OpBuilder &builder, Location loc, Type type,
                            double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
}

static Value createFilled(OpBuilder &builder, Location loc,
                          ArrayRef<OpFoldResult> shape, Type type,
                          double value) {
  Value empty = tensor::EmptyOp::create(builder, loc, shape, type);
  Value fill = createConstant(builder, loc, type, value);
  return linalg::FillOp::create(builder, loc, fill, empty).getResult(0);
}

/// The state before any key.
static SmallVector<Value> createState(OpBuilder &builder, AttentionOp op,
                                      ArrayRef<DimLabel> labels, Type type) {
  Location loc = op.getLoc();
  AttentionLikeOpInterface self = op;
  SmallVector<OpFoldResult> acc =
      tensor::getMixedSizes(builder, loc, op.getInits()[0]);
  SmallVector<OpFoldResult> rows;
  DimLabels output = self.getLabels(OperandRole::Output);
  for (const DimLabel &label : labels)
    rows.push_back(label.empty()
                       ? OpFoldResult(builder.getIndexAttr(1))
                       : acc[llvm::find(output, label) - output.begin()]);
  return {createFilled(builder, loc, acc, type, 0.0),
          createFilled(builder, loc, rows, type,
                       -std::numeric_limits<double>::infinity()),
          createFilled(builder, loc, rows, type, 0.0)};
}

static OnlineAttentionOp createOnline(OpBuilder &builder, AttentionOp op,
                                      LayoutAttr layout, ValueRange state) {
  auto online = OnlineAttentionOp::create(builder, op.getLoc(), op.getQuery(),
                                          op.getKey(), op.getValue(), state,
                                          op.getScale().convertToDouble());
  auto copy = [](Value operand, MutableOperandRange target) {
    if (operand)
      target.assign(operand);
  };
  copy(op.getMask(), online.getMaskMutable());
  copy(op.getQueryPos(), online.getQueryPosMutable());
  copy(op.getKeyPos(), online.getKeyPosMutable());
  copy(op.getKeyLength(), online.getKeyLengthMutable());
  copy(op.getQueryTable(), online.getQueryTableMutable());
  copy(op.getKeyTable(), online.getKeyTableMutable());
  copy(op.getValueTable(), online.getValueTableMutable());
  online.setQueryRotaryAttr(op.getQueryRotaryAttr());
  online.setKeyRotaryAttr(op.getKeyRotaryAttr());
  online.setValueRotaryAttr(op.getValueRotaryAttr());
  online.setCausal(op.getCausal());
  online.setWindowAttr(op.getWindowAttr());
  online.setSoftcapAttr(op.getSoftcapAttr());
  online.setLayoutAttr(layout);
  return online;
}

//===----------------------------------------------------------------------===//
// What comes after the last key
//===----------------------------------------------------------------------===//

namespace {
/// The scalars of one row in the body of a generic op.
struct Row {
  Row(OpBuilder &builder, Location loc, Value max, Value sum, Value sink);

  /// exp(x − M), and 0 for x = −∞.
  Value createWeight(Value x);

  OpBuilder &builder;
  Location loc;
  Type type;
  /// exp(max − M), M and L.
  Value weight, largest, total;
};
} // namespace

Row::Row(OpBuilder &builder, Location loc, Value max, Value sum, Value sink)
    : builder(builder), loc(loc), type(max.getType()), largest(max),
      total(sum) {
  if (!sink)
    return;
  sink = convertScalarToDtype(builder, loc, sink, type,
                              /*isUnsignedCast=*/false);
  largest = arith::MaximumFOp::create(builder, loc, max, sink);
  weight = createWeight(max);
  total = arith::MulFOp::create(builder, loc, sum, weight);
  total = arith::AddFOp::create(builder, loc, total, createWeight(sink));
}

Value Row::createWeight(Value x) {
  Value empty = createConstant(builder, loc, type,
                               -std::numeric_limits<double>::infinity());
  Value none =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, x, empty);
  Value distance = arith::SubFOp::create(builder, loc, x, largest);
  return arith::SelectOp::create(builder, loc, none,
                                 createConstant(builder, loc, type, 0.0),
                                 math::ExpOp::create(builder, loc, distance));
}

/// acc·exp(max − M) / L, or 0 where no key was seen.
static Value createMean(OpBuilder &builder, Location loc, Value acc, Value max,
                        Value sum, Value sink) {
  Row row(builder, loc, max, sum, sink);
  Value zero = createConstant(builder, loc, row.type, 0.0);
  Value none =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, sum, zero);
  if (row.weight)
    acc = arith::MulFOp::create(builder, loc, acc, row.weight);
  Value mean = arith::DivFOp::create(builder, loc, acc, row.total);
  return arith::SelectOp::create(builder, loc, none, zero, mean);
}

/// M + ln L.
static Value createLse(OpBuilder &builder, Location loc, Value max, Value sum,
                       Value sink) {
  Row row(builder, loc, max, sum, sink);
  Value log = math::LogOp::create(builder, loc, row.total);
  return arith::AddFOp::create(builder, loc, row.largest, log);
}

using BodyFn = function_ref<Value(OpBuilder &, Location, ValueRange)>;

/// A generic op over all dims of `output`, whose elements it does not read.
static Value createMap(OpBuilder &builder, Location loc, ValueRange inputs,
                       ArrayRef<AffineMap> maps, Value output, BodyFn body) {
  auto type = cast<RankedTensorType>(output.getType());
  SmallVector<AffineMap> all(maps);
  all.push_back(builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto build = [&](OpBuilder &nested, Location loc, ValueRange args) {
    Value result = body(nested, loc, args);
    linalg::YieldOp::create(nested, loc,
                            convertScalarToDtype(nested, loc, result,
                                                 type.getElementType(),
                                                 /*isUnsignedCast=*/false));
  };
  return linalg::GenericOp::create(builder, loc, type, inputs, output, all,
                                   iterators, build)
      .getResult(0);
}

/// The output of the mean: turned back if the op says so, rounded once.
static Value createOutput(OpBuilder &builder, AttentionOp op, ValueRange inputs,
                          ArrayRef<AffineMap> maps) {
  Location loc = op.getLoc();
  auto body = [&](OpBuilder &nested, Location loc, ValueRange args) {
    Value sink = op.getSink() ? args[3] : Value();
    return createMean(nested, loc, args[0], args[1], args[2], sink);
  };
  Value init = op.getInits()[0];
  if (!op.getOutputTable())
    return createMap(builder, loc, inputs, maps, init, body);
  // Before it is turned the output has not been rounded.
  Type type = getElementTypeOrSelf(inputs.front().getType());
  bool rounded = type != getElementTypeOrSelf(init.getType());
  auto sizes = tensor::getMixedSizes(builder, loc, init);
  Value wide = tensor::EmptyOp::create(builder, loc, sizes, type);
  Value mean = createMap(builder, loc, inputs, maps, wide, body);
  Value turned =
      RerotateOp::create(builder, loc, op.getOutputRotaryAttr(), mean,
                         op.getOutputTable(), rounded ? mean : init)
          .getResult();
  if (!rounded)
    return turned;
  return createMap(
      builder, loc, turned, maps.front(), init,
      [](OpBuilder &, Location, ValueRange args) { return args[0]; });
}

//===----------------------------------------------------------------------===//
// Pattern and pass
//===----------------------------------------------------------------------===//

namespace {
struct ConvertToOnline : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override;
};

/// Maps from the dims of an init to max, sum and sink.
struct StateMaps {
  static FailureOr<SmallVector<AffineMap>> get(AttentionLikeOpInterface op,
                                               ArrayRef<DimLabel> loops,
                                               ArrayRef<DimLabel> state) {
    MLIRContext *context = op.getContext();
    FailureOr<AffineMap> stateMap = getMap(context, loops, state);
    if (failed(stateMap))
      return failure();
    SmallVector<AffineMap> maps(2, *stateMap);
    if (!op.getRoleOperand(OperandRole::Sink))
      return maps;
    FailureOr<AffineMap> sink =
        getMap(context, loops, op.getLabels(OperandRole::Sink));
    if (failed(sink))
      return failure();
    maps.push_back(*sink);
    return maps;
  }
};
} // namespace

LogicalResult
ConvertToOnline::matchAndRewrite(AttentionOp op,
                                 PatternRewriter &rewriter) const {
  if (!op.hasPureTensorSemantics())
    return rewriter.notifyMatchFailure(op, "not on tensors");
  AttentionLikeOpInterface self = op;
  DimLabels output = self.getLabels(OperandRole::Output);
  FailureOr<DimLabels> state = getStateLabels(op);
  if (failed(state))
    return rewriter.notifyMatchFailure(op,
                                       "lse groups heads unlike the output");
  auto outputMaps = StateMaps::get(op, output, *state);
  auto lseMaps = StateMaps::get(op, *state, *state);
  if (failed(outputMaps) || failed(lseMaps))
    return rewriter.notifyMatchFailure(op,
                                       "sinks group heads unlike the output");

  bool wide = llvm::any_of(
      ArrayRef<Value>{op.getQuery(), op.getKey(), op.getValue()},
      [](Value operand) { return getElementTypeOrSelf(operand).isF64(); });
  Type type = wide ? rewriter.getF64Type() : rewriter.getF32Type();
  LayoutAttr layout =
      getOnlineLayout(op, rewriter.getStringAttr(printDimLabels(*state)));
  OnlineAttentionOp online = createOnline(
      rewriter, op, layout, createState(rewriter, op, *state, type));

  SmallVector<Value> inputs(online.getResults());
  if (Value sink = op.getSink())
    inputs.push_back(sink);
  outputMaps->insert(outputMaps->begin(),
                     rewriter.getMultiDimIdentityMap(output.size()));
  SmallVector<Value> results = {
      createOutput(rewriter, op, inputs, *outputMaps)};
  if (op.getInits().size() > 1)
    results.push_back(
        createMap(rewriter, op.getLoc(), ArrayRef<Value>(inputs).drop_front(),
                  *lseMaps, op.getInits()[1],
                  [&](OpBuilder &nested, Location loc, ValueRange args) {
                    Value sink = op.getSink() ? args[2] : Value();
                    return createLse(nested, loc, args[0], args[1], sink);
                  }));
  rewriter.replaceOp(op, results);
  return success();
}

void rope::populateConvertToOnlinePatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertToOnline>(patterns.getContext());
}

namespace {
struct ConvertToOnlinePass
    : rope::impl::ConvertToOnlinePassBase<ConvertToOnlinePass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    rope::populateConvertToOnlinePatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
