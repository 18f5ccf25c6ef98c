//===- Rope.h - The rope dialect --------------------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_IR_ROPE_H
#define ROPE_IR_ROPE_H

#include "mlir/IR/Dialect.h"

#include "rope/IR/RopeDialect.h.inc"

#endif // ROPE_IR_ROPE_H
