//===- ElementEvaluator.h - What an element of a tensor is ------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element provenance: given a tensor value and an index, what its element is in
// terms of elements of the operands of the op that made it. One step at a time,
// so that a client decides how far to look.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_ANALYSIS_ELEMENTEVALUATOR_H
#define ROPE_ANALYSIS_ELEMENTEVALUATOR_H

#include "rope/Analysis/Expr.h"

namespace mlir::rope {

class ConstantColumns;

/// An element that a structured op reduces to.
struct Reduction {
  enum class Kind { Sum, Max, And, Or };
  Kind kind;
  /// What is reduced, at the index of the reduction that was asked for.
  const Expr *element;
};

/// Expands elements of tensors into expressions over elements of other tensors.
///
/// Looks through structured ops (by their maps and bodies), slices, inserts,
/// concatenations, pads, reshapes, casts, gathers, elementwise ops on tensors
/// and constants. Reductions are unrolled where they are short; other ops are
/// opaque. Expansions are memoised.
class ElementEvaluator {
public:
  /// `budget` bounds the number of expressions made; past it every read is
  /// opaque, so that no input takes unbounded time.
  explicit ElementEvaluator(ExprContext &context, size_t budget = 4'000'000);
  ~ElementEvaluator();

  ExprContext &getContext() { return context; }

  /// One step: the element that `read` (a Read) denotes, in terms of reads of
  /// other values; null if the value is opaque.
  const Expr *expand(const Expr *read);

  /// One step into an expression: expands a read, or the reads among the
  /// operands of an op that may simplify by it (a choice, a part of a complex
  /// number), other than reads of `opaque`. Null if nothing changes.
  const Expr *expandOnce(const Expr *expr, Value opaque = {});

  /// Expands every read that can be, down to opaque ones.
  const Expr *expandFully(const Expr *expr);

  /// Whether a read is of the result of a reduction over more than one element.
  bool isReduction(const Expr *read);

  /// The extents of the dims that a reduction runs over.
  SmallVector<int64_t> getReductionExtents(const Expr *read);

  /// The only dim of those with an extent other than 1; nullopt if there are
  /// several or none.
  std::optional<unsigned> getReductionDim(const Expr *read);

  /// The extent of a dim that a reduction runs over, as an expression.
  const Expr *evaluateReductionExtent(const Expr *read, unsigned dim);

  /// What a reduction that starts from its neutral element reduces, at an
  /// index into the dims that it runs over; nullopt for other ops.
  std::optional<Reduction> evaluateReduction(const Expr *read,
                                             ArrayRef<const Expr *> index);

  /// The same at an index into the only dim with an extent other than 1.
  std::optional<Reduction> evaluateReductionOver(const Expr *read,
                                                 const Expr *at);

  /// The same at a symbol, if the dim is known to be as long as it.
  std::optional<Reduction> evaluateReductionWhole(const Expr *read,
                                                  const Expr *symbol);

  /// A scalar SSA value (of an index or number type) as an expression.
  const Expr *evaluateScalar(Value value);

  /// The extent of a dim, traced to where it comes from.
  const Expr *evaluateExtent(Value tensor, int64_t dim);

  /// Takes the equalities for granted that ops of a block check or imply:
  /// asserts, and reshapes, which keep the number of elements.
  void assumeFacts(Block &block);

  /// Takes two integers for equal, and forgets what was expanded before.
  void assumeEqual(const Expr *lhs, const Expr *rhs);

  /// Whether expansion stopped because the budget was spent.
  bool isBudgetSpent() const { return context.size() > budget; }

  /// A symbolic index into a tensor: Sym k for dim k (constant 0 for extents
  /// of 1).
  SmallVector<const Expr *> getSymbolicIndex(Value tensor);

  /// Which columns of constants are equal.
  ConstantColumns &getColumns() { return *columns; }

private:
  void forget();

  ExprContext &context;
  size_t budget;
  std::unique_ptr<ConstantColumns> columns;
  /// What is opaque expands to itself.
  ExprMap expansions;
  ExprMap fullExpansions;
  llvm::DenseMap<Value, const Expr *> scalars;
};

} // namespace mlir::rope

#endif // ROPE_ANALYSIS_ELEMENTEVALUATOR_H
