//===- ConsumerFusionTest.cpp - Rope ops in the loops of producers --------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fusion of a consumer has no transform op outside of MLIR's own tests.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/TilingInterfaceImpl.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "rope/IR/Rope.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {
class ConsumerFusion : public testing::Test {
protected:
  ConsumerFusion() {
    DialectRegistry registry;
    registry.insert<rope::RopeDialect, func::FuncDialect, scf::SCFDialect>();
    linalg::registerTilingInterfaceExternalModels(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Tiles the first op by `sizes` in parallel, and fuses the second into its
  /// loop.
  LogicalResult fuse(StringRef source, ArrayRef<int64_t> sizes) {
    module = parseSourceString<ModuleOp>(source, &context);
    if (!module)
      return failure();
    SmallVector<TilingInterface> ops;
    module->walk([&](TilingInterface op) { ops.push_back(op); });
    if (ops.size() != 2)
      return failure();
    IRRewriter rewriter(&context);
    scf::SCFTilingOptions options;
    options.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp)
        .setTileSizes(getAsIndexOpFoldResult(&context, sizes));
    FailureOr<scf::SCFTilingResult> tiled =
        scf::tileUsingSCF(rewriter, ops[0], options);
    if (failed(tiled))
      return failure();
    rewriter.replaceOp(ops[0], tiled->replacements);
    ScopedDiagnosticHandler quiet(&context,
                                  [](Diagnostic &) { return success(); });
    if (failed(scf::tileAndFuseConsumer(rewriter, ops[1], tiled->loops)))
      return failure();
    return verify(*module);
  }

  /// The type of the query or input of the only op of a kind.
  template <typename OpTy> Type getFirstType() {
    Type type;
    module->walk([&](OpTy op) {
      if (op->template getParentOfType<scf::ForallOp>())
        type = op->getOperand(0).getType();
    });
    return type;
  }

  Type getTensor(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, Float32Type::get(&context));
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(ConsumerFusion, RotateIntoTable) {
  ASSERT_TRUE(succeeded(fuse(R"mlir(
    func.func @f(%p: index, %t0: tensor<64x2x4xf32>, %x: tensor<3x64x8xf32>) -> tensor<3x64x8xf32> {
      %t = rope.table #rope.default<1.0e4> ins(%p : index) outs(%t0 : tensor<64x2x4xf32>) -> tensor<64x2x4xf32>
      %y = rope.rotate <half along [1]> ins(%x, %t : tensor<3x64x8xf32>, tensor<64x2x4xf32>)
             outs(%x : tensor<3x64x8xf32>) -> tensor<3x64x8xf32>
      return %y : tensor<3x64x8xf32>
    })mlir",
                             {16})));
  EXPECT_EQ(getFirstType<rope::RotateOp>(), getTensor({3, 16, 8}));
}

static constexpr StringRef kRotateThenAttend = R"mlir(
    func.func @f(%q: tensor<4x64x8xf32>, %t: tensor<64x2x4xf32>, %k: tensor<4x64x8xf32>) -> tensor<4x64x8xf32> {
      %r = rope.rotate <half along [1]> ins(%q, %t : tensor<4x64x8xf32>, tensor<64x2x4xf32>)
             outs(%q : tensor<4x64x8xf32>) -> tensor<4x64x8xf32>
      %o = rope.attention ins(%r, %k, %k : tensor<4x64x8xf32>, tensor<4x64x8xf32>, tensor<4x64x8xf32>)
             outs(%q : tensor<4x64x8xf32>) scale 0.5 causal -> tensor<4x64x8xf32>
      return %o : tensor<4x64x8xf32>
    })mlir";

TEST_F(ConsumerFusion, AttentionIntoQuery) {
  ASSERT_TRUE(succeeded(fuse(kRotateThenAttend, {0, 16})));
  EXPECT_EQ(getFirstType<rope::AttentionOp>(), getTensor({4, 16, 8}));
}

// Attention over a part of the keys would not be a part of the attention.
TEST_F(ConsumerFusion, AttentionNotIntoKeys) {
  std::string source = kRotateThenAttend.str();
  source.replace(source.find("ins(%r, %k"), 10, "ins(%q, %r");
  EXPECT_TRUE(failed(fuse(source, {0, 16})));
}

// A rotation needs both channels of a pair.
TEST_F(ConsumerFusion, RotateNotIntoChannels) {
  EXPECT_TRUE(failed(fuse(R"mlir(
    func.func @f(%x: tensor<64x8xf32>, %t: tensor<64x2x4xf32>) -> tensor<64x8xf32> {
      %n = linalg.negf ins(%x : tensor<64x8xf32>) outs(%x : tensor<64x8xf32>) -> tensor<64x8xf32>
      %y = rope.rotate <half along [0]> ins(%n, %t : tensor<64x8xf32>, tensor<64x2x4xf32>)
             outs(%x : tensor<64x8xf32>) -> tensor<64x8xf32>
      return %y : tensor<64x8xf32>
    })mlir",
                          {0, 4})));
}
