//===- AttentionRaiser.cpp - Finds and rewrites attentions ----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A match that hangs on how long a broadcast is, is tried again under the
// assumption that nothing is broadcast, which the result then checks.
//
//===----------------------------------------------------------------------===//

#include "RaiseSession.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "rope/Analysis/AttentionMatch.h"
#include "rope/Raise/AttentionBuilder.h"
#include "rope/Raise/ContractionSplitter.h"
#include "rope/Raise/ExprBuilder.h"

using namespace mlir;
using namespace mlir::rope;

/// Assumptions that one match may need.
static constexpr size_t kMaxAssumptions = 6;

namespace {
/// A match, and the session that its expressions are of.
struct FoundAttention {
  AttentionMatch match;
  RaiseSession *session;
};

class AttentionRaiser {
public:
  AttentionRaiser(FunctionOpInterface function, RaiseReport &report)
      : function(function), report(report) {
    sessions.push_back(std::make_unique<RaiseSession>(function));
  }

  bool run();

private:
  void find(Value root);
  std::optional<FoundAttention> matchUnder(Value root,
                                           ArrayRef<IntPair> assumptions);
  std::optional<FoundAttention> matchWithAssumptions(Value root);
  LogicalResult buildChecks(OpBuilder &builder, Location loc,
                            const FoundAttention &found, std::string &reason);
  bool rewrite(const FoundAttention &found);

  FunctionOpInterface function;
  RaiseReport &report;
  std::vector<std::unique_ptr<RaiseSession>> sessions;
  std::vector<FoundAttention> matches;
};
} // namespace

std::optional<FoundAttention>
AttentionRaiser::matchUnder(Value root, ArrayRef<IntPair> assumptions) {
  sessions.push_back(std::make_unique<RaiseSession>(function, assumptions));
  AttentionFailure why;
  FailureOr<AttentionMatch> match =
      matchAttention(sessions.back()->getEvaluator(), root, why);
  if (failed(match))
    return std::nullopt;
  return FoundAttention{*match, sessions.back().get()};
}

/// Assumes of one broadcast after the other that it is none, until the match
/// succeeds; keeps what it needs.
std::optional<FoundAttention>
AttentionRaiser::matchWithAssumptions(Value root) {
  SmallVector<IntPair> assumptions;
  std::optional<FoundAttention> found = matchUnder(root, assumptions);
  while (!found && assumptions.size() < kMaxAssumptions) {
    ArrayRef<IntPair> open = sessions.back()->getContext().getOpenBroadcasts();
    if (open.empty())
      return std::nullopt;
    assumptions.push_back(open.front());
    found = matchUnder(root, assumptions);
  }
  for (size_t i = assumptions.size(); found && i-- > 0;) {
    SmallVector<IntPair> fewer(assumptions);
    fewer.erase(fewer.begin() + i);
    if (std::optional<FoundAttention> match = matchUnder(root, fewer)) {
      found = match;
      assumptions = fewer;
    }
  }
  return found;
}

void AttentionRaiser::find(Value root) {
  RaiseSession &session = *sessions.front();
  AttentionFailure why;
  FailureOr<AttentionMatch> match =
      matchAttention(session.getEvaluator(), root, why);
  if (succeeded(match)) {
    matches.push_back({*match, &session});
    return;
  }
  if (!why.isCandidate)
    return;
  std::optional<FoundAttention> found;
  if (!session.getContext().getOpenBroadcasts().empty())
    found = matchWithAssumptions(root);
  if (found)
    matches.push_back(*found);
  else
    report.addRefused(root.getLoc(), "attention", why.reason);
}

LogicalResult AttentionRaiser::buildChecks(OpBuilder &builder, Location loc,
                                           const FoundAttention &found,
                                           std::string &reason) {
  for (auto [lhs, rhs] : found.session->getAssumptions()) {
    FailureOr<Value> left = buildInteger(builder, loc, lhs, reason);
    FailureOr<Value> right = buildInteger(builder, loc, rhs, reason);
    if (failed(left) || failed(right))
      return failure();
    Value equal = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        *left, *right);
    cf::AssertOp::create(builder, loc, equal,
                         "rope-raise assumed that extents are equal, and that "
                         "no single element is repeated");
  }
  return success();
}

bool AttentionRaiser::rewrite(const FoundAttention &found) {
  Value root = found.match.root;
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfterValue(root);
  std::string reason;
  FailureOr<Value> output = failure();
  if (succeeded(buildChecks(builder, root.getLoc(), found, reason)))
    output = buildAttention(builder, root.getLoc(),
                            found.session->getEvaluator(), found.match, reason);
  if (failed(output)) {
    report.addRefused(root.getLoc(), "attention", reason);
    return false;
  }
  size_t assumed = found.session->getAssumptions().size();
  report.addRaised(RaiseReport::Kind::Attention, root.getLoc(),
                   assumed == 0 ? Twine("attention")
                                : "attention, assuming " + Twine(assumed) +
                                      " equal extents, which are checked");
  root.replaceAllUsesWith(*output);
  return true;
}

bool AttentionRaiser::run() {
  ContractionSplitter splitter;
  splitter.split(function);
  for (Block &block : function.getFunctionBody())
    for (Operation &op : block)
      for (Value result : op.getResults())
        find(result);
  llvm::SmallDenseSet<Operation *> raised;
  for (const FoundAttention &found : llvm::reverse(matches))
    if (rewrite(found))
      raised.insert(found.match.root.getDefiningOp());
  splitter.finish([&](Value factor) {
    return llvm::any_of(factor.getUsers(),
                        [&](Operation *user) { return raised.contains(user); });
  });
  return !raised.empty();
}

bool rope::raiseAttentions(FunctionOpInterface function, RaiseReport &report) {
  return AttentionRaiser(function, report).run();
}
