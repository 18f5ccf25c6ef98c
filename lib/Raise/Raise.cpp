//===- Raise.cpp - Finds rotations in plain model IR ----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matches every value of a function first, then rewrites what was chosen, so
// that the analysis sees the model as it was written.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "rope/Analysis/AttentionMatch.h"
#include "rope/Raise/AttentionBuilder.h"
#include "rope/Raise/ContractionSplitter.h"
#include "rope/Raise/Passes.h"
#include "rope/Raise/RotationBuilder.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::rope;

namespace mlir::rope {
#define GEN_PASS_DEF_RAISEPASS
#include "rope/Raise/Passes.h.inc"
} // namespace mlir::rope

namespace {
/// Finds and rewrites the rotations of one function.
class RotationRaiser {
public:
  RotationRaiser(FunctionOpInterface function, bool explain)
      : function(function), explain(explain), context(function.getContext()),
        evaluator(context) {}

  /// Whether anything was raised.
  bool run();

private:
  void findRotations(Operation *op);
  void choose(RotationMatch match);
  void retract(Value source, Value result, StringRef reason);
  bool rewrite(const RotationMatch &match);
  void remark(Value root, const Twine &text) {
    if (explain)
      mlir::emitRemark(root.getLoc()) << text;
  }

  FunctionOpInterface function;
  bool explain;
  ExprContext context;
  ElementEvaluator evaluator;
  /// The chosen matches by their roots, in program order.
  llvm::MapVector<Value, RotationMatch> matches;
};

/// Finds and rewrites the attentions of one function, after its rotations.
class AttentionRaiser {
public:
  AttentionRaiser(FunctionOpInterface function, bool explain)
      : function(function), explain(explain), context(function.getContext()),
        evaluator(context) {}

  /// Whether anything was raised.
  bool run();

private:
  bool rewrite(const AttentionMatch &match);
  void remark(Value root, const Twine &text) {
    if (explain)
      mlir::emitRemark(root.getLoc()) << text;
  }

  FunctionOpInterface function;
  bool explain;
  ExprContext context;
  ElementEvaluator evaluator;
};

struct RaisePass : public rope::impl::RaisePassBase<RaisePass> {
  using RaisePassBase::RaisePassBase;
  void runOnOperation() override;
};
} // namespace

/// Whether `value` is computed from `from`.
static bool isDerived(Value value, Value from) {
  SmallVector<Value> queue = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!queue.empty()) {
    Value next = queue.pop_back_val();
    if (next == from)
      return true;
    Operation *op = next.getDefiningOp();
    Operation *limit = from.getDefiningOp();
    if (!seen.insert(next).second || !op ||
        (limit && op->getBlock() == limit->getBlock() &&
         op->isBeforeInBlock(limit)))
      continue;
    // Bodies may read tensors that are no operands.
    op->walk([&](Operation *nested) {
      llvm::append_range(queue, nested->getOperands());
    });
  }
  return false;
}

/// A value that only moves, or adds channels to, a rotation that was matched
/// before is the same rotation. The one with more channels is kept, or else
/// the first.
void RotationRaiser::choose(RotationMatch match) {
  for (auto &[root, earlier] : matches) {
    bool same = earlier.source == match.source ||
                isDerived(earlier.source, match.source) ||
                (isDerived(match.source, earlier.source) &&
                 !isDerived(match.source, root));
    if (!same || !isDerived(match.root, root))
      continue;
    if (match.getNumChannels() <= earlier.getNumChannels())
      return;
    matches.erase(root);
    break;
  }
  matches[match.root] = std::move(match);
}

/// What becomes of a rotation without leaving its pairs, but is none, was not
/// meant as a rotary embedding: one half scaled, say.
void RotationRaiser::retract(Value source, Value result, StringRef reason) {
  matches.remove_if([&](auto &entry) {
    if (entry.second.source != source || !isDerived(result, entry.first))
      return false;
    remark(entry.first, "no rotation: later on, " + reason);
    return true;
  });
}

void RotationRaiser::findRotations(Operation *op) {
  for (Value result : op->getResults()) {
    MatchFailure why;
    FailureOr<RotationMatch> match = matchRotation(evaluator, result, why);
    std::string reason = why.reason;
    if (succeeded(match)) {
      if (failed(checkCoefficients(evaluator, *match, reason))) {
        why = {true, match->source, reason};
      } else if (succeeded(fitRotary(*match, {}, reason))) {
        choose(*match);
        continue;
      }
      why.isCandidate = true;
    }
    if (why.isCandidate)
      remark(result, "no rotation: " + reason);
    if (why.mixedSource)
      retract(why.mixedSource, result, reason);
  }
}

bool RotationRaiser::rewrite(const RotationMatch &match) {
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfterValue(match.root);
  std::string reason;
  Location loc = match.root.getLoc();
  FailureOr<BuiltTable> table =
      buildTable(builder, loc, evaluator, match, reason);
  if (failed(table)) {
    remark(match.root, "no rotation: " + reason);
    return false;
  }
  RotaryFit fit = *fitRotary(match, table->along, reason);
  Value turned = buildRotation(builder, loc, match, match.source, *table, fit);
  remark(match.root,
         Twine("rotation of ") + Twine(match.pairs.size()) +
             (match.inverse ? " pairs, turned back, by " : " pairs by ") +
             table->description);
  Value(match.root).replaceAllUsesWith(turned);
  return true;
}

bool RotationRaiser::run() {
  ContractionSplitter splitter;
  splitter.split(function);
  for (Block &block : function.getFunctionBody())
    for (Operation &op : block)
      findRotations(&op);
  llvm::SmallDenseSet<Value> raised;
  // Later ones first: the sources of a later one stay what was analysed.
  for (auto &[root, match] : llvm::reverse(matches))
    if (rewrite(match))
      raised.insert(root);
  splitter.finish([&](Value factor) { return raised.contains(factor); });
  return !raised.empty();
}

bool AttentionRaiser::rewrite(const AttentionMatch &match) {
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfterValue(match.root);
  std::string reason;
  FailureOr<Value> output = rope::buildAttention(builder, match.root.getLoc(),
                                                 evaluator, match, reason);
  if (failed(output)) {
    remark(match.root, "no attention: " + reason);
    return false;
  }
  remark(match.root, "attention");
  Value(match.root).replaceAllUsesWith(*output);
  return true;
}

bool AttentionRaiser::run() {
  ContractionSplitter splitter;
  splitter.split(function);
  std::vector<AttentionMatch> matches;
  for (Block &block : function.getFunctionBody())
    for (Operation &op : block)
      for (Value result : op.getResults()) {
        bool isCandidate = false;
        std::string reason;
        FailureOr<AttentionMatch> match =
            matchAttention(evaluator, result, isCandidate, reason);
        if (succeeded(match))
          matches.push_back(*match);
        else if (isCandidate)
          remark(result, "no attention: " + reason);
      }
  llvm::SmallDenseSet<Operation *> raised;
  for (const AttentionMatch &match : llvm::reverse(matches))
    if (rewrite(match))
      raised.insert(match.root.getDefiningOp());
  splitter.finish([&](Value factor) {
    return llvm::any_of(factor.getUsers(),
                        [&](Operation *user) { return raised.contains(user); });
  });
  return !raised.empty();
}

void RaisePass::runOnOperation() {
  bool changed = false;
  IRRewriter rewriter(&getContext());
  getOperation()->walk([&](FunctionOpInterface function) {
    bool rotations = RotationRaiser(function, explain).run();
    if (rotations)
      (void)runRegionDCE(rewriter, function->getRegions());
    bool attentions = AttentionRaiser(function, explain).run();
    if (attentions)
      (void)runRegionDCE(rewriter, function->getRegions());
    changed |= rotations | attentions;
  });
  if (!changed)
    markAllAnalysesPreserved();
}
