//===- UpdateRaiser.cpp - Writes updates as insertions --------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op that replaces one index of a dim is kept as it is, but runs at that
// index alone, and its result is inserted into what it replaces. A position out
// of bounds needs no care: at whatever index the op runs then, it keeps what is
// there.
//
//===----------------------------------------------------------------------===//

#include "ExprEmitter.h"
#include "RaiseSession.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rope/Analysis/UpdateMatch.h"

using namespace mlir;
using namespace mlir::rope;

namespace {
/// A part of a tensor.
struct Part {
  SmallVector<OpFoldResult> offsets, sizes;
};

class UpdateBuilder {
public:
  UpdateBuilder(const UpdateMatch &match, std::string &reason)
      : match(match), reason(reason), builder(match.op),
        loc(match.op->getLoc()), old(match.op->getOperand(match.oldOperand)),
        symbols(collectSymbols({match.position})) {}

  FailureOr<Value> build();

private:
  Value clampToExtent(Value position, OpFoldResult extent);
  Value computePart(Value current, const Part &part);
  FailureOr<Value> insertAt(ValueRange indices, Value current);
  FailureOr<Value> buildLoops();
  Value hasElements();

  const UpdateMatch &match;
  std::string &reason;
  OpBuilder builder;
  Location loc;
  Value old;
  /// The dims that the position depends on.
  SmallVector<const Expr *> symbols;
};
} // namespace

/// The position if it is in bounds, or else the nearest index, at which the op
/// keeps what is there.
Value UpdateBuilder::clampToExtent(Value position, OpFoldResult extent) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value size = getValueOrCreateConstantIndexOp(builder, loc, extent);
  Value last = builder.createOrFold<arith::SubIOp>(loc, size, one);
  Value below = arith::MinSIOp::create(builder, loc, position, last);
  return arith::MaxSIOp::create(builder, loc, below, zero);
}

/// The op at a part of its result, where `current` is what is replaced.
Value UpdateBuilder::computePart(Value current, const Part &part) {
  linalg::LinalgOp op = match.op;
  AffineMap toDims =
      inversePermutation(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
  auto offsets = applyPermutationMap(toDims, ArrayRef(part.offsets));
  auto sizes = applyPermutationMap(toDims, ArrayRef(part.sizes));
  SmallVector<Value> operands(op->getOperands());
  operands[match.oldOperand] = current;
  SmallVector<Value> tiles =
      linalg::makeTiledShapes(builder, loc, op, operands, offsets, sizes, {},
                              /*omitPartialTileCheck=*/true);
  Type type = tiles[op.getDpsInitOperand(0)->getOperandNumber()].getType();
  Operation *piece = clone(builder, op, type, tiles);
  linalg::offsetIndices(builder, cast<linalg::LinalgOp>(piece), offsets);
  return piece->getResult(0);
}

/// The update at one index of each dim that the position depends on.
FailureOr<Value> UpdateBuilder::insertAt(ValueRange indices, Value current) {
  Part part;
  part.sizes = tensor::getMixedSizes(builder, loc, old);
  part.offsets.assign(part.sizes.size(), builder.getIndexAttr(0));
  ArgumentNumbers numbers;
  for (auto [symbol, index] : llvm::zip_equal(symbols, indices)) {
    numbers.insert({{symbol}, static_cast<unsigned>(numbers.size())});
    part.offsets[symbol->getNumber()] = index;
    part.sizes[symbol->getNumber()] = builder.getIndexAttr(1);
  }
  ExprEmitter emitter(builder, loc, /*domain=*/nullptr, reason);
  emitter.setArguments(numbers, indices);
  FailureOr<Value> position = emitter.emitIndex(match.position);
  if (failed(position))
    return failure();
  OpFoldResult &extent = part.sizes[match.dim];
  part.offsets[match.dim] = clampToExtent(*position, extent);
  extent = builder.getIndexAttr(1);
  Value piece = computePart(current, part);
  SmallVector<OpFoldResult> strides(part.sizes.size(), builder.getIndexAttr(1));
  return tensor::InsertSliceOp::create(builder, loc, piece, current,
                                       part.offsets, part.sizes, strides)
      .getResult();
}

/// Loops over the dims that the position depends on.
FailureOr<Value> UpdateBuilder::buildLoops() {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  SmallVector<Value> starts(symbols.size(), zero), steps(symbols.size(), one);
  SmallVector<Value> ends;
  for (const Expr *symbol : symbols)
    ends.push_back(getValueOrCreateConstantIndexOp(
        builder, loc,
        tensor::getMixedSize(builder, loc, old, symbol->getNumber())));
  FailureOr<Value> updated;
  // The builder that the body is given is the one that the nest is built by.
  scf::LoopNest nest = scf::buildLoopNest(
      builder, loc, starts, ends, steps, old,
      [&](OpBuilder &, Location, ValueRange indices, ValueRange current) {
        updated = insertAt(indices, current.front());
        return scf::ValueVector{succeeded(updated) ? *updated
                                                   : current.front()};
      });
  if (failed(updated))
    return failure();
  return nest.results.front();
}

/// Whether no extent is 0; null if none can be.
Value UpdateBuilder::hasElements() {
  Value all;
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  for (OpFoldResult size : tensor::getMixedSizes(builder, loc, old)) {
    auto extent = dyn_cast<Value>(size);
    if (!extent)
      continue;
    Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                       extent, zero);
    all = all ? arith::AndIOp::create(builder, loc, all, some) : some;
  }
  return all;
}

/// Of a tensor without elements no position is computed, as no body runs.
FailureOr<Value> UpdateBuilder::build() {
  Value some = hasElements();
  if (!some)
    return buildLoops();
  auto branch = scf::IfOp::create(builder, loc, TypeRange(old.getType()), some,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  FailureOr<Value> updated = buildLoops();
  scf::YieldOp::create(builder, loc, succeeded(updated) ? *updated : old);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, old);
  if (failed(updated))
    return failure();
  return branch.getResult(0);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Whether an op may be an update: to look closer takes time.
static bool choosesElements(linalg::LinalgOp op) {
  return llvm::any_of(op.getBlock()->without_terminator(),
                      llvm::IsaPred<arith::SelectOp>);
}

static bool rewrite(const UpdateMatch &match, RaiseReport &report) {
  std::string reason;
  Location loc = match.op->getLoc();
  OpBuilder builder(match.op);
  Operation *last = match.op->getPrevNode();
  FailureOr<Value> updated = UpdateBuilder(match, reason).build();
  if (failed(updated)) {
    eraseAfter(last, builder);
    report.addRefused(loc, "update", reason);
    return false;
  }
  report.addRaised(RaiseReport::Kind::Update, loc,
                   "update of one index of dim " + Twine(match.dim));
  match.op->getResult(0).replaceAllUsesWith(*updated);
  return true;
}

bool rope::raiseUpdates(FunctionOpInterface function, RaiseReport &report) {
  SmallVector<linalg::LinalgOp> candidates;
  for (Block &block : function.getFunctionBody())
    for (auto op : block.getOps<linalg::LinalgOp>())
      if (choosesElements(op))
        candidates.push_back(op);
  if (candidates.empty())
    return false;
  RaiseSession session(function);
  SmallVector<UpdateMatch> matches;
  for (linalg::LinalgOp op : candidates)
    if (FailureOr<UpdateMatch> match = matchUpdate(session.getEvaluator(), op);
        succeeded(match))
      matches.push_back(*match);
  bool changed = false;
  for (const UpdateMatch &match : matches)
    changed |= rewrite(match, report);
  return changed;
}
