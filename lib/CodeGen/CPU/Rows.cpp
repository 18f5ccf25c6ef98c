//===- Rows.cpp - Rows of operands ----------------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads, rotates and stores all channels of an operand at once. A row is one
// vector of f32, however long; LLVM cuts it into registers.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"
#include "RowRotation.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

static int64_t getNumChannels(AttentionKernel &k, OperandRole role) {
  bool ofValues = role == OperandRole::Value || role == OperandRole::Output;
  return ofValues ? k.valueChannels : k.channels;
}

Value cpu::rotateRow(AttentionKernel &k, Value row, OperandRole role,
                     const Coordinates &at) {
  Rotation rotation = k.getInterface().getRotation(role);
  if (!rotation)
    return row;
  DimLabels labels = k.getInterface().getLabels(role);
  SmallVector<IndexLike> indices;
  for (int64_t dim : rotation.getRotary().getAlong())
    indices.push_back(k.getDimIndex(labels[dim], at));
  TableRow entries = loadTableRow(k, rotation.table, indices);
  // The output turns the opposite way.
  return turnRow(k, row, rotation.getRotary(), entries,
                 /*opposite=*/role == OperandRole::Output);
}

Value cpu::loadRow(AttentionKernel &k, OperandRole role,
                   const Coordinates &at) {
  Value row = k.loadVector(k.getOperand(role), k.getIndices(role, at),
                           getNumChannels(k, role));
  return rotateRow(k, k.toF32(row), role, at);
}

void cpu::storeRow(AttentionKernel &k, Value row, OperandRole role,
                   const Coordinates &at) {
  k.storeVector(k.fromF32(row, k.getElementType(role)), k.getOperand(role),
                k.getIndices(role, at));
}
