//===- RotationParts.cpp - rope.rotate and rope.rerotate alike ------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RotationParts.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

std::optional<RotationParts> cpu::getRotationParts(Operation *op) {
  auto get = [](auto rotation, bool opposite) -> RotationParts {
    return {rotation.getInput(), rotation.getTable(), rotation.getInit(),
            rotation.getRotary(), opposite};
  };
  if (auto rotate = dyn_cast<RotateOp>(op))
    return get(rotate, /*opposite=*/false);
  if (auto rerotate = dyn_cast<RerotateOp>(op))
    return get(rerotate, /*opposite=*/true);
  return std::nullopt;
}
