//===- ElementMovement.cpp - Where ops take an element from ---------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slices, inserts, concatenations, pads, reshapes, transposes, gathers and
// casts: ops that take an element from a place and compute nothing.
//
//===----------------------------------------------------------------------===//

#include "ElementExpansion.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Regions of a tensor
//===----------------------------------------------------------------------===//

/// Where an index lies with respect to the slice [offset, offset + size).
enum class Place { Inside, Outside, Unknown };

static Place locate(ExprContext &context, const Expr *relative,
                    const Expr *size, const Expr *index, const Expr *extent) {
  // The whole dim.
  if (relative == index && size == extent)
    return Place::Inside;
  IntRange fromStart = context.getRange(relative);
  IntRange fromEnd = context.getRange(context.sub(relative, size));
  if ((fromStart.high && *fromStart.high < 0) ||
      (fromEnd.low && *fromEnd.low >= 0))
    return Place::Outside;
  if (fromStart.low && *fromStart.low >= 0 && fromEnd.high && *fromEnd.high < 0)
    return Place::Inside;
  return Place::Unknown;
}

static const Expr *getOffset(ElementEvaluator &evaluator,
                             tensor::ExtractSliceOp op, unsigned dim) {
  if (op.isDynamicOffset(dim))
    return evaluator.evaluateScalar(op.getDynamicOffset(dim));
  return evaluator.getContext().getInt(op.getStaticOffset(dim));
}

static const Expr *getStride(ElementEvaluator &evaluator,
                             tensor::ExtractSliceOp op, unsigned dim) {
  if (op.isDynamicStride(dim))
    return evaluator.evaluateScalar(op.getDynamicStride(dim));
  return evaluator.getContext().getInt(op.getStaticStride(dim));
}

static const Expr *expandSlice(ElementEvaluator &evaluator,
                               tensor::ExtractSliceOp op, Index index) {
  ExprContext &context = evaluator.getContext();
  unsigned rank = op.getSourceType().getRank();
  llvm::SmallBitVector dropped(rank);
  if (rank != index.size())
    dropped = op.getDroppedDims();
  SmallVector<const Expr *> source;
  for (unsigned dim = 0; dim < rank; ++dim) {
    const Expr *at = getOffset(evaluator, op, dim);
    if (!dropped.test(dim)) {
      at = context.add(
          at, context.mul(index.front(), getStride(evaluator, op, dim)));
      index = index.drop_front();
    }
    source.push_back(at);
  }
  return context.getRead(op.getSource(), source);
}

/// The index within an inserted slice along one dim, and whether it is there.
static std::pair<Place, const Expr *>
locateInserted(ElementEvaluator &evaluator, tensor::InsertSliceOp op,
               unsigned dim, const Expr *index) {
  ExprContext &context = evaluator.getContext();
  const Expr *offset = evaluateFoldResult(evaluator, op.getMixedOffsets()[dim]);
  const Expr *size = evaluateFoldResult(evaluator, op.getMixedSizes()[dim]);
  const Expr *stride = evaluateFoldResult(evaluator, op.getMixedStrides()[dim]);
  const Expr *relative = context.sub(index, offset);
  if (!stride->isInt(1)) {
    const Expr *skipped = context.mod(relative, stride);
    if (!skipped->isInt())
      return {Place::Unknown, nullptr};
    if (!skipped->isInt(0))
      return {Place::Outside, nullptr};
    relative = context.floorDiv(relative, stride);
  }
  const Expr *extent = evaluator.evaluateExtent(op.getDest(), dim);
  return {locate(context, relative, size, index, extent), relative};
}

static const Expr *expandInsert(ElementEvaluator &evaluator,
                                tensor::InsertSliceOp op, Index index) {
  ExprContext &context = evaluator.getContext();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<const Expr *> source;
  bool inside = true;
  for (auto [dim, i] : llvm::enumerate(index)) {
    auto [place, relative] = locateInserted(evaluator, op, dim, i);
    if (place == Place::Outside)
      return context.getRead(op.getDest(), index);
    inside &= place == Place::Inside;
    if (!dropped.test(dim))
      source.push_back(relative);
  }
  return inside ? context.getRead(op.getSource(), source) : nullptr;
}

static const Expr *expandConcat(ElementEvaluator &evaluator,
                                tensor::ConcatOp op, Index index) {
  ExprContext &context = evaluator.getContext();
  int64_t dim = op.getDim();
  const Expr *relative = index[dim];
  for (Value input : op.getInputs()) {
    const Expr *size = evaluator.evaluateExtent(input, dim);
    Place place = locate(context, relative, size, nullptr, nullptr);
    if (place == Place::Unknown)
      return nullptr;
    if (place == Place::Inside) {
      SmallVector<const Expr *> source(index);
      source[dim] = relative;
      return context.getRead(input, source);
    }
    relative = context.sub(relative, size);
  }
  return nullptr;
}

static const Expr *expandPad(ElementEvaluator &evaluator, tensor::PadOp op,
                             Index index) {
  ExprContext &context = evaluator.getContext();
  SmallVector<const Expr *> source;
  bool inside = true;
  for (auto [dim, i, low] : llvm::enumerate(index, op.getMixedLowPad())) {
    const Expr *relative = context.sub(i, evaluateFoldResult(evaluator, low));
    const Expr *size = evaluator.evaluateExtent(op.getSource(), dim);
    Place place = locate(context, relative, size, nullptr, nullptr);
    Value padding = op.getConstantPaddingValue();
    if (place == Place::Outside && padding)
      return evaluator.evaluateScalar(padding);
    // Without padding on either side the dim is the source's.
    bool whole = op.getMixedHighPad()[dim] == op.getMixedLowPad()[dim] &&
                 isZeroInteger(low);
    inside &= whole || place == Place::Inside;
    source.push_back(relative);
  }
  return inside ? context.getRead(op.getSource(), source) : nullptr;
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

namespace {
/// A digit of a mixed-radix number: its value and its radix.
struct Digit {
  const Expr *value;
  const Expr *extent;
};
} // namespace

/// The number that digits denote, outermost first. With extents known only at
/// run time it stays a list of digits, as the op that linearises an index.
static const Expr *join(ExprContext &context, ArrayRef<Digit> digits) {
  SmallVector<Digit> kept;
  llvm::copy_if(digits, std::back_inserter(kept),
                [](const Digit &d) { return !d.extent->isInt(1); });
  if (kept.empty())
    return context.getInt(0);
  bool inner = llvm::all_of(ArrayRef(kept).drop_front(),
                            [](const Digit &d) { return d.extent->isInt(); });
  if (!inner) {
    SmallVector<const Expr *> operands;
    for (const Digit &digit : kept)
      operands.push_back(digit.value);
    for (const Digit &digit : kept)
      operands.push_back(digit.extent);
    return context.apply<affine::AffineLinearizeIndexOp>(
        IndexType::get(context.getMLIRContext()), operands);
  }
  const Expr *number = kept.front().value;
  for (const Digit &digit : ArrayRef(kept).drop_front())
    number = context.add(context.mul(number, digit.extent), digit.value);
  return number;
}

/// The digits that an index is made of; one of unknown radix if it is plain.
static SmallVector<Digit> getDigits(const Expr *index) {
  SmallVector<Digit> digits;
  if (!index->isa<affine::AffineLinearizeIndexOp>())
    return {{index, nullptr}};
  ArrayRef<const Expr *> operands = index->getOperands();
  size_t count = operands.size() / 2;
  for (size_t i = 0; i < count; ++i)
    digits.push_back({operands[i], operands[count + i]});
  return digits;
}

/// Takes the innermost digit of radix `extent` off a number.
static const Expr *takeDigit(ExprContext &context, SmallVector<Digit> &number,
                             const Expr *extent) {
  Digit last = number.pop_back_val();
  if (last.extent == extent)
    return last.value;
  // Digits too small to hold the radix merge where all is static.
  while (last.extent && last.extent->isInt() && extent->isInt() &&
         extent->getInt() % last.extent->getInt() == 0 && !number.empty() &&
         number.back().extent && number.back().extent->isInt()) {
    Digit outer = number.pop_back_val();
    last = {context.add(context.mul(outer.value, last.extent), last.value),
            context.mul(outer.extent, last.extent)};
    if (last.extent == extent)
      return last.value;
  }
  const Expr *rest = context.floorDiv(last.value, extent);
  const Expr *restExtent = nullptr;
  if (last.extent && last.extent->isInt() && extent->isInt() &&
      last.extent->getInt() % extent->getInt() == 0)
    restExtent = context.getInt(last.extent->getInt() / extent->getInt());
  // A radix that does not fit leaves a plain number.
  if (last.extent && !restExtent && !number.empty()) {
    number.push_back(last);
    const Expr *whole = join(context, number);
    number = {{context.floorDiv(whole, extent), nullptr}};
    return context.mod(whole, extent);
  }
  number.push_back({rest, restExtent});
  return context.mod(last.value, extent);
}

/// The index into dims of the given extents that a number denotes.
static SmallVector<const Expr *> split(ExprContext &context, const Expr *number,
                                       ArrayRef<const Expr *> extents) {
  SmallVector<const Expr *> index(extents.size());
  SmallVector<Digit> digits = getDigits(number);
  std::optional<size_t> outermost;
  for (auto [i, extent] : llvm::enumerate(extents))
    if (!extent->isInt(1) && !outermost)
      outermost = i;
  for (size_t i = extents.size(); i-- > 0;) {
    if (extents[i]->isInt(1) || digits.empty())
      index[i] = context.getInt(0);
    else if (i == *outermost)
      // What is left needs no radix.
      index[i] = digits.size() == 1 ? digits[0].value : join(context, digits);
    else
      index[i] = takeDigit(context, digits, extents[i]);
  }
  return index;
}

static SmallVector<const Expr *>
getExtents(ElementEvaluator &evaluator, Value tensor, ArrayRef<int64_t> dims) {
  return llvm::map_to_vector(
      dims, [&](int64_t dim) { return evaluator.evaluateExtent(tensor, dim); });
}

static SmallVector<Digit> zipDigits(Index index, Index extents) {
  SmallVector<Digit> digits;
  for (auto [value, extent] : llvm::zip_equal(index, extents))
    digits.push_back({value, extent});
  return digits;
}

static const Expr *expandCollapse(ElementEvaluator &evaluator,
                                  tensor::CollapseShapeOp op, Index index) {
  SmallVector<const Expr *> source;
  for (auto [i, group] : llvm::zip_equal(index, op.getReassociationIndices()))
    llvm::append_range(source,
                       split(evaluator.getContext(), i,
                             getExtents(evaluator, op.getSrc(), group)));
  return evaluator.getContext().getRead(op.getSrc(), source);
}

static const Expr *expandExpand(ElementEvaluator &evaluator,
                                tensor::ExpandShapeOp op, Index index) {
  SmallVector<const Expr *> source;
  for (ArrayRef<int64_t> group : op.getReassociationIndices()) {
    SmallVector<const Expr *> digits;
    for (int64_t dim : group)
      digits.push_back(index[dim]);
    source.push_back(
        join(evaluator.getContext(),
             zipDigits(digits, getExtents(evaluator, op.getResult(), group))));
  }
  return evaluator.getContext().getRead(op.getSrc(), source);
}

static const Expr *expandReshape(ElementEvaluator &evaluator,
                                 tensor::ReshapeOp op, Index index) {
  auto sourceType = dyn_cast<RankedTensorType>(op.getSource().getType());
  if (!sourceType)
    return nullptr;
  auto extentsOf = [&](Value tensor, int64_t rank) {
    return getExtents(evaluator, tensor,
                      llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  };
  ExprContext &context = evaluator.getContext();
  const Expr *number =
      join(context, zipDigits(index, extentsOf(op.getResult(), index.size())));
  return context.getRead(
      op.getSource(),
      split(context, number, extentsOf(op.getSource(), sourceType.getRank())));
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

static const Expr *expandGather(ElementEvaluator &evaluator,
                                tensor::GatherOp op, Index index) {
  ExprContext &context = evaluator.getContext();
  int64_t batch = op.getIndicesType().getRank() - 1;
  ArrayRef<int64_t> gathered = op.getGatherDims();
  int64_t rank = op.getSourceType().getRank();
  bool reduced = op.getResultType().getRank() ==
                 batch + rank - static_cast<int64_t>(gathered.size());
  SmallVector<const Expr *> source;
  Index rest = index.drop_front(batch);
  for (int64_t dim = 0; dim < rank; ++dim) {
    const int64_t *found = llvm::find(gathered, dim);
    if (found == gathered.end()) {
      source.push_back(rest.front());
      rest = rest.drop_front();
      continue;
    }
    SmallVector<const Expr *> at(index.take_front(batch));
    at.push_back(context.getInt(found - gathered.begin()));
    source.push_back(context.getRead(op.getIndices(), at));
    if (!reduced)
      rest = rest.drop_front();
  }
  return context.getRead(op.getSource(), source);
}

/// As the op's maps and body say, which are not asked for every element.
static const Expr *expandTranspose(ElementEvaluator &evaluator,
                                   linalg::TransposeOp op, Index index) {
  SmallVector<const Expr *> source(index.size());
  for (auto [from, i] : llvm::zip_equal(op.getPermutation(), index))
    source[from] = i;
  return evaluator.getContext().getRead(op.getInput(), source);
}

static const Expr *expandFromElements(ElementEvaluator &evaluator,
                                      tensor::FromElementsOp op, Index index) {
  int64_t position = 0;
  for (auto [extent, i] : llvm::zip_equal(op.getType().getShape(), index)) {
    if (!i->isInt())
      return nullptr;
    position = position * extent + i->getInt();
  }
  return evaluator.evaluateScalar(op.getElements()[position]);
}

const Expr *rope::expandMovement(ElementEvaluator &evaluator, Operation *op,
                                 Index index) {
  ExprContext &context = evaluator.getContext();
  return llvm::TypeSwitch<Operation *, const Expr *>(op)
      .Case([&](tensor::CastOp cast) -> const Expr * {
        if (!isa<RankedTensorType>(cast.getSource().getType()))
          return nullptr;
        return context.getRead(cast.getSource(), index);
      })
      .Case([&](tensor::ExtractSliceOp slice) {
        return expandSlice(evaluator, slice, index);
      })
      .Case([&](tensor::InsertSliceOp insert) {
        return expandInsert(evaluator, insert, index);
      })
      .Case([&](tensor::ConcatOp concat) {
        return expandConcat(evaluator, concat, index);
      })
      .Case([&](tensor::PadOp pad) { return expandPad(evaluator, pad, index); })
      .Case([&](tensor::CollapseShapeOp collapse) {
        return expandCollapse(evaluator, collapse, index);
      })
      .Case([&](tensor::ExpandShapeOp expand) {
        return expandExpand(evaluator, expand, index);
      })
      .Case([&](tensor::ReshapeOp reshape) {
        return expandReshape(evaluator, reshape, index);
      })
      .Case([&](tensor::GatherOp gather) {
        return expandGather(evaluator, gather, index);
      })
      .Case([&](linalg::TransposeOp transpose) -> const Expr * {
        if (!transpose.hasPureTensorSemantics())
          return nullptr;
        return expandTranspose(evaluator, transpose, index);
      })
      .Case([&](tensor::SplatOp splat) {
        return evaluator.evaluateScalar(splat.getInput());
      })
      .Case([&](tensor::FromElementsOp elements) {
        return expandFromElements(evaluator, elements, index);
      })
      .Default([](Operation *) { return nullptr; });
}

const Expr *rope::expandElement(ElementEvaluator &evaluator, Value value,
                                Index index) {
  auto result = dyn_cast<OpResult>(value);
  if (!result || !isa<RankedTensorType>(value.getType()))
    return nullptr;
  Operation *op = result.getOwner();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<ElementsAttr>(constant.getValue());
    return elements ? expandConstant(evaluator, value, elements, index)
                    : nullptr;
  }
  if (const Expr *moved = expandMovement(evaluator, op, index))
    return moved;
  return expandComputation(evaluator, result, index);
}
