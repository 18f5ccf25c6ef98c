//===- Rope.h - The rope dialect --------------------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_IR_ROPE_H
#define ROPE_IR_ROPE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "rope/IR/AttentionDomain.h"

#include "rope/IR/RopeDialect.h.inc"
#include "rope/IR/RopeEnums.h.inc"

#include "rope/IR/RopeAttrInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "rope/IR/RopeAttrs.h.inc"

#include "rope/IR/RopeOpInterfaces.h.inc"

#define GET_OP_CLASSES
#include "rope/IR/RopeOps.h.inc"

namespace mlir::rope {

/// The discardable attribute that says how an op is to be lowered.
constexpr llvm::StringLiteral kPlanAttrName = "rope.plan";

/// The unit attribute of a function's argument that is the same in every call:
/// a weight, which may be stored in another order once and for all.
constexpr llvm::StringLiteral kWeightAttrName = "rope.weight";

/// Before the name of a function: that of the one that packs its weights.
constexpr llvm::StringLiteral kPackWeightsPrefix = "pack_weights_of_";

/// Whether an op reads its init `index` beside writing it: a state that is
/// carried, not a result alone.
bool readsInit(Operation *op, unsigned index);

} // namespace mlir::rope

#endif // ROPE_IR_ROPE_H
