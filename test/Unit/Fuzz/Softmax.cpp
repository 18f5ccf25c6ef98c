//===- Softmax.cpp - Random rope.attention and rope.online_attention ------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionDraw.h"

#include "mlir/IR/TypeUtilities.h"
#include "rope/Reference/OnlineAttention.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::test;
using reference::IntArray;

namespace {
/// The inputs of an op with softmax, as values and as the reference wants them.
struct SoftmaxDraw : AttentionDraw {
  using AttentionDraw::AttentionDraw;

  /// Draws all but what only one of the ops has.
  void drawInputs();
  /// Gives `op` the operands and attributes drawn.
  template <typename OpTy> void set(OpTy op);

  reference::AttentionInputs inputs;
  Value query, key, value;
  std::array<DrawnRotation, 3> rotations;
  /// How far tables may be off, in sum.
  double tableError = 0;
  double valueMagnitude = 1;
  double scale = 1;

private:
  void drawVectors();
  void drawMask();
  void drawPositions();
  void drawKeyLength();
  void poisonHiddenKeys(reference::Array &numbers, const DrawnDims &dims);
  IntArray drawSlots(OperandRole role, char rows, Value &slots);

  Value mask, queryPos, keyPos, keyLength;
  DenseI64ArrayAttr window;
};
} // namespace

//===----------------------------------------------------------------------===//
// Positions and lengths
//===----------------------------------------------------------------------===//

static IntArray toIntegers(const reference::Array &numbers) {
  IntArray integers(numbers.getShape());
  for (int64_t i = 0; i < numbers.getNumElements(); ++i)
    integers[i] = static_cast<int64_t>(numbers[i]);
  return integers;
}

/// Positions of a role as the reference wants them: [b, rows].
IntArray SoftmaxDraw::drawSlots(OperandRole role, char rows, Value &slots) {
  int64_t size = extents.at(rows);
  std::string letters = std::string("b") + rows;
  IntArray canonical({extents.at('b'), size});
  auto fill = [&](auto getStart) {
    for (int64_t i = 0; i < canonical.getNumElements(); ++i)
      canonical[i] = getStart(i / size) + i % size;
  };
  if (draw.chance(0.3)) {
    int64_t start = draw.range(-2, 5);
    slots = b.addIndex(start);
    fill([&](int64_t) { return start; });
    return canonical;
  }
  DrawnDims dims = drawDims(role);
  IntArray numbers(dims.shape);
  bool consecutive = draw.chance(0.5);
  int64_t start = draw.range(-2, 5);
  for (int64_t i = 0; i < numbers.getNumElements(); ++i)
    numbers[i] = consecutive ? start + i : draw.range(-3, 10);
  Operand operand = b.addOperand(numbers, b.drawInteger(), dims.keepStatic);
  slots = operand.value;
  if (dims.getLetters().find(rows) != std::string::npos)
    return toIntegers(toCanonical(operand.numbers, dims, letters));
  reference::Array starts = toCanonical(operand.numbers, dims, "b");
  fill([&](int64_t batch) { return static_cast<int64_t>(starts[batch]); });
  return canonical;
}

void SoftmaxDraw::drawPositions() {
  if (draw.chance(0.4))
    inputs.queryPositions = drawSlots(OperandRole::QueryPos, 'm', queryPos);
  if (draw.chance(0.4))
    inputs.keyPositions = drawSlots(OperandRole::KeyPos, 'n', keyPos);
  inputs.causal = draw.chance(0.4);
  if (draw.chance(0.3)) {
    inputs.window = {draw.range(-1, 4), draw.range(-1, 4)};
    window = b.builder.getDenseI64ArrayAttr(
        {inputs.window->left, inputs.window->right});
  }
}

void SoftmaxDraw::drawKeyLength() {
  if (draw.chance(0.6))
    return;
  int64_t keys = extents.at('n'), batches = extents.at('b');
  if (draw.chance(0.4)) {
    int64_t length = draw.range(0, keys);
    keyLength = b.addIndex(length);
    inputs.keyLength = IntArray::filled({batches}, length);
    return;
  }
  DrawnDims dims = drawDims(OperandRole::KeyLength);
  IntArray numbers(dims.shape);
  for (int64_t i = 0; i < numbers.getNumElements(); ++i)
    numbers[i] = draw.range(0, keys);
  Operand operand = b.addOperand(numbers, b.drawInteger(), dims.keepStatic);
  keyLength = operand.value;
  inputs.keyLength = toIntegers(toCanonical(operand.numbers, dims, "b"));
}

//===----------------------------------------------------------------------===//
// Mask, query, key and value
//===----------------------------------------------------------------------===//

void SoftmaxDraw::drawMask() {
  if (draw.chance(0.6))
    return;
  DrawnDims dims = drawDims(OperandRole::Mask);
  bool isBoolean = draw.chance(0.5);
  Type type = isBoolean ? Type(b.builder.getI1Type()) : b.drawFloat();
  double visible = draw.pick({0.3, 0.7, 1.0});
  reference::Array numbers = draw.array(dims.shape, -3, 3);
  for (int64_t i = 0; i < numbers.getNumElements(); ++i) {
    bool keep = draw.chance(visible);
    if (isBoolean)
      numbers[i] = keep;
    else if (!keep)
      numbers[i] = -std::numeric_limits<double>::infinity();
    else if (draw.chance(0.1) && (type.isF32() || type.isBF16()))
      numbers[i] = -3.0e38;
  }
  Operand operand = b.addOperand(numbers, type, dims.keepStatic);
  mask = operand.value;
  inputs.mask = toCanonical(operand.numbers, dims, "bhgmn");
  inputs.maskKind =
      isBoolean ? reference::MaskKind::Keep : reference::MaskKind::Additive;
}

/// Nothing of a key beyond the length may be used: not even its NaNs.
void SoftmaxDraw::poisonHiddenKeys(reference::Array &numbers,
                                   const DrawnDims &dims) {
  if (!inputs.keyLength || draw.chance(0.5))
    return;
  int64_t longest = 0;
  for (int64_t length : inputs.keyLength->getElements())
    longest = std::max(longest, length);
  auto keys = llvm::find(dims.items, "n") - dims.items.begin();
  int64_t inner = 1;
  for (size_t i = keys + 1; i < dims.shape.size(); ++i)
    inner *= dims.shape[i];
  for (int64_t i = 0; i < numbers.getNumElements(); ++i)
    if (i / inner % dims.shape[keys] >= longest)
      numbers[i] = std::numeric_limits<double>::quiet_NaN();
}

void SoftmaxDraw::drawVectors() {
  Type type = b.drawFloat();
  auto drawType = [&] { return draw.chance(0.85) ? type : b.drawFloat(); };
  auto addVectors = [&](OperandRole role, StringRef letters, unsigned index,
                        std::optional<reference::RoleRotation> &rotation) {
    bool isRotated = extents.at(letters.back()) >= 2 && draw.chance(0.4);
    DrawnDims dims = drawDims(role, isRotated);
    reference::Array numbers = draw.array(dims.shape);
    if (role != OperandRole::Query)
      poisonHiddenKeys(numbers, dims);
    Operand operand = b.addOperand(numbers, drawType(), dims.keepStatic);
    reference::Array canonical = toCanonical(operand.numbers, dims, letters);
    if (isRotated) {
      rotations[index] =
          drawRoleRotation(dims, letters.drop_back(), rotation.emplace());
      tableError += rotations[index].table.error;
    }
    return std::pair(operand.value, canonical);
  };
  std::tie(query, inputs.query) =
      addVectors(OperandRole::Query, "bhgmd", 0, inputs.rotateQuery);
  std::tie(key, inputs.key) =
      addVectors(OperandRole::Key, "bhnd", 1, inputs.rotateKey);
  std::tie(value, inputs.value) =
      addVectors(OperandRole::Value, "bhne", 2, inputs.rotateValue);
  if (inputs.rotateValue)
    valueMagnitude = std::max(1.0, rotations[2].table.magnitude);
}

void SoftmaxDraw::drawInputs() {
  drawKeyLength();
  drawVectors();
  drawMask();
  drawPositions();
  double unit = 1 / std::sqrt(static_cast<double>(extents.at('d')));
  scale = draw.pick({unit, unit, unit, -unit, 0.0, unit / 2});
  inputs.scale = scale;
  if (draw.chance(0.3))
    inputs.softcap = draw.uniform(0.5, 30);
}

template <typename OpTy> void SoftmaxDraw::set(OpTy op) {
  auto assign = [](MutableOperandRange range, Value operand) {
    if (operand)
      range.assign(operand);
  };
  assign(op.getMaskMutable(), mask);
  assign(op.getQueryPosMutable(), queryPos);
  assign(op.getKeyPosMutable(), keyPos);
  assign(op.getKeyLengthMutable(), keyLength);
  assign(op.getQueryTableMutable(), rotations[0].table.table.value);
  assign(op.getKeyTableMutable(), rotations[1].table.table.value);
  assign(op.getValueTableMutable(), rotations[2].table.table.value);
  op.setQueryRotaryAttr(rotations[0].attr);
  op.setKeyRotaryAttr(rotations[1].attr);
  op.setValueRotaryAttr(rotations[2].attr);
  op.setCausal(inputs.causal);
  op.setWindowAttr(window);
  if (inputs.softcap)
    op.setSoftcapAttr(b.builder.getF64FloatAttr(*inputs.softcap));
  op.setLayoutAttr(getLayout());
}

//===----------------------------------------------------------------------===//
// The ops
//===----------------------------------------------------------------------===//

/// f32 attention over inputs in [−1, 1] is this close to real arithmetic.
static constexpr double kAttentionError = 5e-7;

/// A sink for the inputs of the reference, and its value.
static Value drawSink(SoftmaxDraw &d) {
  DrawnDims dims = d.drawDims(OperandRole::Sink);
  Operand operand = d.addFloats(dims, d.b.drawFloat(), -2, 2);
  d.inputs.sink = d.toCanonical(operand.numbers, dims, "hg");
  return operand.value;
}

static Want getWantedLse(SoftmaxDraw &d, const reference::Array &lse,
                         const DrawnDims &dims) {
  reference::Array want = d.fromCanonical(lse, dims, "bhgm");
  reference::Array allowed = want;
  for (int64_t i = 0; i < want.getNumElements(); ++i)
    allowed[i] =
        kAttentionError * std::max(1.0, std::fabs(want[i])) + 4 * d.tableError;
  return {want, allowed};
}

/// The op with what was drawn; the sink and the rotation of the output may be
/// null.
static AttentionOp createAttention(SoftmaxDraw &d, ValueRange inits, Value sink,
                                   const DrawnRotation &rotation) {
  auto op =
      AttentionOp::create(d.b.builder, d.query, d.key, d.value, inits, d.scale);
  d.set(op);
  if (sink)
    op.getSinkMutable().assign(sink);
  if (rotation.attr) {
    op.getOutputTableMutable().assign(rotation.table.table.value);
    op.setOutputRotaryAttr(rotation.attr);
  }
  return op;
}

static Want getWantedOutput(SoftmaxDraw &d, const reference::Array &output,
                            const DrawnDims &dims,
                            const DrawnRotation &rotation) {
  double turned = rotation.attr ? std::max(1.0, rotation.table.magnitude) : 1.0;
  double tolerance =
      (kAttentionError + 4 * (d.tableError + rotation.table.error)) *
      d.valueMagnitude * turned;
  return {d.fromCanonical(output, dims, "bhgme"),
          reference::Array({}, {tolerance}), /*zeroIsExact=*/true};
}

void test::drawAttentionCase(CaseBuilder &b) {
  SoftmaxDraw d(b);
  Draw &draw = b.draw;
  bool isRotated = d.extents.at('e') >= 2 && draw.chance(0.3);
  DrawnDims outDims = d.drawInitDims(OperandRole::Output);
  if (isRotated && outDims.items.back() != "e")
    isRotated = false;
  if (isRotated)
    outDims.keepStatic.back() = true;
  bool hasLse = draw.chance(0.5);
  DrawnDims lseDims;
  if (hasLse)
    lseDims = d.drawInitDims(OperandRole::Lse);
  DrawnRotation rotation;
  if (isRotated)
    rotation =
        d.drawRoleRotation(outDims, "bhgm", d.inputs.rerotateOutput.emplace());
  Value sink = draw.chance(0.25) ? drawSink(d) : Value();
  d.drawInputs();

  SmallVector<Value> inits;
  Type outType = draw.chance(0.7) ? getElementTypeOrSelf(d.query.getType())
                                  : b.drawFloat();
  inits.push_back(d.addInit(outDims, outType).value);
  Type lseType =
      draw.pick<Type>({b.builder.getF32Type(), b.builder.getF64Type()});
  if (hasLse)
    inits.push_back(d.addInit(lseDims, lseType).value);
  AttentionOp op = createAttention(d, inits, sink, rotation);

  reference::AttentionResult result = reference::attention(d.inputs);
  std::vector<Want> wants;
  wants.push_back(getWantedOutput(d, result.output, outDims, rotation));
  if (hasLse)
    wants.push_back(getWantedLse(d, result.lse, lseDims));
  b.finish(op, inits, std::move(wants));
}

void test::drawOnlineAttentionCase(CaseBuilder &b) {
  SoftmaxDraw d(b);
  Draw &draw = b.draw;
  DrawnDims accDims = d.drawInitDims(OperandRole::Output);
  DrawnDims rowDims = d.drawInitDims(OperandRole::Lse);
  d.drawInputs();

  // The state of a row that has seen keys, or none.
  reference::Array max = draw.array(rowDims.shape, -2, 2);
  reference::Array sum = draw.array(rowDims.shape, 1, 8);
  reference::Array acc = draw.array(accDims.shape);
  bool isFresh = draw.chance(0.4);
  for (int64_t i = 0; i < max.getNumElements() && isFresh; ++i) {
    max[i] = -std::numeric_limits<double>::infinity();
    sum[i] = 0;
  }
  for (int64_t i = 0; i < acc.getNumElements() && isFresh; ++i)
    acc[i] = 0;
  auto drawType = [&] {
    return draw.pick<Type>({b.builder.getF32Type(), b.builder.getF32Type(),
                            b.builder.getF64Type()});
  };
  Operand accInit = d.addInit(accDims, drawType(), &acc);
  Operand maxInit = d.addInit(rowDims, drawType(), &max);
  Operand sumInit = d.addInit(rowDims, drawType(), &sum);
  SmallVector<Value> inits = {accInit.value, maxInit.value, sumInit.value};
  auto op = OnlineAttentionOp::create(b.builder, d.query, d.key, d.value, inits,
                                      d.scale);
  d.set(op);

  reference::OnlineState state{d.toCanonical(accInit.numbers, accDims, "bhgme"),
                               d.toCanonical(maxInit.numbers, rowDims, "bhgm"),
                               d.toCanonical(sumInit.numbers, rowDims, "bhgm")};
  state = reference::onlineAttention(d.inputs, state);
  double largest = 1;
  for (double number : state.sum.getElements())
    largest = std::max(largest, number);
  double tolerance =
      (kAttentionError + 4 * d.tableError) * largest * d.valueMagnitude;
  reference::Array allowed({}, {tolerance});
  b.finish(op, inits,
           {{d.fromCanonical(state.acc, accDims, "bhgme"), allowed},
            {d.fromCanonical(state.max, rowDims, "bhgm"), allowed},
            {d.fromCanonical(state.sum, rowDims, "bhgm"), allowed}});
}
