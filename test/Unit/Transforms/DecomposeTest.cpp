//===- DecomposeTest.cpp - Numbers of decomposed ops ----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares rotations and tables, decomposed and compiled, with the reference.
//
//===----------------------------------------------------------------------===//

#include "Support/Numbers.h"
#include "Support/Program.h"
#include "rope/Reference/Rotation.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir::rope;
using namespace mlir::rope::test;

TEST(Decompose, RotateHalf) {
  Program program(R"mlir(
    !X = tensor<2x?x8xf32>
    !T = tensor<?x2x4xf32>
    func.func @f(%x: !X, %t: !T, %init: !X) -> !X {
      %y = rope.rotate <half along [1]> ins(%x, %t : !X, !T) outs(%init : !X) -> !X
      return %y : !X
    })mlir");
  RandomGenerator random({1});
  Array x = makeRandom(DType::F32, {2, 5, 8}, random);
  Array t = makeRandom(DType::F32, {5, 2, 4}, random);
  Array init = makeFilled(DType::F32, {2, 5, 8}, std::nan(""));
  reference::RoleRotation rotation{toReference(t), {}};
  rotation.rotary.along = {1};
  reference::Array want = reference::rotate(toReference(x), rotation);
  EXPECT_LT(getMaxUlpError(program.call("f", x, t, init).front(), want,
                           reference::Array::filled({}, 1.0)),
            1.5);
}
