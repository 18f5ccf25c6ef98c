//===- LinearPlan.h - How linear attention becomes vector code --*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_CODEGEN_CPU_LINEARPLAN_H
#define ROPE_LIB_CODEGEN_CPU_LINEARPLAN_H

#include "rope/CodeGen/CPU/Attention.h"

namespace mlir::rope::cpu {

/// Why vector code cannot do a linear attention, whatever memory its operands
/// are in; nullopt if it can.
std::optional<std::string> findOperandObstacle(LinearAttentionOp op);

/// Completes a plan, which may be null.
CPUPlanAttr chooseLinearPlan(LinearAttentionOp op, CPUPlanAttr given,
                             const CPUTarget &target);

} // namespace mlir::rope::cpu

#endif // ROPE_LIB_CODEGEN_CPU_LINEARPLAN_H
