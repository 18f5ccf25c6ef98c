//===- BufferizableOpInterfaceImpl.cpp - Bufferization of rope ops --------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every op bufferizes to itself on memrefs. What matters is what the analysis
// may assume, since each conflict that it sees costs a copy.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/IR/DialectRegistry.h"
#include "rope/IR/Rope.h"
#include "rope/Interfaces/ExternalModels.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace mlir::rope;

/// The buffers of an op's operands; other operands stay.
static FailureOr<SmallVector<Value>>
getBuffers(Operation *op, RewriterBase &rewriter,
           const BufferizationOptions &options, BufferizationState &state) {
  SmallVector<Value> buffers(op->getOperands());
  for (Value &operand : buffers) {
    if (!isa<TensorType>(operand.getType()))
      continue;
    FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
    if (failed(buffer))
      return failure();
    operand = *buffer;
  }
  return buffers;
}

namespace {
template <typename OpTy>
struct Model : DstBufferizableOpInterfaceExternalModel<Model<OpTy>, OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    auto dst = cast<DestinationStyleOpInterface>(op);
    if (!dst.isDpsInit(&operand))
      return true;
    return readsInit(op, dst.getTiedOpResult(&operand).getResultNumber());
  }

  /// A channel is written at its place after it was read, if the pairs that
  /// are read are the pairs that are written.
  bool bufferizesToElementwiseAccess(Operation *op, const AnalysisState &,
                                     ArrayRef<OpOperand *> operands) const {
    if constexpr (llvm::is_one_of<OpTy, RotateOp, RerotateOp>::value) {
      auto rotation = cast<OpTy>(op);
      RotaryAttr rotary = rotation.getRotary();
      return rotary.getReadPairing() == rotary.getWritePairing() &&
             llvm::all_of(operands, [&](OpOperand *operand) {
               return operand == &rotation.getInputMutable() ||
                      operand == &rotation.getInitMutable();
             });
    }
    return false;
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto dst = cast<DestinationStyleOpInterface>(op);
    if (dst.hasPureBufferSemantics())
      return success();
    if (!dst.hasPureTensorSemantics())
      return op->emitOpError("mixes tensors and memrefs");
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> buffers =
        getBuffers(op, rewriter, options, state);
    if (failed(buffers))
      return failure();
    OperationState onBuffers(op->getLoc(), op->getName());
    onBuffers.addOperands(*buffers);
    onBuffers.addAttributes(llvm::to_vector(op->getDiscardableAttrs()));
    onBuffers.propertiesAttr = op->getPropertiesAsAttribute();
    rewriter.create(onBuffers);
    // Inits are the last operands, and have a result each.
    replaceOpWithBufferizedValues(
        rewriter, op, ArrayRef<Value>(*buffers).take_back(op->getNumResults()));
    return success();
  }
};
} // namespace

template <typename... OpTy> static void attach(MLIRContext *context) {
  (OpTy::template attachInterface<Model<OpTy>>(*context), ...);
}

void rope::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RopeDialect *) {
    attach<TableOp, AssembleOp, ComposeOp, RotateOp, RerotateOp, AttentionOp,
           OnlineAttentionOp, LinearAttentionOp>(context);
  });
}
