//===- ContractionSplitter.cpp - Takes work out of contractions -----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Raise/ContractionSplitter.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include <array>

using namespace mlir;
using namespace mlir::rope;

/// The factors of a body that yields `out + A·B`; nullopt for other bodies.
static std::optional<std::pair<Value, Value>> getFactorsOf(Block *body) {
  Value out = body->getArguments().back();
  auto sum =
      body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum)
    return std::nullopt;
  Value product = sum.getLhs() == out   ? sum.getRhs()
                  : sum.getRhs() == out ? sum.getLhs()
                                        : Value();
  auto mul = product ? product.getDefiningOp<arith::MulFOp>() : nullptr;
  if (!mul)
    return std::nullopt;
  return std::make_pair(mul.getLhs(), mul.getRhs());
}

/// The ops of the body that compute a value, in order.
static SetVector<Operation *> getSlice(Value value, Block *body) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.filter = [&](Operation *op) { return op->getBlock() == body; };
  if (Operation *op = value.getDefiningOp())
    (void)getBackwardSlice(op, &slice, options);
  return slice;
}

/// What one factor of a contraction is computed from.
struct Factor {
  Value value;
  SetVector<Operation *> ops;
  SmallVector<unsigned> arguments;
  /// The dims of the contraction that it depends on, ascending.
  SmallVector<unsigned> dims;
};

static Factor analyze(linalg::GenericOp op, Value value) {
  Factor factor = {value, getSlice(value, op.getBody()), {}, {}};
  llvm::SmallSetVector<unsigned, 8> arguments, dims;
  auto use = [&](Value operand) {
    auto argument = dyn_cast<BlockArgument>(operand);
    if (argument && argument.getOwner() == op.getBody())
      arguments.insert(argument.getArgNumber());
  };
  use(value);
  for (Operation *nested : factor.ops) {
    for (Value operand : nested->getOperands())
      use(operand);
    if (auto index = dyn_cast<linalg::IndexOp>(nested))
      dims.insert(index.getDim());
  }
  for (unsigned argument : arguments)
    op.getIndexingMapsArray()[argument].walkExprs([&](AffineExpr expr) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        dims.insert(dim.getPosition());
    });
  factor.arguments = llvm::to_vector(arguments);
  factor.dims = llvm::to_vector(dims);
  llvm::sort(factor.arguments);
  llvm::sort(factor.dims);
  return factor;
}

/// An operand of the contraction and its dim that has a dim of the loops.
static std::optional<OpFoldResult>
getExtent(OpBuilder &builder, linalg::GenericOp op, unsigned dim) {
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [i, expr] : llvm::enumerate(map.getResults()))
      if (expr == builder.getAffineDimExpr(dim))
        return tensor::getMixedSize(builder, op.getLoc(), operand.get(), i);
  }
  return std::nullopt;
}

/// Builds the op that computes a factor over its dims; null if it cannot.
static Value buildFactor(OpBuilder &builder, linalg::GenericOp op,
                         const Factor &factor) {
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> shape;
  llvm::DenseMap<AffineExpr, AffineExpr> renumber;
  for (auto [i, dim] : llvm::enumerate(factor.dims)) {
    std::optional<OpFoldResult> extent = getExtent(builder, op, dim);
    if (!extent)
      return {};
    shape.push_back(*extent);
    renumber[builder.getAffineDimExpr(dim)] = builder.getAffineDimExpr(i);
  }
  unsigned rank = factor.dims.size();
  SmallVector<AffineMap> maps;
  SmallVector<Value> inputs;
  for (unsigned argument : factor.arguments) {
    inputs.push_back(op->getOperand(argument));
    maps.push_back(op.getIndexingMapsArray()[argument].replace(renumber, rank,
                                                               /*symbols=*/0));
  }
  maps.push_back(builder.getMultiDimIdentityMap(rank));
  Value empty =
      tensor::EmptyOp::create(builder, loc, shape, factor.value.getType());
  auto built = linalg::GenericOp::create(
      builder, loc, empty.getType(), inputs, empty, maps,
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &body, Location, ValueRange arguments) {
        IRMapping mapping;
        for (auto [i, argument] : llvm::enumerate(factor.arguments))
          mapping.map(op.getBody()->getArgument(argument), arguments[i]);
        for (Operation *nested : factor.ops) {
          Operation *clone = body.clone(*nested, mapping);
          if (auto index = dyn_cast<linalg::IndexOp>(clone))
            index.setDim(llvm::find(factor.dims, index.getDim()) -
                         factor.dims.begin());
        }
        linalg::YieldOp::create(body, loc,
                                mapping.lookupOrDefault(factor.value));
      });
  return built.getResult(0);
}

/// The factors of an `out + A·B` of which one at least is computed in the body,
/// over fewer dims than the op has.
static std::optional<std::array<Factor, 2>> getParts(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumResults() != 1 ||
      !op.hasPureTensorSemantics())
    return std::nullopt;
  auto values = getFactorsOf(op.getBody());
  if (!values)
    return std::nullopt;
  std::array<Factor, 2> parts = {analyze(op, values->first),
                                 analyze(op, values->second)};
  // A factor that is a value from outside has no dims to be a tensor of.
  if (llvm::any_of(parts, [](const Factor &part) {
        return part.ops.empty() && part.arguments.empty();
      }))
    return std::nullopt;
  // A plain contraction, or one factor that fills the whole domain.
  if ((parts[0].ops.empty() && parts[1].ops.empty()) ||
      parts[0].dims.size() == op.getNumLoops() ||
      parts[1].dims.size() == op.getNumLoops())
    return std::nullopt;
  return parts;
}

/// `out + A·B` in the place of `op`, for factors as inputs with these maps.
static linalg::GenericOp createContraction(OpBuilder &builder,
                                           linalg::GenericOp op,
                                           ValueRange inputs,
                                           ArrayRef<AffineMap> maps) {
  return linalg::GenericOp::create(
      builder, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(), maps,
      op.getIteratorTypesArray(),
      [](OpBuilder &body, Location loc, ValueRange arguments) {
        Value product =
            arith::MulFOp::create(body, loc, arguments[0], arguments[1]);
        Value sum = arith::AddFOp::create(body, loc, arguments[2], product);
        linalg::YieldOp::create(body, loc, sum);
      });
}

void ContractionSplitter::splitOp(linalg::GenericOp op) {
  std::optional<std::array<Factor, 2>> parts = getParts(op);
  if (!parts)
    return;
  OpBuilder builder(op);
  Split split = {op, {}, {}};
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const Factor &part : *parts) {
    if (part.ops.empty()) {
      unsigned argument = cast<BlockArgument>(part.value).getArgNumber();
      inputs.push_back(op->getOperand(argument));
      maps.push_back(op.getIndexingMapsArray()[argument]);
      continue;
    }
    Value built = buildFactor(builder, op, part);
    if (!built)
      return;
    split.factors.push_back(built);
    inputs.push_back(built);
    SmallVector<AffineExpr> exprs;
    for (unsigned dim : part.dims)
      exprs.push_back(builder.getAffineDimExpr(dim));
    maps.push_back(AffineMap::get(op.getNumLoops(), 0, exprs, op.getContext()));
  }
  maps.push_back(op.getIndexingMapsArray().back());
  split.contraction = createContraction(builder, op, inputs, maps);
  op.getResult(0).replaceAllUsesWith(split.contraction.getResult(0));
  llvm::append_range(factors, split.factors);
  splits.push_back(std::move(split));
}

void ContractionSplitter::split(FunctionOpInterface function) {
  SmallVector<linalg::GenericOp> ops;
  for (Block &block : function.getFunctionBody())
    llvm::append_range(ops, block.getOps<linalg::GenericOp>());
  for (linalg::GenericOp op : ops)
    splitOp(op);
}

void ContractionSplitter::finish(
    llvm::function_ref<bool(Value factor)> wasRaised) {
  for (Split &split : splits) {
    auto isNeeded = [&](Value factor) {
      return wasRaised(factor) ||
             llvm::any_of(factor.getUsers(), [&](Operation *user) {
               return user != split.contraction;
             });
    };
    if (llvm::any_of(split.factors, isNeeded)) {
      split.original.erase();
      continue;
    }
    split.contraction.getResult(0).replaceAllUsesWith(
        split.original.getResult(0));
    split.contraction.erase();
    for (Value factor : split.factors) {
      auto op = factor.getDefiningOp<linalg::GenericOp>();
      Operation *init = op.getOutputs().front().getDefiningOp();
      op.erase();
      if (init->use_empty())
        init->erase();
    }
  }
}
