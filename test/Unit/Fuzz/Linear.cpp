//===- Linear.cpp - Random rope.linear_attention --------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionDraw.h"

#include "mlir/IR/TypeUtilities.h"
#include "rope/Reference/LinearAttention.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::test;

/// The same inputs without signs and rotations: results bound the sums of
/// absolute values that the arithmetic runs over.
static reference::LinearAttentionInputs
makeAbsolute(reference::LinearAttentionInputs inputs) {
  auto makePositive = [](reference::Array &numbers) {
    for (int64_t i = 0; i < numbers.getNumElements(); ++i)
      numbers[i] = std::fabs(numbers[i]);
  };
  // x + 1, exp(x) and |x| are largest for |x|.
  makePositive(inputs.query);
  makePositive(inputs.key);
  makePositive(inputs.value);
  for (std::optional<reference::Array> *state : {&inputs.kvState, &inputs.kSum})
    if (*state)
      makePositive(**state);
  inputs.rotateQuery.reset();
  inputs.rotateKey.reset();
  inputs.normalizerEps.reset();
  return inputs;
}

static double getLargest(const reference::Array &numbers) {
  double largest = 0;
  for (double number : numbers.getElements())
    largest = std::max(largest, std::fabs(number));
  return largest;
}

namespace {
struct LinearDraw : AttentionDraw {
  using AttentionDraw::AttentionDraw;

  void drawVectors(double low);
  void drawInits(Type type);
  std::vector<Want> getWants();

  reference::LinearAttentionInputs inputs;
  Value query, key, value;
  std::array<DrawnRotation, 2> rotations;
  double magnitude = 1, tableError = 0;
  SmallVector<DrawnDims> initDims;
  SmallVector<Value> inits;
};
} // namespace

void LinearDraw::drawVectors(double low) {
  Type type = b.drawFloat();
  auto drawType = [&] { return draw.chance(0.85) ? type : b.drawFloat(); };
  auto addVectors = [&](OperandRole role, StringRef letters, unsigned index,
                        std::optional<reference::RoleRotation> *rotation) {
    bool isRotated = rotation && extents.at('d') >= 2 && draw.chance(0.5);
    DrawnDims dims = drawDims(role, isRotated);
    Operand operand = addFloats(dims, drawType(), rotation ? low : -1.0);
    if (isRotated) {
      rotations[index] =
          drawRoleRotation(dims, letters.drop_back(), rotation->emplace());
      magnitude *= std::max(1.0, rotations[index].table.magnitude);
      tableError += rotations[index].table.error;
    }
    return std::pair(operand.value,
                     toCanonical(operand.numbers, dims, letters));
  };
  std::tie(query, inputs.query) =
      addVectors(OperandRole::Query, "bhgmd", 0, &inputs.rotateQuery);
  std::tie(key, inputs.key) =
      addVectors(OperandRole::Key, "bhnd", 1, &inputs.rotateKey);
  std::tie(value, inputs.value) =
      addVectors(OperandRole::Value, "bhne", 0, nullptr);
}

/// The output, and states with what came before.
void LinearDraw::drawInits(Type type) {
  DrawnDims &out = initDims[0];
  inits.push_back(addInit(out, type).value);
  auto addState = [&](const DrawnDims &dims, StringRef letters, double low) {
    reference::Array numbers = draw.array(dims.shape, low, 2);
    Type stateType =
        draw.pick<Type>({b.builder.getF32Type(), b.builder.getF32Type(),
                         b.builder.getF64Type()});
    Operand init = addInit(dims, stateType, &numbers);
    inits.push_back(init.value);
    return toCanonical(init.numbers, dims, letters);
  };
  if (initDims.size() > 1)
    inputs.kvState = addState(initDims[1], "bhde", -2);
  if (initDims.size() > 2)
    inputs.kSum = addState(initDims[2], "bhd", 1);
}

std::vector<Want> LinearDraw::getWants() {
  reference::LinearAttentionResult result = reference::linearAttention(inputs);
  reference::LinearAttentionResult bound =
      reference::linearAttention(makeAbsolute(inputs));
  double share = 1e-6 * magnitude + 4 * tableError * magnitude;
  // With a normaliser the sum in the denominator is at least this large.
  double least = 1;
  if (inputs.normalizerEps) {
    reference::LinearAttentionInputs ones = inputs;
    ones.rotateQuery.reset();
    ones.rotateKey.reset();
    ones.kvState.reset();
    ones.normalizerEps.reset();
    ones.value = reference::Array::filled(inputs.value.getShape(), 1);
    reference::Array sums = reference::linearAttention(ones).output;
    least = sums.getNumElements()
                ? *std::min_element(sums.getElements().begin(),
                                    sums.getElements().end())
                : 1;
    least = std::max(least, 1e-3);
  }
  std::vector<Want> wants = {
      {fromCanonical(result.output, initDims[0], "bhgme"),
       reference::Array(
           {}, {share * std::max(1.0, getLargest(bound.output)) / least})}};
  if (initDims.size() > 1)
    wants.push_back(
        {fromCanonical(result.kvState, initDims[1], "bhde"),
         reference::Array({}, {share * getLargest(bound.kvState)})});
  if (initDims.size() > 2)
    wants.push_back({fromCanonical(result.kSum, initDims[2], "bhd"),
                     reference::Array({}, {share * getLargest(bound.kSum)})});
  return wants;
}

void test::drawLinearAttentionCase(CaseBuilder &b) {
  LinearDraw d(b);
  Draw &draw = b.draw;
  d.inputs.causal = draw.chance(0.5);
  if (d.inputs.causal)
    d.extents['n'] = d.extents['m'];
  FeatureMap map = draw.pick({FeatureMap::Identity, FeatureMap::EluPlusOne,
                              FeatureMap::Relu, FeatureMap::Exp});
  d.inputs.featureMap = static_cast<reference::FeatureMap>(map);
  if (draw.chance(0.6))
    d.inputs.normalizerEps = draw.pick({1e-6, 0.01, 1.0});

  d.initDims.push_back(d.drawInitDims(OperandRole::Output));
  if (draw.chance(0.5)) {
    d.initDims.push_back(d.drawInitDims(OperandRole::KvState));
    if (d.inputs.normalizerEps)
      d.initDims.push_back(d.drawInitDims(OperandRole::KSum));
  }
  // Features that cancel would leave nothing to divide by.
  bool cancels = map == FeatureMap::Identity || map == FeatureMap::Relu;
  d.drawVectors(cancels && d.inputs.normalizerEps ? 0.1 : -1.0);
  d.drawInits(draw.chance(0.7) ? getElementTypeOrSelf(d.query.getType())
                               : b.drawFloat());

  auto op = LinearAttentionOp::create(b.builder, d.query, d.key, d.value,
                                      d.inits, map);
  if (d.rotations[0].attr)
    op.getQueryTableMutable().assign(d.rotations[0].table.table.value);
  if (d.rotations[1].attr)
    op.getKeyTableMutable().assign(d.rotations[1].table.table.value);
  op.setQueryRotaryAttr(d.rotations[0].attr);
  op.setKeyRotaryAttr(d.rotations[1].attr);
  op.setCausal(d.inputs.causal);
  if (d.inputs.normalizerEps)
    op.setNormalizerEpsAttr(b.builder.getF64FloatAttr(*d.inputs.normalizerEps));
  op.setLayoutAttr(d.getLayout());
  b.finish(op, d.inits, d.getWants());
}
