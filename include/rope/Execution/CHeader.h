//===- CHeader.h - C headers for compiled models -------------- -*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the C declarations by which a program calls the entries of a compiled
// model: descriptor structs, result structs and prototypes, with comments that
// give types, shapes and ownership.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_EXECUTION_CHEADER_H
#define ROPE_EXECUTION_CHEADER_H

#include "rope/Execution/EntryPoint.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::rope {

/// Prints the header. `name` is the file name of the header and becomes its
/// include guard. With `resultsAsOutParams` the caller provides the memory of
/// tensor results and passes their descriptors after the arguments. Code that
/// is compiled with `threads` is linked with libomp.
void printCHeader(llvm::raw_ostream &os, ArrayRef<EntryPoint> entries,
                  StringRef name, bool resultsAsOutParams, bool threads);

} // namespace mlir::rope

#endif // ROPE_EXECUTION_CHEADER_H
