//===- Rotation.cpp - Tiling of rotations ---------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TilingInterface of rope.rotate and rope.rerotate. The domain is all dims but
// the channels, which a pair may span; the table is cut along the dims that it
// follows.
//
//===----------------------------------------------------------------------===//

#include "TilingModel.h"
#include "rope/IR/Rope.h"

using namespace mlir;
using namespace mlir::rope;

namespace {
class RotationModel : public LeadingDimsModel {
public:
  template <typename OpTy>
  explicit RotationModel(OpTy op)
      : LeadingDimsModel(op, op.getInput(), getLead(op.getInput())) {
    OperandDims dims;
    for (unsigned i = 0; i < iterators.size(); ++i)
      dims.push_back({i});
    dims.emplace_back();
    OperandDims table;
    for (int64_t dim : op.getRotary().getAlong())
      table.push_back({static_cast<unsigned>(dim)});
    table.resize(table.size() + 2);
    operands = {dims, table, dims};
  }

private:
  static unsigned getLead(Value input) {
    return cast<ShapedType>(input.getType()).getRank() - 1;
  }
};
} // namespace

ROPE_DEFINE_TILING(RotateOp, RotationModel)
ROPE_DEFINE_TILING(RerotateOp, RotationModel)
