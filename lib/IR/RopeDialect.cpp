//===- RopeDialect.cpp - Registration of the rope dialect -----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers attributes and ops, and promises the interfaces whose models are in
// other libraries.
//
//===----------------------------------------------------------------------===//

#include "rope/IR/Rope.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::rope;

#include "rope/IR/RopeDialect.cpp.inc"
#include "rope/IR/RopeEnums.cpp.inc"

#include "rope/IR/RopeAttrInterfaces.cpp.inc"
#include "rope/IR/RopeOpInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "rope/IR/RopeAttrs.cpp.inc"

/// Promises an interface whose models rope/Interfaces attaches.
#define ROPE_PROMISE(InterfaceTy)                                              \
  declarePromisedInterfaces<InterfaceTy, TableOp, AssembleOp, ComposeOp,       \
                            RotateOp, RerotateOp, AttentionOp,                 \
                            OnlineAttentionOp, LinearAttentionOp>()

void RopeDialect::initialize() {
  ROPE_PROMISE(bufferization::BufferizableOpInterface);
  ROPE_PROMISE(RuntimeVerifiableOpInterface);
  addAttributes<
#define GET_ATTRDEF_LIST
#include "rope/IR/RopeAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "rope/IR/RopeOps.cpp.inc"
      >();
}
