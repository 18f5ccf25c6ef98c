//===- ConvertAssert.cpp - Stop with a message that is seen ---------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "rope/Transforms/Passes.h"

namespace mlir::rope {
#define GEN_PASS_DEF_CONVERTASSERTPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;

namespace {
struct ConvertAssert : rope::impl::ConvertAssertPassBase<ConvertAssert> {
  void runOnOperation() override;

  /// Writes to the standard error and does not come back.
  LogicalResult createStop(OpBuilder &builder, Location loc, StringRef message);
};
} // namespace

LogicalResult ConvertAssert::createStop(OpBuilder &builder, Location loc,
                                        StringRef message) {
  ModuleOp module = getOperation();
  Type pointer = LLVM::LLVMPointerType::get(&getContext());
  Type word = builder.getI64Type(), number = builder.getI32Type();
  // write(), because what stands in a stream's buffer is lost by abort().
  FailureOr<LLVM::LLVMFuncOp> write = LLVM::lookupOrCreateFn(
      builder, module, "write", {number, pointer, word}, word);
  FailureOr<LLVM::LLVMFuncOp> abort = LLVM::lookupOrCreateFn(
      builder, module, "abort", {}, LLVM::LLVMVoidType::get(&getContext()));
  if (failed(write) || failed(abort))
    return failure();
  std::string line = (message + "\n").str();
  std::string name = ("rope_assert_" + Twine(llvm::hash_value(line))).str();
  unsigned suffix = 0;
  while (module.lookupSymbol(name))
    name += "_" + std::to_string(suffix++);
  Value text = LLVM::createGlobalString(loc, builder, name, line,
                                        LLVM::Linkage::Internal);
  Value standardError = LLVM::ConstantOp::create(builder, loc, number, 2);
  Value size = LLVM::ConstantOp::create(builder, loc, word,
                                        static_cast<int64_t>(line.size()));
  LLVM::CallOp::create(builder, loc, *write,
                       ValueRange{standardError, text, size});
  LLVM::CallOp::create(builder, loc, *abort, ValueRange());
  LLVM::UnreachableOp::create(builder, loc);
  return success();
}

void ConvertAssert::runOnOperation() {
  SmallVector<cf::AssertOp> asserts;
  getOperation().walk([&](cf::AssertOp op) { asserts.push_back(op); });
  for (cf::AssertOp op : asserts) {
    Block *head = op->getBlock();
    Block *rest = head->splitBlock(op);
    OpBuilder builder(op);
    Block *stop =
        builder.createBlock(rest->getParent(), head->getParent()->end());
    if (failed(createStop(builder, op.getLoc(), op.getMsg())))
      return signalPassFailure();
    builder.setInsertionPointToEnd(head);
    LLVM::CondBrOp::create(builder, op.getLoc(), op.getArg(), rest, stop);
    op.erase();
  }
}
