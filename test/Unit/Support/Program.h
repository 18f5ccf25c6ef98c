//===- Program.h - Compiled test programs ----------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles the text of a module for this machine and calls its functions.
//
//   Program program("func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {…}");
//   Array x = makeArray(DType::F32, reference::Array({4}, {1, 2, 3, 4}));
//   reference::Array y = toReference(program.call("f", x).front());
//
// Whatever goes wrong is printed and aborts: a test (or a fuzzer's run) is a
// process of its own. Independent of GoogleTest.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_TEST_UNIT_SUPPORT_PROGRAM_H
#define ROPE_TEST_UNIT_SUPPORT_PROGRAM_H

#include "mlir/IR/MLIRContext.h"
#include "rope/Execution/Executable.h"

namespace mlir::rope::test {

/// How a program is compiled.
struct ProgramOptions {
  /// A textual pass pipeline that runs first, for example
  /// "builtin.module(rope-decompose)". Empty: none.
  std::string passes;
  /// What follows: rope-cpu-pipeline and its options, processor, level.
  CompileOptions compile;
};

/// A compiled module.
class Program {
public:
  explicit Program(StringRef text, const ProgramOptions &options = {});

  /// Calls function `name`. Tensors are read where they lie; memrefs are
  /// written there too. Dynamic extents are those of `args`.
  SmallVector<Array> call(StringRef name, ArrayRef<ArrayView> args) const;

  /// The same, for arguments one after the other.
  template <typename... Arrays>
  SmallVector<Array> call(StringRef name, Array &first, Arrays &...rest) const {
    return call(name, {first.view(), rest.view()...});
  }

private:
  std::unique_ptr<MLIRContext> context;
  std::unique_ptr<Executable> executable;
};

} // namespace mlir::rope::test

#endif // ROPE_TEST_UNIT_SUPPORT_PROGRAM_H
