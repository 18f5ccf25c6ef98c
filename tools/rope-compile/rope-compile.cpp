//===- rope-compile.cpp - Compile a model ahead of time -------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Tools/CompileMain.h"

int main(int argc, char **argv) { return mlir::rope::compileMain(argc, argv); }
