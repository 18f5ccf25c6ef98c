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

#include "ArgumentAttrs.h"
#include "RepeatedRuns.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "rope/Transforms/Passes.h"

namespace mlir::rope {
#define GEN_PASS_DEF_OUTLINEREPEATSPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;
using namespace mlir::rope;

static constexpr StringLiteral kBufferLayoutAttrName =
    bufferization::BufferizationDialect::kBufferLayoutAttrName;

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
// What is known of arguments
//===----------------------------------------------------------------------===//

// The type of the buffer that a value is going to be in, as far as arguments
// and parts of them tell.
static MemRefType getBufferType(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (auto layout = dyn_cast_if_present<MemRefLayoutAttrInterface>(
          getArgumentAttr(value, kBufferLayoutAttrName)))
    return MemRefType::get(type.getShape(), type.getElementType(), layout);
  Operation *op = value.getDefiningOp();
  if (!op || !isPartOfArgument(op))
    return MemRefType::get(type.getShape(), type.getElementType());
  MemRefType source = getBufferType(op->getOperand(0));
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return memref::SubViewOp::inferRankReducedResultType(
        type.getShape(), source, slice.getStaticOffsets(),
        slice.getStaticSizes(), slice.getStaticStrides());
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return memref::CollapseShapeOp::computeCollapsedType(
        source, collapse.getReassociationIndices());
  auto expand = cast<tensor::ExpandShapeOp>(op);
  FailureOr<MemRefType> expanded = memref::ExpandShapeOp::computeExpandedType(
      source, type.getShape(), expand.getReassociationIndices());
  return succeeded(expanded) ? *expanded : MemRefType();
}

// The layout of an input in all runs, where that is no row after row. Only the
// offset may differ.
static Attribute getLayout(Value input, const PairedRuns &runs) {
  SmallVector<int64_t> common;
  bool isPart = false;
  for (const PairedRun &run : runs.runs) {
    MemRefType type = getBufferType(run.values.at(input));
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!type || failed(type.getStridesAndOffset(strides, offset)) ||
        (!common.empty() && strides != common))
      return nullptr;
    common = strides;
    isPart |= !type.getLayout().isIdentity();
  }
  return isPart ? StridedLayoutAttr::get(input.getContext(),
                                         ShapedType::kDynamic, common)
                : Attribute();
}

// Sets what holds of inputs in all runs.
static void setArgumentAttrs(func::FuncOp function, const PairedRuns &runs) {
  for (unsigned i = 0; i < runs.inputs.size(); ++i) {
    Value input = runs.inputs[i];
    if (!isa<RankedTensorType>(input.getType()))
      continue;
    if (Attribute layout = getLayout(input, runs))
      function.setArgAttr(i, kBufferLayoutAttrName, layout);
    if (llvm::all_of(runs.runs, [&](const PairedRun &run) {
          return isWeight(run.values.at(input));
        }))
      function.setArgAttr(i, kWeightAttrName,
                          UnitAttr::get(function.getContext()));
  }
}

//===----------------------------------------------------------------------===//
// The calls
//===----------------------------------------------------------------------===//

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
    // What was made for runs alone.
    for (Operation *op : llvm::reverse(dependents))
      if (isOpTriviallyDead(op))
        op->erase();
    for (const PairedRun &run : runs.runs)
      for (Operation *op : run.ops)
        op->erase();
  }

private:
  void replace(const PairedRun &run);

  const PairedRuns &runs;
  func::FuncOp function;
  // What calls return in place of what runs make.
  IRMapping results;
  // Of all runs.
  SmallVector<Operation *> dependents;
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
    dependents.push_back(before = op);
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
    auto isWorthwhile = [&](ArrayRef<Operation *> run) {
      return llvm::count_if(run, isProduct) >= minProducts;
    };
    SymbolTable symbols(getOperation());
    for (ArrayRef<Run> found : findRepeatedRuns(blocks, isWorthwhile)) {
      PairedRuns runs = pairRuns(found);
      if (runs.runs.size() > 1)
        outlineRuns(runs, symbols);
    }
  }
};
} // namespace
