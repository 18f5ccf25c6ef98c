//===- ExprTest.cpp - Tests of expressions --------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Analysis/Expr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::rope;

namespace {
class ExprTest : public ::testing::Test {
protected:
  ExprTest() : exprs(&context) {
    context.loadDialect<arith::ArithDialect, complex::ComplexDialect,
                        math::MathDialect>();
    f32 = Float32Type::get(&context);
    truth = IntegerType::get(&context, 1);
  }

  const Expr *sym(int64_t number, int64_t extent) {
    return exprs.getSym(number, extent);
  }
  const Expr *compare(arith::CmpIPredicate predicate, const Expr *a,
                      const Expr *b) {
    return exprs.apply<arith::CmpIOp>(
        truth, {a, b}, arith::CmpIPredicateAttr::get(&context, predicate));
  }

  MLIRContext context;
  ExprContext exprs;
  Type f32, truth;
};
} // namespace

TEST_F(ExprTest, EqualStructuresAreOneExpression) {
  const Expr *a = exprs.add(sym(0, 8), exprs.mul(sym(1, 4), exprs.getInt(3)));
  const Expr *b = exprs.add(exprs.mul(exprs.getInt(3), sym(1, 4)), sym(0, 8));
  EXPECT_EQ(a, b);
  EXPECT_NE(a, exprs.add(a, exprs.getInt(1)));
}

TEST_F(ExprTest, SumsCancel) {
  const Expr *a = exprs.add(sym(0, 8), exprs.getInt(5));
  EXPECT_EQ(exprs.sub(a, sym(0, 8)), exprs.getInt(5));
}

TEST_F(ExprTest, DivisionKnowsRanges) {
  // (16·h + c) / 16 = h and mod 16 = c where c < 16.
  const Expr *h = sym(0, 4), *c = sym(1, 16), *sixteen = exprs.getInt(16);
  const Expr *joined = exprs.add(exprs.mul(h, sixteen), c);
  EXPECT_EQ(exprs.floorDiv(joined, sixteen), h);
  EXPECT_EQ(exprs.mod(joined, sixteen), c);
  // Not where the remainder may be larger.
  const Expr *wide = exprs.add(exprs.mul(h, sixteen), sym(1, 17));
  EXPECT_NE(exprs.floorDiv(wide, sixteen), h);
  // A quotient and its remainder make the number again.
  EXPECT_EQ(exprs.add(exprs.mul(exprs.floorDiv(wide, sixteen), sixteen),
                      exprs.mod(wide, sixteen)),
            wide);
}

TEST_F(ExprTest, SymbolOfOneElementIsZero) {
  EXPECT_EQ(sym(3, 1), exprs.getInt(0));
}

TEST_F(ExprTest, ComparisonsAreDecidedByRanges) {
  const Expr *i = sym(0, 8);
  EXPECT_TRUE(compare(arith::CmpIPredicate::slt, i, exprs.getInt(8))->isInt(1));
  EXPECT_TRUE(compare(arith::CmpIPredicate::slt, i, exprs.getInt(0))->isInt(0));
  EXPECT_FALSE(compare(arith::CmpIPredicate::slt, i, exprs.getInt(4))->isInt());
}

TEST_F(ExprTest, WrapOfNegativeIndicesVanishes) {
  // select(i < 0, i + 8, i) = i
  const Expr *i = sym(0, 8);
  const Expr *wrapped = exprs.apply<arith::SelectOp>(
      IndexType::get(&context),
      {compare(arith::CmpIPredicate::slt, i, exprs.getInt(0)),
       exprs.add(i, exprs.getInt(8)), i});
  EXPECT_EQ(wrapped, i);
}

TEST_F(ExprTest, BroadcastIsTheIndexOnlyOfItsOwnExtent) {
  const Expr *extent = sym(7, ShapedType::kDynamic), *other = sym(9, 100);
  const Expr *i = exprs.getSym(0, ShapedType::kDynamic, extent);
  auto choose = [&](const Expr *of) {
    return exprs.apply<arith::SelectOp>(
        IndexType::get(&context),
        {compare(arith::CmpIPredicate::eq, of, exprs.getInt(1)),
         exprs.getInt(0), i});
  };
  EXPECT_EQ(choose(extent), i);
  EXPECT_NE(choose(other), i);
}

TEST_F(ExprTest, SignsComeOutOfProducts) {
  const Expr *x = exprs.apply<math::CosOp>(f32, sym(0, 8));
  const Expr *y = exprs.apply<math::SinOp>(f32, sym(1, 8));
  const Expr *negated = exprs.apply<arith::NegFOp>(f32, y);
  const Expr *product = exprs.apply<arith::MulFOp>(f32, {x, negated});
  EXPECT_TRUE(product->isa<arith::NegFOp>());
  EXPECT_EQ(exprs.apply<arith::NegFOp>(f32, product),
            exprs.apply<arith::MulFOp>(f32, {y, x}));
}

TEST_F(ExprTest, SymbolsAreBelowTheirExtents) {
  const Expr *length = sym(7, ShapedType::kDynamic);
  const Expr *i = exprs.getSym(0, ShapedType::kDynamic, length);
  EXPECT_EQ(exprs.getRange(exprs.sub(i, length)).high, -1);
  EXPECT_EQ(exprs.getRange(exprs.sub(length, i)).low, 1);
  const Expr *further = exprs.add(i, exprs.getInt(2));
  EXPECT_EQ(exprs.getRange(exprs.sub(further, length)).high, 1);
  // Another extent says nothing.
  const Expr *other = sym(8, ShapedType::kDynamic);
  EXPECT_FALSE(exprs.getRange(exprs.sub(i, other)).high.has_value());
}

TEST_F(ExprTest, ZeroTimesWhatIsFinite) {
  const Expr *zero = exprs.getFloat(0, f32);
  const Expr *position = exprs.apply<arith::SIToFPOp>(f32, sym(0, 8));
  const Expr *angle =
      exprs.apply<arith::MulFOp>(f32, {position, exprs.getFloat(0.1, f32)});
  EXPECT_EQ(exprs.apply<arith::MulFOp>(f32, {angle, zero}), zero);
  // 0 times infinity is none.
  const Expr *any = exprs.apply<math::ExpOp>(f32, sym(0, 8));
  EXPECT_NE(exprs.apply<arith::MulFOp>(f32, {any, zero}), zero);
  const Expr *large =
      exprs.apply<arith::MulFOp>(f32, {position, exprs.getFloat(1e30, f32)});
  EXPECT_NE(exprs.apply<arith::MulFOp>(f32, {large, zero}), zero);
}

TEST_F(ExprTest, PartsOfComplexProducts) {
  Type c = ComplexType::get(f32);
  auto part = [&](int i) { return exprs.apply<math::ExpOp>(f32, sym(i, 8)); };
  const Expr *u = exprs.apply<complex::CreateOp>(c, {part(0), part(1)});
  const Expr *v = exprs.apply<complex::CreateOp>(c, {part(2), part(3)});
  const Expr *product = exprs.apply<complex::MulOp>(c, {u, v});
  const Expr *re = exprs.apply<complex::ReOp>(f32, product);
  const Expr *expected = exprs.apply<arith::SubFOp>(
      f32, {exprs.apply<arith::MulFOp>(f32, {part(0), part(2)}),
            exprs.apply<arith::MulFOp>(f32, {part(1), part(3)})});
  EXPECT_EQ(re, expected);
}

TEST_F(ExprTest, NarrowingAConstantRounds) {
  const Expr *wide = exprs.getFloat(0.1, Float64Type::get(&context));
  const Expr *narrow = exprs.apply<arith::TruncFOp>(f32, wide);
  EXPECT_TRUE(narrow->isFloat(0.1f));
}

TEST_F(ExprTest, SumsThatOverflowAreGivenUp) {
  const Expr *i = sym(0, 8);
  const Expr *huge = exprs.getInt(std::numeric_limits<int64_t>::max());
  const Expr *sum = exprs.add(exprs.add(i, huge), exprs.getInt(1));
  EXPECT_TRUE(sum->isa<arith::AddIOp>());
  const Expr *product = exprs.mul(exprs.mul(i, huge), exprs.getInt(2));
  EXPECT_TRUE(product->isa<arith::MulIOp>());
  EXPECT_FALSE(exprs.getRange(exprs.mul(sym(0, 1000), huge)).high);
}

TEST_F(ExprTest, NarrowSumsMayWrap) {
  Type i8 = IntegerType::get(&context, 8);
  const Expr *small = exprs.apply<arith::AddIOp>(i8, {sym(0, 8), sym(1, 8)});
  EXPECT_EQ(small, exprs.add(sym(0, 8), sym(1, 8)));
  const Expr *large =
      exprs.apply<arith::AddIOp>(i8, {sym(0, 100), sym(1, 100)});
  EXPECT_TRUE(large->isa<arith::AddIOp>());
  EXPECT_EQ(large->getType(), i8);
}

TEST_F(ExprTest, BooleansAreNoIntegersWithManyBits) {
  Type i64 = IntegerType::get(&context, 64);
  const Expr *x = exprs.apply<math::CosOp>(truth, sym(0, 8));
  // x | 1 = 1 and x & 1 = x for booleans alone.
  EXPECT_TRUE(exprs.apply<arith::OrIOp>(truth, {x, exprs.getInt(1)})->isInt(1));
  EXPECT_EQ(exprs.apply<arith::AndIOp>(truth, {x, exprs.getInt(1)}), x);
  const Expr *i = sym(1, 8);
  EXPECT_FALSE(exprs.apply<arith::OrIOp>(i64, {i, exprs.getInt(1)})->isInt());
  EXPECT_NE(exprs.apply<arith::AndIOp>(i64, {i, exprs.getInt(1)}), i);
  // Not a comparison is the opposite one.
  const Expr *less = compare(arith::CmpIPredicate::slt, i, exprs.getInt(4));
  EXPECT_EQ(exprs.apply<arith::XOrIOp>(truth, {less, exprs.getInt(1)}),
            compare(arith::CmpIPredicate::sge, i, exprs.getInt(4)));
}

TEST_F(ExprTest, AttributesTellOpsApart) {
  const Expr *x = exprs.apply<math::CosOp>(f32, sym(0, 8));
  auto towardsZero = DictionaryAttr::get(
      &context,
      NamedAttribute(StringAttr::get(&context, "roundingmode"),
                     arith::RoundingModeAttr::get(
                         &context, arith::RoundingMode::toward_zero)));
  Type f16 = Float16Type::get(&context);
  EXPECT_NE(exprs.apply<arith::TruncFOp>(f16, x),
            exprs.apply<arith::TruncFOp>(f16, x, towardsZero));
  // Nothing is folded by a rounding that is not the op's.
  EXPECT_EQ(
      exprs.apply<arith::TruncFOp>(f16, exprs.getFloat(0.1, f32), towardsZero)
          ->getKind(),
      Expr::Kind::Apply);
}

TEST_F(ExprTest, EqualIntegersReplaceEachOther) {
  const Expr *a = sym(100, 1 << 20);
  const Expr *p = exprs.apply<arith::MulIOp>(IndexType::get(&context),
                                             {sym(5, 8), sym(6, 8)});
  const Expr *before = exprs.add(p, exprs.getInt(3));
  exprs.equate(exprs.mul(p, exprs.getInt(2)),
               exprs.add(exprs.mul(a, exprs.getInt(4)), exprs.getInt(6)));
  const Expr *expected =
      exprs.add(exprs.mul(a, exprs.getInt(2)), exprs.getInt(6));
  EXPECT_EQ(exprs.rebuild(before), expected);
  // Halves of odd numbers are none.
  exprs.equate(exprs.mul(sym(7, 8), exprs.getInt(2)), exprs.getInt(3));
  EXPECT_EQ(exprs.rebuild(sym(7, 8)), sym(7, 8));
}

TEST_F(ExprTest, RemaindersLieBelowTheirDivisor) {
  const Expr *r = exprs.mod(sym(0, 1000), exprs.getInt(7));
  EXPECT_EQ(exprs.getRange(r).low, 0);
  EXPECT_EQ(exprs.getRange(r).high, 6);
}

TEST_F(ExprTest, RangesOfChoicesOfChoicesTakeNoLongTime) {
  const Expr *x = sym(0, 8);
  for (int64_t i = 0; i < 64; ++i) {
    const Expr *isBelow =
        compare(arith::CmpIPredicate::slt, sym(1, 64), exprs.getInt(i + 1));
    x = exprs.apply<arith::SelectOp>(exprs.getInt(0)->getType(),
                                     {isBelow, exprs.add(x, exprs.getInt(1)),
                                      exprs.add(x, exprs.getInt(2))});
  }
  EXPECT_EQ(exprs.getRange(x).low, 64);
  EXPECT_EQ(exprs.getRange(x).high, 7 + 2 * 63 + 1);
  // What is known later counts.
  exprs.bound(x, 100);
  EXPECT_EQ(exprs.getRange(x).low, 100);
}

TEST_F(ExprTest, SignsComeOutOfOddFunctions) {
  const Expr *x = exprs.apply<math::ExpOp>(f32, sym(0, 8));
  const Expr *negated = exprs.apply<arith::NegFOp>(f32, x);
  EXPECT_EQ(exprs.apply<math::CosOp>(f32, negated),
            exprs.apply<math::CosOp>(f32, x));
  EXPECT_EQ(exprs.apply<math::SinOp>(f32, negated),
            exprs.apply<arith::NegFOp>(f32, exprs.apply<math::SinOp>(f32, x)));
  EXPECT_EQ(
      exprs.apply<arith::MulFOp>(f32, {x, exprs.getFloat(-2, f32)}),
      exprs.apply<arith::NegFOp>(
          f32, exprs.apply<arith::MulFOp>(f32, {x, exprs.getFloat(2, f32)})));
}

TEST_F(ExprTest, ProductsWithZeroVanishWhereTheOtherIsFinite) {
  Type f16 = Float16Type::get(&context);
  const Expr *zero = exprs.getFloat(0, f32);
  auto vanishes = [&](const Expr *expr) {
    return exprs.apply<arith::MulFOp>(f32, {expr, zero})->isFloat(0);
  };
  const Expr *position = exprs.apply<arith::SIToFPOp>(f32, sym(0, 8));
  EXPECT_TRUE(vanishes(position));
  // An integer may be too large for f16, whatever it is converted to later.
  const Expr *narrow = exprs.apply<arith::SIToFPOp>(f16, sym(0, 8));
  EXPECT_FALSE(vanishes(exprs.apply<arith::ExtFOp>(f32, narrow)));
  // So may a product.
  const Expr *large =
      exprs.apply<arith::MulFOp>(f32, {position, exprs.getFloat(1e25, f32)});
  EXPECT_FALSE(vanishes(large));
}
