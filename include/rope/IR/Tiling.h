//===- Tiling.h - What can be asked of tiles beforehand ---------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TilingInterface fails without a word where an op has no such tile, as fusion
// tries tiles. Who asks for sizes can have the reason here.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_IR_TILING_H
#define ROPE_IR_TILING_H

#include "mlir/IR/Operation.h"

namespace mlir::rope {

/// Emits an error if an op of the dialect cannot be cut into tiles of these
/// sizes, one for each loop and 0 for all of it. Sizes that cut nothing become
/// 0, as do all of an op with an empty operand.
LogicalResult verifyTileSizes(Operation *op, MutableArrayRef<int64_t> sizes);

/// Whether an operand has a dim of static extent 0. Such an op has no tiles.
bool hasEmptyOperand(Operation *op);

} // namespace mlir::rope

#endif // ROPE_IR_TILING_H
