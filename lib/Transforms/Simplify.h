//===- Simplify.h - Shared by the rules of rope-simplify --------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_TRANSFORMS_SIMPLIFY_H
#define ROPE_LIB_TRANSFORMS_SIMPLIFY_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Remarks.h"

namespace mlir::rope {

/// Tells by a remark that a rule was applied to an op.
inline void reportRule(Operation *op, StringRef rule, StringRef text,
                       StringRef category = "rope-simplify") {
  remark::passed(op->getLoc(),
                 remark::RemarkOpts::name(rule).category(category))
      << text;
}

} // namespace mlir::rope

#endif // ROPE_LIB_TRANSFORMS_SIMPLIFY_H
