//===- Table.cpp - Decomposition of rope.table ----------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// rope.table becomes one elementwise op that writes both planes. What it needs
// of the frequencies is a constant, or computed once for each pair.
//
//===----------------------------------------------------------------------===//

#include "Angle.h"
#include "Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "rope/IR/Rope.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::detail;

namespace {
/// How the angle of a position and a pair is computed.
enum class AngleCode {
  FixedPoint, ///< i64 positions, f32 or narrower tables.
  Product,    ///< f64 arithmetic on split frequencies.
  F32Product, ///< As `f32_angle` says.
  F32Quotient ///< As `f32_quotient` says.
};

struct TableBuilder {
  ImplicitLocOpBuilder &builder;
  TableOp op;

  RankedTensorType getType() {
    return cast<RankedTensorType>(op.getInit().getType());
  }
  int64_t getPairs() { return getType().getShape().back(); }
  int64_t getLead() { return getType().getRank() - 2; }
  AngleCode getCode();

  /// The numbers for each pair that the code of angles takes: tensors
  /// [P].
  SmallVector<Value> createRates();
  SmallVector<Value> createConstantRates(ArrayRef<double> frequencies);
  SmallVector<Value> createRuntimeRates();
  SmallVector<Type> getRateTypes();

  /// The axes that pairs use, one after the other.
  SmallVector<int64_t> getUsedAxes();
  /// A tensor [P] of indices into the used axes.
  Value createAxisSelector(ArrayRef<int64_t> used);

  /// The position of an element as i64 or as a float.
  Value createPosition(ImplicitLocOpBuilder &b, ValueRange positions,
                       Value selector);
  ReducedAngle createAngle(ImplicitLocOpBuilder &b, Value position,
                           ValueRange rates);
  SmallVector<Value> createEntry(ImplicitLocOpBuilder &b, Value position,
                                 ValueRange rates);
  Value run();
};
} // namespace

AngleCode TableBuilder::getCode() {
  switch (op.getAngleMode()) {
  case AngleMode::F32Angle:
    return AngleCode::F32Product;
  case AngleMode::F32Quotient:
    return AngleCode::F32Quotient;
  case AngleMode::Exact:
    break;
  }
  bool integers =
      isa<IntegerType, IndexType>(getElementTypeOrSelf(op.getPositions()));
  return integers && !getType().getElementType().isF64() ? AngleCode::FixedPoint
                                                         : AngleCode::Product;
}

//===----------------------------------------------------------------------===//
// Frequencies
//===----------------------------------------------------------------------===//

SmallVector<Type> TableBuilder::getRateTypes() {
  switch (getCode()) {
  case AngleCode::FixedPoint:
    return {builder.getI64Type()};
  case AngleCode::Product:
    return {builder.getF64Type(), builder.getF64Type()};
  case AngleCode::F32Product:
  case AngleCode::F32Quotient:
    return {builder.getF32Type()};
  }
  llvm_unreachable("unknown code");
}

/// The rates of one frequency, as constants of these types.
static SmallVector<Attribute> getRates(Builder &builder, AngleCode code,
                                       double frequency) {
  switch (code) {
  case AngleCode::FixedPoint:
    return {builder.getI64IntegerAttr(getFixedPointTurns(frequency))};
  case AngleCode::Product: {
    SplitDouble quarters = getQuarterTurns(frequency);
    return {builder.getF64FloatAttr(quarters.high),
            builder.getF64FloatAttr(quarters.low)};
  }
  case AngleCode::F32Product:
    return {builder.getF32FloatAttr(static_cast<float>(frequency))};
  case AngleCode::F32Quotient:
    return {builder.getF32FloatAttr(static_cast<float>(1 / frequency))};
  }
  llvm_unreachable("unknown code");
}

SmallVector<Value>
TableBuilder::createConstantRates(ArrayRef<double> frequencies) {
  SmallVector<Type> types = getRateTypes();
  SmallVector<SmallVector<Attribute>> columns(types.size());
  for (double frequency : frequencies)
    for (auto [column, rate] :
         llvm::zip_equal(columns, getRates(builder, getCode(), frequency)))
      column.push_back(rate);
  SmallVector<Value> constants;
  for (auto [type, column] : llvm::zip_equal(types, columns))
    constants.push_back(arith::ConstantOp::create(
        builder, DenseElementsAttr::get(RankedTensorType::get(getPairs(), type),
                                        column)));
  return constants;
}

/// As getRates, for a frequency that is a value.
static SmallVector<Value> createRates(ImplicitLocOpBuilder &b, AngleCode code,
                                      Value frequency) {
  switch (code) {
  case AngleCode::FixedPoint:
    return {createFixedPointTurns(b, frequency)};
  case AngleCode::Product: {
    auto [high, low] = createQuarterTurns(b, frequency);
    return {high, low};
  }
  case AngleCode::F32Product:
    return {convertFloat(b, frequency, b.getF32Type())};
  case AngleCode::F32Quotient: {
    Value one = createFloat(b, b.getF64Type(), 1);
    return {convertFloat(b, arith::DivFOp::create(b, one, frequency),
                         b.getF32Type())};
  }
  }
  llvm_unreachable("unknown code");
}

SmallVector<Value> TableBuilder::createRuntimeRates() {
  Value frequencies = op.getFrequencies().buildFrequencies(
      builder, builder.getLoc(), op.getLength(), getPairs());
  SmallVector<Value> inits;
  for (Type type : getRateTypes())
    inits.push_back(
        tensor::EmptyOp::create(builder, ArrayRef<int64_t>(getPairs()), type));
  SmallVector<AffineMap> maps(1 + inits.size(),
                              builder.getMultiDimIdentityMap(1));
  return createElementwise(builder, frequencies, inits, maps,
                           [&](ImplicitLocOpBuilder &b, ValueRange args) {
                             return ::createRates(b, getCode(), args.front());
                           });
}

SmallVector<Value> TableBuilder::createRates() {
  FrequencyAttrInterface frequencies = op.getFrequencies();
  std::optional<int64_t> length;
  if (op.getLength())
    length = getConstantIntValue(op.getLength());
  if (frequencies.dependsOnLength() && !length)
    return createRuntimeRates();
  return createConstantRates(
      frequencies.computeFrequencies(getPairs(), length));
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

SmallVector<int64_t> TableBuilder::getUsedAxes() {
  SmallVector<int64_t> used;
  ArrayRef<int64_t> axes = *op.getAxes();
  for (int64_t axis : axes)
    if (!llvm::is_contained(used, axis))
      used.push_back(axis);
  return used;
}

Value TableBuilder::createAxisSelector(ArrayRef<int64_t> used) {
  SmallVector<int32_t> selector;
  ArrayRef<int64_t> axes = *op.getAxes();
  for (int64_t axis : axes)
    selector.push_back(llvm::find(used, axis) - used.begin());
  auto type = RankedTensorType::get(getPairs(), builder.getI32Type());
  return arith::ConstantOp::create(
      builder, DenseElementsAttr::get(type, ArrayRef<int32_t>(selector)));
}

/// An integer, index or float position as i64 or f64; both hold f32 and
/// narrower numbers exactly.
static Value createWidePosition(ImplicitLocOpBuilder &b, Value position) {
  Type i64 = b.getI64Type();
  if (isa<FloatType>(position.getType()))
    return convertFloat(b, position, b.getF64Type());
  if (isa<IndexType>(position.getType()))
    return arith::IndexCastOp::create(b, i64, position);
  unsigned width = position.getType().getIntOrFloatBitWidth();
  if (width < 64)
    return arith::ExtSIOp::create(b, i64, position);
  if (width > 64)
    return arith::TruncIOp::create(b, i64, position);
  return position;
}

Value TableBuilder::createPosition(ImplicitLocOpBuilder &b,
                                   ValueRange positions, Value selector) {
  if (positions.empty()) {
    Value row = linalg::IndexOp::create(b, 0);
    return createWidePosition(b,
                              arith::AddIOp::create(b, op.getPositions(), row));
  }
  Value position = createWidePosition(b, positions.front());
  for (auto [i, other] : llvm::enumerate(positions.drop_front())) {
    Value index = arith::ConstantOp::create(b, b.getI32IntegerAttr(i + 1));
    Value isOther =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, selector, index);
    position = arith::SelectOp::create(b, isOther, createWidePosition(b, other),
                                       position);
  }
  return position;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// A wide position as a float type, rounded once.
static Value createFloatPosition(ImplicitLocOpBuilder &b, Value position,
                                 FloatType type) {
  if (isa<IntegerType>(position.getType()))
    return arith::SIToFPOp::create(b, type, position);
  return convertFloat(b, position, type);
}

ReducedAngle TableBuilder::createAngle(ImplicitLocOpBuilder &b, Value position,
                                       ValueRange rates) {
  AngleCode code = getCode();
  if (code == AngleCode::FixedPoint)
    return createFixedPointAngle(b, position, rates[0]);
  FloatType f32 = b.getF32Type(), f64 = b.getF64Type();
  if (code == AngleCode::Product)
    return createProductAngle(b, createFloatPosition(b, position, f64),
                              rates[0], rates[1]);
  Value narrow = createFloatPosition(b, position, f32);
  Value angle = code == AngleCode::F32Product
                    ? arith::MulFOp::create(b, narrow, rates[0]).getResult()
                    : arith::DivFOp::create(b, narrow, rates[0]).getResult();
  return createGivenAngle(b, convertFloat(b, angle, f64));
}

SmallVector<Value> TableBuilder::createEntry(ImplicitLocOpBuilder &b,
                                             Value position, ValueRange rates) {
  double magnitude = op.getFrequencies().computeMagnitude();
  FloatType type = getComputeType(op.getInit(), magnitude);
  auto [cos, sin] = createCosSin(b, createAngle(b, position, rates), type);
  SmallVector<Value> entry = {cos, sin};
  for (Value &value : entry) {
    if (magnitude != 1)
      value = arith::MulFOp::create(b, value, createFloat(b, type, magnitude));
    value = convertFloat(b, value, getType().getElementType());
  }
  return entry;
}

Value TableBuilder::run() {
  MLIRContext *context = builder.getContext();
  int64_t lead = getLead();
  AffineMap all = AffineMap::getMultiDimIdentityMap(lead + 1, context);
  AffineMap row = all.dropResult(lead);
  AffineMap pair = AffineMap::get(lead + 1, 0, getAffineDimExpr(lead, context));

  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  Value positions = op.getPositions();
  if (op.getAxes()) {
    Slice whole(builder, positions);
    for (int64_t axis : getUsedAxes())
      inputs.push_back(Slice(whole).at(0, axis).extract(builder, positions));
  } else if (isa<ShapedType>(positions.getType())) {
    inputs.push_back(positions);
  }
  size_t numPositions = inputs.size();
  maps.assign(numPositions, row);
  bool selects = numPositions > 1;
  if (selects)
    inputs.push_back(createAxisSelector(getUsedAxes()));
  llvm::append_range(inputs, createRates());
  maps.append(inputs.size() - numPositions, pair);
  maps.append(2, all);

  Slice whole(builder, op.getInit());
  Slice cos = Slice(whole).at(lead, 0), sin = Slice(whole).at(lead, 1);
  SmallVector<Value> outputs = {cos.extract(builder, op.getInit()),
                                sin.extract(builder, op.getInit())};
  SmallVector<Value> planes = createElementwise(
      builder, inputs, outputs, maps,
      [&](ImplicitLocOpBuilder &b, ValueRange args) {
        Value selector = selects ? args[numPositions] : Value();
        Value position =
            createPosition(b, args.take_front(numPositions), selector);
        return createEntry(b, position,
                           args.drop_front(numPositions + selects));
      });
  Value result = cos.insert(builder, planes[0], op.getInit());
  return sin.insert(builder, planes[1], result);
}

FailureOr<SmallVector<Value>> TableOp::decomposeOperation(OpBuilder &builder) {
  if (isEmpty(*this))
    return getInitsAsResults(*this);
  // Constants are tensors.
  if (!hasPureTensorSemantics())
    return failure();
  ImplicitLocOpBuilder b(getLoc(), builder);
  return SmallVector<Value>{TableBuilder{b, *this}.run()};
}
