//===- AttentionDomain.h - The domain of attention --------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention runs over the domain (b, h, g, m, n, d, e). Each operand has a
// role, and its dims are labelled by dims of the domain.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_IR_ATTENTIONDOMAIN_H
#define ROPE_IR_ATTENTIONDOMAIN_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OperationSupport.h"

namespace mlir::rope {

class AttentionLikeOpInterface;
class RotaryAttr;

/// A dim of the domain: batch, key-value head, query head within one key-value
/// head, query row, key row, channel of query and key, channel of value.
enum class DomainDim { B, H, G, M, N, D, E };
constexpr unsigned kNumDomainDims = 7;

/// What an operand is to attention.
enum class OperandRole {
  Query,
  Key,
  Value,
  Output, ///< The output, or the accumulator of the online form.
  Mask,
  QueryPos,
  KeyPos,
  KeyLength,
  Sink,
  Lse, ///< The log-sum-exp, or the maximum of the online form.
  Sum, ///< The sum of the online form; its dims are those of Lse.
  KvState,
  KSum
};

/// All roles, in declaration order.
ArrayRef<OperandRole> getAllRoles();

/// The name of a role in layouts and diagnostics, for example "query_pos".
StringRef stringifyRole(OperandRole role);

/// The letter of a dim of the domain, for example 'm'.
char getLetter(DomainDim dim);

/// What one dim of an operand is: the dims of the domain that it holds,
/// outermost first. Empty: a dim of extent 1 that is broadcast. More than one:
/// the group (hg).
using DimLabel = SmallVector<DomainDim, 2>;

/// A label for each dim of an operand.
using DimLabels = SmallVector<DimLabel>;

/// Parses letters such as "b(hg)md"; fails for anything that is not a sequence
/// of distinct letters, `1` and at most one group `(hg)`.
FailureOr<DimLabels> parseDimLabels(StringRef letters);

/// The inverse of parseDimLabels.
std::string printDimLabels(ArrayRef<DimLabel> labels);

/// The position of the dim that is exactly `dim`, or nullopt.
std::optional<unsigned> findDim(ArrayRef<DimLabel> labels, DomainDim dim);

/// The position of the dim that holds `dim`, alone or in a group, or nullopt.
std::optional<unsigned> findHolder(ArrayRef<DimLabel> labels, DomainDim dim);

/// The default labels of a role's operand; fails if no default has its rank.
FailureOr<DimLabels> getDefaultLabels(OperandRole role, Type type);

/// A rotation of one operand: `table` is null if there is none.
struct Rotation {
  Value table;
  RotaryAttr getRotary() const;
  Attribute rotary;
  explicit operator bool() const { return static_cast<bool>(table); }
};

/// The dims of b, h, g and m that an init may have but has not, so that their
/// extent must be 1.
SmallVector<DomainDim> getLackedRows(AttentionLikeOpInterface op,
                                     OperandRole role);

namespace detail {
DimLabels getLabels(AttentionLikeOpInterface op, OperandRole role);
int64_t getStaticExtent(AttentionLikeOpInterface op, DomainDim dim);
OpFoldResult getExtent(OpBuilder &builder, Location loc,
                       AttentionLikeOpInterface op, DomainDim dim);
/// Checks what every attention-like op has to obey; see the constraints in the
/// ops' documentation.
LogicalResult verifyAttentionLike(AttentionLikeOpInterface op);
} // namespace detail

} // namespace mlir::rope

#endif // ROPE_IR_ATTENTIONDOMAIN_H
