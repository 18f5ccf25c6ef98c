//===- DomainBuilder.h - linalg over the domain of attention ----*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the decompositions of the attention ops are written with: operands
// whose dims are dims of the domain, and linalg.generic between them. Tensors
// only: an op on memrefs is given tensors before it is decomposed.
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_LIB_IR_DECOMPOSITION_DOMAINBUILDER_H
#define ROPE_LIB_IR_DECOMPOSITION_DOMAINBUILDER_H

#include "Elementwise.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "rope/IR/Rope.h"

namespace mlir::rope::detail {

/// A tensor each dim of which is one dim of the domain.
struct Term {
  Value value;
  SmallVector<DomainDim> dims;
};

/// An operand seen as a term, and the steps on the way there. A group (hg) is
/// split, and dims which are broadcast are dropped.
struct TermView {
  Value operand;
  Value split;
  Term term;
};

/// Builds the computation of one element in the body of a linalg.generic.
class CellBuilder : public ImplicitLocOpBuilder {
public:
  CellBuilder(Location loc, OpBuilder &builder, ValueRange arguments,
              ArrayRef<DomainDim> loops)
      : ImplicitLocOpBuilder(loc, builder), inputs(arguments.drop_back()),
        output(arguments.back()), loops(loops) {}

  /// The elements of the inputs.
  ValueRange inputs;
  /// The element of the output before this iteration.
  Value output;

  /// The index of a dim, as i64.
  Value getIndex(DomainDim dim);

  /// A float in another float type, rounded to nearest.
  Value convert(Value value, Type type);

  /// An integer or index of a slot as i64.
  Value toI64(Value slot);

  Value getConstant(Type type, double value);

private:
  ArrayRef<DomainDim> loops;
};

using CellFn = function_ref<Value(CellBuilder &)>;

/// Creates the ops that an attention-like op on tensors decomposes into.
class DomainBuilder {
public:
  /// `computeType` is the type of scores, sums and exponentials.
  DomainBuilder(OpBuilder &builder, AttentionLikeOpInterface op,
                Type computeType)
      : builder(builder), op(op), computeType(computeType) {}

  Location getLoc() { return op.getLoc(); }
  OpBuilder &getBuilder() { return builder; }
  AttentionLikeOpInterface getOp() { return op; }
  Type getComputeType() const { return computeType; }

  /// Those of the dims that some operand of the op has.
  SmallVector<DomainDim> getPresent(ArrayRef<DomainDim> dims);

  /// Those of b, h, g and m that are present: a row of scores for each.
  SmallVector<DomainDim> getRows();

  /// The dims of the rows, and one more.
  SmallVector<DomainDim> getRowsAnd(DomainDim dim);

  //===--------------------------------------------------------------------===//
  // Operands
  //===--------------------------------------------------------------------===//

  /// An operand under labels of its dims.
  TermView getView(Value operand, ArrayRef<DimLabel> labels);

  /// The operand of a role, turned as the op says.
  Term getOperand(OperandRole role);

  /// A tensor of the operand's shape, with each element computed from
  /// the operand's; rounded to `elementType`.
  Value mapOperand(Value operand, Type elementType, CellFn fn);

  /// The operand in the type of computation: itself if it has that type.
  Value convertOperand(Value operand);

  /// The operand turned by a rope.rotate; it has the type of computation.
  Value rotateOperand(Value operand, const Rotation &rotation);

  //===--------------------------------------------------------------------===//
  // Terms
  //===--------------------------------------------------------------------===//

  /// A term of these dims, each element equal to `value`.
  Term createFilled(ArrayRef<DomainDim> dims, Type elementType, double value);

  /// A linalg.generic over all dims of the terms: those that the output lacks
  /// are reduced. The body's result is converted to the output's type. Returns
  /// the output as it is afterwards.
  Term createGeneric(ArrayRef<Term> inputs, Term output, CellFn fn);

  /// As createGeneric, into a new term of these dims whose elements before are
  /// undefined.
  Term createGeneric(ArrayRef<Term> inputs, ArrayRef<DomainDim> dims,
                     Type elementType, CellFn fn);

  /// output + Σ lhs·rhs, over the dims that the output lacks.
  Term contract(const Term &lhs, const Term &rhs, Term output);

  //===--------------------------------------------------------------------===//
  // Inits
  //===--------------------------------------------------------------------===//

  /// The value of an init that is read, in the type of computation: the init
  /// itself if it has that type, so that it can be updated in place.
  Term readInit(OperandRole role);

  /// Makes an updated term of `readInit` the result for that init.
  void writeInit(OperandRole role, const Term &term);

  /// Computes the result for an init that is not read.
  void computeInit(OperandRole role, ArrayRef<Term> inputs, CellFn fn);

  /// As computeInit, and turns the result back if the op says so.
  void computeOutput(ArrayRef<Term> inputs, CellFn fn);

  /// The results, one for each init.
  SmallVector<Value> getResults();

private:
  Value createEmpty(ArrayRef<DomainDim> dims, Type elementType);
  Value createEmptyLike(Value operand, Type elementType);
  /// Gives broadcast dims the extent 1, and groups that of their parts.
  Value castToLabels(Value operand, ArrayRef<DimLabel> labels);
  Value castTo(Value value, ArrayRef<int64_t> shape);
  Value splitGroup(Value operand, ArrayRef<DimLabel> labels);
  Value dropBroadcastDims(Value operand, ArrayRef<DimLabel> labels);
  /// The operand of a view after its term was updated.
  Value mergeView(const TermView &view, ArrayRef<DimLabel> labels,
                  const Term &term);

  OpBuilder &builder;
  AttentionLikeOpInterface op;
  Type computeType;
  /// The result of each role that has one.
  DenseMap<unsigned, Value> results;
};

} // namespace mlir::rope::detail

#endif // ROPE_LIB_IR_DECOMPOSITION_DOMAINBUILDER_H
