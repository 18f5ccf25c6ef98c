//===- Rotation.cpp - Rotation of channel pairs ---------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the channel pairs of an array by the rows of a table.
//
//===----------------------------------------------------------------------===//

#include "rope/Reference/Rotation.h"
#include <algorithm>

using namespace mlir::rope::reference;

namespace {
/// The channels of a pair.
struct Pair {
  int64_t first;
  int64_t second;
};
} // namespace

static Pair getChannels(const Rotary &rotary, Pairing pairing, int64_t i,
                        int64_t pairs) {
  if (pairing == Pairing::Interleaved)
    return {rotary.offset + 2 * i, rotary.offset + 2 * i + 1};
  int64_t first = rotary.offset + i;
  return {first, first + rotary.distance.value_or(pairs)};
}

/// Which entries of a plane of the table belong to the channels of pair i.
static Pair getEntries(const Rotary &rotary, int64_t i, int64_t pairs) {
  if (!rotary.full)
    return {i, i};
  if (rotary.read == Pairing::Interleaved)
    return {2 * i, 2 * i + 1};
  return {i, pairs + i};
}

int64_t mlir::rope::reference::getNumPairs(const RoleRotation &rotation) {
  int64_t width = rotation.table.getShape().back();
  return rotation.rotary.full ? width / 2 : width;
}

/// Checks that all channels lie in the operand and that reading and writing
/// cover the same ones.
static MaybeError checkChannels(int64_t channels, const Rotary &rotary,
                                int64_t pairs) {
  Pairing write = rotary.write.value_or(rotary.read);
  int64_t distance = rotary.distance.value_or(pairs);
  if (distance < pairs)
    return "distance " + std::to_string(distance) + " below the number " +
           std::to_string(pairs) + " of pairs";
  bool half = rotary.read == Pairing::Half && write == Pairing::Half;
  if (!half && distance != pairs)
    return std::string("only the half pairing has a distance");
  if (rotary.offset < 0)
    return "negative offset " + std::to_string(rotary.offset);
  // Written without sums, which could overflow.
  int64_t room = channels - rotary.offset;
  if (pairs > 0 && (pairs > room || distance > room - pairs))
    return std::to_string(pairs) + " pairs do not fit into " +
           std::to_string(channels) + " channels";
  return std::nullopt;
}

MaybeError mlir::rope::reference::findError(const Shape &input,
                                            const RoleRotation &rotation) {
  const Shape &table = rotation.table.getShape();
  const Rotary &rotary = rotation.rotary;
  if (input.empty())
    return std::string("a scalar has no channels to rotate");
  if (table.size() < 2 || table[table.size() - 2] != 2)
    return "no table [lead…, 2, W]: " + toString(table);
  if (rotary.full && table.back() % 2 != 0)
    return "a full table of odd width " + std::to_string(table.back());
  if (rotary.along.size() != table.size() - 2)
    return std::to_string(rotary.along.size()) +
           " dims to follow for a table of shape " + toString(table);
  std::vector<bool> seen(input.size(), false);
  for (size_t k = 0; k < rotary.along.size(); ++k) {
    int64_t dim = rotary.along[k];
    if (dim < 0 || dim >= static_cast<int64_t>(input.size()) - 1 || seen[dim])
      return "dim " + std::to_string(dim) + " of shape " + toString(input) +
             " cannot be followed";
    seen[dim] = true;
    if (table[k] != input[dim])
      return "a table of shape " + toString(table) + " follows dims " +
             toString(rotary.along) + " of shape " + toString(input);
  }
  return checkChannels(input.back(), rotary, getNumPairs(rotation));
}

/// The number of the table row which operand row `row` is turned by.
static int64_t getTableRow(const Shape &input, const Rotary &rotary,
                           int64_t row) {
  Shape index(input.size() - 1);
  for (int64_t dim = static_cast<int64_t>(index.size()) - 1; dim >= 0; --dim) {
    index[dim] = row % input[dim];
    row /= input[dim];
  }
  int64_t tableRow = 0;
  for (int64_t dim : rotary.along)
    tableRow = tableRow * input[dim] + index[dim];
  return tableRow;
}

/// Turns by the table, or by its conjugate if `direction` is −1.
static Array turn(const Array &input, const RoleRotation &rotation,
                  double direction) {
  if (MaybeError error = findError(input.getShape(), rotation))
    reportInvalid(*error);
  const Rotary &rotary = rotation.rotary;
  Pairing write = rotary.write.value_or(rotary.read);
  int64_t pairs = getNumPairs(rotation);
  int64_t width = rotation.table.getShape().back();
  int64_t channels = input.getShape().back();

  Array result = input;
  int64_t rows = channels ? input.getNumElements() / channels : 0;
  for (int64_t row = 0; row < rows; ++row) {
    const double *in = input.data() + row * channels;
    double *out = result.data() + row * channels;
    const double *cos = rotation.table.data() +
                        getTableRow(input.getShape(), rotary, row) * 2 * width;
    const double *sin = cos + width;
    for (int64_t i = 0; i < pairs; ++i) {
      Pair read = getChannels(rotary, rotary.read, i, pairs);
      Pair written = getChannels(rotary, write, i, pairs);
      Pair entry = getEntries(rotary, i, pairs);
      double u = in[read.first], v = in[read.second];
      out[written.first] =
          u * cos[entry.first] - v * (direction * sin[entry.first]);
      out[written.second] =
          v * cos[entry.second] + u * (direction * sin[entry.second]);
    }
  }
  return result;
}

Array mlir::rope::reference::rotate(const Array &input,
                                    const RoleRotation &rotation) {
  return turn(input, rotation, 1.0);
}

Array mlir::rope::reference::rerotate(const Array &input,
                                      const RoleRotation &rotation) {
  return turn(input, rotation, -1.0);
}
