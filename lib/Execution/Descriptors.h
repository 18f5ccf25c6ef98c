//===- Descriptors.h - Arguments and results of one call ------ -*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the memref descriptors of a call by the convention that EntryPoint.h
// describes, and turns the descriptors that come back into arrays.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_EXECUTION_DESCRIPTORS_H
#define ROPE_LIB_EXECUTION_DESCRIPTORS_H

#include "rope/Execution/EntryPoint.h"
#include <vector>

namespace mlir::rope {

/// The memory that one call of an entry needs.
class CallFrame {
public:
  /// Describes `args`, which have been checked against `entry`.
  CallFrame(const EntryPoint &entry, ArrayRef<ArrayView> args);

  /// What a packed wrapper of ExecutionEngine takes: a pointer to each
  /// argument, and to the result where the function returns one.
  MutableArrayRef<void *> getPackedArguments() { return packed; }

  /// After the call: the results. Takes over what the code allocated, and
  /// copies what belongs to an argument, to a constant or to a result before.
  llvm::Expected<SmallVector<Array>> takeResults();

private:
  bool belongsToCaller(const char *block) const;
  llvm::Expected<Array> takeTensor(const ValueSpec &spec, const char *memory);

  const EntryPoint &entry;
  ArrayRef<ArrayView> args;
  /// One buffer for each descriptor, in units that keep pointers aligned.
  std::vector<std::vector<int64_t>> descriptors;
  std::vector<void *> pointers;
  std::vector<void *> packed;
  SmallVector<size_t> resultOffsets;
  std::vector<int64_t> resultMemory;
  void *resultPointer = nullptr;
  /// Blocks that no result has taken over, freed in the end.
  SmallVector<void *> unclaimed;
  SmallVector<void *> claimed;
};

} // namespace mlir::rope

#endif // ROPE_LIB_EXECUTION_DESCRIPTORS_H
