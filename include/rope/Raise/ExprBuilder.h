//===- ExprBuilder.h - Expressions back into IR -----------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_RAISE_EXPRBUILDER_H
#define ROPE_RAISE_EXPRBUILDER_H

#include "mlir/IR/Builders.h"
#include "rope/Analysis/ElementEvaluator.h"

namespace mlir::rope {

/// The domain of a tensor to build: the symbols (dims of the root) that its
/// leading dims run over, and their extents.
struct ExprDomain {
  SmallVector<int64_t> symbols;
  SmallVector<OpFoldResult> extents;

  /// The dim that a symbol is, or nullopt.
  std::optional<unsigned> find(int64_t symbol) const {
    const auto *found = llvm::find(symbols, symbol);
    if (found == symbols.end())
      return std::nullopt;
    return found - symbols.begin();
  }
};

/// Whether a dim of a tensor is known to be as long as an extent.
bool hasExtent(ElementEvaluator &evaluator, Value tensor, int64_t dim,
               OpFoldResult extent);

/// Builds the tensor [domain..., columns.size()] whose column i holds the
/// expression columns[i] at each point of the domain, of element type `type`.
///
/// The columns must be one tree that differs in constants only. Where they
/// are plain reads of one tensor the result is a slice of it; else it is one
/// structured op over slices. With `scalar` there is one column and no last
/// dim. Fails, with a reason, for columns of different structure.
FailureOr<Value> buildColumns(OpBuilder &builder, Location loc,
                              ElementEvaluator &evaluator,
                              const ExprDomain &domain,
                              ArrayRef<const Expr *> columns, Type type,
                              bool scalar, std::string &reason);

/// Builds an integer expression without symbols as an index.
FailureOr<Value> buildInteger(OpBuilder &builder, Location loc,
                              const Expr *integer, std::string &reason);

} // namespace mlir::rope

#endif // ROPE_RAISE_EXPRBUILDER_H
