//===- AttentionModel.h - How attention is cut ------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The TilingModel of all attention-like ops. Their loops are b, h, g, m, and n
// where keys may be cut; channels are always whole.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_IR_TILING_ATTENTIONMODEL_H
#define ROPE_LIB_IR_TILING_ATTENTIONMODEL_H

#include "TilingModel.h"
#include "rope/IR/Rope.h"

namespace mlir::rope {

/// The number of a loop: dims of the domain stand in its order.
constexpr unsigned getLoop(DomainDim dim) { return static_cast<unsigned>(dim); }

class AttentionModel : public TilingModel {
public:
  /// `loops` counts the dims of the domain that are loops; others are whole in
  /// every tile. `keysFollowRows`: key n belongs to the tile of row m = n.
  AttentionModel(AttentionLikeOpInterface op, unsigned loops,
                 bool keysFollowRows = false);

  int64_t getStaticExtent(unsigned dim) override;
  OpFoldResult getExtent(OpBuilder &builder, unsigned dim) override;

protected:
  AttentionLikeOpInterface attention;
};

/// Adapts the positions of an op with softmax over a tile of rows and keys.
void shiftPositions(OpBuilder &builder, Operation *tiled, TilingModel &model,
                    const Tile &tile);

/// Positions or lengths that shiftPositions would have to change, but cannot.
Obstacle findFixedPositions(AttentionLikeOpInterface op, ArrayRef<Part> parts);

} // namespace mlir::rope

#endif // ROPE_LIB_IR_TILING_ATTENTIONMODEL_H
