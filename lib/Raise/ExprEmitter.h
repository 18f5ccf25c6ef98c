//===- ExprEmitter.h - Expressions as scalar ops ----------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_RAISE_EXPREMITTER_H
#define ROPE_LIB_RAISE_EXPREMITTER_H

#include "mlir/IR/Builders.h"
#include "rope/Raise/ExprBuilder.h"

#include <map>
#include <set>

namespace mlir::rope {

/// The same expression for each column of a table.
using Columns = SmallVector<const Expr *>;

/// Which block argument holds columns.
using ArgumentNumbers = std::map<std::vector<const Expr *>, unsigned>;

/// Whether columns are ops of one kind on as many operands.
bool isOneStructure(const Columns &columns);

/// Operand `i` of each column, where operands of commutative ops may stand in
/// either order.
Columns getColumnOperand(const Columns &columns, unsigned i);

/// The step from column to column of constants, or nullopt.
std::optional<int64_t> getColumnStep(const Columns &indices);

/// Emits expressions as ops on scalars. Integers are computed as indices,
/// truths as i1. An expression that is used twice is emitted once.
class ExprEmitter {
public:
  /// Without a domain there are no symbols.
  ExprEmitter(OpBuilder &builder, Location loc, const ExprDomain *domain,
              std::string &reason)
      : builder(builder), loc(loc), domain(domain), reason(reason) {}

  /// What is not emitted, but given.
  void setArguments(const ArgumentNumbers &numbers, ValueRange values) {
    for (auto &[columns, number] : numbers)
      emitted[columns] = values[number];
  }

  FailureOr<Value> emit(const Columns &columns);
  FailureOr<Value> emitIndex(const Expr *integer);

private:
  LogicalResult fail(const Twine &why) {
    reason = why.str();
    return failure();
  }
  LogicalResult failOn(const Expr *expr);
  FailureOr<Value> emitNew(const Columns &columns);
  FailureOr<Value> emitLeaf(const Expr *expr);
  FailureOr<Value> emitLinear(const Expr *linear);
  FailureOr<Value> emitRead(const Columns &columns);
  FailureOr<Value> emitApply(const Columns &columns);
  FailureOr<Value> emitNumber(const Expr *linearized);
  FailureOr<Value> emitTruth(const Columns &columns);
  Type getOperandType(const Expr *op, unsigned operand);
  Value cast(Value value, Type type);

  OpBuilder &builder;
  Location loc;
  const ExprDomain *domain;
  std::string &reason;
  std::map<std::vector<const Expr *>, Value> emitted;
};

} // namespace mlir::rope

#endif // ROPE_LIB_RAISE_EXPREMITTER_H
