//===- InterfacesTest.cpp - Every op has every interface ------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The check of promised interfaces is compiled out of release builds, so that a
// model which is not attached would only show as a pass doing nothing.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Parser/Parser.h"
#include "rope/IR/Rope.h"
#include "rope/Interfaces/ExternalModels.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {
class Interfaces : public testing::Test {
protected:
  Interfaces() {
    DialectRegistry registry;
    registry.insert<rope::RopeDialect, func::FuncDialect>();
    rope::registerBufferizableOpInterfaceExternalModels(registry);
    rope::registerRuntimeVerifiableOpInterfaceExternalModels(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  MLIRContext context;
};
} // namespace

static SmallVector<RegisteredOperationName> getRopeOps(MLIRContext &context) {
  SmallVector<RegisteredOperationName> ops;
  for (const RegisteredOperationName &op : context.getRegisteredOperations())
    if (op.getDialectNamespace() == "rope")
      ops.push_back(op);
  return ops;
}

template <typename... Interface>
static void expectInterfaces(const RegisteredOperationName &name,
                             ArrayRef<StringRef> names) {
  bool has[] = {name.hasInterface<Interface>()...};
  for (auto [interface, found] : llvm::zip_equal(names, has))
    EXPECT_TRUE(found) << name.getStringRef().str() << " lacks "
                       << interface.str();
}

TEST_F(Interfaces, EveryOpHasEveryInterface) {
  auto ops = getRopeOps(context);
  EXPECT_EQ(ops.size(), 8u);
  for (const RegisteredOperationName &op : ops)
    expectInterfaces<DestinationStyleOpInterface, MemoryEffectOpInterface,
                     ConditionallySpeculatable,
                     ReifyRankedShapedTypeOpInterface, TilingInterface,
                     bufferization::BufferizableOpInterface,
                     RuntimeVerifiableOpInterface>(
        op, {"DestinationStyleOpInterface", "MemoryEffectOpInterface",
             "ConditionallySpeculatable", "ReifyRankedShapedTypeOpInterface",
             "TilingInterface", "BufferizableOpInterface",
             "RuntimeVerifiableOpInterface"});
}

TEST_F(Interfaces, AttentionsShareOne) {
  for (StringRef name :
       {"rope.attention", "rope.online_attention", "rope.linear_attention"})
    EXPECT_TRUE(OperationName(name, &context)
                    .hasInterface<rope::AttentionLikeOpInterface>())
        << name.str();
}

TEST_F(Interfaces, OnlineAttentionSplitsKeys) {
  for (const RegisteredOperationName &op : getRopeOps(context))
    EXPECT_EQ(op.hasInterface<PartialReductionOpInterface>(),
              op.getStringRef() == "rope.online_attention");
}

TEST_F(Interfaces, ModelsHaveToBeRegistered) {
  DialectRegistry registry;
  registry.insert<rope::RopeDialect>();
  MLIRContext bare(registry);
  bare.loadAllAvailableDialects();
  for (const RegisteredOperationName &op : getRopeOps(bare)) {
    EXPECT_FALSE(op.hasInterface<bufferization::BufferizableOpInterface>());
    EXPECT_FALSE(op.hasInterface<RuntimeVerifiableOpInterface>());
  }
}

// Bounds of results follow from their inits, without a model of ours.
TEST_F(Interfaces, ResultsAreBoundedByInits) {
  auto module = parseSourceString<ModuleOp>(R"mlir(
    func.func @f(%x: tensor<2x?x8xf32>, %t: tensor<?x2x4xf32>) -> tensor<2x?x8xf32> {
      %y = rope.rotate <half along [1]> ins(%x, %t : tensor<2x?x8xf32>, tensor<?x2x4xf32>)
             outs(%x : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
      return %y : tensor<2x?x8xf32>
    })mlir",
                                            &context);
  ASSERT_TRUE(module);
  rope::RotateOp rotate;
  module->walk([&](rope::RotateOp op) { rotate = op; });
  using Bounds = ValueBoundsConstraintSet;
  FailureOr<bool> equal =
      Bounds::areEqual({rotate.getResult(), 1}, {rotate.getInit(), 1});
  ASSERT_TRUE(succeeded(equal));
  EXPECT_TRUE(*equal);
}

// Without effects on tensors; on memrefs, states are read and outputs are not.
TEST_F(Interfaces, Effects) {
  auto module = parseSourceString<ModuleOp>(R"mlir(
    func.func @f(%x: tensor<4x8xf32>, %m: memref<4x8xf32>, %s: memref<8x8xf32>) -> tensor<4x8xf32> {
      rope.linear_attention ins(%m, %m, %m : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>)
        outs(%m, %s : memref<4x8xf32>, memref<8x8xf32>) feature_map relu causal
      %y = rope.linear_attention ins(%x, %x, %x : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
        outs(%x : tensor<4x8xf32>) feature_map relu causal -> tensor<4x8xf32>
      return %y : tensor<4x8xf32>
    })mlir",
                                            &context);
  ASSERT_TRUE(module);
  SmallVector<rope::LinearAttentionOp> ops;
  module->walk([&](rope::LinearAttentionOp op) { ops.push_back(op); });
  EXPECT_FALSE(isSpeculatable(ops[0]));
  EXPECT_TRUE(isPure(ops[1]));
  SmallVector<MemoryEffects::EffectInstance> effects;
  ops[0].getEffects(effects);
  auto count = [&](OpOperand &operand, auto isEffect) {
    return llvm::count_if(effects, [&](const auto &effect) {
      return effect.template getEffectValue<OpOperand *>() == &operand &&
             isEffect(effect.getEffect());
    });
  };
  auto isRead = [](const MemoryEffects::Effect *effect) {
    return isa<MemoryEffects::Read>(effect);
  };
  auto isWrite = [](const MemoryEffects::Effect *effect) {
    return isa<MemoryEffects::Write>(effect);
  };
  OpOperand &output = ops[0]->getOpOperand(3), &state = ops[0]->getOpOperand(4);
  EXPECT_EQ(count(output, isRead), 0);
  EXPECT_EQ(count(output, isWrite), 1);
  EXPECT_EQ(count(state, isRead), 1);
  EXPECT_EQ(count(state, isWrite), 1);
}
