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

#include "Obstacles.h"
#include "RotationParts.h"
#include "RowRotation.h"
#include "UnitStrides.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
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
/// Bytes that are worth the call of a team of threads, and those of a task.
static constexpr int64_t kManyBytes = 1 << 18;
static constexpr int64_t kTaskBytes = 1 << 16;

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
    /// How many there are, if so few that they stand one after the other.
    int64_t written = 0;
  };

  Value getBytes(Value memory);
  /// Whether each row of some memory is whole lines of the cache.
  Value hasWholeLines(Value memory);
  /// Whether rows may be written past the caches; null if they never may.
  Value canStream();
  void computeAll();
  void settle();

  /// Blocks of one dim, and the order of the dims within.
  struct Order {
    unsigned blockDim;
    int64_t size;
    SmallVector<unsigned> dims;
    /// Whether whole blocks stand one index after the other.
    bool written = false;
  };
  /// The last dim that the table follows, if dims around it share the table.
  std::optional<unsigned> findSharedDim() const;
  int64_t getBlockRows() const;
  SmallVector<unsigned> getDims() const;
  std::optional<Order> chooseOrder() const;
  /// Pieces of another dim, so that there is a task for every thread.
  struct Cut {
    unsigned dim;
    int64_t size;
  };
  std::optional<Cut> chooseCut(const Order &order) const;
  /// Bytes of the result for one index of each of these dims, as far as the
  /// other extents are known.
  int64_t getInnerBytes(ArrayRef<unsigned> outer) const;
  int64_t getTaskSize(int64_t bytes) const {
    return std::max<int64_t>(kTaskBytes / std::max<int64_t>(bytes, 1), 1);
  }
  void computeBlocks(const Order &order, SmallVector<Range> &ranges);
  /// The block of a dim from `first` on.
  Range getBlock(const Range &whole, Value first, int64_t size);
  static bool endsEarly(const Range &whole, int64_t size);
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

Value RotationKernel::getBytes(Value memory) {
  Value bytes = index(getElementBytes(cast<MemRefType>(memory.getType())));
  for (unsigned dim = 0; dim < rank; ++dim)
    bytes = times(bytes, createOrFold<memref::DimOp>(memory, dim));
  return bytes;
}

Value RotationKernel::hasWholeLines(Value memory) {
  auto type = cast<MemRefType>(memory.getType());
  int64_t bytes = getElementBytes(type);
  auto metadata = memref::ExtractStridedMetadataOp::create(*this, memory);
  Value start =
      memref::ExtractAlignedPointerAsIndexOp::create(*this, memory).getResult();
  SmallVector<IndexLike> distances = {
      plus(start, times(metadata.getConstifiedMixedOffset(), bytes))};
  SmallVector<OpFoldResult> strides = metadata.getConstifiedMixedStrides();
  for (OpFoldResult stride : ArrayRef(strides).drop_back())
    distances.push_back(times(stride, bytes));
  Value all;
  for (IndexLike distance : distances)
    all = both(all, isEqual(remainder(distance, kLineBytes), 0));
  return all;
}

Value RotationKernel::canStream() {
  // The init may leave open how many channels there are.
  int64_t channels = cast<MemRefType>(parts.input.getType()).getShape().back();
  int64_t rowBytes =
      channels * getElementBytes(cast<MemRefType>(parts.init.getType()));
  // What was just read is in the caches already.
  if (streamBytes == 0 || parts.init == parts.input ||
      rowBytes % kLineBytes != 0)
    return {};
  Value large = isLess(streamBytes - 1, getBytes(parts.init));
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
  int64_t rowBytes = 2 * type.getShape().back() * getElementBytes(type);
  return std::max<int64_t>(kTableBytes / rowBytes, 1);
}

void RotationKernel::compute() {
  Value can = canStream();
  if (!can)
    return computeAll();
  auto compute = [&](bool streaming) -> SmallVector<Value> {
    streams = streaming;
    computeAll();
    return {};
  };
  choose(
      can, {}, [&] { return compute(true); }, [&] { return compute(false); });
}

/// What is written past the caches is seen by others in no order before this.
void RotationKernel::settle() {
  if (streams)
    LLVM::FenceOp::create(*this, LLVM::AtomicOrdering::seq_cst, "");
}

SmallVector<unsigned> RotationKernel::getDims() const {
  return llvm::to_vector(llvm::seq<unsigned>(rank - 1));
}

/// Some rows of the table stay in the first cache while all that they turn
/// pass. Past the caches, long runs through memory count for more: a few rows
/// that the same row of the table turns come one after the other. Else there is
/// nothing to keep, and the first dim is as good as any to share.
std::optional<RotationKernel::Order> RotationKernel::chooseOrder() const {
  SmallVector<unsigned> dims = getDims();
  std::optional<unsigned> shared = findSharedDim();
  if (shared && !streams)
    return Order{*shared, getBlockRows(), dims};
  ArrayRef<int64_t> along = parts.rotary.getAlong();
  for (unsigned dim = shared.value_or(0); dim-- > 0;) {
    if (llvm::is_contained(along, dim))
      continue;
    llvm::erase(dims, dim);
    dims.push_back(dim);
    return Order{dim, kStreams, dims, /*written=*/streams};
  }
  auto type = cast<MemRefType>(parts.input.getType());
  auto *first = llvm::find_if(
      dims, [&](unsigned dim) { return type.getDimSize(dim) != 1; });
  if (first == dims.end() || !threads)
    return std::nullopt;
  return Order{*first, getTaskSize(getInnerBytes(*first)), dims};
}

int64_t RotationKernel::getInnerBytes(ArrayRef<unsigned> outer) const {
  auto type = cast<MemRefType>(parts.input.getType());
  int64_t bytes = type.getShape().back() *
                  getElementBytes(cast<MemRefType>(parts.init.getType()));
  for (unsigned dim : getDims())
    if (!type.isDynamicDim(dim) && !llvm::is_contained(outer, dim))
      bytes *= type.getDimSize(dim);
  return bytes;
}

std::optional<RotationKernel::Cut>
RotationKernel::chooseCut(const Order &order) const {
  auto type = cast<MemRefType>(parts.input.getType());
  for (unsigned dim : order.dims) {
    if (dim == order.blockDim || type.getDimSize(dim) == 1)
      continue;
    int64_t rows = order.size;
    if (!type.isDynamicDim(order.blockDim))
      rows = std::min(rows, type.getDimSize(order.blockDim));
    int64_t size = getTaskSize(rows * getInnerBytes({order.blockDim, dim}));
    if (type.isDynamicDim(dim) || type.getDimSize(dim) > size)
      return Cut{dim, size};
    return std::nullopt;
  }
  return std::nullopt;
}

void RotationKernel::computeAll() {
  SmallVector<Range> ranges;
  for (unsigned dim = 0; dim + 1 < rank; ++dim)
    ranges.push_back({index(0), createOrFold<memref::DimOp>(
                                    parts.input, static_cast<int64_t>(dim))});
  if (std::optional<Order> order = chooseOrder())
    return computeBlocks(*order, ranges);
  SmallVector<Value> at(rank - 1);
  loopOver(getDims(), ranges, at);
  settle();
}

void RotationKernel::computeBlocks(const Order &order,
                                   SmallVector<Range> &ranges) {
  SmallVector<Value> at(rank - 1);
  auto member = [&](function_ref<void()> loop) {
    loop();
    settle();
  };
  Value pays = isLess(kManyBytes - 1, getBytes(parts.init));
  Range whole = ranges[order.blockDim];
  auto computeBlock = [&](Value first) {
    ranges[order.blockDim] = getBlock(whole, first, order.size);
    if (order.written && !endsEarly(whole, order.size))
      ranges[order.blockDim].written = order.size;
    loopOver(order.dims, ranges, at);
  };
  std::optional<Cut> cut = threads ? chooseCut(order) : std::nullopt;
  if (!cut)
    return share(whole.end, order.size, pays, member, computeBlock);
  Range other = ranges[cut->dim];
  Value pieces = quotientUp(other.end, cut->size);
  Value tasks = times(quotientUp(whole.end, order.size), pieces);
  share(tasks, 1, pays, member, [&](Value task) {
    Value first = times(remainder(task, pieces), cut->size);
    ranges[cut->dim] = getBlock(other, first, cut->size);
    computeBlock(times(quotient(task, pieces), order.size));
  });
}

/// Whether the last of the blocks may be smaller than the others.
bool RotationKernel::endsEarly(const Range &whole, int64_t size) {
  std::optional<int64_t> extent = getConstantIntValue(whole.end);
  return !extent || *extent % size != 0;
}

RotationKernel::Range RotationKernel::getBlock(const Range &whole, Value first,
                                               int64_t size) {
  Value end = plus(first, size);
  return {first, endsEarly(whole, size) ? lesser(end, whole.end) : end};
}

void RotationKernel::loopOver(ArrayRef<unsigned> dims, ArrayRef<Range> ranges,
                              SmallVector<Value> &at) {
  if (dims.empty())
    return computeRow(at);
  const Range &range = ranges[dims.front()];
  auto body = [&](Value i) {
    at[dims.front()] = i;
    loopOver(dims.drop_front(), ranges, at);
  };
  if (!range.written)
    return loop(range.begin, range.end, 1, body);
  for (int64_t i = 0; i < range.written; ++i)
    body(plus(range.begin, i));
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

static LogicalResult lowerRotation(Operation *op, int64_t streamBytes,
                                   bool threads) {
  auto dpsOp = cast<DestinationStyleOpInterface>(op);
  if (failed(checkPlanned(dpsOp)))
    return failure();
  removeLastStrides(dpsOp);
  OpBuilder builder(op);
  RotationKernel kernel(*getRotationParts(op), streamBytes, op->getLoc(),
                        builder);
  kernel.threads = threads;
  kernel.compute();
  op->erase();
  return success();
}

namespace {
struct RotationToVectorPass
    : rope::impl::RotationToVectorPassBase<RotationToVectorPass> {
  using RotationToVectorPassBase::RotationToVectorPassBase;

  void runOnOperation() override {
    if (streamBytes < 0) {
      emitError(getOperation()->getLoc())
          << "rope-rotation-to-vector: stream-bytes must not be negative, got "
          << streamBytes.getValue();
      return signalPassFailure();
    }
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (getRotationParts(op) && op->hasAttr(kPlanAttrName) &&
          cast<DestinationStyleOpInterface>(op).hasPureBufferSemantics())
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(lowerRotation(op, streamBytes, threads)))
        return signalPassFailure();
  }
};
} // namespace
