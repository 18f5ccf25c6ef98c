//===- EraseProvenChecks.cpp - Checks that outlive what they check --------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An exported model asserts that it divides by no zero in the loop that
// divides. When nothing reads its quotients any more the loop is alive because
// of the assertion alone. If each element passes, both go. What was asserted
// before, as for each op of a chain that is now one op, goes as well.
//
//===----------------------------------------------------------------------===//

#include "Fuse.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "rope/Analysis/ConstantFold.h"
#include "rope/Analysis/ElementEvaluator.h"
#include "rope/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::rope;

/// Loops of more iterations are not gone through.
static constexpr int64_t kMaxIterations = 4096;

/// The assertions of a body that has no other effects; fails if it has.
static FailureOr<SmallVector<cf::AssertOp>>
getAssertions(linalg::GenericOp op) {
  SmallVector<cf::AssertOp> assertions;
  for (Operation &nested : *op.getBody()) {
    if (auto assertion = dyn_cast<cf::AssertOp>(nested))
      assertions.push_back(assertion);
    else if (!isMemoryEffectFree(&nested))
      return failure();
  }
  return assertions;
}

/// The value of a scalar in one iteration: a constant, or an element of an
/// input that is computed from constants.
static std::optional<double> evaluate(Value scalar, linalg::GenericOp op,
                                      ArrayRef<int64_t> iteration,
                                      ElementEvaluator &evaluator) {
  FloatAttr constant;
  if (matchPattern(scalar, m_Constant(&constant)))
    return constant.getValueAsDouble();
  auto argument = dyn_cast<BlockArgument>(scalar);
  if (!argument || argument.getOwner() != op.getBody() ||
      argument.getArgNumber() >= op.getNumDpsInputs())
    return std::nullopt;
  OpOperand &input = op->getOpOperand(argument.getArgNumber());
  if (!isa<RankedTensorType>(input.get().getType()))
    return std::nullopt;
  ExprContext &context = evaluator.getContext();
  SmallVector<const Expr *> index;
  for (int64_t i : op.getMatchingIndexingMap(&input).compose(iteration))
    index.push_back(context.getInt(i));
  return foldConstant(
      evaluator.expandFully(context.getRead(input.get(), index)));
}

static bool holds(cf::AssertOp assertion, linalg::GenericOp op,
                  ArrayRef<int64_t> iteration, ElementEvaluator &evaluator) {
  auto compare = assertion.getArg().getDefiningOp<arith::CmpFOp>();
  if (!compare)
    return false;
  auto lhs = evaluate(compare.getLhs(), op, iteration, evaluator);
  auto rhs = evaluate(compare.getRhs(), op, iteration, evaluator);
  return lhs && rhs &&
         arith::applyCmpPredicate(compare.getPredicate(), APFloat(*lhs),
                                  APFloat(*rhs));
}

/// Whether each assertion of an op holds in each iteration.
static bool isProven(linalg::GenericOp op, ElementEvaluator &evaluator) {
  if (!op.hasPureTensorSemantics())
    return false;
  FailureOr<SmallVector<cf::AssertOp>> assertions = getAssertions(op);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t count = 1;
  for (int64_t range : ranges) {
    if (ShapedType::isDynamic(range) || range > kMaxIterations)
      return false;
    count *= range;
    if (count > kMaxIterations)
      return false;
  }
  if (failed(assertions) || assertions->empty())
    return false;
  SmallVector<int64_t> strides = computeStrides(ranges);
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<int64_t> iteration = delinearize(i, strides);
    if (!llvm::all_of(*assertions, [&](cf::AssertOp assertion) {
          return holds(assertion, op, iteration, evaluator);
        }))
      return false;
  }
  return true;
}

/// Erases ops that nothing reads, and what they alone read.
static void eraseDead(SmallVector<Operation *> queue) {
  SetVector<Operation *> dead(queue.begin(), queue.end());
  while (!dead.empty()) {
    Operation *op = dead.pop_back_val();
    SmallVector<Value> operands(op->getOperands());
    op->walk([&](Operation *nested) { dead.remove(nested); });
    op->erase();
    for (Value operand : operands)
      if (Operation *producer = operand.getDefiningOp())
        if (isOpTriviallyDead(producer))
          dead.insert(producer);
  }
}

/// Whether an op asserts what the block has asserted before.
static bool isRepeated(Operation *op, llvm::SmallDenseSet<Value> &asserted) {
  auto assertion = dyn_cast<cf::AssertOp>(op);
  return assertion && !asserted.insert(assertion.getArg()).second;
}

bool rope::eraseProvenChecks(Operation *root) {
  ExprContext context(root->getContext());
  ElementEvaluator evaluator(context);
  SmallVector<Operation *> dead;
  root->walk([&](Block *block) {
    llvm::SmallDenseSet<Value> asserted;
    for (Operation &op : *block) {
      auto loop = dyn_cast<linalg::GenericOp>(op);
      if (isRepeated(&op, asserted) ||
          (loop && loop->use_empty() && isProven(loop, evaluator)))
        dead.push_back(&op);
    }
  });
  bool changed = !dead.empty();
  eraseDead(std::move(dead));
  return changed;
}
