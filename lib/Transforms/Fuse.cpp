//===- Fuse.cpp - Everything around attention becomes part of it ----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-fuse: masks and tables first, which are looked at as the
// model wrote them, then the rules, then what has become dead or equal.
//
//===----------------------------------------------------------------------===//

#include "Fuse.h"
#include "Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "rope/Transforms/Passes.h"
#include "rope/Transforms/Transforms.h"

namespace mlir::rope {
#define GEN_PASS_DEF_FUSEPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

void rope::populateFusePatterns(RewritePatternSet &patterns,
                                Numerics numerics) {
  populateFuseRotationsPatterns(patterns);
  populateFuseMovementPatterns(patterns, numerics);
  populateFuseHeadsPatterns(patterns);
  populateFuseMagnitudesPatterns(patterns, numerics);
  populateFoldScalePatterns(patterns, numerics, "rope-fuse");
}

/// What brings reshapes to attention, and removes shapes of tensors that are no
/// more.
static void populateHelpers(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::DimOp::getCanonicalizationPatterns(patterns, context);
  tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
  cf::AssertOp::getCanonicalizationPatterns(patterns, context);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
}

//===----------------------------------------------------------------------===//
// What stays, and why
//===----------------------------------------------------------------------===//

/// A rotation that an operand is computed from, and the op between them that is
/// the operand's own.
static RotateOp findRotation(Value operand) {
  constexpr unsigned kMaxOps = 64;
  SetVector<Operation *> queue;
  if (Operation *op = operand.getDefiningOp())
    queue.insert(op);
  for (unsigned i = 0; i < queue.size() && i < kMaxOps; ++i) {
    if (auto rotate = dyn_cast<RotateOp>(queue[i]))
      return rotate;
    auto structured = dyn_cast<linalg::LinalgOp>(queue[i]);
    if (isa<RopeDialect>(queue[i]->getDialect()) ||
        (structured && structured.getNumReductionLoops() != 0))
      continue;
    for (Value source : queue[i]->getOperands())
      if (isa<RankedTensorType>(source.getType()) && source.getDefiningOp())
        queue.insert(source.getDefiningOp());
  }
  return {};
}

static void reportUnfused(Operation *op, const Twine &what,
                          const Twine &reason) {
  remark::missed(
      op->getLoc(),
      remark::RemarkOpts::name("fuse-rotation").category("rope-fuse"))
      << (what + " is not done by attention: " + reason).str();
}

static void reportOperand(AttentionLikeOpInterface op, OperandRole role) {
  RotateOp rotate = findRotation(op.getRoleOperand(role));
  if (!rotate)
    return;
  std::string what = ("rotation of " + stringifyRole(role)).str();
  Operation *last = op.getRoleOperand(role).getDefiningOp();
  if (last == rotate)
    return reportUnfused(op, what, whyNotFused(op, role, rotate));
  StringRef name = last->getName().getStringRef();
  if (isa<tensor::ConcatOp, tensor::InsertSliceOp>(last))
    return reportUnfused(op, what,
                         "'" + name +
                             "' joins the rows to others, such as a cache, "
                             "that it does not turn");
  reportUnfused(op, what, "'" + name + "' stands between the two");
}

static void reportOutput(RerotateOp rerotate) {
  auto op = rerotate.getInput().getDefiningOp<AttentionOp>();
  if (op && rerotate.getInput() == op.getResult(0))
    reportUnfused(rerotate, "rotation of output", whyNotFused(op, rerotate));
}

static void reportWhatStays(Operation *root) {
  root->walk([](Operation *op) {
    if (auto rerotate = dyn_cast<RerotateOp>(op))
      return reportOutput(rerotate);
    auto attention = dyn_cast<AttentionLikeOpInterface>(op);
    if (!attention)
      return;
    for (OperandRole role :
         {OperandRole::Query, OperandRole::Key, OperandRole::Value})
      reportOperand(attention, role);
  });
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

static void eliminateEqual(Operation *root) {
  IRRewriter rewriter(root->getContext());
  DominanceInfo dominance(root);
  eliminateCommonSubExpressions(rewriter, dominance, root);
}

static bool hasRopeOps(Operation *root) {
  return root
      ->walk([](Operation *op) {
        return isa_and_nonnull<RopeDialect>(op->getDialect())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct Fuse : rope::impl::FusePassBase<Fuse> {
  using FusePassBase::FusePassBase;

  void runOnOperation() override {
    Operation *root = getOperation();
    if (!hasRopeOps(root))
      return markAllAnalysesPreserved();
    eliminateEqual(root);
    shareTables(root);
    fuseMasks(root);
    RewritePatternSet patterns(&getContext());
    populateFusePatterns(patterns, numerics);
    populateHelpers(patterns);
    if (failed(applyWithCanonicalization(root, std::move(patterns), {"rope"})))
      return signalPassFailure();
    eraseProvenChecks(root);
    eliminateEqual(root);
    // Rotations of fewer pairs than their table has got new tables.
    if (shareTables(root))
      eliminateEqual(root);
    if (getContext().getRemarkEngine())
      reportWhatStays(root);
  }
};
} // namespace
