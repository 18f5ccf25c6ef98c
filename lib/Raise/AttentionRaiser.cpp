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
#include "Roundings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "rope/Raise/AttentionBuilder.h"
#include "rope/Raise/ContractionSplitter.h"
#include "rope/Raise/ExprBuilder.h"

#include "llvm/ADT/SmallVectorExtras.h"

#include <variant>

using namespace mlir;
using namespace mlir::rope;

/// Assumptions that one match may need.
static constexpr size_t kMaxAssumptions = 6;

namespace {
/// A match, and the session that its expressions are of.
struct FoundAttention {
  std::variant<AttentionMatch, LinearAttentionMatch> match;
  RaiseSession *session;

  bool isLinear() const {
    return std::holds_alternative<LinearAttentionMatch>(match);
  }
  Value getRoot() const {
    return std::visit([](auto &m) { return m.root; }, match);
  }
  SmallVector<Value> getSources() const {
    return llvm::map_to_vector(
        std::visit([](auto &m) { return m.getOperands(); }, match),
        [](const MatchedOperand *operand) { return operand->tensor; });
  }
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
  void findLinear(Value root);
  std::optional<FoundAttention> matchUnder(Value root,
                                           ArrayRef<IntPair> assumptions);
  std::optional<FoundAttention> matchWithAssumptions(Value root);
  LogicalResult buildChecks(OpBuilder &builder, Location loc,
                            const FoundAttention &found, std::string &reason);
  FailureOr<Value> build(OpBuilder &builder, Location loc,
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
    return findLinear(root);
  std::optional<FoundAttention> found;
  if (!session.getContext().getOpenBroadcasts().empty())
    found = matchWithAssumptions(root);
  if (found)
    matches.push_back(*found);
  else
    report.addRefused(root.getLoc(), "attention", why.reason);
}

/// A quotient takes the place of its numerator, which is a match of its own.
void AttentionRaiser::findLinear(Value root) {
  RaiseSession &session = *sessions.front();
  AttentionFailure why;
  FailureOr<LinearAttentionMatch> match =
      matchLinearAttention(session.getEvaluator(), root, why);
  if (failed(match)) {
    if (why.isCandidate)
      report.addRefused(root.getLoc(), "linear attention", why.reason);
    return;
  }
  llvm::erase_if(matches, [&](const FoundAttention &found) {
    return found.isLinear() && match->product == found.getRoot();
  });
  matches.push_back({*match, &session});
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

FailureOr<Value> AttentionRaiser::build(OpBuilder &builder, Location loc,
                                        const FoundAttention &found,
                                        std::string &reason) {
  if (failed(buildChecks(builder, loc, found, reason)))
    return failure();
  ElementEvaluator &evaluator = found.session->getEvaluator();
  if (found.isLinear())
    return buildLinearAttention(builder, loc, evaluator,
                                std::get<LinearAttentionMatch>(found.match),
                                reason);
  return buildAttention(builder, loc, evaluator,
                        std::get<AttentionMatch>(found.match), reason);
}

bool AttentionRaiser::rewrite(const FoundAttention &found) {
  Value root = found.getRoot();
  Location loc = root.getLoc();
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfterValue(root);
  std::string reason;
  StringRef name = found.isLinear() ? "linear attention" : "attention";
  FailureOr<Value> output = build(builder, loc, found, reason);
  if (failed(output)) {
    eraseAfter(root.getDefiningOp(), builder);
    report.addRefused(loc, name, reason);
    return false;
  }
  std::string text = name.str();
  if (size_t assumed = found.session->getAssumptions().size())
    text += ", assuming " + std::to_string(assumed) +
            " equal extents, which are checked";
  text += describeRoundings(root, found.getSources());
  report.addRaised(found.isLinear() ? RaiseReport::Kind::LinearAttention
                                    : RaiseReport::Kind::Attention,
                   loc, text);
  root.replaceAllUsesWith(*output);
  return true;
}

/// Whether a value has a part in what a function does. One that a later match
/// has taken the place of has none.
static bool isNeeded(FunctionOpInterface function, Value value) {
  SmallVector<Value> queue = {value};
  llvm::SmallDenseSet<Operation *> seen;
  while (!queue.empty())
    for (Operation *nested : queue.pop_back_val().getUsers()) {
      Operation *user =
          function.getFunctionBody().findAncestorOpInRegion(*nested);
      if (user->hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(user))
        return true;
      if (seen.insert(user).second)
        llvm::append_range(queue, user->getResults());
    }
  return false;
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
    if (isNeeded(function, found.getRoot()) && rewrite(found))
      raised.insert(found.getRoot().getDefiningOp());
  splitter.finish([&](Value factor) {
    return llvm::any_of(factor.getUsers(),
                        [&](Operation *user) { return raised.contains(user); });
  });
  return !raised.empty();
}

bool rope::raiseAttentions(FunctionOpInterface function, RaiseReport &report) {
  return AttentionRaiser(function, report).run();
}
