//===- rope-run.cpp - Run a model -----------------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Tools/RunMain.h"

int main(int argc, char **argv) { return mlir::rope::runMain(argc, argv); }
