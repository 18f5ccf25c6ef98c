//===- RotationRaiser.cpp - Finds and rewrites rotations ------------------===//
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

#include "RaiseSession.h"
#include "Roundings.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rope/IR/Movement.h"
#include "rope/Raise/ContractionSplitter.h"
#include "rope/Raise/RotationBuilder.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::rope;

namespace {
/// A value made of a rotation without leaving its pairs, that is none.
struct Objection {
  Value result;
  std::string reason;
};

/// A match, what its coefficients are, and what speaks against it.
struct FoundRotation : RotationMatch {
  TableVerdict verdict;
  SmallVector<Objection, 0> objections;

  bool isAccepted() const { return objections.empty(); }
};

class RotationRaiser {
public:
  RotationRaiser(FunctionOpInterface function, const RaiseOptions &options,
                 RaiseReport &report)
      : function(function), options(options), report(report), session(function),
        evaluator(session.getEvaluator()), tables(evaluator),
        fits(function.getContext()) {}

  bool run();

private:
  void findRotations(Operation *op);
  bool movesKnown(Operation *op);
  bool scalesKnown(Operation *op);
  bool isKnown(Value root) const;
  void choose(FoundRotation match);
  void object(Value source, Value result, StringRef reason);
  void settleObjections(const RotationMatch &match);
  void reportObjections();
  bool rewrite(const FoundRotation &match);

  FunctionOpInterface function;
  RaiseOptions options;
  RaiseReport &report;
  RaiseSession session;
  ElementEvaluator &evaluator;
  TableMatcher tables;
  ScheduleFits fits;
  /// The chosen matches by their roots, in program order.
  llvm::MapVector<Value, FoundRotation> matches;
  /// The root of a value that holds the rotation of one, moved or scaled or
  /// not, and the dim of its channels.
  DenseMap<Value, std::pair<Value, int64_t>> channels;
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

/// What `value` is computed from, without looking further back than `source`.
static llvm::SmallDenseSet<Value> getOrigins(Value value, Value source) {
  SmallVector<Value> queue = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!queue.empty()) {
    Value next = queue.pop_back_val();
    if (!seen.insert(next).second || next == source || !next.getDefiningOp())
      continue;
    // Bodies may read tensors that are no operands.
    next.getDefiningOp()->walk([&](Operation *nested) {
      llvm::append_range(queue, nested->getOperands());
    });
  }
  return seen;
}

/// A value that only moves, or adds channels to, a rotation that was matched
/// before is the same rotation. The one with more channels is kept, or else
/// the first.
void RotationRaiser::choose(FoundRotation match) {
  // Only those that a match is computed from can be the same: to look further
  // into the others would take most of the time.
  llvm::SmallDenseSet<Value> origins = getOrigins(match.root, match.source);
  for (auto &[root, earlier] : matches) {
    if (!origins.contains(root) || !earlier.isAccepted())
      continue;
    bool same = earlier.source == match.source ||
                isDerived(earlier.source, match.source) ||
                (isDerived(match.source, earlier.source) &&
                 !isDerived(match.source, root));
    if (!same)
      continue;
    if (match.getNumChannels() <= earlier.getNumChannels()) {
      if (match.rootDims == 1)
        channels[match.root] = {root, match.rootDim};
      return;
    }
    matches.erase(root);
    break;
  }
  if (match.rootDims == 1)
    channels[match.root] = {match.root, match.rootDim};
  matches[match.root] = std::move(match);
}

/// Where the dims of the result are in the operand whose elements an op moves.
static FailureOr<DimMap> getMovedDims(Operation *op) {
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return getDimsOfCollapsed(collapse.getReassociationIndices(),
                              collapse.getSrcType().getShape());
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return getDimsOfExpanded(expand.getReassociationIndices(),
                             expand.getResultType().getShape());
  auto copy = dyn_cast<linalg::LinalgOp>(op);
  if (!copy || !isCopy(copy))
    return failure();
  return getDimsOfCopy(copy);
}

/// Whether a value is the root of a rotation that was accepted.
bool RotationRaiser::isKnown(Value root) const {
  const auto *found = matches.find(root);
  return found != matches.end() && found->second.isAccepted();
}

/// Whether an op moves a rotation that was accepted, all channels as they are.
/// To match that again would take long and end in choosing the first.
bool RotationRaiser::movesKnown(Operation *op) {
  FailureOr<DimMap> dims = getMovedDims(op);
  if (failed(dims))
    return false;
  auto known = channels.find(op->getOperand(0));
  if (known == channels.end())
    return false;
  auto [root, dim] = known->second;
  auto *moved = llvm::find(*dims, std::optional<int64_t>(dim));
  if (!isKnown(root) || moved == dims->end())
    return false;
  channels[op->getResult(0)] = {root, moved - dims->begin()};
  return true;
}

/// The same for an op that multiplies all of it by one positive number.
bool RotationRaiser::scalesKnown(Operation *op) {
  if (op->getNumResults() != 1 ||
      !isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
  Value result = op->getResult(0);
  auto getElement = [&](Value value) {
    return evaluator.getContext().getRead(value,
                                          evaluator.getSymbolicIndex(value));
  };
  for (Value operand : op->getOperands()) {
    auto [root, dim] = channels.lookup(operand);
    // Whichever it is: the element without it counts.
    double factor = 1;
    if (root && isKnown(root) &&
        stripFactor(evaluator, getElement(result), operand, factor) ==
            getElement(operand)) {
      channels[result] = {root, dim};
      return true;
    }
  }
  return false;
}

/// What becomes of a rotation without leaving its pairs, but is none, was not
/// meant as a rotary embedding: one half scaled, say.
void RotationRaiser::object(Value source, Value result, StringRef reason) {
  for (auto &[root, match] : matches)
    if (match.source == source && isDerived(result, root))
      match.objections.push_back({result, reason.str()});
}

/// What is a part of another rotation speaks against none.
void RotationRaiser::settleObjections(const RotationMatch &match) {
  for (auto &[root, earlier] : matches)
    if (!earlier.isAccepted() && isDerived(match.source, root))
      llvm::erase_if(earlier.objections, [&](const Objection &objection) {
        return objection.result != match.source &&
               isDerived(match.root, objection.result) &&
               isDerived(objection.result, match.source);
      });
}

void RotationRaiser::reportObjections() {
  for (auto &[root, match] : matches)
    if (!match.isAccepted())
      report.addRefused(root.getLoc(), "rotation",
                        "later on, " + match.objections.front().reason);
}

void RotationRaiser::findRotations(Operation *op) {
  if (movesKnown(op) || scalesKnown(op))
    return;
  for (Value result : op->getResults()) {
    MatchFailure why;
    FailureOr<RotationMatch> match = matchRotation(
        evaluator, result, [&](Value value) { return isKnown(value); }, why);
    std::string reason = why.reason;
    if (succeeded(match)) {
      TableVerdict verdict = tables.match(*match);
      if (verdict.refuted) {
        reason = *verdict.refuted;
        why = {true, match->source, reason};
      } else if (succeeded(fitRotary(*match, {}, reason))) {
        match->inverse ^= verdict.opposite;
        settleObjections(*match);
        choose({*match, std::move(verdict), {}});
        continue;
      }
      why.isCandidate = true;
    }
    if (why.isCandidate)
      report.addRefused(result.getLoc(), "rotation", reason);
    if (why.mixedSource)
      object(why.mixedSource, result, reason);
  }
}

bool RotationRaiser::rewrite(const FoundRotation &match) {
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfterValue(match.root);
  std::string reason;
  Location loc = match.root.getLoc();
  FailureOr<BuiltTable> table =
      buildTable(builder, loc, evaluator, match, match.verdict, fits,
                 options.exactAngles, reason);
  if (failed(table)) {
    eraseAfter(match.root.getDefiningOp(), builder);
    report.addRefused(loc, "rotation", reason);
    return false;
  }
  RotaryFit fit = *fitRotary(match, table->along, reason);
  Value turned = buildRotation(builder, loc, match, match.source, *table, fit);
  report.addRaised(
      match.inverse ? RaiseReport::Kind::InverseRotation
                    : RaiseReport::Kind::Rotation,
      loc,
      Twine("rotation of ") + Twine(match.pairs.size()) +
          (match.inverse ? " pairs, turned back, by " : " pairs by ") +
          table->description + describeRoundings(match.root, match.source));
  Value(match.root).replaceAllUsesWith(turned);
  return true;
}

bool RotationRaiser::run() {
  ContractionSplitter splitter;
  splitter.split(function);
  for (Block &block : function.getFunctionBody())
    for (Operation &op : block)
      findRotations(&op);
  reportObjections();
  llvm::SmallDenseSet<Value> raised;
  // Later ones first: the sources of a later one stay what was analysed.
  for (auto &[root, match] : llvm::reverse(matches))
    if (match.isAccepted() && rewrite(match))
      raised.insert(root);
  splitter.finish([&](Value factor) { return raised.contains(factor); });
  return !raised.empty();
}

bool rope::raiseRotations(FunctionOpInterface function,
                          const RaiseOptions &options, RaiseReport &report) {
  return RotationRaiser(function, options, report).run();
}
