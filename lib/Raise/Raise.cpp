//===- Raise.cpp - Finds what model IR computes ---------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RaiseSession.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "rope/IR/Rope.h"
#include "rope/Raise/Passes.h"

using namespace mlir;
using namespace mlir::rope;

namespace mlir::rope {
#define GEN_PASS_DEF_EXPLAINPASS
#define GEN_PASS_DEF_RAISEPASS
#include "rope/Raise/Passes.h.inc"
} // namespace mlir::rope

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Removes what nothing uses, users first: then one walk finds it all, but what
/// blocks hand round in a circle.
static void removeDead(FunctionOpInterface function) {
  bool hasBranches = false;
  auto remove = [&](Operation *op) {
    if (op != function && isOpTriviallyDead(op)) {
      op->erase();
      return WalkResult::skip();
    }
    hasBranches |= op->getNumSuccessors() != 0;
    return WalkResult::advance();
  };
  function->walk<WalkOrder::PreOrder, ReverseIterator>(remove);
  if (!hasBranches)
    return;
  IRRewriter rewriter(function.getContext());
  // Upstream's removal cannot take what is not reached but hands round values.
  (void)eraseUnreachableBlocks(rewriter, function->getRegions());
  while (succeeded(runRegionDCE(rewriter, function->getRegions()))) {
  }
}

/// Raises what stands in one function; whether there was anything.
static bool raiseFunction(FunctionOpInterface function,
                          const RaiseOptions &options, RaiseReport &report) {
  bool rotations = raiseRotations(function, options, report);
  if (rotations)
    removeDead(function);
  bool attentions = raiseAttentions(function, report);
  if (attentions)
    removeDead(function);
  return rotations || attentions;
}

namespace {
/// Raises what stands in the functions of an op.
class Raiser {
public:
  Raiser(Operation *top, const RaiseOptions &options, RaiseReport &report)
      : top(top), options(options), report(report) {}

  bool run();

private:
  bool raiseCaller(FunctionOpInterface function, SymbolTable &table);
  bool isDead(FunctionOpInterface function);

  Operation *top;
  RaiseOptions options;
  RaiseReport &report;
  /// Functions whose bodies stand in others now.
  llvm::SetVector<Operation *> inlined;
};
} // namespace

/// Whether calls in a function may be replaced by the bodies of others.
static bool callsOthers(FunctionOpInterface function) {
  return function->walk([](func::CallOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Frameworks put parts of an attention into functions of their own. A copy of
/// the caller that has them in it takes its place, if that helps.
bool Raiser::raiseCaller(FunctionOpInterface function, SymbolTable &table) {
  if (!callsOthers(function))
    return raiseFunction(function, options, report);
  auto copy = cast<FunctionOpInterface>(function->clone());
  llvm::SetVector<Operation *> callees;
  inlineCalls(copy, table, callees);
  if (callees.empty() || !raiseFunction(copy, options, report)) {
    bool useless = callees.empty();
    copy->erase();
    return useless && raiseFunction(function, options, report);
  }
  Block::iterator position = std::next(function->getIterator());
  table.erase(function);
  table.insert(copy, position);
  inlined.insert(callees.begin(), callees.end());
  return true;
}

bool Raiser::isDead(FunctionOpInterface function) {
  return inlined.contains(function) && function.isPrivate() &&
         SymbolTable::symbolKnownUseEmpty(function, function->getParentOp());
}

bool Raiser::run() {
  SmallVector<FunctionOpInterface> functions;
  top->walk([&](FunctionOpInterface function) {
    if (!function.isExternal())
      functions.push_back(function);
  });
  // Callers first: what they take in need not be looked at on its own.
  std::partition(functions.begin(), functions.end(),
                 [](auto f) { return !f.isPrivate(); });
  bool changed = false;
  for (FunctionOpInterface function : functions) {
    if (isDead(function)) {
      function->erase();
      continue;
    }
    Operation *parent = function->getParentOp();
    bool seesCallees =
        function != top && parent->hasTrait<OpTrait::SymbolTable>();
    if (seesCallees) {
      SymbolTable table(parent);
      changed |= raiseCaller(function, table);
    } else {
      changed |= raiseFunction(function, options, report);
    }
  }
  // Last: what the others look for is as the model wrote it, and no callee is
  // taken into its caller for an update.
  top->walk([&](FunctionOpInterface function) {
    if (function.isExternal() || !raiseUpdates(function, report))
      return;
    removeDead(function);
    changed = true;
  });
  return changed;
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

namespace {
struct RaisePass : public rope::impl::RaisePassBase<RaisePass> {
  using RaisePassBase::RaisePassBase;
  void runOnOperation() override;
};

struct ExplainPass : public rope::impl::ExplainPassBase<ExplainPass> {
  using ExplainPassBase::ExplainPassBase;
  void runOnOperation() override;
};
} // namespace

void RaisePass::runOnOperation() {
  RaiseReport report(explain);
  if (!Raiser(getOperation(), {exactAngles}, report).run())
    markAllAnalysesPreserved();
  if (explain)
    report.emitSummary(getOperation());
}

void ExplainPass::runOnOperation() {
  RaiseReport report(/*explain=*/true);
  OwningOpRef<Operation *> copy(getOperation()->clone());
  (void)Raiser(*copy, {}, report).run();
  report.emitSummary(*copy);
  markAllAnalysesPreserved();
}
