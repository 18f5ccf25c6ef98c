//===- OutlineRepeats.cpp - One function for layers that are equal --------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-outline-repeats: time and size of what is compiled then grow
// with the kinds of layers, not with their number.
//
//===----------------------------------------------------------------------===//

#include "RepeatedRuns.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "rope/IR/Rope.h"
#include "rope/Transforms/Passes.h"

namespace mlir::rope {
#define GEN_PASS_DEF_OUTLINEREPEATSPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;
using namespace mlir::rope;

// Ways in which values flow through runs that are equal otherwise.
static constexpr unsigned kMaxKinds = 8;

// Whether loops and unrolled vectors are made of the op: much code.
static bool isProduct(Operation *op) {
  if (isa<AttentionLikeOpInterface, tosa::MatMulOp, tosa::Conv2DOp,
          tosa::Conv3DOp, tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp>(op))
    return true;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && (linalg::isaContractionOpInterface(linalgOp) ||
                      linalg::isaConvolutionOpInterface(linalgOp));
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

static void cloneWithRemade(OpBuilder &builder, Operation *op,
                            IRMapping &mapping);

static void remakeOperands(OpBuilder &builder, Operation *op,
                           IRMapping &mapping) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Operation *from = operand.getDefiningOp();
      if (from && isRemade(from) && !op->isAncestor(from) &&
          !mapping.contains(operand))
        cloneWithRemade(builder, from, mapping);
    }
  });
}

// Before the op comes what it takes that any function can make.
static void cloneWithRemade(OpBuilder &builder, Operation *op,
                            IRMapping &mapping) {
  remakeOperands(builder, op, mapping);
  builder.clone(*op, mapping);
}

static SmallVector<Value> lookUp(const SetVector<Value> &values,
                                 const IRMapping &mapping) {
  return llvm::map_to_vector(
      values, [&](Value value) { return mapping.lookup(value); });
}

static func::FuncOp createFunction(const PairedRuns &runs, StringRef name) {
  Location loc = runs.runs.front().ops.front()->getLoc();
  auto type = FunctionType::get(
      loc.getContext(), ValueRange(runs.inputs.getArrayRef()).getTypes(),
      ValueRange(runs.outputs.getArrayRef()).getTypes());
  auto function = func::FuncOp::create(loc, name, type);
  function.setPrivate();
  // Or LLVM would undo it all.
  function.setNoInline(true);
  Block *body = function.addEntryBlock();
  IRMapping mapping;
  mapping.map(runs.inputs.getArrayRef(), body->getArguments());
  OpBuilder builder = OpBuilder::atBlockEnd(body);
  for (Operation *op : runs.runs.front().ops)
    cloneWithRemade(builder, op, mapping);
  func::ReturnOp::create(builder, loc, lookUp(runs.outputs, mapping));
  return function;
}

//===----------------------------------------------------------------------===//
// The calls
//===----------------------------------------------------------------------===//

// What is left was made for runs alone, or for nobody.
static void eraseUsers(Operation *op) {
  while (!op->use_empty()) {
    Operation *user = *op->user_begin();
    eraseUsers(user);
    user->erase();
  }
}

namespace {
// Replaces runs by calls of a function.
class Replacement {
public:
  Replacement(const PairedRuns &runs, func::FuncOp function)
      : runs(runs), function(function) {}

  void replaceAll() {
    for (const PairedRun &run : runs.runs)
      replace(run);
    // Not before all are replaced: a run may take what another made.
    for (const PairedRun &run : runs.runs)
      for (Operation *op : run.ops)
        op->dropAllReferences();
    for (const PairedRun &run : runs.runs)
      for (Operation *op : run.ops) {
        eraseUsers(op);
        op->erase();
      }
  }

private:
  void replace(const PairedRun &run);

  const PairedRuns &runs;
  func::FuncOp function;
  // What calls return in place of what runs make.
  IRMapping results;
};
} // namespace

void Replacement::replace(const PairedRun &run) {
  Operation *last = run.ops.back();
  OpBuilder builder(last->getContext());
  builder.setInsertionPointAfter(last);
  SmallVector<Value> inputs;
  for (Value first : runs.inputs)
    inputs.push_back(results.lookupOrDefault(run.values.at(first)));
  auto call = func::CallOp::create(builder, last->getLoc(), function, inputs);
  SetVector<Operation *> toMove = getDependents(run.ops);
  for (auto [first, result] :
       llvm::zip_equal(runs.outputs, call.getResults())) {
    Value old = run.values.at(first);
    results.map(old, result);
    old.replaceAllUsesWith(result);
  }
  Operation *before = call;
  for (Operation *op : toMove) {
    op->moveAfter(before);
    before = op;
  }
}

static void outlineRuns(const PairedRuns &runs, SymbolTable &symbols) {
  Operation *first = runs.runs.front().ops.front();
  auto caller = first->getParentOfType<func::FuncOp>();
  func::FuncOp function =
      createFunction(runs, (caller.getName() + "_repeat").str());
  symbols.insert(function);
  setArgumentAttrs(function, runs);
  remark::passed(first->getLoc(), remark::RemarkOpts::name("outline-repeats")
                                      .category("rope-outline-repeats"))
      << ("function " + function.getName() + " of " +
          Twine(runs.runs.front().ops.size()) + " ops is called " +
          Twine(runs.runs.size()) + " times")
             .str();
  Replacement(runs, function).replaceAll();
}

namespace {
struct OutlineRepeats : rope::impl::OutlineRepeatsPassBase<OutlineRepeats> {
  using OutlineRepeatsPassBase::OutlineRepeatsPassBase;

  void runOnOperation() override {
    SmallVector<Block *> blocks;
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (Block &block : function.getBody())
        blocks.push_back(&block);
    DenseSet<Operation *> parts = findPartsOfArguments(blocks);
    for (Block *block : blocks)
      makeOffsetsOperands(*block, parts);
    SymbolTable symbols(getOperation());
    for (SmallVector<Run> &found :
         findRepeatedRuns(blocks, parts, isProduct, minProducts))
      for (unsigned kind = 0; kind < kMaxKinds && found.size() > 1; ++kind) {
        PairedRuns runs = takePairedRuns(found);
        if (runs.runs.size() > 1)
          outlineRuns(runs, symbols);
      }
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (Block &block : function.getBody())
        makeOffsetsStatic(block);
  }
};
} // namespace
