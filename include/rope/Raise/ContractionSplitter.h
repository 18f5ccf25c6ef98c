//===- ContractionSplitter.h - Takes work out of contractions ---*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fusion moves elementwise work, a rotation or a softmax, into the body of the
// contraction that follows. For analysis it is taken out again; what was not
// raised goes back.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_RAISE_CONTRACTIONSPLITTER_H
#define ROPE_RAISE_CONTRACTIONSPLITTER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::rope {

class ContractionSplitter {
public:
  /// Splits every `out + A·B` whose factors are computed in the body: each such
  /// factor becomes an op over the dims that it depends on.
  void split(FunctionOpInterface function);

  /// The values that were taken out.
  ArrayRef<Value> getFactors() const { return factors; }

  /// Undoes the splits none of whose factors was raised or is read by what was,
  /// and drops the originals of the others.
  void finish(llvm::function_ref<bool(Value factor)> wasRaised);

private:
  struct Split {
    linalg::GenericOp original;
    linalg::GenericOp contraction;
    SmallVector<Value> factors;
  };
  void splitOp(linalg::GenericOp op);

  SmallVector<Split> splits;
  SmallVector<Value> factors;
};

} // namespace mlir::rope

#endif // ROPE_RAISE_CONTRACTIONSPLITTER_H
