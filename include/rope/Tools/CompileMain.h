//===- CompileMain.h - The rope-compile tool ------------------ -*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_TOOLS_COMPILEMAIN_H
#define ROPE_TOOLS_COMPILEMAIN_H

namespace mlir::rope {

/// Compiles a model to an object file, shared library or LLVM IR with a C
/// header; see `rope-compile --help`. Returns the exit status: 0, or 1 after a
/// message on stderr.
int compileMain(int argc, char **argv);

} // namespace mlir::rope

#endif // ROPE_TOOLS_COMPILEMAIN_H
