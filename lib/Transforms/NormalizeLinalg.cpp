//===- NormalizeLinalg.cpp - One spelling for structured ops --------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-normalize-linalg. Importers write the same computation in
// many ways; tiling wants to see few: generics without unit dims, elementwise
// chains in one op where that repeats no work, contractions that read a
// transposed operand where it lies.
//
//===----------------------------------------------------------------------===//

#include "LinalgTiles.h"
#include "Patterns.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "rope/Transforms/Passes.h"
#include "rope/Transforms/Transforms.h"

namespace mlir::rope {
#define GEN_PASS_DEF_NORMALIZELINALGPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;
using linalg::GenericOp;
using linalg::LinalgOp;

//===----------------------------------------------------------------------===//
// Spelling
//===----------------------------------------------------------------------===//

static LogicalResult runPatterns(Operation *root,
                                 RewritePatternSet &&patterns) {
  return rope::applyWithCanonicalization(
      root, std::move(patterns), {"affine", "arith", "linalg", "tensor"});
}

// Fills stay named: they say what a reduction starts from.
static void generalizeNamedOps(Operation *root) {
  IRRewriter rewriter(root->getContext());
  root->walk([&](LinalgOp op) {
    if (isa<GenericOp, linalg::FillOp>(op) || !op.hasPureTensorSemantics())
      return;
    rewriter.setInsertionPoint(op);
    (void)linalg::generalizeNamedOp(rewriter, op);
  });
}

static LogicalResult dropUnitDims(Operation *root) {
  RewritePatternSet patterns(root->getContext());
  linalg::ControlDropUnitDims options;
  // On memrefs of mixed static and dynamic dims the patterns never settle.
  options.controlFn = [all = options.controlFn](Operation *op) {
    auto linalgOp = dyn_cast<LinalgOp>(op);
    return linalgOp && !linalgOp.hasPureTensorSemantics()
               ? SmallVector<unsigned>()
               : all(op);
  };
  linalg::populateFoldUnitExtentDimsPatterns(patterns, options);
  linalg::populateFoldUnitExtentDimsCanonicalizationPatterns(patterns, options);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  return runPatterns(root, std::move(patterns));
}

//===----------------------------------------------------------------------===//
// Elementwise chains
//===----------------------------------------------------------------------===//

static bool isAllParallel(LinalgOp op) {
  return op.getNumParallelLoops() == op.getNumLoops();
}

static bool hasGather(LinalgOp op) {
  return op
      ->walk([](Operation *nested) {
        return isa<tensor::ExtractOp>(nested) ? WalkResult::interrupt()
                                              : WalkResult::advance();
      })
      .wasInterrupted();
}

// Cheap enough to be computed again by each reader: a copy or a cast.
static bool isCheap(GenericOp op) {
  Block &body = *op.getBody();
  return llvm::all_of(
             body.without_terminator(),
             [](Operation &nested) {
               return isa<arith::ExtFOp, arith::TruncFOp, arith::ExtUIOp,
                          arith::TruncIOp, arith::SIToFPOp, arith::NegFOp>(
                   nested);
             }) &&
         body.getOperations().size() <= 2;
}

// The producer of the operand may run inside its reader: nothing is computed
// more often than before, unless that costs less than storing it.
static bool shouldFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<GenericOp>();
  auto consumer = dyn_cast<GenericOp>(operand->getOwner());
  if (!producer || !consumer || !isAllParallel(producer) ||
      hasGather(producer) || linalg::isaContractionOpInterface(consumer))
    return false;
  if (isCheap(producer))
    return true;
  return producer->hasOneUse() &&
         consumer.getMatchingIndexingMap(operand).isPermutation();
}

static LogicalResult fuseElementwise(Operation *root) {
  RewritePatternSet patterns(root->getContext());
  linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  return runPatterns(root, std::move(patterns));
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

// The source of a pure permutation of dims, with the map from the dims of the
// result to those of the source.
static std::optional<std::pair<Value, AffineMap>> matchTranspose(Value value) {
  auto copy = value.getDefiningOp<GenericOp>();
  if (!copy || !isAllParallel(copy) || copy.getNumDpsInputs() != 1 ||
      copy.getNumDpsInits() != 1)
    return std::nullopt;
  AffineMap from = copy.getIndexingMapsArray()[0];
  AffineMap to = copy.getIndexingMapsArray()[1];
  auto yield = cast<linalg::YieldOp>(copy.getBody()->getTerminator());
  if (!from.isPermutation() || !to.isPermutation() ||
      yield.getOperand(0) != copy.getBody()->getArgument(0))
    return std::nullopt;
  return std::make_pair(copy.getDpsInputs()[0],
                        from.compose(inversePermutation(to)));
}

namespace {
// contraction(transpose(x)) -> contraction(x) with another map.
struct ReadTransposedOperand : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || !linalg::isaContractionOpInterface(op))
      return rewriter.notifyMatchFailure(op, "not a contraction of tensors");
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<Value> inputs = op.getDpsInputs();
    bool changed = false;
    for (auto [input, map] : llvm::zip(inputs, maps)) {
      auto transpose = matchTranspose(input);
      if (!transpose)
        continue;
      input = transpose->first;
      map = transpose->second.compose(map);
      changed = true;
    }
    if (!changed)
      return rewriter.notifyMatchFailure(op, "no operand is transposed");
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputsMutable().assign(inputs);
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
    return success();
  }
};

// A contraction that sums in f16 or bf16 sums in f32, and rounds once.
struct WidenAccumulation : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || !rope::isSumOfProducts(op))
      return rewriter.notifyMatchFailure(op, "not a product of tensors");
    auto type = cast<RankedTensorType>(op.getResultTypes()[0]);
    auto isNarrow = [](Type element) {
      return element.isF16() || element.isBF16();
    };
    if (!isNarrow(type.getElementType()) ||
        !llvm::all_of(op.getDpsInputs(), [&](Value input) {
          return isNarrow(getElementTypeOrSelf(input));
        }))
      return rewriter.notifyMatchFailure(op, "does not sum in 16 bits");
    Value wide = widenInit(op, rewriter);
    auto sum = GenericOp::create(
        rewriter, op.getLoc(), wide.getType(), op.getDpsInputs(), wide,
        op.getIndexingMapsArray(), op.getIteratorTypesArray(),
        [](OpBuilder &b, Location loc, ValueRange args) {
          Type f32 = b.getF32Type();
          Value x = arith::ExtFOp::create(b, loc, f32, args[0]);
          Value y = arith::ExtFOp::create(b, loc, f32, args[1]);
          Value product = arith::MulFOp::create(b, loc, x, y);
          Value next = arith::AddFOp::create(b, loc, args[2], product);
          linalg::YieldOp::create(b, loc, next);
        });
    Value narrow = castElements(rewriter, op.getLoc(), sum.getResult(0),
                                type.getElementType());
    rewriter.replaceOp(op, narrow);
    return success();
  }

private:
  static Value castElements(OpBuilder &builder, Location loc, Value tensor,
                            Type element) {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, loc, tensor);
    Value empty = tensor::EmptyOp::create(builder, loc, sizes, element);
    auto identity = builder.getMultiDimIdentityMap(sizes.size());
    SmallVector<utils::IteratorType> parallel(sizes.size(),
                                              utils::IteratorType::parallel);
    return GenericOp::create(
               builder, loc, empty.getType(), tensor, empty,
               ArrayRef<AffineMap>{identity, identity}, parallel,
               [&](OpBuilder &b, Location l, ValueRange args) {
                 Value cast =
                     element.isF32()
                         ? arith::ExtFOp::create(b, l, element, args[0])
                               .getResult()
                         : arith::TruncFOp::create(b, l, element, args[0])
                               .getResult();
                 linalg::YieldOp::create(b, l, cast);
               })
        .getResult(0);
  }

  static Value widenInit(GenericOp op, OpBuilder &builder) {
    Location loc = op.getLoc();
    Value init = op.getDpsInits()[0];
    auto fill = init.getDefiningOp<linalg::FillOp>();
    if (!fill)
      return castElements(builder, loc, init, builder.getF32Type());
    Value empty = tensor::EmptyOp::create(
        builder, loc, tensor::getMixedSizes(builder, loc, init),
        builder.getF32Type());
    Value start =
        arith::ExtFOp::create(builder, loc, builder.getF32Type(), fill.value());
    return linalg::FillOp::create(builder, loc, start, empty).getResult(0);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Destinations
//===----------------------------------------------------------------------===//

// One-shot bufferization copies a buffer that two ops were given to write.
// What only says "a new tensor" or "a constant tensor" is written once per
// use instead.
static void unshareDestinations(Operation *root) {
  SmallVector<Operation *> sources;
  root->walk([&](Operation *op) {
    if (isa<tensor::EmptyOp, linalg::FillOp>(op))
      sources.push_back(op);
  });
  // Users before their producers, so that a fill's copies get an empty each.
  for (Operation *op : llvm::reverse(sources)) {
    if (op->getNumResults() != 1)
      continue;
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : op->getResult(0).getUses())
      uses.push_back(&use);
    for (OpOperand *use : llvm::drop_begin(uses, uses.empty() ? 0 : 1)) {
      OpBuilder builder(op);
      builder.setInsertionPointAfter(op);
      use->set(builder.clone(*op)->getResult(0));
    }
  }
}

LogicalResult rope::normalizeLinalg(Operation *root) {
  generalizeNamedOps(root);
  if (failed(dropUnitDims(root)))
    return failure();
  RewritePatternSet contractions(root->getContext());
  contractions.add<ReadTransposedOperand, WidenAccumulation>(
      root->getContext());
  if (failed(runPatterns(root, std::move(contractions))))
    return failure();
  IRRewriter rewriter(root->getContext());
  DominanceInfo dominance(root);
  eliminateCommonSubExpressions(rewriter, dominance, root);
  if (failed(fuseElementwise(root)))
    return failure();
  unshareDestinations(root);
  return success();
}

namespace {
struct NormalizeLinalg : rope::impl::NormalizeLinalgPassBase<NormalizeLinalg> {
  void runOnOperation() override {
    if (succeeded(rope::normalizeLinalg(getOperation())))
      return;
    getOperation()->emitOpError("patterns on linalg ops do not settle");
    signalPassFailure();
  }
};
} // namespace
