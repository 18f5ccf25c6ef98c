//===- RopeDialect.cpp - The rope dialect ---------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/IR/Rope.h"

using namespace mlir;
using namespace mlir::rope;

#include "rope/IR/RopeDialect.cpp.inc"

void RopeDialect::initialize() {}
