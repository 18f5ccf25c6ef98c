//===- Attention.cpp - Tiling of attention with softmax -------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TilingInterface of rope.attention, over b, h, g and m, and of
// rope.online_attention, which also reduces over n.
//
//===----------------------------------------------------------------------===//

#include "AttentionModel.h"

using namespace mlir;
using namespace mlir::rope;

namespace {
class SoftmaxModel : public AttentionModel {
public:
  using AttentionModel::AttentionModel;

  void adjust(OpBuilder &builder, Operation *tiled, const Tile &tile) override {
    shiftPositions(builder, tiled, *this, tile);
  }

protected:
  Obstacle findOwnObstacle(ArrayRef<Part> parts) override {
    return findFixedPositions(attention, parts);
  }
};

class FullModel : public SoftmaxModel {
public:
  explicit FullModel(AttentionOp op)
      : SoftmaxModel(op, getLoop(DomainDim::M) + 1) {}
};

class OnlineModel : public SoftmaxModel {
public:
  explicit OnlineModel(OnlineAttentionOp op)
      : SoftmaxModel(op, getLoop(DomainDim::N) + 1) {
    iterators.back() = utils::IteratorType::reduction;
  }
};
} // namespace

ROPE_DEFINE_TILING(AttentionOp, FullModel)
ROPE_DEFINE_TILING(OnlineAttentionOp, OnlineModel)
