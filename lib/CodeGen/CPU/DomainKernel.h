//===- DomainKernel.h - Kernels over the domain of attention ----*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What kernels of attention and of linear attention share: the extents of the
// domain, and how operands of any layout are indexed, loaded and stored.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_CODEGEN_CPU_DOMAINKERNEL_H
#define ROPE_LIB_CODEGEN_CPU_DOMAINKERNEL_H

#include "KernelBuilder.h"
#include "rope/IR/Rope.h"

namespace mlir::rope::cpu {

/// The domain's coordinates of something; those that do not matter are null.
struct Coordinates {
  Value b, h, g, m, n;
  /// The channel of keys whose row of value channels something is.
  Value d = {};
};

struct DomainKernel : KernelBuilder {
  DomainKernel(AttentionLikeOpInterface op, int64_t lanes, OpBuilder &builder);

  AttentionLikeOpInterface domain;

  /// Channels of queries and of values.
  int64_t channels, valueChannels;
  /// Extents of the domain.
  Value numBatches, numHeads, numGroups, numPositions, numKeys;

  /// Products of a query and a key that are worth the call of a team.
  int64_t manyProducts = 1 << 14;
  /// Whether there are that many.
  Value paysForTeam();

  Value getOperand(OperandRole role) { return domain.getRoleOperand(role); }
  Type getElementType(OperandRole role);
  /// The indices of an element of a role's operand. Channels start at
  /// `channel`.
  SmallVector<IndexLike> getIndices(OperandRole role, const Coordinates &at,
                                    IndexLike channel = 0);
  /// What one dim is indexed by.
  Value getDimIndex(const DimLabel &label, const Coordinates &at);

  /// Calls `body` for each batch and key-value head, and for each of `parts`
  /// (at least 1) of these; threads share them as `share` says, where there is
  /// much to do. Without `threads` there is one part.
  void forEachHead(Value parts,
                   function_ref<void(function_ref<void()> loop)> member,
                   function_ref<void(Value b, Value h, Value part)> body);
};

/// All channels of an operand at `at` in one vector of f32, as they are stored.
Value loadStoredRow(DomainKernel &k, OperandRole role, const Coordinates &at);
/// The same, rotated if the op says so.
Value loadRow(DomainKernel &k, OperandRole role, const Coordinates &at);
/// Stores all channels of an operand at `at`, rounded to its type.
void storeRow(DomainKernel &k, Value row, OperandRole role,
              const Coordinates &at);
/// Asks the caches for all lines of the row at `at`, which must exist.
void prefetchRow(DomainKernel &k, OperandRole role, const Coordinates &at);
/// Rotates all channels of a row, in f32, as the role's operand at `at` is;
/// returns it as it is if that has no rotation.
Value rotateRow(DomainKernel &k, Value row, OperandRole role,
                const Coordinates &at);

} // namespace mlir::rope::cpu

#endif // ROPE_LIB_CODEGEN_CPU_DOMAINKERNEL_H
