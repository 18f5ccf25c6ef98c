//===- Decompose.cpp - From rope to upstream dialects ---------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-decompose: runs the decomposition that each op brings along,
// and gives ops on memrefs a form on tensors if they have none of their own.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "rope/IR/MemoryOverlap.h"
#include "rope/IR/Rope.h"
#include "rope/Transforms/Passes.h"
#include "rope/Transforms/Transforms.h"

namespace mlir::rope {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;
using linalg::AggregatedOpInterface;

static bool isRopeOp(Operation *op) {
  return isa_and_nonnull<rope::RopeDialect>(op->getDialect());
}

namespace {
/// Base of patterns on those ops of ours that a filter lets pass.
struct RopeOpPattern : OpInterfaceRewritePattern<AggregatedOpInterface> {
  RopeOpPattern(MLIRContext *context, rope::OpFilter filter,
                PatternBenefit benefit)
      : OpInterfaceRewritePattern(context, benefit), filter(std::move(filter)) {
  }

  LogicalResult matchAndRewrite(AggregatedOpInterface op,
                                PatternRewriter &rewriter) const final {
    if (!isRopeOp(op))
      return rewriter.notifyMatchFailure(op, "not an op of the rope dialect");
    if (filter && !filter(op))
      return rewriter.notifyMatchFailure(op, "not one of the ops asked for");
    return rewrite(op, rewriter);
  }

  virtual LogicalResult rewrite(AggregatedOpInterface op,
                                PatternRewriter &rewriter) const = 0;

private:
  rope::OpFilter filter;
};

struct Decompose : RopeOpPattern {
  using RopeOpPattern::RopeOpPattern;
  LogicalResult rewrite(AggregatedOpInterface op,
                        PatternRewriter &rewriter) const override {
    FailureOr<SmallVector<Value>> results = op.decomposeOperation(rewriter);
    if (failed(results))
      return rewriter.notifyMatchFailure(op, "has no decomposition");
    rewriter.replaceOp(op, *results);
    return success();
  }
};

/// Gives an op on memrefs tensor operands, and stores its results.
///
/// One memref becomes one tensor, so that an op may work in place. Ops stay
/// where they are and no tensor is used by another op of ours, so memory is
/// read and written in the order of before.
struct LiftToTensors : RopeOpPattern {
  using RopeOpPattern::RopeOpPattern;
  LogicalResult rewrite(AggregatedOpInterface op,
                        PatternRewriter &rewriter) const override;
};
} // namespace

/// Whether writing `inits` may change `input`, although it is none of them.
static bool isOverwritten(Value input, ValueRange inits) {
  return !llvm::is_contained(inits, input) &&
         llvm::any_of(
             inits, [&](Value init) { return rope::mayOverlap(input, init); });
}

static Value createTensor(OpBuilder &builder, Location loc, Value memref,
                          ValueRange inits) {
  auto type = memref::getTensorTypeFromMemRefType(memref.getType());
  bool writable = llvm::is_contained(inits, memref);
  Value tensor = bufferization::ToTensorOp::create(builder, loc, type, memref,
                                                   /*restrict=*/true, writable);
  if (!isOverwritten(memref, inits))
    return tensor;
  return bufferization::AllocTensorOp::create(
      builder, loc, cast<RankedTensorType>(type), ValueRange(), tensor);
}

LogicalResult LiftToTensors::rewrite(AggregatedOpInterface op,
                                     PatternRewriter &rewriter) const {
  auto dpsOp = dyn_cast<DestinationStyleOpInterface>(op.getOperation());
  if (!dpsOp || !dpsOp.hasPureBufferSemantics())
    return rewriter.notifyMatchFailure(op, "not an op on memrefs");
  Location loc = op.getLoc();
  SmallVector<Value> inits(dpsOp.getDpsInits());
  DenseMap<Value, Value> tensors;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (isa<MemRefType>(operand.getType())) {
      Value &tensor = tensors[operand];
      if (!tensor)
        tensor = createTensor(rewriter, loc, operand, inits);
      operand = tensor;
    }
    operands.push_back(operand);
  }
  SmallVector<Type> types;
  for (Value init : inits)
    types.push_back(tensors.at(init).getType());
  Operation *lifted = clone(rewriter, op, types, operands);
  for (auto [result, init] : llvm::zip_equal(lifted->getResults(), inits))
    bufferization::MaterializeInDestinationOp::create(
        rewriter, loc, /*result=*/Type(), result, init, /*restrict=*/false,
        /*writable=*/true);
  rewriter.eraseOp(op);
  return success();
}

void rope::populateDecomposePatterns(RewritePatternSet &patterns,
                                     OpFilter filter) {
  MLIRContext *context = patterns.getContext();
  patterns.add<Decompose>(context, filter, /*benefit=*/2);
  patterns.add<LiftToTensors>(context, filter, /*benefit=*/1);
}

namespace {
struct DecomposePass : rope::impl::DecomposePassBase<DecomposePass> {
  using DecomposePassBase::DecomposePassBase;

  LogicalResult initialize(MLIRContext *context) override {
    for (StringRef name : ops) {
      auto op = RegisteredOperationName::lookup(name, context);
      if (!op || !isa<rope::RopeDialect>(op->getDialect()))
        return emitError(UnknownLoc::get(context))
               << "rope-decompose: there is no op " << name
               << " in the rope dialect";
    }
    return success();
  }

  void runOnOperation() override {
    auto filter = [&](Operation *op) {
      if (keepPlanned && op->hasAttr(rope::kPlanAttrName))
        return false;
      return ops.empty() ||
             llvm::is_contained(ops, op->getName().getStringRef());
    };
    RewritePatternSet patterns(&getContext());
    rope::populateDecomposePatterns(patterns, filter);
    GreedyRewriteConfig config;
    config.enableFolding(false)
        .enableConstantCSE(false)
        .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    getOperation()->walk([&](Operation *op) {
      if (!isRopeOp(op) || !filter(op))
        return;
      op->emitOpError("cannot be decomposed");
      signalPassFailure();
    });
  }
};
} // namespace
