//===- KernelBuilder.h - Short names for kernel code ------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds index arithmetic, f32 vectors of one length, and loops. Everything
// folds constants, so a caller need not.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_CODEGEN_CPU_KERNELBUILDER_H
#define ROPE_LIB_CODEGEN_CPU_KERNELBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::rope::cpu {

/// Bytes of a line of the caches.
constexpr int64_t kLineBytes = 64;

/// An index known when code is generated, or a value.
class IndexLike {
public:
  IndexLike(int64_t number) : number(number) {}
  IndexLike(Value value) : value(value) {}
  IndexLike(OpFoldResult folded);

  /// The number if it is one.
  std::optional<int64_t> getNumber() const;

private:
  friend class KernelBuilder;
  int64_t number = 0;
  Value value;
};

/// How threads share a loop.
enum class Sharing {
  /// Whoever is done takes the next iteration.
  Free,
  /// Each takes a run of as many iterations as the others.
  Runs
};

/// All float vectors have `lanes` elements of f32.
class KernelBuilder : public ImplicitLocOpBuilder {
public:
  KernelBuilder(Location loc, OpBuilder &builder, int64_t lanes)
      : ImplicitLocOpBuilder(loc, builder), lanes(lanes) {}

  const int64_t lanes;
  /// Whether several threads share the work.
  bool threads = false;

  //===--------------------------------------------------------------------===//
  // Indices
  //===--------------------------------------------------------------------===//

  Value index(IndexLike x);
  Value plus(IndexLike a, IndexLike b);
  Value minus(IndexLike a, IndexLike b);
  Value times(IndexLike a, IndexLike b);
  /// Of numbers that are not negative.
  Value quotient(IndexLike a, IndexLike b);
  Value remainder(IndexLike a, IndexLike b);
  Value quotientUp(IndexLike a, IndexLike b);
  /// Signed.
  Value lesser(IndexLike a, IndexLike b);
  Value greater(IndexLike a, IndexLike b);
  /// A condition on signed indices.
  Value isLess(IndexLike a, IndexLike b);
  Value isEqual(IndexLike a, IndexLike b);

  //===--------------------------------------------------------------------===//
  // Conditions
  //===--------------------------------------------------------------------===//

  Value condition(bool value);
  /// Null stands for true in the operands.
  Value both(Value a, Value b);
  Value either(Value a, Value b);
  Value isNot(Value a);
  Value select(Value condition, Value a, Value b);

  //===--------------------------------------------------------------------===//
  // Numbers
  //===--------------------------------------------------------------------===//

  VectorType getFloats() { return VectorType::get(lanes, getF32Type()); }
  VectorType getInts() { return VectorType::get(lanes, getI32Type()); }

  /// Constants of f32 and i32, each scalar or in all lanes.
  Value number(double value);
  Value numbers(double value);
  Value integers(int32_t value);
  /// 0, 1, … plus `first`.
  Value iota(int64_t first);
  Value broadcast(Value scalar);

  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  /// a·b + c
  Value fma(Value a, Value b, Value c);
  Value addInts(Value a, Value b);
  Value andInts(Value a, Value b);
  Value shiftLeft(Value a, int32_t bits);
  Value toBits(Value floats);
  Value fromBits(Value ints);
  /// a > b ? a : b, so b where a is NaN: one instruction of x86.
  Value maxOrSecond(Value a, Value b);
  Value isGreater(Value a, Value b);
  /// Whether a condition holds in any lane.
  Value any(Value conditions);
  Value sumOfLanes(Value floats);
  Value maxOfLanes(Value floats);
  /// Scalar or vector to f32.
  Value toF32(Value x);
  /// f32 to an element type.
  Value fromF32(Value x, Type element);
  /// A vector with zeros after it, up to `length` elements; as it is if it has
  /// as many.
  Value pad(Value row, int64_t length);

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  SmallVector<Value> indices(ArrayRef<IndexLike> at);
  Value load(Value memref, ArrayRef<IndexLike> at);
  void store(Value x, Value memref, ArrayRef<IndexLike> at);
  /// Elements of the last dim, as many as lanes unless `count` is given.
  Value loadVector(Value memref, ArrayRef<IndexLike> at, int64_t count = 0);
  void storeVector(Value x, Value memref, ArrayRef<IndexLike> at);
  /// Memory of the current function, aligned to cache lines.
  Value reserve(ArrayRef<int64_t> shape, Type element);
  /// How much of it there is.
  int64_t reservedBytes = 0;

  //===--------------------------------------------------------------------===//
  // Control flow
  //===--------------------------------------------------------------------===//

  using LoopBody = function_ref<SmallVector<Value>(Value, ValueRange)>;
  /// A loop that carries values.
  SmallVector<Value> loop(IndexLike from, IndexLike to, int64_t step,
                          ValueRange inits, LoopBody body);
  void loop(IndexLike from, IndexLike to, int64_t step,
            function_ref<void(Value)> body);
  /// do { values = body(values) } while (the first of the results); returns
  /// the others.
  SmallVector<Value> repeat(ValueRange inits,
                            function_ref<SmallVector<Value>(ValueRange)> body);
  void when(Value condition, function_ref<void()> then);
  /// A loop from 0 to `end` by `step`, whose iterations are independent of each
  /// other. With `threads`, a team shares them if the condition `pays` holds;
  /// each thread has memory of its own, which `reserve` gives within `member`,
  /// around the loop over its share.
  void share(Value end, int64_t step, Value pays,
             function_ref<void(function_ref<void()> loop)> member,
             function_ref<void(Value)> body, Sharing sharing = Sharing::Free);
  /// A loop within `member`, besides the one that it is given, that all members
  /// share and wait for.
  void shareInTeam(Value end, int64_t step, function_ref<void(Value)> body,
                   Sharing sharing = Sharing::Free);
  /// How many threads a team has, as an index; declareThreadCount comes before.
  Value countThreads();
  using Branch = function_ref<SmallVector<Value>()>;
  SmallVector<Value> choose(Value condition, TypeRange types, Branch then,
                            Branch otherwise);

private:
  template <typename OpTy> Value fold(IndexLike a, IndexLike b) {
    return createOrFold<OpTy>(index(a), index(b));
  }
};

/// Declares what tells how many threads a team has, in the module of `op`.
/// Fails, after a diagnostic, if there is something else by that name.
LogicalResult declareThreadCount(Operation *op);

} // namespace mlir::rope::cpu

#endif // ROPE_LIB_CODEGEN_CPU_KERNELBUILDER_H
