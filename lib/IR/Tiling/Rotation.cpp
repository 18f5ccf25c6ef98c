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

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::rope;

namespace {
class RotationModel : public TilingModel {
public:
  template <typename OpTy>
  explicit RotationModel(OpTy op) : TilingModel(op), input(op.getInput()) {
    unsigned lead = cast<ShapedType>(input.getType()).getRank() - 1;
    iterators.assign(lead, utils::IteratorType::parallel);
    OperandDims dims;
    for (unsigned i = 0; i < lead; ++i)
      dims.push_back({i});
    dims.emplace_back();
    OperandDims table;
    for (int64_t dim : op.getRotary().getAlong())
      table.push_back({static_cast<unsigned>(dim)});
    table.resize(table.size() + 2);
    operands = {dims, table, dims};
  }

  int64_t getStaticExtent(unsigned dim) override {
    return cast<ShapedType>(input.getType()).getDimSize(dim);
  }
  OpFoldResult getExtent(OpBuilder &builder, unsigned dim) override {
    if (isa<MemRefType>(input.getType()))
      return memref::getMixedSize(builder, op.getLoc(), input, dim);
    return tensor::getMixedSize(builder, op.getLoc(), input, dim);
  }

private:
  Value input;
};
} // namespace

ROPE_DEFINE_TILING(RotateOp, RotationModel)
ROPE_DEFINE_TILING(RerotateOp, RotationModel)
