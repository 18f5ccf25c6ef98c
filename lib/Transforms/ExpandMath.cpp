//===- ExpandMath.cpp - Elementary functions that vectors can run ---------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-expand-math. A call of libm takes a vector apart; arithmetic
// does not. Upstream's polynomial of exp flushes small results and makes
// infinity of large ones, which this one does not.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "rope/Transforms/Passes.h"
#include "rope/Transforms/Transforms.h"

namespace mlir::rope {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;

namespace {
/// Writes f32 and i32 arithmetic on scalars or vectors of one shape.
class Arithmetic {
public:
  Arithmetic(OpBuilder &builder, Location loc, Type type)
      : builder(builder), loc(loc), floats(type),
        integers(withElement(type, builder.getI32Type())) {}

  Value number(float value) {
    return constant(floats, builder.getF32FloatAttr(value));
  }
  Value integer(int32_t value) {
    return constant(integers, builder.getI32IntegerAttr(value));
  }
  Value bitsOf(Value x) { return make<arith::BitcastOp>(integers, x); }
  Value fromBits(Value x) { return make<arith::BitcastOp>(floats, x); }
  Value add(Value a, Value b) { return make<arith::AddIOp>(a, b); }
  Value sub(Value a, Value b) { return make<arith::SubIOp>(a, b); }
  Value halve(Value a) { return make<arith::ShRSIOp>(a, integer(1)); }
  Value shiftLeft(Value a, int32_t by) {
    return make<arith::ShLIOp>(a, integer(by));
  }
  Value plus(Value a, Value b) { return make<arith::AddFOp>(a, b); }
  Value minus(Value a, Value b) { return make<arith::SubFOp>(a, b); }
  Value times(Value a, Value b) { return make<arith::MulFOp>(a, b); }
  /// a·b + c, rounded once or twice: whichever the machine does faster.
  Value timesPlus(Value a, Value b, Value c) {
    auto contract = arith::FastMathFlags::contract;
    Value product = arith::MulFOp::create(builder, loc, a, b, contract);
    return arith::AddFOp::create(builder, loc, product, c, contract);
  }
  /// The smaller (larger) of both; NaN if `a` is.
  Value lesser(Value a, Value b) {
    return choose(arith::CmpFPredicate::OGT, a, b);
  }
  Value greater(Value a, Value b) {
    return choose(arith::CmpFPredicate::OLT, a, b);
  }

private:
  template <typename Op, typename... Args> Value make(Args... args) {
    return Op::create(builder, loc, args...);
  }
  Value choose(arith::CmpFPredicate predicate, Value a, Value b) {
    Value other = arith::CmpFOp::create(builder, loc, predicate, a, b);
    return make<arith::SelectOp>(other, b, a);
  }
  static Type withElement(Type type, Type element) {
    if (auto vector = dyn_cast<VectorType>(type))
      return vector.cloneWith(std::nullopt, element);
    return element;
  }
  Value constant(Type type, TypedAttr value) {
    if (auto vector = dyn_cast<VectorType>(type))
      value = SplatElementsAttr::get(vector, Attribute(value));
    return arith::ConstantOp::create(builder, loc, type, value);
  }

  OpBuilder &builder;
  Location loc;
  Type floats, integers;
};

// exp(x) = 2^n · exp(r), n the integer nearest to x / ln 2. ln 2 is split into
// a part of 10 bits, which times n is exact, and the rest. The polynomial is
// that of Cephes' expf. 2^n is multiplied on in two halves, so that results
// below the normal range are rounded once and those above it become infinite.
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    auto vector = dyn_cast<VectorType>(op.getType());
    if (!getElementTypeOrSelf(op.getType()).isF32() ||
        (!vector && !op.getType().isF32()) || (vector && vector.isScalable()))
      return rewriter.notifyMatchFailure(op, "not f32 in fixed vectors");
    Arithmetic m(rewriter, op.getLoc(), op.getType());
    Value x = op.getOperand();
    // Below, even the largest half of the smallest number; above, infinity.
    x = m.greater(m.lesser(x, m.number(89.0f)), m.number(-104.0f));
    // Adding 1.5 · 2^23 leaves the integer in the low bits. Unlike a
    // conversion that is defined for NaN, which the end makes NaN again.
    Value shift = m.number(12582912.0f);
    Value shifted = m.timesPlus(x, m.number(1.44269504088896341f), shift);
    Value n = m.minus(shifted, shift);
    Value exponent = m.sub(m.bitsOf(shifted), m.bitsOf(shift));
    Value r = m.minus(x, m.times(n, m.number(0.693359375f)));
    r = m.timesPlus(n, m.number(2.12194440e-4f), r);
    Value p = m.number(1.9875691500e-4f);
    for (float c : {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                    1.6666665459e-1f, 5.0000001201e-1f})
      p = m.timesPlus(p, r, m.number(c));
    Value y = m.plus(m.timesPlus(m.times(r, r), p, r), m.number(1.0f));
    Value half = m.halve(exponent);
    Value rest = m.sub(exponent, half);
    y = m.times(y, powerOfTwo(m, half));
    rewriter.replaceOp(op, m.times(y, powerOfTwo(m, rest)));
    return success();
  }

private:
  static Value powerOfTwo(Arithmetic &m, Value exponent) {
    return m.fromBits(m.shiftLeft(m.add(exponent, m.integer(127)), 23));
  }
};

struct ExpandMath : rope::impl::ExpandMathPassBase<ExpandMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    rope::populateExpandMathPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void rope::populateExpandMathPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandExp>(patterns.getContext());
}
