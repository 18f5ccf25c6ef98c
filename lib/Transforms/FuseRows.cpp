//===- FuseRows.cpp - One loop for ops on the same rows -------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A softmax or a norm is a handful of ops that all work row by row, and an
// attention block one that works head by head. Ops that hand each other
// tensors along the same leading dims are put into one loop nest over these
// dims: what passes between them is then one row or one head large.
//
//===----------------------------------------------------------------------===//

#include "LinalgTiles.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace mlir::rope;
using linalg::GenericOp;

// How many leading results of the map are dims 0, 1, ...
static unsigned countLeadingDims(AffineMap map) {
  unsigned count = 0;
  for (AffineExpr result : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim || dim.getPosition() != count)
      break;
    ++count;
  }
  return count;
}

// The leading loops that may become loops around the op: parallel, and the
// leading dims of all results. Cutting a product into rows would cost it its
// register tiles, so of a product only batch dims count.
static unsigned countLeadingLoops(GenericOp op) {
  unsigned count = 0;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  while (count < kinds.size() && linalg::isParallelIterator(kinds[count]))
    ++count;
  bool batchOnly = isSumOfProducts(op);
  for (OpOperand &operand : op->getOpOperands())
    if (batchOnly || op.isDpsInit(&operand))
      count = std::min(count,
                       countLeadingDims(op.getMatchingIndexingMap(&operand)));
  return count;
}

namespace {
class RowGroup {
public:
  RowGroup(RewriterBase &rewriter, GenericOp seed, unsigned depth, bool threads)
      : rewriter(rewriter), block(*seed->getBlock()), depth(depth),
        threads(threads) {
    members.insert(seed);
  }

  /// Adds neighbours until there is none that fits.
  void grow() {
    for (size_t i = 0; i < members.size(); ++i) {
      Operation *member = members[i];
      for (Value operand : member->getOperands())
        tryToAdd(operand.getDefiningOp());
      for (Operation *user : member->getUsers())
        tryToAdd(user);
    }
  }

  size_t size() const { return members.size(); }

  unsigned countContractions() const {
    return llvm::count_if(members, [](Operation *op) {
      return isSumOfProducts(cast<GenericOp>(op));
    });
  }

  /// Replaces the members by one loop nest and adds them to `fused`. Returns
  /// the block of its body, or null if the order of side effects would have to
  /// change.
  Block *fuse(DenseSet<Operation *> &fused);

private:
  bool contains(Operation *op) const { return members.contains(op); }

  // The operand hands over one row per iteration of the common loops.
  bool isRowWise(OpOperand &operand) const {
    auto reader = cast<GenericOp>(operand.getOwner());
    return !reader.isDpsInit(&operand) &&
           countLeadingDims(reader.getMatchingIndexingMap(&operand)) >= depth;
  }

  void tryToAdd(Operation *op) {
    auto candidate = dyn_cast_or_null<GenericOp>(op);
    if (!candidate || candidate->getBlock() != &block || contains(op) ||
        !isVectorizable(candidate) || countLeadingLoops(candidate) < depth)
      return;
    for (OpOperand &operand : candidate->getOpOperands())
      if (Operation *producer = operand.get().getDefiningOp())
        if (contains(producer) && !isRowWise(operand))
          return;
    for (OpOperand &use : candidate->getUses())
      if (contains(use.getOwner()) && !isRowWise(use))
        return;
    members.insert(op);
    if (dependsOnItself())
      members.remove(op);
  }

  // All ops of the block outside the group that need a result of it.
  llvm::SetVector<Operation *> getDependents() const {
    llvm::SetVector<Operation *> dependents;
    SmallVector<Operation *> worklist(members.begin(), members.end());
    while (!worklist.empty())
      for (Operation *user : worklist.pop_back_val()->getUsers())
        if (Operation *op = block.findAncestorOpInBlock(*user))
          if (!contains(op) && dependents.insert(op))
            worklist.push_back(op);
    return dependents;
  }

  bool dependsOnItself() const {
    for (Operation *op : getDependents()) {
      for (Operation *user : op->getUsers())
        if (contains(block.findAncestorOpInBlock(*user)))
          return true;
    }
    return false;
  }

  bool isUsedOutside(Value value) const {
    return llvm::any_of(value.getUsers(),
                        [&](Operation *user) { return !contains(user); });
  }

  void collectEscaping();
  bool isShared() const;
  SmallVector<Value> createLoops();
  void redirectSizes();
  void eraseSlices();
  SmallVector<Value> createBody(ValueRange positions, ValueRange carried);
  void connect(GenericOp piece, GenericOp member);
  Value createStart(GenericOp member, OpOperand &init, Value carried);

  RewriterBase &rewriter;
  Block &block;
  unsigned depth;
  bool threads;
  llvm::SetVector<Operation *> members;
  SmallVector<Value> escaping;
  DenseMap<Value, Value> rows;
  // The outermost of the loops, and the body of the innermost.
  Operation *loop = nullptr;
  Block *body = nullptr;
};
} // namespace

void RowGroup::collectEscaping() {
  for (Operation *member : members)
    for (Value result : member->getResults())
      if (isUsedOutside(result))
        escaping.push_back(result);
}

// Makes the piece read the rows that other pieces made, and write into a row
// of its own where the whole result is not wanted.
void RowGroup::connect(GenericOp piece, GenericOp member) {
  OpBuilder::InsertionGuard guard(rewriter);
  for (auto [operand, whole] :
       llvm::zip(piece->getOpOperands(), member->getOpOperands()))
    if (Value row = rows.lookup(whole.get())) {
      if (row.getType() != operand.get().getType()) {
        rewriter.setInsertionPoint(piece);
        row = tensor::CastOp::create(rewriter, piece.getLoc(),
                                     operand.get().getType(), row);
      }
      operand.set(row);
    }
  for (unsigned i : llvm::seq<unsigned>(piece.getNumDpsInits())) {
    OpOperand &init = piece.getDpsInitsMutable()[i];
    Value whole = member.getDpsInits()[i];
    rewriter.setInsertionPoint(piece);
    auto slice = init.get().getDefiningOp<tensor::ExtractSliceOp>();
    if (slice && getDestination(whole).getDefiningOp<tensor::EmptyOp>() &&
        !llvm::is_contained(escaping, member.getResult(i)))
      init.set(tensor::EmptyOp::create(rewriter, piece.getLoc(),
                                       slice.getMixedSizes(),
                                       slice.getType().getElementType()));
  }
  fillLike(rewriter, piece, member);
}

// Returns the updated tensors.
SmallVector<Value> RowGroup::createBody(ValueRange positions,
                                        ValueRange carried) {
  SmallVector<Value> updated(carried);
  for (Operation *op : members) {
    auto member = cast<GenericOp>(op);
    IterationBox box = getIterationBox(rewriter, member);
    for (unsigned i : llvm::seq(depth)) {
      box.offsets[i] = positions[i];
      box.sizes[i] = rewriter.getIndexAttr(1);
    }
    SmallVector<Value> inits;
    for (auto [result, init] :
         llvm::zip(op->getResults(), member.getDpsInits())) {
      auto *at = llvm::find(escaping, result);
      inits.push_back(at == escaping.end() ? getDestination(init)
                                           : updated[at - escaping.begin()]);
    }
    SmallVector<Value> results;
    GenericOp piece = createPiece(rewriter, member, box, inits, results);
    connect(piece, member);
    for (auto [result, row, whole] :
         llvm::zip(op->getResults(), piece->getResults(), results)) {
      rows[result] = row;
      auto *at = llvm::find(escaping, result);
      if (at != escaping.end())
        updated[at - escaping.begin()] = whole;
    }
  }
  return updated;
}

bool RowGroup::isShared() const {
  return threads && !escaping.empty() &&
         llvm::any_of(members, [](Operation *op) {
           return isWorthSharing(cast<GenericOp>(op));
         });
}

// Returns what takes the place of the tensors that escape.
SmallVector<Value> RowGroup::createLoops() {
  Operation *first = members.front();
  Location loc = first->getLoc();
  SmallVector<OpFoldResult> ends =
      getIterationBox(rewriter, cast<GenericOp>(first)).sizes;
  ends.truncate(depth);
  SmallVector<Value> carried;
  for (Value result : escaping) {
    auto member = cast<GenericOp>(result.getDefiningOp());
    unsigned number = cast<OpResult>(result).getResultNumber();
    carried.push_back(getDestination(member.getDpsInits()[number]));
  }
  if (isShared()) {
    SmallVector<OpFoldResult> steps(depth, rewriter.getIndexAttr(1));
    scf::ForallOp shared =
        createSharedLoop(rewriter, loc, ends, steps, carried,
                         [&](ValueRange positions, ValueRange tensors) {
                           return createBody(positions, tensors);
                         });
    loop = shared;
    body = shared.getBody();
    return shared.getResults();
  }
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  SmallVector<Value> bounds =
      getValueOrCreateConstantIndexOp(rewriter, loc, ends);
  scf::LoopNest nest = scf::buildLoopNest(
      rewriter, loc, SmallVector<Value>(depth, zero), bounds,
      SmallVector<Value>(depth, one), carried,
      [&](OpBuilder &, Location, ValueRange positions, ValueRange tensors) {
        return createBody(positions, tensors);
      });
  loop = nest.loops.front();
  body = nest.loops.back().getBody();
  return nest.results;
}

// Sizes of results are those of the tensors they are written over.
void RowGroup::redirectSizes() {
  for (Operation *op : members)
    for (auto [result, init] :
         llvm::zip(op->getResults(), cast<GenericOp>(op).getDpsInits()))
      for (OpOperand &use : llvm::make_early_inc_range(result.getUses()))
        if (isa<tensor::DimOp>(use.getOwner()))
          use.set(getDestination(init));
}

// Erases the slices of whole results that the pieces read at first.
void RowGroup::eraseSlices() {
  for (Operation *op : members)
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      if (loop->isProperAncestor(user) && user->use_empty())
        rewriter.eraseOp(user);
}

Block *RowGroup::fuse(DenseSet<Operation *> &fused) {
  SmallVector<Operation *> inOrder = members.takeVector();
  llvm::sort(inOrder,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  members.insert(inOrder.begin(), inOrder.end());
  redirectSizes();
  Operation *last = members.back();

  // What needs a result of the group and stands before its last member moves
  // behind the loop.
  SmallVector<Operation *> moved;
  for (Operation *op : getDependents())
    if (op->isBeforeInBlock(last)) {
      if (!isPure(op))
        return nullptr;
      moved.push_back(op);
    }
  llvm::sort(moved,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });

  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfter(last);
  collectEscaping();
  SmallVector<Value> updated = createLoops();
  redirectSizes();
  eraseSlices();
  Operation *end = loop;
  for (Operation *op : moved) {
    op->moveAfter(end);
    end = op;
  }
  for (auto [result, whole] : llvm::zip(escaping, updated))
    rewriter.replaceAllUsesWith(result, whole);
  for (Operation *member : llvm::reverse(inOrder)) {
    fused.insert(member);
    rewriter.eraseOp(member);
  }
  return body;
}

static SmallVector<GenericOp> getSeeds(Block &block, bool contractions) {
  SmallVector<GenericOp> seeds;
  for (auto op : block.getOps<GenericOp>())
    if (isSumOfProducts(op) == contractions && isVectorizable(op) &&
        op.getNumReductionLoops() != 0 && countLeadingLoops(op) != 0)
      seeds.push_back(op);
  return seeds;
}

// Loops over all batch dims that two or more products share.
void rope::fuseHeads(RewriterBase &rewriter, Block &block, bool threads) {
  DenseSet<Operation *> fused;
  for (GenericOp seed : getSeeds(block, /*contractions=*/true)) {
    if (fused.contains(seed))
      continue;
    unsigned depth = countLeadingLoops(seed);
    SmallVector<int64_t> extents = seed.getStaticLoopRanges();
    if (llvm::all_of(ArrayRef(extents).take_front(depth),
                     [](int64_t extent) { return extent == 1; }))
      continue;
    RowGroup group(rewriter, seed, depth, threads);
    group.grow();
    if (group.countContractions() < 2)
      continue;
    if (Block *body = group.fuse(fused)) {
      fuseHeads(rewriter, *body, threads);
      fuseRows(rewriter, *body, threads);
    }
  }
}

// Loops over the rows that a reduction and its neighbours share.
void rope::fuseRows(RewriterBase &rewriter, Block &block, bool threads) {
  DenseSet<Operation *> fused;
  for (GenericOp seed : getSeeds(block, /*contractions=*/false)) {
    if (fused.contains(seed))
      continue;
    RowGroup group(rewriter, seed, countLeadingLoops(seed), threads);
    group.grow();
    if (group.size() >= 2 && group.countContractions() == 0)
      (void)group.fuse(fused);
  }
}
