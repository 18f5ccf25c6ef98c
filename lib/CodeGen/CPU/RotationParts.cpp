//===- RotationParts.cpp - rope.rotate and rope.rerotate alike ------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RotationParts.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

/// A row is unrolled into registers.
static constexpr int64_t kMaxChannels = 512;

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

std::optional<std::string> cpu::findWidthObstacle(int64_t channels) {
  if (channels >= 1 && channels <= kMaxChannels)
    return std::nullopt;
  return (Twine(channels) + " channels, vectors have 1 to " +
          Twine(kMaxChannels))
      .str();
}

std::optional<std::string> cpu::findRotationObstacle(Operation *op) {
  RotationParts parts = *getRotationParts(op);
  for (auto [operand, name] :
       {std::pair(parts.input, "input"), {parts.table, "table"}})
    if (getElementTypeOrSelf(operand).isF64())
      return (Twine(name) + " is f64, vectors are f32").str();
  int64_t channels = cast<ShapedType>(parts.input.getType()).getShape().back();
  if (std::optional<std::string> obstacle = findWidthObstacle(channels))
    return obstacle;
  if (cast<ShapedType>(parts.table.getType()).getShape().back() == 0)
    return "no pair is turned";
  return std::nullopt;
}
