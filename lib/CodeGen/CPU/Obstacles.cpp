//===- Obstacles.cpp - What vector code can do ----------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Obstacles.h"
#include "AttentionKernel.h"
#include "RotationParts.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

using Obstacle = std::optional<std::string>;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// A row is unrolled into registers.
static constexpr int64_t kMaxChannels = 512;

static Obstacle findWidthObstacle(int64_t channels) {
  if (ShapedType::isDynamic(channels))
    return "the number of channels is dynamic";
  if (channels >= 1 && channels <= kMaxChannels)
    return std::nullopt;
  return (Twine(channels) + " channels, vectors have 1 to " +
          Twine(kMaxChannels))
      .str();
}

static Obstacle findTypeObstacle(Value operand, StringRef name) {
  if (operand && getElementTypeOrSelf(operand).isF64())
    return (name + " is f64, vectors are f32").str();
  return std::nullopt;
}

static Obstacle findTypeObstacle(AttentionLikeOpInterface op) {
  for (OperandRole role :
       {OperandRole::Query, OperandRole::Key, OperandRole::Value,
        OperandRole::Mask, OperandRole::Sink, OperandRole::KvState,
        OperandRole::KSum})
    if (Obstacle obstacle =
            findTypeObstacle(op.getRoleOperand(role), stringifyRole(role)))
      return obstacle;
  return std::nullopt;
}

static Obstacle findLayoutObstacle(AttentionLikeOpInterface op) {
  for (auto [role, dim] : {std::pair(OperandRole::Query, DomainDim::D),
                           {OperandRole::Key, DomainDim::D},
                           {OperandRole::Value, DomainDim::E},
                           {OperandRole::Output, DomainDim::E},
                           {OperandRole::KvState, DomainDim::E},
                           {OperandRole::KSum, DomainDim::D}}) {
    DimLabels labels = op.getLabels(role);
    if (op.getRoleOperand(role) && findDim(labels, dim) != labels.size() - 1)
      return ("channels are not the last dim of " + stringifyRole(role)).str();
  }
  return std::nullopt;
}

static Obstacle findExtentObstacle(AttentionLikeOpInterface op) {
  for (DomainDim dim : {DomainDim::D, DomainDim::E})
    if (Obstacle obstacle = findWidthObstacle(op.getStaticExtent(dim)))
      return obstacle;
  return std::nullopt;
}

static Obstacle findMaskObstacle(AttentionLikeOpInterface op) {
  DimLabels labels = op.getLabels(OperandRole::Mask);
  std::optional<unsigned> keys = findDim(labels, DomainDim::N);
  if (keys && *keys != labels.size() - 1)
    return "keys are not the last dim of mask";
  return std::nullopt;
}

static bool isHeldByF32(double number) {
  return number == 0 || std::isnormal(static_cast<float>(number));
}

static Obstacle findNumberObstacle(AttentionLikeOpInterface op) {
  if (auto linear = dyn_cast<LinearAttentionOp>(op.getOperation())) {
    if (linear.getNormalizerEps() &&
        !isHeldByF32(linear.getNormalizerEps()->convertToDouble()))
      return "f32 cannot hold the epsilon of the normaliser";
    return std::nullopt;
  }
  auto attention = cast<AttentionOp>(op.getOperation());
  double softcap =
      attention.getSoftcap() ? attention.getSoftcap()->convertToDouble() : 1.0;
  double factor = attention.getScale().convertToDouble() / softcap;
  if (!isHeldByF32(2 * factor) || !isHeldByF32(2 * softcap))
    return "f32 cannot hold the scale or the softcap";
  return std::nullopt;
}

static Obstacle findRotationObstacle(const RotationParts &parts) {
  auto getWidth = [](Value operand) {
    return cast<ShapedType>(operand.getType()).getShape().back();
  };
  if (Obstacle obstacle = findTypeObstacle(parts.input, "input"))
    return obstacle;
  if (Obstacle obstacle = findTypeObstacle(parts.table, "table"))
    return obstacle;
  return findWidthObstacle(getWidth(parts.input));
}

Obstacle cpu::findOperandObstacle(Operation *op) {
  if (std::optional<RotationParts> parts = getRotationParts(op))
    return findRotationObstacle(*parts);
  auto attention = cast<AttentionLikeOpInterface>(op);
  for (Obstacle (*find)(AttentionLikeOpInterface) :
       {+[](AttentionLikeOpInterface op) { return findTypeObstacle(op); },
        findNumberObstacle, findLayoutObstacle, findExtentObstacle,
        findMaskObstacle})
    if (Obstacle obstacle = find(attention))
      return obstacle;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Obstacle cpu::findMemoryObstacle(DestinationStyleOpInterface op,
                                 function_ref<bool(Value, Value)> shareMemory) {
  std::optional<RotationParts> rotation = getRotationParts(op);
  auto inMemory = [](Value x) { return isa<MemRefType>(x.getType()); };
  SmallVector<Value> inits = llvm::filter_to_vector(op.getDpsInits(), inMemory);
  SmallVector<Value> inputs =
      llvm::filter_to_vector(op.getDpsInputs(), inMemory);
  for (auto [i, init] : llvm::enumerate(inits)) {
    for (Value input : inputs) {
      // Rows are read before they are written.
      bool isInPlace = rotation && input == rotation->input && input == init;
      if (!isInPlace && shareMemory(input, init))
        return "an input may share memory with a result";
    }
    for (Value other : ArrayRef(inits).drop_front(i + 1))
      if (shareMemory(init, other))
        return "two results may share memory";
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Half of the stack that LLVM's OpenMP gives a thread.
static constexpr int64_t kMostBytes = 1 << 21;

bool cpu::takesDots(AttentionOp op, int64_t lanes) {
  return lanes == 16 &&
         llvm::all_of(ValueRange{op.getQuery(), op.getKey(), op.getValue()},
                      [](Value operand) {
                        return getElementTypeOrSelf(operand).isBF16();
                      });
}

static Obstacle findTileObstacle(CPUPlanAttr plan, int64_t vectors) {
  if (plan.getRows() * vectors <= kMostSums)
    return std::nullopt;
  return (Twine(plan.getRows()) + " rows by " + Twine(vectors) +
          " vectors, more than " + Twine(kMostSums) + " sums")
      .str();
}

static Obstacle findPlanObstacle(LinearAttentionOp op, CPUPlanAttr plan) {
  for (int64_t number :
       {plan.getLanes(), plan.getRows(), plan.getKeys(), plan.getChannels()})
    if (number == 0)
      return "open numbers: run rope-plan";
  return findTileObstacle(plan, plan.getChannels());
}

static Obstacle findPlanObstacle(AttentionOp op, CPUPlanAttr plan) {
  for (int64_t number :
       {plan.getLanes(), plan.getRows(), plan.getKeys(), plan.getChannels(),
        plan.getGroup(), plan.getStrips(), plan.getWeave()})
    if (number == 0)
      return "open numbers: run rope-plan";
  if (plan.getLookup() && plan.getLanes() != 16)
    return "lookup, which wants 16 lanes";
  if (plan.getDots() && !takesDots(op, plan.getLanes()))
    return "dots, which want 16 lanes, and bf16 queries, keys and values";
  // Scores of keys that are read where they lie are computed one by one.
  bool streams = isStreamed(op, plan.getStream());
  if (plan.getDots() && streams)
    return "dots, which want packed keys: stream must be -1";
  return findTileObstacle(
      plan, streams ? plan.getChannels()
                    : std::max(plan.getKeys(), plan.getChannels()));
}

LogicalResult cpu::checkPlan(Operation *op) {
  auto plan = op->getAttrOfType<CPUPlanAttr>(kPlanAttrName);
  auto obstacle =
      llvm::TypeSwitch<Operation *, Obstacle>(op)
          .Case<AttentionOp, LinearAttentionOp>(
              [&](auto attention) { return findPlanObstacle(attention, plan); })
          // Its numbers mean nothing.
          .Default(std::nullopt);
  if (obstacle)
    return op->emitOpError() << "has a plan with " << *obstacle;
  return success();
}

LogicalResult cpu::checkPlanned(DestinationStyleOpInterface op) {
  Obstacle obstacle = findOperandObstacle(op);
  if (!obstacle)
    obstacle = findMemoryObstacle(op, std::equal_to<Value>());
  if (obstacle)
    return op->emitOpError() << "cannot have a plan: " << *obstacle;
  return checkPlan(op);
}

LogicalResult cpu::checkStack(Operation *op, int64_t bytes) {
  if (bytes <= kMostBytes)
    return success();
  return op->emitOpError() << "has a plan with " << bytes
                           << " bytes of work memory, which a stack may not "
                              "hold: at most "
                           << kMostBytes;
}
