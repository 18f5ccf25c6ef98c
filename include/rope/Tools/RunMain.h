//===- RunMain.h - The rope-run tool -------------------------- -*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_TOOLS_RUNMAIN_H
#define ROPE_TOOLS_RUNMAIN_H

namespace mlir::rope {

/// Compiles a model, calls one of its entries and reports the results; see
/// `rope-run --help`. Returns the exit status: 0, or 1 after a message on
/// stderr when the input is bad or a result is over its tolerance.
int runMain(int argc, char **argv);

} // namespace mlir::rope

#endif // ROPE_TOOLS_RUNMAIN_H
