//===- RopeOps.cpp - Tables and rotations ---------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builders and verifiers of the ops with one init.
//
//===----------------------------------------------------------------------===//

#include "Operands.h"
#include "rope/IR/Rope.h"
#include "rope/IR/TableFacts.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rope;

static ShapedType getShapedType(Value value) {
  return cast<ShapedType>(value.getType());
}

/// Whether a table has the shape [lead..., 2, W] with a static, positive W.
static LogicalResult verifyTableShape(Operation *op, ShapedType table) {
  int64_t rank = table.getRank();
  if (rank >= 2 && table.getDimSize(rank - 2) == 2 &&
      !table.isDynamicDim(rank - 1) && table.getDimSize(rank - 1) > 0)
    return success();
  return op->emitOpError()
         << "table must have the shape [lead..., 2, W] with a "
            "static, positive W, got "
         << table;
}

//===----------------------------------------------------------------------===//
// TableOp
//===----------------------------------------------------------------------===//

static ParseResult parseAngleMode(OpAsmParser &parser, AngleModeAttr &attr) {
  AngleMode mode = AngleMode::Exact;
  for (AngleMode candidate : {AngleMode::F32Angle, AngleMode::F32Quotient})
    if (succeeded(parser.parseOptionalKeyword(stringifyAngleMode(candidate))))
      mode = candidate;
  attr = AngleModeAttr::get(parser.getContext(), mode);
  return success();
}

static void printAngleMode(OpAsmPrinter &printer, TableOp, AngleModeAttr attr) {
  if (attr.getValue() != AngleMode::Exact)
    printer << stringifyAngleMode(attr.getValue());
}

static ParseResult parseFeatureMap(OpAsmParser &parser, FeatureMapAttr &attr) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<FeatureMap> map = symbolizeFeatureMap(keyword);
  if (!map)
    return parser.emitError(loc)
           << "expected 'identity', 'elu_plus_one', 'relu' or 'exp', got '"
           << keyword << "'";
  attr = FeatureMapAttr::get(parser.getContext(), *map);
  return success();
}

static void printFeatureMap(OpAsmPrinter &printer, LinearAttentionOp,
                            FeatureMapAttr attr) {
  printer << stringifyFeatureMap(attr.getValue());
}

void TableOp::build(OpBuilder &, OperationState &state,
                    FrequencyAttrInterface frequencies, Value positions,
                    Value init, AngleMode angleMode, Value length,
                    DenseI64ArrayAttr axes) {
  state.addOperands(positions);
  if (length)
    state.addOperands(length);
  state.addOperands(init);
  state.addAttribute(getFrequenciesAttrName(state.name), frequencies);
  state.addAttribute(getAngleModeAttrName(state.name),
                     AngleModeAttr::get(frequencies.getContext(), angleMode));
  if (axes)
    state.addAttribute(getAxesAttrName(state.name), axes);
  state.addTypes(getTensorTypes(init));
}

/// C2: the leading dims of the table are those of the positions.
static LogicalResult verifyLead(TableOp op, ShapedType table) {
  ArrayRef<int64_t> have = table.getShape().drop_back(2);
  auto positions = dyn_cast<ShapedType>(op.getPositions().getType());
  if (!positions) {
    if (have.size() == 1)
      return success();
    return op.emitOpError() << "table of consecutive positions must have one "
                               "leading dim, got "
                            << table;
  }
  ArrayRef<int64_t> want = positions.getShape();
  if (op.getAxes() && !want.empty())
    want = want.drop_front();
  if (succeeded(verifyCompatibleShape(have, want)))
    return success();
  return op.emitOpError() << "leading dims of table " << table
                          << " are not those of positions " << positions;
}

/// C3: axes.
static LogicalResult verifyAxes(TableOp op, int64_t pairs) {
  std::optional<ArrayRef<int64_t>> axes = op.getAxes();
  if (!axes)
    return success();
  auto positions = dyn_cast<ShapedType>(op.getPositions().getType());
  if (!positions || positions.getRank() == 0 || positions.isDynamicDim(0))
    return op.emitOpError("axes need positions with a static first dim");
  if (static_cast<int64_t>(axes->size()) != pairs)
    return op.emitOpError() << "axes has " << axes->size() << " entries for "
                            << pairs << " pairs";
  for (int64_t axis : *axes)
    if (axis < 0 || axis >= positions.getDimSize(0))
      return op.emitOpError()
             << "axis " << axis << " is not one of the "
             << positions.getDimSize(0) << " axes of the positions";
  return success();
}

LogicalResult TableOp::verify() {
  ShapedType table = getShapedType(getInit());
  // rope.table C1, C2, C3
  if (failed(verifySemantics(*this)) ||
      failed(verifyTableShape(*this, table)) ||
      failed(verifyLead(*this, table)) ||
      failed(verifyAxes(*this, table.getShape().back())))
    return failure();
  // rope.table C4
  FrequencyAttrInterface frequencies = getFrequencies();
  int64_t pairs = table.getShape().back();
  if (pairs > kMaxPairs)
    return emitOpError() << "table has " << pairs << " pairs, more than the "
                         << kMaxPairs << " that a schedule can serve";
  if (failed(frequencies.verifyPairs(pairs, [&] { return emitOpError(); })))
    return failure();
  // rope.table C5
  if (frequencies.dependsOnLength() == static_cast<bool>(getLength()))
    return success();
  return emitOpError() << "frequencies " << frequencies
                       << (getLength()
                               ? " do not depend on a length"
                               : " depend on a length, which is missing");
}

//===----------------------------------------------------------------------===//
// AssembleOp
//===----------------------------------------------------------------------===//

void AssembleOp::build(OpBuilder &, OperationState &state, Value cos, Value sin,
                       Value init) {
  state.addOperands({cos, sin, init});
  state.addTypes(getTensorTypes(init));
}

LogicalResult AssembleOp::verify() {
  ShapedType table = getShapedType(getInit());
  // rope.assemble C1
  if (failed(verifySemantics(*this)) || failed(verifyTableShape(*this, table)))
    return failure();
  // rope.assemble C2
  SmallVector<int64_t> want(table.getShape().drop_back(2));
  want.push_back(table.getShape().back());
  for (auto [name, plane] : {std::pair("cos", getCos()), {"sin", getSin()}})
    if (failed(verifyCompatibleShape(getShapedType(plane).getShape(), want)))
      return emitOpError() << name << " of type " << plane.getType()
                           << " is not a plane of table " << table;
  return success();
}

//===----------------------------------------------------------------------===//
// ComposeOp
//===----------------------------------------------------------------------===//

void ComposeOp::build(OpBuilder &builder, OperationState &state, Value lhs,
                      Value rhs, Value init, bool inverse) {
  state.addOperands({lhs, rhs, init});
  if (inverse)
    state.addAttribute(getInverseAttrName(state.name), builder.getUnitAttr());
  state.addTypes(getTensorTypes(init));
}

LogicalResult ComposeOp::verify() {
  ShapedType table = getShapedType(getInit());
  // rope.compose C1
  if (failed(verifySemantics(*this)) || failed(verifyTableShape(*this, table)))
    return failure();
  // rope.compose C2
  for (auto [name, side] : {std::pair("lhs", getLhs()), {"rhs", getRhs()}})
    if (failed(verifyCompatibleShape(getShapedType(side).getShape(),
                                     table.getShape())))
      return emitOpError() << name << " of type " << side.getType()
                           << " does not have the shape of table " << table;
  return success();
}

//===----------------------------------------------------------------------===//
// RotateOp and RerotateOp
//===----------------------------------------------------------------------===//

static void buildRotation(OperationState &state, StringAttr name,
                          RotaryAttr rotary, Value input, Value table,
                          Value init) {
  state.addOperands({input, table, init});
  state.addAttribute(name, rotary);
  state.addTypes(getTensorTypes(init));
}

void RotateOp::build(OpBuilder &, OperationState &state, RotaryAttr rotary,
                     Value input, Value table, Value init) {
  buildRotation(state, getRotaryAttrName(state.name), rotary, input, table,
                init);
}

void RerotateOp::build(OpBuilder &, OperationState &state, RotaryAttr rotary,
                       Value input, Value table, Value init) {
  buildRotation(state, getRotaryAttrName(state.name), rotary, input, table,
                init);
}

template <typename OpTy> static LogicalResult verifyRotation(OpTy op) {
  ShapedType input = getShapedType(op.getInput());
  ShapedType init = getShapedType(op.getInit());
  if (failed(verifySemantics(op)))
    return failure();
  // rope.rotate C6
  if (input.getElementType() != init.getElementType() ||
      failed(verifyCompatibleShape(input.getShape(), init.getShape())))
    return op.emitOpError() << "input " << input << " and init " << init
                            << " must have the same shape and element type";
  // rope.rotate C1 to C5, C7
  return op.getRotary().verifyFor(input, getShapedType(op.getTable()), "input",
                                  [&] { return op.emitOpError(); });
}

LogicalResult RotateOp::verify() { return verifyRotation(*this); }

LogicalResult RerotateOp::verify() { return verifyRotation(*this); }

#define GET_OP_CLASSES
#include "rope/IR/RopeOps.cpp.inc"
