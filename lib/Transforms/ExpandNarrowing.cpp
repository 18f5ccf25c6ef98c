//===- ExpandNarrowing.cpp - From f64 to 16 bits by way of f32 ------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-expand-narrowing. Rounded to odd, an f32 keeps what decides
// how f64 rounds to 16 bits: it is no tie of theirs unless the f64 is one.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "rope/Transforms/Passes.h"
#include "rope/Transforms/Transforms.h"

namespace mlir::rope {
#define GEN_PASS_DEF_EXPANDNARROWINGPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;

static Type withElement(Type type, Type element) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(element);
  return element;
}

static bool isNarrow(Type type) {
  Type element = getElementTypeOrSelf(type);
  return !isa<TensorType>(type) && (element.isF16() || element.isBF16());
}

/// `x` rounded to one of its two neighbours in f32: itself, or the odd one.
static Value roundToOdd(ImplicitLocOpBuilder &b, Value x) {
  Type f32 = withElement(x.getType(), b.getF32Type());
  Type i32 = withElement(x.getType(), b.getI32Type());
  Value nearest = arith::TruncFOp::create(b, f32, x);
  Value wide = arith::ExtFOp::create(b, x.getType(), nearest);
  Value isExact = arith::CmpFOp::create(b, arith::CmpFPredicate::UEQ, wide, x);
  Value isLarger = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT,
                                         math::AbsFOp::create(b, wide),
                                         math::AbsFOp::create(b, x));
  // Magnitudes are in the order of their bits.
  Value bits = arith::BitcastOp::create(b, i32, nearest);
  Value towardsZero =
      arith::SubIOp::create(b, bits, arith::ExtUIOp::create(b, i32, isLarger));
  Value one = arith::ConstantOp::create(b, b.getOneAttr(i32));
  Value odd = arith::OrIOp::create(b, towardsZero, one);
  bits = arith::SelectOp::create(b, isExact, bits, odd);
  return arith::BitcastOp::create(b, f32, bits);
}

namespace {
struct ExpandTrunc : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isNarrow(op.getType()) ||
        !getElementTypeOrSelf(op.getIn().getType()).isF64())
      return rewriter.notifyMatchFailure(op, "not from f64 to 16 bits");
    if (op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) !=
        arith::RoundingMode::to_nearest_even)
      return rewriter.notifyMatchFailure(op, "does not round to nearest");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(),
                                                 roundToOdd(b, op.getIn()));
    return success();
  }
};

/// Of 16 bits, a product is exact in f64.
struct ExpandFma : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    if (!isNarrow(op.getType()))
      return rewriter.notifyMatchFailure(op, "not on 16 bits");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type f64 = withElement(op.getType(), b.getF64Type());
    SmallVector<Value> wide;
    for (Value operand : op->getOperands())
      wide.push_back(arith::ExtFOp::create(b, f64, operand));
    Value sum = arith::AddFOp::create(
        b, arith::MulFOp::create(b, wide[0], wide[1]), wide[2]);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), sum);
    return success();
  }
};

struct ExpandNarrowing : rope::impl::ExpandNarrowingPassBase<ExpandNarrowing> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    rope::populateExpandNarrowingPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void rope::populateExpandNarrowingPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandFma, ExpandTrunc>(patterns.getContext());
}
