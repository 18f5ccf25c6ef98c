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
#include "rope/IR/TableFacts.h"

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

LogicalResult RopeDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (attribute.getName() == kScheduleAttrName) {
    if (isa<FrequencyAttrInterface>(attribute.getValue()))
      return success();
    return op->emitOpError()
           << attribute.getName() << " must be a schedule of frequencies, got "
           << attribute.getValue();
  }
  if (attribute.getName() != kPlanAttrName)
    return op->emitOpError() << "has unknown attribute " << attribute.getName();
  if (!isa<CPUPlanAttr>(attribute.getValue()))
    return op->emitOpError()
           << attribute.getName() << " must be a #rope.cpu_plan, got "
           << attribute.getValue();
  return success();
}

LogicalResult RopeDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned number,
                                                    NamedAttribute attribute) {
  if (attribute.getName() == kWeightAttrName &&
      isa<UnitAttr>(attribute.getValue()))
    return success();
  return op->emitOpError() << "has unknown attribute " << attribute.getName()
                           << " = " << attribute.getValue() << " on argument "
                           << number;
}

LogicalResult RopeDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned number, NamedAttribute attribute) {
  return op->emitOpError() << "has unknown attribute " << attribute.getName()
                           << " on result " << number;
}

LogicalResult CPUPlanAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t lanes, int64_t rows, int64_t keys,
                                  int64_t channels, int64_t group,
                                  int64_t strips, int64_t weave, int64_t stream,
                                  bool lookup, bool dots) {
  if (lanes < 0 || lanes > 64 || (lanes & (lanes - 1)) != 0)
    return emitError() << "lanes must be a power of two up to 64, got "
                       << lanes;
  if (weave < -1 || stream < -1)
    return emitError() << "weave and stream must be at least -1, got " << weave
                       << " and " << stream;
  for (auto [name, number] : {std::pair("rows", rows),
                              {"keys", keys},
                              {"channels", channels},
                              {"group", group},
                              {"strips", strips}})
    if (number < 0 || number > 64)
      return emitError() << name << " must be between 0 and 64, got " << number;
  return success();
}
