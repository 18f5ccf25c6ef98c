//===- Roundings.h - Roundings that raising removes -------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_RAISE_ROUNDINGS_H
#define ROPE_LIB_RAISE_ROUNDINGS_H

#include "mlir/IR/Value.h"

namespace mlir::rope {

/// What a remark says of the roundings to 16 bits on the way from `sources` to
/// `root`, but for the last one: they go away. Empty if there are none.
std::string describeRoundings(Value root, ArrayRef<Value> sources);

} // namespace mlir::rope

#endif // ROPE_LIB_RAISE_ROUNDINGS_H
