//===- Elementwise.h - Slices and elementwise code -------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What decompositions are written with: parts of tensors or memrefs, and
// `linalg.generic` over them.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_IR_DECOMPOSITION_ELEMENTWISE_H
#define ROPE_LIB_IR_DECOMPOSITION_ELEMENTWISE_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace mlir::rope::detail {

/// A part of a tensor or memref: at first all of it.
class Slice {
public:
  /// Creates the ops that give the dynamic extents of `shaped`.
  Slice(ImplicitLocOpBuilder &builder, Value shaped);

  /// Takes one element of `dim`; the part has no such dim.
  Slice &at(int64_t dim, int64_t offset);

  /// Takes `size` elements of `dim`, every `stride`-th from `offset` on.
  Slice &range(int64_t dim, int64_t offset, int64_t size, int64_t stride = 1);

  /// The part of `source`: a value of a tensor, a view of a memref.
  Value extract(ImplicitLocOpBuilder &builder, Value source) const;

  /// `dest` with its part replaced. Of a memref `part` has to be the view that
  /// `extract` gave: it is written already.
  Value insert(ImplicitLocOpBuilder &builder, Value part, Value dest) const;

private:
  bool isAmbiguous() const;

  SmallVector<OpFoldResult> offsets, sizes, strides;
  SmallVector<int64_t> dropped;
};

/// `tensor` without its dims `dropped`, which have extent 1.
Value collapseUnitDims(ImplicitLocOpBuilder &builder, Value tensor,
                       ArrayRef<int64_t> dropped);

/// `tensor` with dims of extent 1 at `added`; the result has the extents
/// `shape`.
Value expandUnitDims(ImplicitLocOpBuilder &builder, Value tensor,
                     ArrayRef<int64_t> added, ArrayRef<OpFoldResult> shape);

/// Computes one element of each output from one element of each input.
using ElementBuilder = function_ref<SmallVector<Value>(
    ImplicitLocOpBuilder &builder, ValueRange inputs)>;

/// A `linalg.generic` with parallel loops alone, `maps` for inputs, then
/// outputs. The results are what `outputs` have become (memrefs: themselves).
SmallVector<Value> createElementwise(ImplicitLocOpBuilder &builder,
                                     ValueRange inputs, ValueRange outputs,
                                     ArrayRef<AffineMap> maps,
                                     ElementBuilder body);

/// `value`, a scalar, in another float type. Goes through f32 to 16 bits, as
/// processors do (they have no instruction that narrows f64 so far).
Value convertFloat(ImplicitLocOpBuilder &builder, Value value, Type type);

/// The type to compute in: f64 if an operand is f64, or f32 cannot hold one of
/// the constants that are computed with; else f32.
FloatType getComputeType(ValueRange operands, ArrayRef<double> constants = {});

/// Whether a static extent of an operand of `op` is 0: then there is nothing to
/// compute, and the verifiers of slices refuse such an operand.
bool isEmpty(DestinationStyleOpInterface op);

/// The results of an op that computes nothing: its inits if they are tensors.
SmallVector<Value> getInitsAsResults(DestinationStyleOpInterface op);

/// Whether `op` on memrefs can be computed element by element without copies
/// first: no input may share memory with the init, or it is the init itself and
/// `inPlace`.
bool canWriteWhileReading(DestinationStyleOpInterface op, bool inPlace);

} // namespace mlir::rope::detail

#endif // ROPE_LIB_IR_DECOMPOSITION_ELEMENTWISE_H
