//===- Case.h - One random configuration of an op ---------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A case is a function around one op, the arguments to call it with, and what
// the reference evaluator says of its results.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_TEST_UNIT_FUZZ_CASE_H
#define ROPE_TEST_UNIT_FUZZ_CASE_H

#include "Draw.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "rope/Execution/Array.h"
#include "rope/IR/Rope.h"

namespace mlir::rope::test {

/// What a result has to be.
struct Want {
  /// In real arithmetic.
  reference::Array values;
  /// |result − value| may be this much, or 1.05 units in the last place of the
  /// value rounded to the result's type. One number, or one for each element.
  reference::Array tolerance;
  /// A value of 0 must come out as 0.
  bool zeroIsExact = false;
};

/// A function to compile, call and compare.
struct Case {
  uint64_t seed = 0;
  std::string name;
  std::vector<Array> args;
  /// One for each result, or for each entry of `outputs` if that is not empty.
  std::vector<Want> wants;
  /// Arguments that the function writes (memrefs).
  std::vector<size_t> outputs;
};

/// An operand: its value in the function, and its elements as they are stored.
struct Operand {
  Value value;
  reference::Array numbers;
};

/// Builds the function of a case, argument by argument.
class CaseBuilder {
public:
  /// Adds a function of the case of `seed` to the end of the module.
  CaseBuilder(ModuleOp module, uint64_t seed);

  Draw draw;
  ImplicitLocOpBuilder builder;
  /// Memrefs in place of tensors.
  bool memrefs;

  Type drawFloat();
  Type drawInteger();

  /// An operand with these elements, rounded to the element type. Dims of which
  /// `keepStatic` is not true are dynamic at random; a missing entry is false.
  Operand addOperand(const reference::Array &values, Type elementType,
                     ArrayRef<bool> keepStatic = {});
  Operand addOperand(const reference::IntArray &values, Type elementType,
                     ArrayRef<bool> keepStatic = {});
  /// An operand in which each number is drawn from [low, high).
  Operand addRandom(const reference::Shape &shape, Type elementType,
                    ArrayRef<bool> keepStatic = {}, double low = -1,
                    double high = 1);
  /// A number that is a constant or an argument.
  Value addIndex(int64_t number);

  /// A destination; it holds garbage unless `contents` are given.
  Operand addInit(const reference::Shape &shape, Type elementType,
                  ArrayRef<bool> keepStatic = {},
                  const reference::Array *contents = nullptr);

  /// Returns the results of `op`, whose inits are `inits` in the same order.
  void finish(Operation *op, ValueRange inits, std::vector<Want> wants);

  Case takeCase() { return std::move(result); }

private:
  Value addArgument(Array array, Type type);
  Value addShaped(Array array, Type elementType, ArrayRef<bool> keepStatic,
                  bool mayBeSlice);
  Value addSlice(Array array, Type elementType, ArrayRef<bool> keepStatic);
  Type getShapedType(ArrayRef<int64_t> shape, Type elementType);
  SmallVector<int64_t> drawDynamic(ArrayRef<int64_t> shape,
                                   ArrayRef<bool> keepStatic);

  func::FuncOp function;
  Case result;
  /// The share of dims that are dynamic.
  double dynamicShare;
};

/// Draws one case of each kind of op.
void drawTableCase(CaseBuilder &b);
void drawAssembleCase(CaseBuilder &b);
void drawComposeCase(CaseBuilder &b);
void drawRotationCase(CaseBuilder &b);
void drawAttentionCase(CaseBuilder &b);
void drawOnlineAttentionCase(CaseBuilder &b);
void drawLinearAttentionCase(CaseBuilder &b);

/// Whether there are cases of this kind, such as "table"; empty: of any.
bool isCaseKind(StringRef kind);

/// Adds the function of the case of `seed`, of this or any kind, to the module.
Case drawCase(ModuleOp module, uint64_t seed, StringRef kind = "");

/// Runs passes drawn from `seed` on a case's function: none, canonicalization,
/// CSE, the algebra of rotations, tiling by random sizes. Returns their names.
FailureOr<std::string> runRandomPasses(func::FuncOp function, uint64_t seed);

/// What is wrong with a result, or nothing.
std::optional<std::string> findDifference(const Array &got, const Want &want);

} // namespace mlir::rope::test

#endif // ROPE_TEST_UNIT_FUZZ_CASE_H
