//===- OperandBuilder.h - Operands of attention as IR -----------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_RAISE_OPERANDBUILDER_H
#define ROPE_LIB_RAISE_OPERANDBUILDER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "rope/Analysis/AttentionMatch.h"

namespace mlir::rope {

/// A tensor and the letters of its dims, as a layout names them.
struct LetteredTensor {
  Value tensor;
  StringAttr letters;
};

/// Builds what a match's operands and its result need in IR. Operands are used
/// as they stand: the layout says what their dims are. The result has the
/// symbols of the root as its dims, so that a collapse alone makes the root of
/// it.
class OperandBuilder {
public:
  OperandBuilder(OpBuilder &builder, Location loc, ElementEvaluator &evaluator,
                 const OperandMatch &match, std::string &reason)
      : builder(builder), loc(loc), evaluator(evaluator), match(match),
        reason(reason) {}

  /// An operand, with dims that hold several symbols split where no letters
  /// say so.
  FailureOr<LetteredTensor> buildView(const MatchedOperand &operand);

  /// Two operands over the same dims, one behind the other along the channels.
  FailureOr<LetteredTensor> buildJoined(const MatchedOperand &operand,
                                        const MatchedOperand &added);

  /// An expression as a tensor of `type` over the symbols that it depends on,
  /// in the order of the domain's letters.
  FailureOr<LetteredTensor> buildOver(const Expr *expr, Type type);

  /// An empty tensor for the result.
  FailureOr<LetteredTensor> buildInit();

  /// The root, from the result.
  Value restoreRoot(Value output);

private:
  LogicalResult fail(const Twine &why) {
    reason = why.str();
    return failure();
  }
  FailureOr<Value> buildPart(const MatchedOperand &operand,
                             ArrayRef<const Expr *> shared);
  StringAttr getLetters(ArrayRef<const Expr *> symbols);
  FailureOr<OpFoldResult> getExtent(const Expr *symbol);
  Value collapseSymbols(Value output);
  Value addUnitDims(Value output);

  OpBuilder &builder;
  Location loc;
  ElementEvaluator &evaluator;
  const OperandMatch &match;
  std::string &reason;
};

} // namespace mlir::rope

#endif // ROPE_LIB_RAISE_OPERANDBUILDER_H
