//===- LinearPlan.cpp - How linear attention becomes vector code ----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinearPlan.h"
#include "RotationParts.h"

#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;

/// Keys of a chunk: more take longer among themselves, fewer load and store the
/// state more often.
static constexpr int64_t kChunkKeys = 16;

static std::optional<std::string> findTypeObstacle(LinearAttentionOp op) {
  AttentionLikeOpInterface self = op;
  for (OperandRole role :
       {OperandRole::Query, OperandRole::Key, OperandRole::Value,
        OperandRole::KvState, OperandRole::KSum})
    if (Value operand = self.getRoleOperand(role))
      if (getElementTypeOrSelf(operand).isF64())
        return (stringifyRole(role) + " is f64, vectors are f32").str();
  if (op.getNormalizerEps()) {
    double eps = op.getNormalizerEps()->convertToDouble();
    if (eps != 0 && !std::isnormal(static_cast<float>(eps)))
      return "f32 cannot hold the epsilon of the normaliser";
  }
  return std::nullopt;
}

static std::optional<std::string> findLayoutObstacle(LinearAttentionOp op) {
  AttentionLikeOpInterface self = op;
  for (auto [role, dim] : {std::pair(OperandRole::Query, DomainDim::D),
                           {OperandRole::Key, DomainDim::D},
                           {OperandRole::Value, DomainDim::E},
                           {OperandRole::Output, DomainDim::E},
                           {OperandRole::KvState, DomainDim::E},
                           {OperandRole::KSum, DomainDim::D}}) {
    if (!self.getRoleOperand(role))
      continue;
    DimLabels labels = self.getLabels(role);
    if (findDim(labels, dim) != labels.size() - 1)
      return ("channels are not the last dim of " + stringifyRole(role)).str();
  }
  return std::nullopt;
}

static std::optional<std::string> findExtentObstacle(LinearAttentionOp op) {
  for (DomainDim dim : {DomainDim::D, DomainDim::E}) {
    int64_t extent = AttentionLikeOpInterface(op).getStaticExtent(dim);
    if (ShapedType::isDynamic(extent))
      return "the number of channels is dynamic";
    if (std::optional<std::string> obstacle = cpu::findWidthObstacle(extent))
      return obstacle;
  }
  return std::nullopt;
}

std::optional<std::string> cpu::findOperandObstacle(LinearAttentionOp op) {
  for (auto find : {findTypeObstacle, findLayoutObstacle, findExtentObstacle})
    if (std::optional<std::string> obstacle = find(op))
      return obstacle;
  return std::nullopt;
}

CPUPlanAttr cpu::chooseLinearPlan(LinearAttentionOp op, CPUPlanAttr given,
                                  const CPUTarget &target) {
  auto choose = [&](int64_t (CPUPlanAttr::*get)() const, int64_t otherwise) {
    int64_t number = given ? (given.*get)() : 0;
    return number ? number : otherwise;
  };
  int64_t lanes = choose(&CPUPlanAttr::getLanes, target.lanes);
  int64_t vectors = llvm::divideCeil(
      AttentionLikeOpInterface(op).getStaticExtent(DomainDim::E), lanes);
  int64_t most = target.registers >= 32 ? 4 : 2;
  return CPUPlanAttr::get(
      op.getContext(), lanes, choose(&CPUPlanAttr::getRows, 4),
      choose(&CPUPlanAttr::getKeys, std::max<int64_t>(kChunkKeys / lanes, 1)),
      choose(&CPUPlanAttr::getChannels, std::min(most, vectors)), 0, 0, 0, 0,
      /*lookup=*/false, /*dots=*/false);
}
