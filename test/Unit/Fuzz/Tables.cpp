//===- Tables.cpp - Random tables and the ops that make them --------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tables.h"

#include "Schedules.h"
#include "Support/Numbers.h"
#include "rope/Execution/EntryPoint.h"
#include "rope/Reference/Table.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::test;
using reference::Shape;

/// What the issue allows cos and sin of f32 tables.
static constexpr double kTableError = 1.5e-7;

/// The dims of a table of which the last must be static, and the two planes.
static SmallVector<bool> keepWidth(const Shape &lead) {
  SmallVector<bool> keep(lead.size(), false);
  keep.append(2, true);
  return keep;
}

static Shape getTableShape(Shape lead, int64_t width) {
  lead.push_back(2);
  lead.push_back(width);
  return lead;
}

/// The result of an op on tensors, its init on memrefs.
static Value getOutput(Operation *op, Value init) {
  return op->getNumResults() ? op->getResult(0) : init;
}

//===----------------------------------------------------------------------===//
// rope.table
//===----------------------------------------------------------------------===//

namespace {
struct DrawnPositions {
  Value value;
  reference::Positions numbers;
};
} // namespace

/// Consecutive positions from a start.
static DrawnPositions drawStart(CaseBuilder &b, int64_t rows, int64_t limit) {
  int64_t start = b.draw.range(-limit, limit - rows);
  return {b.addIndex(start), reference::IntArray::iota(rows, start)};
}

/// A position for each row, of any type.
static DrawnPositions drawList(CaseBuilder &b, const Shape &shape,
                               int64_t limit, ArrayRef<bool> keepStatic) {
  if (b.draw.chance(0.3)) {
    double span = std::min(static_cast<double>(limit), 1e6);
    Type type = b.drawFloat();
    if (type.isF16())
      span = std::min(span, 3e4);
    Operand operand = b.addRandom(shape, type, keepStatic, -span, span);
    return {operand.value, operand.numbers};
  }
  Type type = b.drawInteger();
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  if (width < 64)
    limit = std::min(limit, (int64_t(1) << (width - 1)) - 1);
  reference::IntArray numbers(shape);
  for (int64_t i = 0; i < numbers.getNumElements(); ++i)
    numbers[i] = b.draw.range(-limit, limit);
  return {b.addOperand(numbers, type, keepStatic).value, numbers};
}

namespace {
struct DrawnTableOp {
  TableOp op;
  Value init;
  Type elementType;
  reference::Array numbers;
  double magnitude;
};
} // namespace

/// A rope.table of any schedule and mode, with positions up to `limit`.
static DrawnTableOp drawTableOp(CaseBuilder &b, const Shape &lead,
                                int64_t pairs, Type elementType,
                                int64_t limit) {
  DrawnSchedule schedule = drawSchedule(b.draw, b.builder.getContext(), pairs);
  // A last bit of a frequency is seen from 2^24 on.
  if (!schedule.isExact)
    limit = std::min<int64_t>(limit, 10'000'000);
  DenseI64ArrayAttr axes;
  reference::TableInputs inputs{{}, schedule.frequencies};
  DrawnPositions positions;
  if (lead.size() == 1 && b.draw.chance(0.4)) {
    positions = drawStart(b, lead.front(), limit);
  } else {
    Shape shape = lead;
    SmallVector<bool> keep;
    if (b.draw.chance(0.3)) {
      shape.insert(shape.begin(), b.draw.range(1, 3));
      keep.push_back(true);
      for (int64_t i = 0; i < pairs; ++i)
        inputs.axes.push_back(b.draw.range(0, shape.front() - 1));
      axes = b.builder.getDenseI64ArrayAttr(inputs.axes);
    }
    positions = drawList(b, shape, limit, keep);
  }
  inputs.positions = positions.numbers;
  AngleMode mode = b.draw.pick(
      {AngleMode::Exact, AngleMode::F32Angle, AngleMode::F32Quotient});
  inputs.mode = static_cast<reference::AngleMode>(mode);
  Value length = schedule.length ? b.addIndex(*schedule.length) : Value();
  Value init =
      b.addInit(getTableShape(lead, pairs), elementType, keepWidth(lead)).value;
  auto op = TableOp::create(b.builder, schedule.attr, positions.value, init,
                            mode, length, axes);
  return {op, init, elementType, reference::makeTable(inputs),
          schedule.frequencies.magnitude};
}

/// Leading extents, now and then empty.
static Shape drawLead(CaseBuilder &b, int64_t maxRank) {
  Shape lead(b.draw.range(0, maxRank));
  for (int64_t &extent : lead)
    extent = b.draw.chance(0.05) ? 0 : b.draw.range(1, 5);
  return lead;
}

void test::drawTableCase(CaseBuilder &b) {
  Shape lead = drawLead(b, 3);
  if (b.draw.chance(0.4))
    lead = {b.draw.range(1, 20)};
  int64_t limit = b.draw.pick<int64_t>({100, 100'000, 10'000'000, 1ll << 31});
  DrawnTableOp table =
      drawTableOp(b, lead, b.draw.range(1, 16), b.drawFloat(), limit);
  b.finish(
      table.op, table.init,
      {{table.numbers, reference::Array({}, {kTableError * table.magnitude})}});
}

//===----------------------------------------------------------------------===//
// rope.assemble and rope.compose
//===----------------------------------------------------------------------===//

namespace {
struct DrawnAssembleOp {
  AssembleOp op;
  Value init;
  reference::Array numbers;
};
} // namespace

static DrawnAssembleOp drawAssembleOp(CaseBuilder &b, Shape shape,
                                      Type elementType) {
  Shape lead(shape.begin(), shape.end() - 1);
  SmallVector<bool> keep(lead.size(), false);
  // The width may be known from the table alone.
  keep.push_back(b.draw.chance(0.8));
  Operand cos = b.addRandom(shape, b.drawFloat(), keep);
  Operand sin = b.addRandom(shape, b.drawFloat(), keep);
  Value init =
      b.addInit(getTableShape(lead, shape.back()), elementType, keepWidth(lead))
          .value;
  auto op = AssembleOp::create(b.builder, cos.value, sin.value, init);
  return {op, init, reference::assemble(cos.numbers, sin.numbers)};
}

void test::drawAssembleCase(CaseBuilder &b) {
  Shape shape = drawLead(b, 3);
  shape.push_back(b.draw.range(1, 9));
  DrawnAssembleOp table = drawAssembleOp(b, shape, b.drawFloat());
  b.finish(table.op, table.init, {{table.numbers, reference::Array()}});
}

/// Random angles under a magnitude, as cos and sin.
static reference::Array makeUnitTable(CaseBuilder &b, const Shape &lead,
                                      int64_t width, double magnitude) {
  Shape half = lead;
  half.push_back(width);
  reference::Array angles = b.draw.array(half, -M_PI, M_PI);
  reference::Array cos = angles, sin = angles;
  for (int64_t i = 0; i < angles.getNumElements(); ++i) {
    cos[i] = magnitude * std::cos(angles[i]);
    sin[i] = magnitude * std::sin(angles[i]);
  }
  return reference::assemble(cos, sin);
}

namespace {
struct DrawnComposeOp {
  ComposeOp op;
  Value init;
  Type elementType;
  reference::Array numbers;
  double magnitude;
};
} // namespace

static DrawnComposeOp drawComposeOp(CaseBuilder &b, const Shape &lead,
                                    int64_t width, Type elementType) {
  double left = b.draw.pick({1.0, b.draw.uniform(0.5, 2)});
  double right = b.draw.pick({1.0, b.draw.uniform(0.5, 2)});
  bool inverse = b.draw.chance(0.5);
  Operand lhs = b.addOperand(makeUnitTable(b, lead, width, left), b.drawFloat(),
                             keepWidth(lead));
  Operand rhs = b.addOperand(makeUnitTable(b, lead, width, right),
                             b.drawFloat(), keepWidth(lead));
  Value init =
      b.addInit(getTableShape(lead, width), elementType, keepWidth(lead)).value;
  auto op = ComposeOp::create(b.builder, lhs.value, rhs.value, init, inverse);
  return {op, init, elementType,
          reference::compose(lhs.numbers, rhs.numbers, inverse),
          inverse ? left / right : left * right};
}

void test::drawComposeCase(CaseBuilder &b) {
  Shape lead = drawLead(b, 3);
  DrawnComposeOp table =
      drawComposeOp(b, lead, b.draw.range(1, 9), b.drawFloat());
  b.finish(table.op, table.init,
           {{table.numbers, reference::Array({}, {4e-7 * table.magnitude})}});
}

//===----------------------------------------------------------------------===//
// Tables for rotations
//===----------------------------------------------------------------------===//

/// As the type stores them.
static reference::Array roundTo(const reference::Array &numbers, Type type) {
  return reference::roundTo(numbers, getFormat(*getDType(type)));
}

DrawnTable test::drawTable(CaseBuilder &b, const Shape &lead, int64_t width,
                           bool full) {
  // The reference rounds a table that is made here to bf16 or f16 in its own
  // way near a tie, so such tables are arguments.
  Type made = b.builder.getF32Type();
  if (b.draw.chance(0.2))
    made = b.builder.getF64Type();
  if (b.draw.chance(0.2)) {
    Shape shape = lead;
    shape.push_back(width);
    DrawnAssembleOp table = drawAssembleOp(b, shape, made);
    return {{getOutput(table.op, table.init), roundTo(table.numbers, made)}};
  }
  if (!full && b.draw.chance(0.4)) {
    DrawnTableOp table = drawTableOp(b, lead, width, made, 10'000);
    return {{getOutput(table.op, table.init), roundTo(table.numbers, made)},
            table.magnitude,
            kTableError * table.magnitude};
  }
  if (!full && b.draw.chance(0.2)) {
    DrawnComposeOp table = drawComposeOp(b, lead, width, made);
    return {{getOutput(table.op, table.init), roundTo(table.numbers, made)},
            table.magnitude,
            4e-7 * table.magnitude};
  }
  double magnitude = b.draw.chance(0.7) ? 1 : b.draw.uniform(0.5, 1.5);
  reference::Array numbers = full ? b.draw.array(getTableShape(lead, width))
                                  : makeUnitTable(b, lead, width, magnitude);
  return {b.addOperand(numbers, b.drawFloat(), keepWidth(lead)), magnitude};
}
