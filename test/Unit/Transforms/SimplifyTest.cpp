//===- SimplifyTest.cpp - Numbers before and after algebra ----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a program as written and after rope-simplify (which canonicalizes too)
// on the same random numbers. In f64, what holds in real arithmetic agrees to
// many digits; a wrong sign, pair, row or factor does not. The f32 programs
// check the bounds that the pass states.
//
//===----------------------------------------------------------------------===//

#include "Support/Numbers.h"
#include "Support/Program.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::test;

namespace {
/// What the function @f of a program takes.
struct Arguments {
  std::vector<Array> arrays;

  Arguments &random(DType dtype, const reference::Shape &shape) {
    arrays.push_back(makeRandom(dtype, shape, generator));
    return *this;
  }
  Arguments &integers(const reference::Shape &shape,
                      std::vector<int64_t> values) {
    arrays.push_back(
        makeArray(DType::I64, reference::IntArray(shape, std::move(values))));
    return *this;
  }
  SmallVector<ArrayView> views() {
    SmallVector<ArrayView> result;
    for (Array &array : arrays)
      result.push_back(array.view());
    return result;
  }

private:
  RandomGenerator generator{{7}};
};
} // namespace

/// The results of @f, decomposed after the passes.
static SmallVector<Array> run(StringRef text, StringRef passes,
                              Arguments &arguments) {
  ProgramOptions options;
  options.passes = ("builtin.module(" + passes + "rope-decompose)").str();
  return Program(text, options).call("f", arguments.views());
}

/// The largest difference that the passes make to a result of @f.
static double getDifference(StringRef text, Arguments &arguments,
                            StringRef passes = "rope-simplify,") {
  SmallVector<Array> before = run(text, "", arguments);
  SmallVector<Array> after = run(text, passes, arguments);
  double largest = 0;
  for (auto [b, a] : llvm::zip_equal(before, after))
    for (int64_t i = 0; i < b.getNumElements(); ++i) {
      double difference = std::abs(b.get(i) - a.get(i));
      largest =
          std::isfinite(difference) ? std::max(largest, difference) : INFINITY;
    }
  return largest;
}

/// The text with the element type in place of ELT.
static std::string withType(StringRef text, StringRef type) {
  std::string result;
  while (!text.empty()) {
    auto [head, tail] = text.split("ELT");
    result += head;
    if (head.size() != text.size())
      result += type;
    text = tail;
  }
  return result;
}

/// Rotations and rerotations of one value by tables of which the second is
/// unit, with other pairings read and written.
static constexpr StringRef kRotations = R"mlir(
  !X = tensor<3x8xELT>
  !T = tensor<3x2x4xELT>
  func.func @f(%x: !X, %a: !T, %p: tensor<3xi64>) -> (!X, !X, !X, !X) {
    %e = tensor.empty() : !X
    %te = tensor.empty() : !T
    %u = rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) outs(%te : !T) -> !T
    %0 = rope.rotate <interleaved to half along [0]> ins(%x, %a : !X, !T) outs(%e : !X) -> !X
    %1 = rope.rotate <half to interleaved along [0]> ins(%0, %u : !X, !T) outs(%e : !X) -> !X
    %2 = rope.rotate <half along [0]> ins(%x, %a : !X, !T) outs(%e : !X) -> !X
    %3 = rope.rerotate <half to interleaved along [0]> ins(%2, %u : !X, !T) outs(%e : !X) -> !X
    %4 = rope.rotate <half along [0]> ins(%x, %u : !X, !T) outs(%e : !X) -> !X
    %5 = rope.rerotate <half along [0]> ins(%4, %a : !X, !T) outs(%e : !X) -> !X
    %6 = rope.rerotate <interleaved along [0]> ins(%x, %a : !X, !T) outs(%e : !X) -> !X
    %7 = rope.rerotate <interleaved along [0]> ins(%6, %u : !X, !T) outs(%e : !X) -> !X
    return %1, %3, %5, %7 : !X, !X, !X, !X
  })mlir";

TEST(Simplify, RotationsMerge) {
  Arguments f64;
  f64.random(DType::F64, {3, 8}).random(DType::F64, {3, 2, 4});
  f64.integers({3}, {5, -3, 1000});
  EXPECT_LT(getDifference(withType(kRotations, "f64"), f64), 1e-12);
}

/// Products of tables: sums of positions, differences of starts, sums of
/// frequencies, with magnitudes.
static constexpr StringRef kTables = R"mlir(
  !T = tensor<3x2x2xELT>
  #yarn = #rope.yarn<theta = 1.0e4, factor = 4.0, trained = 4096, magnitude = 1.5>
  #ntk = #rope.dynamic_ntk<theta = 1.0e4, factor = 2.0, trained = 16>
  func.func @f(%p: tensor<3xi64>, %q: tensor<3xi64>, %s: tensor<2xi64>) -> (!T, !T, !T, !T, !T) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : !T
    %s0 = tensor.extract %s[%c0] : tensor<2xi64>
    %s1 = tensor.extract %s[%c1] : tensor<2xi64>
    %i = arith.index_cast %s0 : i64 to index
    %j = arith.index_cast %s1 : i64 to index
    %c40 = arith.constant 40 : index
    %0 = rope.table #yarn ins(%p : tensor<3xi64>) outs(%e : !T) -> !T
    %1 = rope.table #yarn ins(%q : tensor<3xi64>) outs(%e : !T) -> !T
    %2 = rope.compose ins(%0, %1 : !T, !T) outs(%e : !T) -> !T
    %3 = rope.table #yarn ins(%i : index) outs(%e : !T) -> !T
    %4 = rope.table #yarn ins(%j : index) outs(%e : !T) -> !T
    %5 = rope.compose ins(%3, inverse %4 : !T, !T) outs(%e : !T) -> !T
    %6 = rope.table #yarn ins(%p : tensor<3xi64>) outs(%e : !T) -> !T
    %7 = rope.table #rope.default<100.0> ins(%p : tensor<3xi64>) outs(%e : !T) -> !T
    %8 = rope.compose ins(%6, %7 : !T, !T) outs(%e : !T) -> !T
    %9 = rope.table #ntk ins(%p : tensor<3xi64>) length(%c40) outs(%e : !T) -> !T
    %10 = rope.table #yarn ins(%p : tensor<3xi64>) outs(%e : !T) -> !T
    %11 = rope.compose ins(%9, inverse %10 : !T, !T) outs(%e : !T) -> !T
    %12 = rope.compose ins(%9, inverse %9 : !T, !T) outs(%e : !T) -> !T
    return %2, %5, %8, %11, %12 : !T, !T, !T, !T, !T
  })mlir";

TEST(Simplify, TablesMerge) {
  for (auto [type, bound] : {std::pair("f64", 1e-9), {"f32", 1e-6}}) {
    Arguments arguments;
    arguments.integers({3}, {5, -3, 1000}).integers({3}, {70000, 12, -8});
    arguments.integers({2}, {31, 1007});
    EXPECT_LT(getDifference(withType(kTables, type), arguments), bound) << type;
  }
}

/// Rotations that are moved, narrowed and cut.
static constexpr StringRef kMotion = R"mlir(
  #in = affine_map<(b, h, g, s, d) -> (b, h, 0, s, d)>
  #out = affine_map<(b, h, g, s, d) -> (b, h, g, s, d)>
  func.func @f(%x: tensor<2x3x5x8xELT>, %p: tensor<5xi64>) -> (tensor<5x2x3x8xELT>, tensor<2x12x5x8xELT>, tensor<2x2x2x7xELT>) {
    %e = tensor.empty() : tensor<5x2x3x8xELT>
    %g0 = tensor.empty() : tensor<2x3x4x5x8xELT>
    %c0 = tensor.empty() : tensor<2x12x5x8xELT>
    %x0 = tensor.empty() : tensor<2x3x5x8xELT>
    %te = tensor.empty() : tensor<5x2x4xELT>
    %ue = tensor.empty() : tensor<5x2x2xELT>
    %t = rope.table #rope.explicit<frequencies = [0.0, 1.0, 0.5, 0.0]> ins(%p : tensor<5xi64>) outs(%te : tensor<5x2x4xELT>) -> tensor<5x2x4xELT>
    %u = rope.table #rope.default<10.0> ins(%p : tensor<5xi64>) outs(%ue : tensor<5x2x2xELT>) -> tensor<5x2x2xELT>
    %a = linalg.transpose ins(%x : tensor<2x3x5x8xELT>) outs(%e : tensor<5x2x3x8xELT>) permutation = [2, 0, 1, 3]
    %b = rope.rotate <half along [0]> ins(%a, %t : tensor<5x2x3x8xELT>, tensor<5x2x4xELT>) outs(%e : tensor<5x2x3x8xELT>) -> tensor<5x2x3x8xELT>
    %s = tensor.expand_shape %x [[0], [1, 2], [3], [4]] output_shape [2, 3, 1, 5, 8] : tensor<2x3x5x8xELT> into tensor<2x3x1x5x8xELT>
    %g = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
        ins(%s : tensor<2x3x1x5x8xELT>) outs(%g0 : tensor<2x3x4x5x8xELT>) {
      ^bb0(%v: ELT, %w: ELT):
        linalg.yield %v : ELT
    } -> tensor<2x3x4x5x8xELT>
    %c = tensor.collapse_shape %g [[0], [1, 2], [3], [4]] : tensor<2x3x4x5x8xELT> into tensor<2x12x5x8xELT>
    %d = rope.rerotate <interleaved along [2]> ins(%c, %t : tensor<2x12x5x8xELT>, tensor<5x2x4xELT>) outs(%c0 : tensor<2x12x5x8xELT>) -> tensor<2x12x5x8xELT>
    %r = rope.rotate <half offset = 2 along [2]> ins(%x, %u : tensor<2x3x5x8xELT>, tensor<5x2x2xELT>) outs(%x0 : tensor<2x3x5x8xELT>) -> tensor<2x3x5x8xELT>
    %k = tensor.extract_slice %r[0, 1, 1, 1] [2, 2, 2, 7] [1, 1, 2, 1] : tensor<2x3x5x8xELT> to tensor<2x2x2x7xELT>
    return %b, %d, %k : tensor<5x2x3x8xELT>, tensor<2x12x5x8xELT>, tensor<2x2x2x7xELT>
  })mlir";

// Refinements: no rounding moves, so that f32 agrees to the last bit or two.
TEST(Canonicalize, RotationsMove) {
  for (auto [type, dtype, bound] :
       {std::tuple("f64", DType::F64, 1e-15), {"f32", DType::F32, 1e-6}}) {
    Arguments arguments;
    arguments.random(dtype, {2, 3, 5, 8}).integers({5}, {3, 1, 4, 1, 59});
    EXPECT_LE(getDifference(withType(kMotion, type), arguments,
                            "func.func(canonicalize),"),
              bound)
        << type;
  }
}

/// RoPER of grouped heads with starts that have a common part, scales, and a
/// mask in several parts.
static constexpr StringRef kAttention = R"mlir(
  !Q = tensor<2x4x3x8xELT>
  !K = tensor<2x2x5x8xELT>
  !M = tensor<3x2x4xELT>
  !N = tensor<5x2x4xELT>
  func.func @f(%q: !Q, %k: !K, %v: !K, %s: tensor<3xi64>) -> (!Q, !Q) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %s0 = tensor.extract %s[%c0] : tensor<3xi64>
    %s1 = tensor.extract %s[%c1] : tensor<3xi64>
    %s2 = tensor.extract %s[%c2] : tensor<3xi64>
    %a = arith.index_cast %s0 : i64 to index
    %b = arith.index_cast %s1 : i64 to index
    %c = arith.index_cast %s2 : i64 to index
    %ab = arith.addi %a, %b : index
    %ca = arith.addi %c, %a : index
    %o = tensor.empty() : !Q
    %m0 = tensor.empty() : !M
    %n0 = tensor.empty() : !N
    %tq = rope.table #rope.default<1.0e4> ins(%ab : index) outs(%m0 : !M) -> !M
    %tk = rope.table #rope.default<1.0e4> ins(%ca : index) outs(%n0 : !N) -> !N
    %tv = rope.table #rope.default<100.0> ins(%a : index) outs(%n0 : !N) -> !N
    %to = rope.table #rope.default<100.0> ins(%ab : index) outs(%m0 : !M) -> !M
    %half = arith.constant dense<0.5> : !Q
    %third = arith.constant dense<3.0> : !K
    %true = arith.constant dense<true> : tensor<3x5xi1>
    %len = arith.constant 5 : index
    %qs = arith.mulf %q, %half : !Q
    %ks = arith.divf %k, %third : !K
    %x = rope.attention ins(%qs, %ks, %v : !Q, !K, !K) mask(%true : tensor<3x5xi1>) query_pos(%c2 : index) key_pos(%c0 : index) key_length(%len : index)
           rotate_query(%tq : !M) <half along [2]> rotate_key(%tk : !N) <interleaved to half along [2]>
           rotate_value(%tv : !N) <half to interleaved along [2]> rerotate_output(%to : !M) <interleaved to half along [2]>
           outs(%o : !Q) scale 0.7 window [3, 0] softcap 5.0 -> !Q
    %u0 = tensor.empty() : tensor<2x2x4xELT>
    %p = tensor.extract_slice %s[1] [2] [1] : tensor<3xi64> to tensor<2xi64>
    %u = rope.table #rope.default<1.0e4> ins(%p : tensor<2xi64>) f32_angle outs(%u0 : tensor<2x2x4xELT>) -> tensor<2x2x4xELT>
    %y = rope.attention ins(%q, %k, %v : !Q, !K, !K)
           rotate_query(%u : tensor<2x2x4xELT>) <interleaved to half along [0]> rotate_key(%u : tensor<2x2x4xELT>) <interleaved to half along [0]>
           rotate_value(%u : tensor<2x2x4xELT>) <interleaved to half along [0]> rerotate_output(%u : tensor<2x2x4xELT>) <half to interleaved along [0]>
           outs(%o : !Q) scale 0.5 causal window [-1, 7] -> !Q
    return %x, %y : !Q, !Q
  })mlir";

TEST(Simplify, Attention) {
  for (auto [type, dtype, bound] :
       {std::tuple("f64", DType::F64, 1e-9), {"f32", DType::F32, 3e-6}}) {
    Arguments arguments;
    arguments.random(dtype, {2, 4, 3, 8}).random(dtype, {2, 2, 5, 8});
    arguments.random(dtype, {2, 2, 5, 8}).integers({3}, {100, 11, 7});
    EXPECT_LT(getDifference(withType(kAttention, type), arguments), bound)
        << type;
  }
}
