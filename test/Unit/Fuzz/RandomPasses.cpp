//===- RandomPasses.cpp - Passes that must not change a result ------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Case.h"

#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "rope/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::test;

/// Whether a static extent is 0. Upstream refuses any slice of such a tensor.
static bool isEmpty(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && llvm::is_contained(shaped.getShape(), 0);
  });
}

/// Tiles an op by small sizes. False if the op refuses, which it may for sizes
/// that cut a group of heads.
static bool tile(TilingInterface op, Draw &draw, std::string &names) {
  SmallVector<OpFoldResult> sizes;
  std::string text;
  Builder builder(op.getContext());
  for ([[maybe_unused]] utils::IteratorType type : op.getLoopIteratorTypes()) {
    int64_t size = draw.chance(0.5) ? 0 : draw.range(1, 4);
    sizes.push_back(builder.getIndexAttr(size));
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  }
  bool parallel = draw.chance(0.5);
  scf::SCFTilingOptions options;
  options.setTileSizes(sizes);
  if (parallel)
    options.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  IRRewriter rewriter(op.getContext());
  rewriter.setInsertionPoint(op);
  FailureOr<scf::SCFTilingResult> tiled =
      scf::tileUsingSCF(rewriter, op, options);
  if (failed(tiled))
    return false;
  rewriter.replaceOp(op, tiled->replacements);
  names += std::string(parallel ? " forall" : " for") + "<" + text + ">";
  return true;
}

/// Tiles the last op of ours. A function of which it cannot be tiled stays as
/// it was.
static void tileFunction(func::FuncOp function, Draw &draw,
                         std::string &names) {
  auto ops = llvm::to_vector(function.getOps<TilingInterface>());
  if (ops.empty() || isEmpty(ops.back()) ||
      cast<DestinationStyleOpInterface>(ops.back().getOperation())
          .hasPureBufferSemantics())
    return;
  ScopedDiagnosticHandler ignore(function.getContext(),
                                 [](Diagnostic &) { return success(); });
  func::FuncOp copy = function.clone();
  bool tiled = tile(ops.back(), draw, names);
  if (!tiled)
    function.getBody().takeBody(copy.getBody());
  copy.erase();
}

static LogicalResult runPass(func::FuncOp function, StringRef name) {
  PassManager pm(function.getContext(), func::FuncOp::getOperationName());
  if (failed(parsePassPipeline(name, pm)))
    return failure();
  return pm.run(function);
}

FailureOr<std::string> test::runRandomPasses(func::FuncOp function,
                                             uint64_t seed) {
  static const bool registered = [] {
    registerTransformsPasses();
    registerRopeTransformsPasses();
    return true;
  }();
  (void)registered;
  // Apart from the seed of the case itself.
  Draw draw(seed ^ 0x9E3779B97F4A7C15);
  std::string names;
  for (int64_t i = draw.range(0, 3); i != 0; --i) {
    if (draw.chance(0.4)) {
      tileFunction(function, draw, names);
      continue;
    }
    std::vector<std::string> passes = {
        "canonicalize", "cse", "loop-invariant-code-motion", "rope-fuse"};
    if (PassInfo::lookup("rope-simplify"))
      passes.push_back("rope-simplify");
    const std::string &pass = draw.pick(passes);
    names += " " + pass;
    if (failed(runPass(function, pass)))
      return failure();
  }
  return names;
}
