//===- LinearAttention.cpp - Tiling of linear attention -------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TilingInterface of rope.linear_attention, over b, h, g and m. Rows are
// independent of each other if they see all keys. Causal rows run in chunks,
// one after the other: a chunk has the keys of its own rows, and the carried
// states stand for those before.
//
//===----------------------------------------------------------------------===//

#include "AttentionModel.h"

using namespace mlir;
using namespace mlir::rope;

namespace {
class LinearModel : public AttentionModel {
public:
  explicit LinearModel(LinearAttentionOp op)
      : AttentionModel(op, getLoop(DomainDim::M) + 1,
                       /*keysFollowRows=*/op.getCausal()),
        carried(op.getInits().size() > 1), causal(op.getCausal()) {
    if (causal || carried)
      iterators.back() = utils::IteratorType::reduction;
  }

protected:
  Obstacle findOwnObstacle(ArrayRef<Part> parts) override {
    if (causal == carried || parts[getLoop(DomainDim::M)].whole)
      return std::nullopt;
    if (causal)
      return "cannot be tiled along its rows: causal rows need the states "
             "carried between tiles as inits";
    return "cannot be tiled along its rows: each tile would add all keys to "
           "the states once more";
  }

private:
  bool carried;
  bool causal;
};
} // namespace

ROPE_DEFINE_TILING(LinearAttentionOp, LinearModel)
