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

namespace {
/// The loops of one rotation.
class RotationKernel : public KernelBuilder {
public:
  RotationKernel(const RotationParts &parts, Location loc, OpBuilder &builder)
      // Rows are whole vectors, however many lanes a register has.
      : KernelBuilder(loc, builder, /*lanes=*/1), parts(parts),
        rank(cast<MemRefType>(parts.input.getType()).getRank()) {}

  void compute();

private:
  struct Range {
    Value begin, end;
  };

  /// The last dim that the table follows, if dims around it share the table.
  std::optional<unsigned> findSharedDim() const;
  int64_t getBlockRows() const;
  /// Loops over all leading dims from `dim` on.
  void loopOver(unsigned dim, ArrayRef<Range> ranges, SmallVector<Value> &at);
  void computeRow(ArrayRef<Value> at);

  RotationParts parts;
  unsigned rank;
};
} // namespace

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
  SmallVector<Range> ranges;
  for (unsigned dim = 0; dim + 1 < rank; ++dim)
    ranges.push_back({index(0), createOrFold<memref::DimOp>(
                                    parts.input, static_cast<int64_t>(dim))});
  SmallVector<Value> at(rank - 1);
  std::optional<unsigned> shared = findSharedDim();
  if (!shared)
    return loopOver(0, ranges, at);
  Range whole = ranges[*shared];
  int64_t rows = getBlockRows();
  loop(whole.begin, whole.end, rows, [&](Value first) {
    ranges[*shared] = {first, lesser(plus(first, rows), whole.end)};
    loopOver(0, ranges, at);
  });
}

void RotationKernel::loopOver(unsigned dim, ArrayRef<Range> ranges,
                              SmallVector<Value> &at) {
  if (dim + 1 == rank)
    return computeRow(at);
  loop(ranges[dim].begin, ranges[dim].end, 1, [&](Value i) {
    at[dim] = i;
    loopOver(dim + 1, ranges, at);
  });
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
  storeVector(fromF32(turned, type.getElementType()), parts.init, indices);
}

static LogicalResult lowerRotation(Operation *op) {
  if (std::optional<std::string> obstacle = findRotationObstacle(op))
    return op->emitOpError() << "cannot have a plan: " << *obstacle;
  removeLastStrides(cast<DestinationStyleOpInterface>(op));
  OpBuilder builder(op);
  RotationKernel(*getRotationParts(op), op->getLoc(), builder).compute();
  op->erase();
  return success();
}

namespace {
struct RotationToVectorPass
    : rope::impl::RotationToVectorPassBase<RotationToVectorPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (getRotationParts(op) && op->hasAttr(kPlanAttrName) &&
          cast<DestinationStyleOpInterface>(op).hasPureBufferSemantics())
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(lowerRotation(op)))
        return signalPassFailure();
  }
};
} // namespace
