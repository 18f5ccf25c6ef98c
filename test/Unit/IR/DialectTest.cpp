//===- DialectTest.cpp - Tests of the dialect's registration --------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/MLIRContext.h"
#include "rope/IR/Rope.h"
#include "gtest/gtest.h"

using namespace mlir;

TEST(Dialect, LoadsByName) {
  DialectRegistry registry;
  registry.insert<rope::RopeDialect>();
  MLIRContext context(registry);
  EXPECT_NE(context.getOrLoadDialect("rope"), nullptr);
}
