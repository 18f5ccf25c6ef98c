//===- RotationToVector.cpp - Rotations become loops over rows ------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-rotation-to-vector: a row of channels is read once, turned in
// registers and written once.
//
//===----------------------------------------------------------------------===//

#include "RotationParts.h"
#include "RowRotation.h"
#include "UnitStrides.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"
#include "rope/CodeGen/CPU/Passes.h"

namespace mlir::rope {
#define GEN_PASS_DEF_ROTATIONTOVECTORPASS
#include "rope/CodeGen/CPU/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

/// Bytes of a table that stay in the first cache while all that they turn pass.
static constexpr int64_t kTableBytes = 16384;
/// Rows that one row of a table turns one after the other when memory is what
/// limits: as many runs through memory as it takes well.
static constexpr int64_t kStreams = 4;

namespace {
/// The loops of one rotation.
class RotationKernel : public KernelBuilder {
public:
  RotationKernel(const RotationParts &parts, int64_t streamBytes, Location loc,
                 OpBuilder &builder)
      // Rows are whole vectors, however many lanes a register has.
      : KernelBuilder(loc, builder, /*lanes=*/1), parts(parts),
        streamBytes(streamBytes),
        rank(cast<MemRefType>(parts.input.getType()).getRank()) {}

  void compute();

private:
  struct Range {
    Value begin, end;
  };

  /// Whether the result is so large that writing it into caches is a waste.
  Value isLarge(Value memory);
  /// Whether each row of some memory is whole lines of the cache.
  Value hasWholeLines(Value memory);
  /// Whether rows may be written past the caches; null if they never may.
  Value canStream();
  void computeAll();

  /// Blocks of one dim, and the order of the dims within.
  struct Order {
    unsigned blockDim;
    int64_t size;
    SmallVector<unsigned> dims;
  };
  /// The last dim that the table follows, if dims around it share the table.
  std::optional<unsigned> findSharedDim() const;
  int64_t getBlockRows() const;
  std::optional<Order> chooseOrder() const;
  /// Loops over these dims, one in the other.
  void loopOver(ArrayRef<unsigned> dims, ArrayRef<Range> ranges,
                SmallVector<Value> &at);
  void computeRow(ArrayRef<Value> at);
  void streamRow(Value row, SmallVector<IndexLike> at);

  RotationParts parts;
  int64_t streamBytes;
  unsigned rank;
  /// Whether the code at hand writes past the caches.
  bool streams = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Past the caches
//===----------------------------------------------------------------------===//

static int64_t getElementBytes(MemRefType type) {
  return llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

Value RotationKernel::isLarge(Value memory) {
  Value bytes = index(getElementBytes(cast<MemRefType>(memory.getType())));
  for (unsigned dim = 0; dim < rank; ++dim)
    bytes = times(bytes, createOrFold<memref::DimOp>(memory, dim));
  return isLess(streamBytes - 1, bytes);
}

Value RotationKernel::hasWholeLines(Value memory) {
  auto type = cast<MemRefType>(memory.getType());
  int64_t bytes = getElementBytes(type);
  auto metadata = memref::ExtractStridedMetadataOp::create(*this, memory);
  Value start =
      memref::ExtractAlignedPointerAsIndexOp::create(*this, memory).getResult();
  SmallVector<IndexLike> distances = {
      plus(start, times(metadata.getConstifiedMixedOffset(), bytes))};
  for (OpFoldResult stride :
       ArrayRef(metadata.getConstifiedMixedStrides()).drop_back())
    distances.push_back(times(stride, bytes));
  Value all;
  for (IndexLike distance : distances)
    all = both(all, isEqual(remainder(distance, kLineBytes), 0));
  return all;
}

Value RotationKernel::canStream() {
  auto type = cast<MemRefType>(parts.init.getType());
  int64_t rowBytes = type.getShape().back() * getElementBytes(type);
  // What was just read is in the caches already.
  if (streamBytes == 0 || parts.init == parts.input ||
      rowBytes % kLineBytes != 0)
    return {};
  Value large = isLarge(parts.init);
  if (getConstantIntValue(large) == 0)
    return {};
  return both(large, hasWholeLines(parts.init));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

std::optional<unsigned> RotationKernel::findSharedDim() const {
  ArrayRef<int64_t> along = parts.rotary.getAlong();
  if (along.empty())
    return std::nullopt;
  int64_t last = *llvm::max_element(along);
  if (static_cast<int64_t>(along.size()) == last + 1)
    return std::nullopt;
  return last;
}

int64_t RotationKernel::getBlockRows() const {
  auto type = cast<MemRefType>(parts.table.getType());
  int64_t rowBytes = 2 * type.getShape().back() *
                     llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  return std::max<int64_t>(kTableBytes / rowBytes, 1);
}

void RotationKernel::compute() {
  Value can = canStream();
  if (!can)
    return computeAll();
  auto compute = [&](bool streaming) -> SmallVector<Value> {
    streams = streaming;
    computeAll();
    // Such writes are seen by others in no order unless they are told to wait.
    if (streaming)
      LLVM::FenceOp::create(*this, LLVM::AtomicOrdering::seq_cst, "");
    return {};
  };
  choose(
      can, {}, [&] { return compute(true); }, [&] { return compute(false); });
}

/// Some rows of the table stay in the first cache while all that they turn
/// pass. Past the caches, long runs through memory count for more: a few rows
/// that the same row of the table turns come one after the other.
std::optional<RotationKernel::Order> RotationKernel::chooseOrder() const {
  std::optional<unsigned> shared = findSharedDim();
  if (!shared)
    return std::nullopt;
  auto dims = llvm::to_vector(llvm::seq<unsigned>(rank - 1));
  if (!streams)
    return Order{*shared, getBlockRows(), dims};
  ArrayRef<int64_t> along = parts.rotary.getAlong();
  for (unsigned dim = *shared; dim-- > 0;) {
    if (llvm::is_contained(along, dim))
      continue;
    llvm::erase(dims, dim);
    dims.push_back(dim);
    return Order{dim, kStreams, dims};
  }
  return std::nullopt;
}

void RotationKernel::computeAll() {
  SmallVector<Range> ranges;
  for (unsigned dim = 0; dim + 1 < rank; ++dim)
    ranges.push_back({index(0), createOrFold<memref::DimOp>(
                                    parts.input, static_cast<int64_t>(dim))});
  SmallVector<Value> at(rank - 1);
  std::optional<Order> order = chooseOrder();
  if (!order)
    return loopOver(llvm::to_vector(llvm::seq<unsigned>(rank - 1)), ranges, at);
  Range whole = ranges[order->blockDim];
  std::optional<int64_t> extent = getConstantIntValue(whole.end);
  bool even = extent && *extent % order->size == 0;
  loop(whole.begin, whole.end, order->size, [&](Value first) {
    Value end = plus(first, order->size);
    ranges[order->blockDim] = {first, even ? end : lesser(end, whole.end)};
    loopOver(order->dims, ranges, at);
  });
}

void RotationKernel::loopOver(ArrayRef<unsigned> dims, ArrayRef<Range> ranges,
                              SmallVector<Value> &at) {
  if (dims.empty())
    return computeRow(at);
  const Range &range = ranges[dims.front()];
  loop(range.begin, range.end, 1, [&](Value i) {
    at[dims.front()] = i;
    loopOver(dims.drop_front(), ranges, at);
  });
}

/// Line by line, in order: the parts of one large vector would be stored in any
/// order.
void RotationKernel::streamRow(Value row, SmallVector<IndexLike> at) {
  auto type = cast<VectorType>(row.getType());
  int64_t perLine = kLineBytes * 8 / type.getElementTypeBitWidth();
  for (int64_t i = 0; i < type.getNumElements(); i += perLine) {
    Value line = vector::ExtractStridedSliceOp::create(
        *this, row, ArrayRef<int64_t>{i}, ArrayRef<int64_t>{perLine},
        ArrayRef<int64_t>{1});
    at.back() = i;
    vector::StoreOp::create(*this, line, parts.init, indices(at),
                            /*nontemporal=*/true, llvm::Align(kLineBytes));
  }
}

void RotationKernel::computeRow(ArrayRef<Value> at) {
  auto type = cast<MemRefType>(parts.input.getType());
  SmallVector<IndexLike> indices(at.begin(), at.end()), entry;
  for (int64_t dim : parts.rotary.getAlong())
    entry.push_back(at[dim]);
  indices.push_back(0);
  Value row = loadVector(parts.input, indices, type.getShape().back());
  Value turned =
      turnRow(*this, toF32(row), parts.rotary,
              loadTableRow(*this, parts.table, entry), parts.opposite);
  turned = fromF32(turned, getElementTypeOrSelf(parts.init.getType()));
  if (!streams)
    return storeVector(turned, parts.init, indices);
  streamRow(turned, indices);
}

static LogicalResult lowerRotation(Operation *op, int64_t streamBytes) {
  if (std::optional<std::string> obstacle = findRotationObstacle(op))
    return op->emitOpError() << "cannot have a plan: " << *obstacle;
  removeLastStrides(cast<DestinationStyleOpInterface>(op));
  OpBuilder builder(op);
  RotationKernel(*getRotationParts(op), streamBytes, op->getLoc(), builder)
      .compute();
  op->erase();
  return success();
}

namespace {
struct RotationToVectorPass
    : rope::impl::RotationToVectorPassBase<RotationToVectorPass> {
  using RotationToVectorPassBase::RotationToVectorPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (getRotationParts(op) && op->hasAttr(kPlanAttrName) &&
          cast<DestinationStyleOpInterface>(op).hasPureBufferSemantics())
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(lowerRotation(op, streamBytes)))
        return signalPassFailure();
  }
};
} // namespace
