//===- EntryPoint.h - Signatures of a module's functions ------ -*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a caller has to know of a function of a model: its arguments and
// results as they are before any lowering, and whether a call can pass them.
//
// Calling convention. The lowered function `f` has a C wrapper `_mlir_ciface_f`
// (the attribute `llvm.emit_c_interface` asks for it). A tensor or memref is
// passed as a pointer to a descriptor {allocated, aligned, offset, sizes[rank],
// strides[rank]}, anything else by value. A single scalar result is returned;
// all other results are written through a first pointer argument, as one
// descriptor or as a struct of them.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_EXECUTION_ENTRYPOINT_H
#define ROPE_EXECUTION_ENTRYPOINT_H

#include "mlir/IR/BuiltinOps.h"
#include "rope/Execution/Array.h"
#include <vector>

namespace mlir::rope {

/// One argument or result.
struct ValueSpec {
  /// The element type of a tensor or memref, the type itself of a scalar.
  DType dtype = DType::F32;
  /// Whether this is a number instead of a tensor or memref.
  bool isScalar = false;
  /// Whether a call may change the caller's memory: memrefs, and tensors that
  /// the model declares `bufferization.writable = true`.
  bool isWritable = false;
  /// The sizes, `ShapedType::kDynamic` where the type has `?`. Empty for a
  /// scalar.
  SmallVector<int64_t> shape;
  /// The type as MLIR prints it.
  std::string type;

  /// Nothing when memory of this element type and shape can be passed here,
  /// else an error that says what was expected and what was given.
  llvm::Error check(DType given, ArrayRef<int64_t> givenShape) const;
};

/// A public function with a body.
struct EntryPoint {
  std::string name;
  SmallVector<ValueSpec> args;
  SmallVector<ValueSpec> results;
  /// Why the function cannot be called from outside, or empty.
  std::string obstacle;

  /// The name of the C wrapper.
  std::string getWrapperName() const { return "_mlir_ciface_" + name; }

  /// `name(tensor<…>, …) -> (tensor<…>, …)`.
  std::string getSignature() const;
};

/// The element type that `type` has in memory, or nothing when arrays cannot
/// hold it.
std::optional<DType> getDType(Type type);

/// The public `func.func` operations of `module` that have a body, in order.
std::vector<EntryPoint> getEntryPoints(ModuleOp module);

/// The entry called `name`. With an empty name the one called `main`, else the
/// only one. The error lists the names there are.
llvm::Expected<const EntryPoint *> findEntryPoint(ArrayRef<EntryPoint> entries,
                                                  StringRef name);

/// Asks for the C wrappers of all entries of `module`, before it is lowered.
void requestWrappers(ModuleOp module);

} // namespace mlir::rope

#endif // ROPE_EXECUTION_ENTRYPOINT_H
