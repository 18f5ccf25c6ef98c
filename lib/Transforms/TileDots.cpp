//===- TileDots.cpp - Matrix products of few rows, summed in lanes --------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgTiles.h"
#include "PairPanels.h"
#include "ProductPanels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::rope;
using linalg::GenericOp;

// The tile of sums, at most.
static constexpr int64_t kMaxRowsOfDots = 4;
static constexpr int64_t kColumnsOfDots = 4;

// Lets products enter sums unrounded, as vector.contract does.
static void fuseMultiplyAdds(GenericOp op) {
  for (Operation &nested : *op.getBody()) {
    if (!isa<arith::MulFOp, arith::AddFOp>(nested))
      continue;
    auto math = cast<arith::ArithFastMathInterface>(nested);
    auto flags =
        math.getFastMathFlagsAttr().getValue() | arith::FastMathFlags::contract;
    nested.setAttr(math.getFastMathAttrName(),
                   arith::FastMathFlagsAttr::get(op.getContext(), flags));
  }
}

void rope::tileDots(RewriterBase &rewriter, GenericOp op, Roles roles,
                    const VectorTarget &target) {
  fuseMultiplyAdds(op);
  op = tileToUnits(rewriter, op, roles.outer);
  op = dropUnits(rewriter, op, roles.outer);
  roles = *assignRoles(op);
  bool pairs = target.dots && canSumPairs(op, roles);
  int64_t extent = roles.row ? op.getStaticLoopRanges()[*roles.row] : 1;
  int64_t rows =
      llvm::divideCeil(extent, llvm::divideCeil(extent, kMaxRowsOfDots));
  auto sum = [&](GenericOp tile) {
    int64_t sums = rows * tile.getStaticLoopRanges()[roles.lane];
    int64_t vectors = std::clamp<int64_t>(target.registers / 2 / sums, 1, 4);
    if (pairs)
      return sumPairsInLanes(rewriter, tile, roles, target.lanes, vectors);
    SmallVector<unsigned> whole = {roles.lane};
    if (roles.row)
      whole.push_back(*roles.row);
    reduceInLanes(rewriter, tile, roles.steps.back(), vectors * target.lanes,
                  whole);
  };
  forEachPiece(rewriter, op, roles.lane, kColumnsOfDots, [&](GenericOp strip) {
    if (roles.row)
      forEachPiece(rewriter, strip, *roles.row, rows, sum);
    else
      sum(strip);
  });
}
