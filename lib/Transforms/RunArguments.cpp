//===- RunArguments.cpp - What is known of values that runs take ----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function sees nothing of its callers. Attributes tell bufferization how
// arguments lie in memory and which of them it may write to, so that calls copy
// no weights and no caches.
//
//===----------------------------------------------------------------------===//

#include "ArgumentAttrs.h"
#include "RepeatedRuns.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::rope;

static constexpr StringLiteral kBufferLayoutAttrName =
    bufferization::BufferizationDialect::kBufferLayoutAttrName;
static constexpr StringLiteral kWritableAttrName =
    bufferization::BufferizationDialect::kWritableAttrName;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

static bool isView(Operation *op) {
  return isa_and_present<tensor::ExtractSliceOp, tensor::CollapseShapeOp,
                         tensor::ExpandShapeOp>(op);
}

// The value in whose buffer is the one that an op returns.
static Value getSource(OpResult result) {
  Operation *op = result.getOwner();
  if (isView(op))
    return op->getOperand(0);
  auto destination = dyn_cast<DestinationStyleOpInterface>(op);
  return destination ? destination.getTiedOpOperand(result)->get() : Value();
}

namespace {
// The types of the buffers that values are going to be in, as far as arguments,
// parts of them and what is put into these tell.
class BufferTypes {
public:
  MemRefType get(Value value);

private:
  // Of a value that is no part of another.
  static MemRefType getRoot(Value value);
  static MemRefType getPart(Operation *op, MemRefType source);

  DenseMap<Value, MemRefType> known;
};
} // namespace

MemRefType BufferTypes::getRoot(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto layout = dyn_cast_if_present<MemRefLayoutAttrInterface>(
      getArgumentAttr(value, kBufferLayoutAttrName));
  return MemRefType::get(type.getShape(), type.getElementType(), layout);
}

MemRefType BufferTypes::getPart(Operation *op, MemRefType source) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return memref::SubViewOp::inferRankReducedResultType(
        slice.getType().getShape(), source, slice.getStaticOffsets(),
        slice.getStaticSizes(), slice.getStaticStrides());
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return memref::CollapseShapeOp::isGuaranteedCollapsible(
               source, collapse.getReassociationIndices())
               ? memref::CollapseShapeOp::computeCollapsedType(
                     source, collapse.getReassociationIndices())
               : getRoot(collapse);
  auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
  if (!expand)
    return source;
  FailureOr<MemRefType> expanded = memref::ExpandShapeOp::computeExpandedType(
      source, expand.getType().getShape(), expand.getReassociationIndices());
  return succeeded(expanded) ? *expanded : getRoot(expand);
}

MemRefType BufferTypes::get(Value value) {
  SmallVector<OpResult> results;
  while (!known.contains(value)) {
    auto result = dyn_cast<OpResult>(value);
    Value source = result ? getSource(result) : Value();
    if (!source) {
      known[value] = getRoot(value);
      break;
    }
    results.push_back(result);
    value = source;
  }
  MemRefType type = known.at(value);
  for (OpResult result : llvm::reverse(results))
    known[result] = type = getPart(result.getOwner(), type);
  return type;
}

// The layout of an input in all runs, where that is not row after row in one of
// them. What bufferization copies is row after row, so it has to be of this
// layout too: strides that differ from those are not told.
static Attribute getLayout(Value input, const PairedRuns &runs,
                           BufferTypes &types) {
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> common =
      MemRefType::get(type.getShape(), type.getElementType())
          .getStridesAndOffset()
          .first;
  bool isPart = false;
  for (const PairedRun &run : runs.runs) {
    MemRefType buffer = types.get(run.values.at(input));
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(buffer.getStridesAndOffset(strides, offset)))
      return nullptr;
    for (auto [known, stride] : llvm::zip_equal(common, strides))
      known = known == stride ? known : ShapedType::kDynamic;
    isPart |= !buffer.getLayout().isIdentity();
  }
  return isPart ? StridedLayoutAttr::get(input.getContext(),
                                         ShapedType::kDynamic, common)
                : Attribute();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

// Whether a value is a constant or an argument that its function keeps as it
// is, or a part of one.
static bool isProtected(Value value) {
  while (isView(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  if (matchPattern(value, m_Constant()))
    return true;
  FunctionOpInterface function = getFunctionOf(value);
  auto writable =
      dyn_cast_if_present<BoolAttr>(getArgumentAttr(value, kWritableAttrName));
  return function && (writable ? !writable.getValue() : function.isPublic());
}

// Whether nobody wants a value that a run takes after it.
static bool isSpare(Value value, const PairedRun &run) {
  Operation *last = run.ops.back();
  return !isProtected(value) &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           Operation *ancestor = last->getBlock()->findAncestorOpInBlock(*user);
           return isa<tensor::DimOp>(user) ||
                  (ancestor &&
                   (ancestor == last || ancestor->isBeforeInBlock(last)));
         });
}

// Whether a run returns an input, or what it puts into that, but not a whole
// argument of the caller.
static bool isReturned(Value input, const PairedRuns &runs) {
  return !isa<BlockArgument>(input) &&
         llvm::any_of(runs.outputs, [&](Value output) {
           while (output && !runs.inputs.contains(output)) {
             auto result = dyn_cast<OpResult>(output);
             output = result ? getSource(result) : Value();
           }
           return output == input;
         });
}

// Whether the function may write to an input: where a caller still wants it,
// it has to copy it all, and not only what is written.
static bool isWritable(Value input, const PairedRuns &runs) {
  size_t numSpare = llvm::count_if(runs.runs, [&](const PairedRun &run) {
    return isSpare(run.values.at(input), run);
  });
  return 2 * numSpare >= runs.runs.size();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

void rope::setArgumentAttrs(FunctionOpInterface function,
                            const PairedRuns &runs) {
  BufferTypes types;
  for (unsigned i = 0; i < runs.inputs.size(); ++i) {
    Value input = runs.inputs[i];
    if (!isa<RankedTensorType>(input.getType()))
      continue;
    Attribute layout = getLayout(input, runs, types);
    if (layout)
      function.setArgAttr(i, kBufferLayoutAttrName, layout);
    // Results are row after row, so a part is copied in any case.
    if ((layout && isReturned(input, runs)) || !isWritable(input, runs))
      function.setArgAttr(i, kWritableAttrName,
                          BoolAttr::get(function.getContext(), false));
    if (llvm::all_of(runs.runs, [&](const PairedRun &run) {
          return isWeight(run.values.at(input));
        }))
      function.setArgAttr(i, kWeightAttrName,
                          UnitAttr::get(function.getContext()));
  }
}
