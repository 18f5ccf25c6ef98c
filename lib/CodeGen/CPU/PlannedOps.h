//===- PlannedOps.h - Ops with a plan become functions ----------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_CODEGEN_CPU_PLANNEDOPS_H
#define ROPE_LIB_CODEGEN_CPU_PLANNEDOPS_H

#include "Obstacles.h"
#include "Outliner.h"
#include "UnitStrides.h"

namespace mlir::rope::cpu {

template <typename KernelTy, typename OpTy>
LogicalResult lowerPlanned(OpTy op, Outliner &outliner, bool threads,
                           function_ref<LogicalResult(KernelTy &)> compute) {
  if (failed(checkPlanned(op)))
    return failure();
  removeLastStrides(op);
  auto inside = cast_or_null<OpTy>(outliner.outline(op));
  if (!inside)
    return success();
  OpBuilder builder(inside);
  KernelTy kernel(inside,
                  inside->template getAttrOfType<CPUPlanAttr>(kPlanAttrName),
                  builder);
  kernel.threads = threads;
  if (failed(compute(kernel)) ||
      failed(checkStack(inside, kernel.reservedBytes)))
    return failure();
  inside.erase();
  return success();
}

/// Puts all ops of a kind on memrefs that have a plan into functions of a name,
/// and lets `compute` write the code of each. Fails, after a diagnostic, for a
/// plan that cannot be carried out.
template <typename OpTy, typename KernelTy>
LogicalResult lowerAllPlanned(ModuleOp module, StringRef name, bool threads,
                              LogicalResult (*compute)(KernelTy &)) {
  SmallVector<OpTy> ops;
  module.walk([&](OpTy op) {
    if (op->hasAttr(kPlanAttrName) && op.hasPureBufferSemantics())
      ops.push_back(op);
  });
  Outliner outliner(name);
  for (OpTy op : ops)
    if (failed(lowerPlanned<KernelTy>(op, outliner, threads, compute)))
      return failure();
  return success();
}

} // namespace mlir::rope::cpu

#endif // ROPE_LIB_CODEGEN_CPU_PLANNEDOPS_H
