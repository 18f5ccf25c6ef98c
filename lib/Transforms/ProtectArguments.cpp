//===- ProtectArguments.cpp - Keep callers' tensors unwritten -------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-protect-arguments: one-shot bufferization takes function
// arguments for writable unless an attribute says otherwise, and this pass
// writes that attribute.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "rope/Transforms/Passes.h"

namespace mlir::rope {
#define GEN_PASS_DEF_PROTECTARGUMENTSPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;
using bufferization::BufferizationDialect;

static void protectArguments(FunctionOpInterface function) {
  StringRef name = BufferizationDialect::kWritableAttrName;
  Attribute no = BoolAttr::get(function.getContext(), false);
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    if (isa<TensorType>(type) && !function.getArgAttr(index, name))
      function.setArgAttr(index, name, no);
}

namespace {
struct ProtectArguments
    : rope::impl::ProtectArgumentsPassBase<ProtectArguments> {
  void runOnOperation() override {
    getOperation().walk([](FunctionOpInterface function) {
      if (function.isPublic() && !function.isExternal())
        protectArguments(function);
    });
  }
};
} // namespace
