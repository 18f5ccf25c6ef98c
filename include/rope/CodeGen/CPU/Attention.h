//===- Attention.h - Attention as vector code for CPUs ----------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plan of an attention, and the code that it describes.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_CODEGEN_CPU_ATTENTION_H
#define ROPE_CODEGEN_CPU_ATTENTION_H

#include "mlir/IR/BuiltinOps.h"
#include "rope/IR/Rope.h"

namespace mlir::rope {

/// What a plan depends on of the machine that the code will run on.
struct CPUTarget {
  /// f32 in a vector register, and the number of these.
  int64_t lanes = 16, registers = 32;
  /// Bytes of the first data cache.
  int64_t cacheBytes = 32768;
  /// Whether a register can be looked up by the elements of another (AVX-512).
  bool lookup = false;
  /// Whether pairs of bf16 can be multiplied at a time (AVX512-BF16), and
  /// whether attention may round to bf16 for that.
  bool dots = false, relaxedBF16 = false;
};

/// Why vector code cannot do an attention, for a reader; nullopt if it can.
std::optional<std::string> findCPUObstacle(AttentionOp op);

/// Completes a plan: what it leaves open is chosen for the op, which has no
/// obstacle, and the target. `given` may be null; whether its numbers fit the
/// op is looked at where the plan is carried out.
CPUPlanAttr chooseCPUPlan(AttentionOp op, CPUPlanAttr given,
                          const CPUTarget &target);

/// Replaces attentions on memrefs that have a plan by calls of functions of
/// vector code, which it adds to the module; with `threads`, OpenMP shares
/// heads, and rows or keys of these, among threads. Fails, after a diagnostic,
/// for a plan that is not complete or does not fit its op, and with `threads`
/// for a module that has something else by the name of a function of OpenMP.
LogicalResult lowerAttentionToVector(ModuleOp module, bool threads = false);

} // namespace mlir::rope

#endif // ROPE_CODEGEN_CPU_ATTENTION_H
