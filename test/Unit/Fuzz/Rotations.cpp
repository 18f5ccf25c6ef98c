//===- Rotations.cpp - Random rotations -----------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tables.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::test;
using reference::Shape;

/// Pairings, offset and distance of pairs that lie in so many channels.
static reference::Rotary drawChannels(Draw &draw, int64_t channels,
                                      int64_t pairs) {
  reference::Rotary rotary;
  rotary.read =
      draw.pick({reference::Pairing::Half, reference::Pairing::Interleaved});
  if (draw.chance(0.3))
    rotary.write =
        draw.pick({reference::Pairing::Half, reference::Pairing::Interleaved});
  int64_t spare = channels - 2 * pairs;
  bool isHalf = rotary.read == reference::Pairing::Half &&
                rotary.write.value_or(reference::Pairing::Half) ==
                    reference::Pairing::Half;
  if (isHalf && draw.chance(0.3)) {
    int64_t gap = draw.range(0, spare);
    rotary.distance = pairs + gap;
    spare -= gap;
  }
  rotary.offset = draw.chance(0.5) ? 0 : draw.range(0, spare);
  return rotary;
}

static RotaryAttr makeAttr(MLIRContext *context,
                           const reference::Rotary &rotary) {
  auto convert = [](reference::Pairing pairing) {
    return pairing == reference::Pairing::Half ? rope::Pairing::Half
                                               : rope::Pairing::Interleaved;
  };
  return RotaryAttr::get(context, convert(rotary.read),
                         convert(rotary.write.value_or(rotary.read)),
                         rotary.offset, rotary.distance, rotary.along,
                         rotary.full);
}

DrawnRotation test::drawRotation(CaseBuilder &b, const Shape &shape) {
  Draw &draw = b.draw;
  int64_t channels = shape.back();
  int64_t pairs = draw.chance(0.5) ? channels / 2 : draw.range(1, channels / 2);
  DrawnRotation rotation;
  rotation.rotary = drawChannels(draw, channels, pairs);
  std::vector<int64_t> dims(shape.size() - 1);
  std::iota(dims.begin(), dims.end(), 0);
  draw.shuffle(dims);
  dims.resize(draw.range(0, dims.size()));
  rotation.rotary.along = dims;
  rotation.rotary.full = draw.chance(0.2);
  Shape lead;
  for (int64_t dim : dims)
    lead.push_back(shape[dim]);
  int64_t width = rotation.rotary.full ? 2 * pairs : pairs;
  rotation.table = drawTable(b, lead, width, rotation.rotary.full);
  rotation.attr = makeAttr(b.builder.getContext(), rotation.rotary);
  return rotation;
}

void test::drawRotationCase(CaseBuilder &b) {
  Draw &draw = b.draw;
  Shape shape(draw.range(0, 3));
  for (int64_t &extent : shape)
    extent = draw.chance(0.05) ? 0 : draw.range(1, 5);
  shape.push_back(draw.range(2, 17));
  DrawnRotation rotation = drawRotation(b, shape);
  Type type = b.drawFloat();
  SmallVector<bool> keep(shape.size() - 1, false);
  keep.push_back(true);
  // In place, on an argument: a slice could not be read back.
  bool inPlace = draw.chance(0.3);
  Operand input, init;
  if (inPlace) {
    reference::Array numbers = draw.array(shape);
    init = input = b.addInit(shape, type, keep, &numbers);
  } else {
    input = b.addRandom(shape, type, keep);
    init = b.addInit(shape, type, keep);
  }
  bool back = draw.chance(0.5);
  Value table = rotation.table.table.value;
  Operation *op;
  if (back)
    op = RerotateOp::create(b.builder, rotation.attr, input.value, table,
                            init.value);
  else
    op = RotateOp::create(b.builder, rotation.attr, input.value, table,
                          init.value);
  reference::RoleRotation turn{rotation.table.table.numbers, rotation.rotary};
  reference::Array want = back ? reference::rerotate(input.numbers, turn)
                               : reference::rotate(input.numbers, turn);
  double tolerance = 3e-7 * rotation.table.magnitude + 2 * rotation.table.error;
  b.finish(op, init.value, {{want, reference::Array({}, {tolerance})}});
}
