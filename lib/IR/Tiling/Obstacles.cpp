//===- Obstacles.cpp - Tiles that an op does not have ---------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Why an op cannot be cut in some way: known from how much of each dim a tile
// has, before any IR is made.
//
//===----------------------------------------------------------------------===//

#include "TilingModel.h"
#include "rope/IR/Tiling.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::rope;

static bool holds(const OperandDims &dims, unsigned dim) {
  return llvm::any_of(dims, [&](ArrayRef<unsigned> held) {
    return llvm::is_contained(held, dim);
  });
}

/// Two tiles that would write the same part of a result at the same time, or
/// over each other.
static Obstacle findOverlap(TilingModel &model, ArrayRef<Part> parts,
                            bool parallel) {
  for (auto [dim, part] : llvm::enumerate(parts)) {
    std::string along =
        "cannot be tiled along dim " + std::to_string(dim) + " of its domain";
    if (part.whole)
      continue;
    if (model.iterators[dim] != utils::IteratorType::parallel) {
      if (parallel)
        return along + " by a parallel loop: each tile reads what the one "
                       "before it has written";
      continue;
    }
    for (OpOperand &init : model.op.getDpsInitsMutable())
      if (!holds(model.operands[init.getOperandNumber()], dim))
        return along + ": all tiles would write to the same init " +
               std::to_string(init.getOperandNumber() -
                              model.op.getNumDpsInputs());
  }
  return std::nullopt;
}

/// A dim of an operand that holds two dims, of which a tile is not one piece.
static Obstacle findPieces(TilingModel &model, ArrayRef<Part> parts) {
  for (auto [i, dims] : llvm::enumerate(model.operands))
    for (ArrayRef<unsigned> held : dims)
      if (held.size() == 2 && !parts[held[0]].single && !parts[held[1]].whole)
        return "cannot be tiled: the tile of operand " + std::to_string(i) +
               " would not be one piece; of a dim that holds two, either one "
               "of the outer or all of the inner must be taken";
  return std::nullopt;
}

bool rope::hasEmptyOperand(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && llvm::is_contained(shaped.getShape(), 0);
  });
}

Obstacle TilingModel::findObstacle(ArrayRef<Part> parts, bool parallel) {
  // Upstream takes the offset 0 of a dim of extent 0 to be out of bounds.
  if (hasEmptyOperand(op) &&
      !llvm::all_of(parts, [](Part part) { return part.whole; }))
    return "cannot be tiled: nothing can be sliced of an empty operand";
  if (Obstacle overlap = findOverlap(*this, parts, parallel))
    return overlap;
  if (Obstacle pieces = findPieces(*this, parts))
    return pieces;
  return findOwnObstacle(parts);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

LogicalResult rope::verifyTileSizes(Operation *op,
                                    MutableArrayRef<int64_t> sizes) {
  if (hasEmptyOperand(op)) {
    llvm::fill(sizes, 0);
    return success();
  }
  std::unique_ptr<TilingModel> model = createTilingModel(op);
  SmallVector<Part> parts;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    int64_t extent = model->getStaticExtent(dim);
    if (!ShapedType::isDynamic(extent) && size >= extent)
      size = 0;
    parts.push_back({size == 0, size == 1 || extent == 1});
  }
  if (Obstacle obstacle = model->findObstacle(parts, /*parallel=*/false))
    return op->emitOpError(*obstacle);
  return success();
}
