//===- DomainKernel.cpp - Kernels over the domain of attention ------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row is all channels of an operand: one vector of f32, however long; LLVM
// cuts it into registers.
//
//===----------------------------------------------------------------------===//

#include "DomainKernel.h"
#include "RowRotation.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

DomainKernel::DomainKernel(AttentionLikeOpInterface op, int64_t lanes,
                           OpBuilder &builder)
    : KernelBuilder(op.getLoc(), builder, lanes), domain(op),
      channels(op.getStaticExtent(DomainDim::D)),
      valueChannels(op.getStaticExtent(DomainDim::E)) {
  auto extent = [&](DomainDim dim) {
    return index(domain.getExtent(*this, getLoc(), dim));
  };
  numBatches = extent(DomainDim::B);
  numHeads = extent(DomainDim::H);
  numGroups = extent(DomainDim::G);
  numPositions = extent(DomainDim::M);
  numKeys = extent(DomainDim::N);
}

Type DomainKernel::getElementType(OperandRole role) {
  return getElementTypeOrSelf(getOperand(role).getType());
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value DomainKernel::getDimIndex(const DimLabel &label, const Coordinates &at) {
  if (label.size() == 2)
    return plus(times(at.h, numGroups), at.g);
  if (label.empty())
    return index(0);
  switch (label.front()) {
  case DomainDim::B:
    return at.b;
  case DomainDim::H:
    return at.h;
  case DomainDim::G:
    return at.g;
  case DomainDim::M:
    return at.m;
  case DomainDim::N:
    return at.n;
  case DomainDim::D:
    return at.d;
  case DomainDim::E:
    break;
  }
  llvm_unreachable("value channels have no coordinate");
}

SmallVector<IndexLike> DomainKernel::getIndices(OperandRole role,
                                                const Coordinates &at,
                                                IndexLike channel) {
  SmallVector<IndexLike> indices;
  for (const DimLabel &label : domain.getLabels(role)) {
    bool isChannel = label == DimLabel{DomainDim::E} ||
                     (label == DimLabel{DomainDim::D} && !at.d);
    indices.push_back(isChannel ? channel : IndexLike(getDimIndex(label, at)));
  }
  return indices;
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

Value DomainKernel::paysForTeam() {
  Value rows =
      times(times(numBatches, numHeads), times(numGroups, numPositions));
  return isLess(manyProducts, times(rows, numKeys));
}

void DomainKernel::forEachHead(
    Value parts, function_ref<void(function_ref<void()> loop)> member,
    function_ref<void(Value b, Value h, Value part)> body) {
  if (!threads)
    return member([&] {
      loop(0, numBatches, 1, [&](Value b) {
        loop(0, numHeads, 1, [&](Value h) { body(b, h, index(0)); });
      });
    });
  Value heads = times(numBatches, numHeads);
  share(times(heads, parts), 1, paysForTeam(), member, [&](Value i) {
    Value head = quotient(i, parts);
    body(quotient(head, numHeads), remainder(head, numHeads),
         remainder(i, parts));
  });
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static int64_t getNumChannels(DomainKernel &k, OperandRole role) {
  bool ofValues = role == OperandRole::Value || role == OperandRole::Output;
  return ofValues ? k.valueChannels : k.channels;
}

Value cpu::rotateRow(DomainKernel &k, Value row, OperandRole role,
                     const Coordinates &at) {
  Rotation rotation = k.domain.getRotation(role);
  if (!rotation)
    return row;
  DimLabels labels = k.domain.getLabels(role);
  SmallVector<IndexLike> indices;
  for (int64_t dim : rotation.getRotary().getAlong())
    indices.push_back(k.getDimIndex(labels[dim], at));
  TableRow entries = loadTableRow(k, rotation.table, indices);
  // The output turns the opposite way.
  return turnRow(k, row, rotation.getRotary(), entries,
                 /*opposite=*/role == OperandRole::Output);
}

Value cpu::loadStoredRow(DomainKernel &k, OperandRole role,
                         const Coordinates &at) {
  return k.toF32(k.loadVector(k.getOperand(role), k.getIndices(role, at),
                              getNumChannels(k, role)));
}

Value cpu::loadRow(DomainKernel &k, OperandRole role, const Coordinates &at) {
  return rotateRow(k, loadStoredRow(k, role, at), role, at);
}

void cpu::storeRow(DomainKernel &k, Value row, OperandRole role,
                   const Coordinates &at) {
  k.storeVector(k.fromF32(row, k.getElementType(role)), k.getOperand(role),
                k.getIndices(role, at));
}

void cpu::prefetchRow(DomainKernel &k, OperandRole role,
                      const Coordinates &at) {
  Value memory = k.getOperand(role);
  int64_t perLine =
      kLineBytes * 8 / k.getElementType(role).getIntOrFloatBitWidth();
  for (int64_t c = 0; c < getNumChannels(k, role); c += perLine)
    memref::PrefetchOp::create(k, memory, k.indices(k.getIndices(role, at, c)),
                               /*isWrite=*/role == OperandRole::Output,
                               /*localityHint=*/3,
                               /*isDataCache=*/true);
}
