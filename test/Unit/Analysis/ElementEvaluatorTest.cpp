//===- ElementEvaluatorTest.cpp - Tests of element provenance -------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Analysis/ElementEvaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::rope;

namespace {
class ElementEvaluatorTest : public ::testing::Test {
protected:
  ElementEvaluatorTest() {
    context.loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                        func::FuncDialect, linalg::LinalgDialect,
                        math::MathDialect, tensor::TensorDialect>();
  }

  /// The element at `index` of what the function returns, expanded fully; -1
  /// in the index stands for the symbol of that dim.
  std::string evaluate(StringRef body, ArrayRef<int64_t> index) {
    module = parseSourceString<ModuleOp>(body, &context);
    auto function = *module->getOps<func::FuncOp>().begin();
    Value result = function.getBody().front().getTerminator()->getOperand(0);
    ExprContext exprs(&context);
    ElementEvaluator evaluator(exprs);
    SmallVector<const Expr *> at = evaluator.getSymbolicIndex(result);
    for (auto [i, value] : llvm::zip_equal(at, index))
      i = value < 0 ? i : exprs.getInt(value);
    std::string text;
    llvm::raw_string_ostream(text)
        << *evaluator.expandFully(exprs.getRead(result, at));
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(ElementEvaluatorTest, SlicesAndConcat) {
  StringRef rotateHalf = R"(
    func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %a = tensor.extract_slice %x[0, 0] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
      %b = tensor.extract_slice %x[0, 4] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
      %n = arith.negf %b : tensor<4x4xf32>
      %r = tensor.concat dim(1) %n, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
      return %r : tensor<4x8xf32>
    })";
  EXPECT_EQ(evaluate(rotateHalf, {-1, 1}), "negf(%arg0[i0, 5])");
  EXPECT_EQ(evaluate(rotateHalf, {-1, 6}), "%arg0[i0, 2]");
}

TEST_F(ElementEvaluatorTest, InsertWithStride) {
  StringRef interleave = R"(
    func.func @f(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
      %r = tensor.insert_slice %x into %y[1] [4] [2] : tensor<4xf32> into tensor<8xf32>
      return %r : tensor<8xf32>
    })";
  EXPECT_EQ(evaluate(interleave, {5}), "%arg0[2]");
  EXPECT_EQ(evaluate(interleave, {4}), "%arg1[4]");
}

TEST_F(ElementEvaluatorTest, ReshapesCancelWithDynamicExtents) {
  StringRef reshapes = R"(
    func.func @f(%x: tensor<?x?x16xf32>, %n: index) -> tensor<?x?x16xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %b = tensor.dim %x, %c0 : tensor<?x?x16xf32>
      %s = tensor.dim %x, %c1 : tensor<?x?x16xf32>
      %c = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x16xf32> into tensor<?x16xf32>
      %e = tensor.expand_shape %c [[0, 1], [2]] output_shape [%b, %s, 16] : tensor<?x16xf32> into tensor<?x?x16xf32>
      return %e : tensor<?x?x16xf32>
    })";
  EXPECT_EQ(evaluate(reshapes, {-1, -1, 3}), "%arg0[i0, i1, 3]");
}

TEST_F(ElementEvaluatorTest, BodiesGathersAndConstants) {
  StringRef gather = R"(
    #id = affine_map<(d0) -> (d0)>
    func.func @f(%ids: tensor<4xindex>) -> tensor<4xf32> {
      %t = arith.constant dense<[[1.0, 2.0], [3.5, 4.0]]> : tensor<2x2xf32>
      %c1 = arith.constant 1 : index
      %e = tensor.empty() : tensor<4xf32>
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%ids : tensor<4xindex>) outs(%e : tensor<4xf32>) {
        ^bb0(%i: index, %o: f32):
          %v = tensor.extract %t[%c1, %i] : tensor<2x2xf32>
          %w = arith.addf %v, %v : f32
          linalg.yield %w : f32
      } -> tensor<4xf32>
      return %r : tensor<4xf32>
    })";
  EXPECT_EQ(evaluate(gather, {-1}),
            "addf(arith.constant[1, %arg0[i0]], arith.constant[1, %arg0[i0]])");
}

TEST_F(ElementEvaluatorTest, EqualColumnsOfConstantsAreOne) {
  StringRef columns = R"(
    func.func @f(%i: index) -> tensor<2x3xf32> {
      %t = arith.constant dense<[[1.0, 7.0, 1.0], [3.0, 8.0, 3.0]]> : tensor<2x3xf32>
      return %t : tensor<2x3xf32>
    })";
  EXPECT_EQ(evaluate(columns, {-1, 2}), evaluate(columns, {-1, 0}));
  EXPECT_NE(evaluate(columns, {-1, 1}), evaluate(columns, {-1, 0}));
}

TEST_F(ElementEvaluatorTest, ShortReductionsUnroll) {
  // An angle as a product over one frequency.
  StringRef angle = R"(
    func.func @f(%p: tensor<4x1xf32>, %w: tensor<1x2xf32>) -> tensor<4x2xf32> {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<4x2xf32>
      %i = linalg.fill ins(%z : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
      %r = linalg.matmul ins(%p, %w : tensor<4x1xf32>, tensor<1x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
      return %r : tensor<4x2xf32>
    })";
  EXPECT_EQ(evaluate(angle, {-1, 1}), "mulf(%arg0[i0, 0], %arg1[0, 1])");
}

TEST_F(ElementEvaluatorTest, OpaqueOpsEndAnExpansion) {
  StringRef softmax = R"(
    func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %e = tensor.empty() : tensor<4x8xf32>
      %r = linalg.softmax dimension(1) ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
      return %r : tensor<4x8xf32>
    })";
  EXPECT_EQ(evaluate(softmax, {-1, 3}), "linalg.softmax[i0, 3]");
}

/// A body over one integer argument of a type.
static std::string integerBody(StringRef type, StringRef ops,
                               StringRef result = "i64") {
  return (Twine("func.func @f(%x: tensor<4x") + type + ">) -> tensor<4x" +
          result + R"(> {
      %e = tensor.empty() : tensor<4x)" +
          result + R"(>
      %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
          ins(%x : tensor<4x)" +
          type + ">) outs(%e : tensor<4x" + result + R"(>) {
        ^bb0(%i: )" +
          type + ", %o: " + result + "):\n" + ops + R"(
          linalg.yield %r : )" +
          result + R"(
      } -> tensor<4x)" +
          result + R"(>
      return %r : tensor<4x)" +
          result + R"(>
    })")
      .str();
}

TEST_F(ElementEvaluatorTest, NarrowingKeepsLowBits) {
  EXPECT_EQ(evaluate(integerBody("i64", R"(
      %n = arith.trunci %i : i64 to i8
      %r = arith.extui %n : i8 to i64)"),
                     {-1}),
            "(%arg0[i0] + -256*floordivsi(%arg0[i0], 256) + 0)");
  // What fits is what it was.
  EXPECT_EQ(evaluate(integerBody("i64", R"(
      %j = linalg.index 0 : index
      %k = arith.index_cast %j : index to i64
      %n = arith.trunci %k : i64 to i8
      %r = arith.extui %n : i8 to i64)"),
                     {-1}),
            "i0");
}

TEST_F(ElementEvaluatorTest, UnsignedIndicesAreNotNegative) {
  EXPECT_EQ(
      evaluate(integerBody("i8", "%r = arith.index_castui %i : i8 to index",
                           "index"),
               {-1}),
      "(%arg0[i0] + -256*floordivsi(%arg0[i0], 256) + 0)");
  EXPECT_EQ(
      evaluate(integerBody("i1", "%r = arith.index_castui %i : i1 to index",
                           "index"),
               {-1}),
      "%arg0[i0]");
}

TEST_F(ElementEvaluatorTest, WideIntegersAreNotLookedInto) {
  // Nothing says that they are finite in f32.
  StringRef wide = R"(
    func.func @f(%x: tensor<4xi128>) -> tensor<4xf32> {
      %r = arith.sitofp %x : tensor<4xi128> to tensor<4xf32>
      return %r : tensor<4xf32>
    })";
  EXPECT_EQ(evaluate(wide, {-1}), "arith.sitofp[i0]");
  StringRef inBody = R"(
    #id = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<4xi128>) -> tensor<4xf32> {
      %e = tensor.empty() : tensor<4xf32>
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%x : tensor<4xi128>) outs(%e : tensor<4xf32>) {
        ^bb0(%i: i128, %o: f32):
          %v = arith.sitofp %i : i128 to f32
          linalg.yield %v : f32
      } -> tensor<4xf32>
      return %r : tensor<4xf32>
    })";
  EXPECT_EQ(evaluate(inBody, {-1}), "linalg.generic[i0]");
  StringRef narrow = R"(
    func.func @f(%x: tensor<4xi64>) -> tensor<4xf32> {
      %r = arith.sitofp %x : tensor<4xi64> to tensor<4xf32>
      return %r : tensor<4xf32>
    })";
  EXPECT_EQ(evaluate(narrow, {-1}), "sitofp(%arg0[i0])");
}

TEST_F(ElementEvaluatorTest, TrueIsMinusOneToSignedOps) {
  EXPECT_EQ(evaluate(integerBody("i1", "%r = arith.extsi %i : i1 to i64"), {2}),
            "(-1*%arg0[2] + 0)");
  EXPECT_EQ(evaluate(integerBody("i1", "%r = arith.extui %i : i1 to i64"), {2}),
            "%arg0[2]");
  EXPECT_EQ(evaluate(integerBody("i1", "%r = arith.index_cast %i : i1 to index",
                                 "index"),
                     {2}),
            "(-1*%arg0[2] + 0)");
  EXPECT_EQ(
      evaluate(integerBody("i1", "%r = arith.sitofp %i : i1 to f32", "f32"),
               {2}),
      "negf(sitofp(%arg0[2]))");
  // true < false, and true + true = false.
  EXPECT_EQ(evaluate(integerBody("i1", R"(
      %t = arith.constant true
      %r = arith.cmpi slt, %t, %i : i1)",
                                 "i1"),
                     {2}),
            "cmpi(1, %arg0[2])");
  EXPECT_EQ(
      evaluate(integerBody("i1", "%r = arith.addi %i, %i : i1", "i1"), {2}),
      "0");
}

TEST_F(ElementEvaluatorTest, NarrowArithmeticMayWrap) {
  EXPECT_EQ(evaluate(integerBody("i8", R"(
      %s = arith.addi %i, %i : i8
      %r = arith.extsi %s : i8 to i64)"),
                     {2}),
            "addi(%arg0[2], %arg0[2])");
}

TEST_F(ElementEvaluatorTest, SparseConstantsUnroll) {
  // A rotation by a matrix that exchanges channels.
  StringRef exchange = R"(
    func.func @f(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
      %z = arith.constant 0.0 : f32
      %c = arith.constant sparse<[[3, 5], [7, 5], [2, 2]], [1.0, -1.0, 4.0]> : tensor<16x16xf32>
      %e = tensor.empty() : tensor<4x16xf32>
      %i = linalg.fill ins(%z : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
      %r = linalg.matmul ins(%x, %c : tensor<4x16xf32>, tensor<16x16xf32>) outs(%i : tensor<4x16xf32>) -> tensor<4x16xf32>
      return %r : tensor<4x16xf32>
    })";
  EXPECT_EQ(evaluate(exchange, {-1, 5}),
            "addf(%arg0[i0, 3], negf(%arg0[i0, 7]))");
  EXPECT_EQ(evaluate(exchange, {-1, 6}), "0.000000e+00");
}

TEST_F(ElementEvaluatorTest, ConstantRowNumbersAreRowNumbers) {
  StringRef rows = R"(
    func.func @f() -> tensor<6xf32> {
      %t = arith.constant dense<[3.0, 5.0, 7.0, 9.0, 11.0, 13.0]> : tensor<6xf32>
      return %t : tensor<6xf32>
    })";
  EXPECT_EQ(evaluate(rows, {-1}), "sitofp((2*i0 + 3))");
}

TEST_F(ElementEvaluatorTest, ConstantNumbersMayGrowAlongSeveralDims) {
  StringRef even = R"(
    func.func @f() -> tensor<2x3xi64> {
      %t = arith.constant dense<[[1, 3, 5], [11, 13, 15]]> : tensor<2x3xi64>
      return %t : tensor<2x3xi64>
    })";
  EXPECT_EQ(evaluate(even, {-1, -1}), "(10*i0 + 2*i1 + 1)");
  StringRef uneven = R"(
    func.func @f() -> tensor<2x3xi64> {
      %t = arith.constant dense<[[1, 3, 5], [11, 13, 16]]> : tensor<2x3xi64>
      return %t : tensor<2x3xi64>
    })";
  EXPECT_EQ(evaluate(uneven, {-1, -1}), "arith.constant[i0, i1]");
}

TEST_F(ElementEvaluatorTest, AssertsSayWhatIsEqual) {
  StringRef checked = R"(
    func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %a = tensor.dim %x, %c0 : tensor<?xf32>
      %b = tensor.dim %y, %c0 : tensor<?xf32>
      %eq = arith.cmpi eq, %a, %b : index
      cf.assert %eq, "equal"
      %j = tensor.concat dim(0) %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      return %j : tensor<?xf32>
    })";
  module = parseSourceString<ModuleOp>(checked, &context);
  Block &block = (*module->getOps<func::FuncOp>().begin()).getBody().front();
  Value joined = block.getTerminator()->getOperand(0);
  ExprContext exprs(&context);
  ElementEvaluator evaluator(exprs);
  evaluator.assumeFacts(block);
  EXPECT_EQ(evaluator.evaluateExtent(joined, 0),
            exprs.mul(exprs.getDim(block.getArgument(0), 0), exprs.getInt(2)));
}
