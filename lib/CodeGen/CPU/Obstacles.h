//===- Obstacles.h - What vector code can do --------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of attention, linear attention and rotations, and of plans for them.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_CODEGEN_CPU_OBSTACLES_H
#define ROPE_LIB_CODEGEN_CPU_OBSTACLES_H

#include "rope/IR/Rope.h"

namespace mlir::rope::cpu {

/// Why vector code cannot do an op, whatever memory its operands are in;
/// nullopt if it can.
std::optional<std::string> findOperandObstacle(Operation *op);

/// Why it cannot because of operands that share memory, by a function that says
/// whether two memrefs do.
std::optional<std::string>
findMemoryObstacle(DestinationStyleOpInterface op,
                   function_ref<bool(Value, Value)> shareMemory);

/// Vectors of sums of a register tile, which is unrolled: at most twice what
/// registers hold.
constexpr int64_t kMostSums = 64;

/// Whether products of pairs of bf16 can be taken of an attention.
bool takesDots(AttentionOp op, int64_t lanes);

/// Whether an op can be done as its plan says; a diagnostic if not.
LogicalResult checkPlan(Operation *op);

/// The same for an op on memrefs that becomes vector code now. Memrefs that
/// are not one value are taken to be apart: bufferization sees to it, and hides
/// from an analysis that they are.
LogicalResult checkPlanned(DestinationStyleOpInterface op);

/// Whether a stack has room for the memory of a kernel; a diagnostic if not.
LogicalResult checkStack(Operation *op, int64_t bytes);

} // namespace mlir::rope::cpu

#endif // ROPE_LIB_CODEGEN_CPU_OBSTACLES_H
