//===- Table.cpp - Rotation tables ----------------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes, assembles and composes rotation tables.
//
//===----------------------------------------------------------------------===//

#include "rope/Reference/Table.h"
#include <cmath>

using namespace mlir::rope::reference;

namespace {
/// cos and sin of an angle, or any complex number.
struct Complex {
  long double real;
  long double imag;
};
} // namespace

/// e^(ix) for the real product x = position · frequency.
///
/// fma gives the error of the rounded product exactly; the library reduces that
/// product itself without loss, however large it is.
static Complex turn(long double position, long double frequency) {
  long double high = position * frequency;
  long double low = std::fma(position, frequency, -high);
  long double cosHigh = std::cos(high), sinHigh = std::sin(high);
  long double cosLow = std::cos(low), sinLow = std::sin(low);
  return {cosHigh * cosLow - sinHigh * sinLow,
          sinHigh * cosLow + cosHigh * sinLow};
}

static Complex turnExactly(double position, double frequency) {
  return turn(position, frequency);
}

/// An i64 may have more digits than the significand: turn by its halves one
/// after the other.
static Complex turnExactly(int64_t position, double frequency) {
  int64_t upper = position & ~int64_t(0xffffffff);
  Complex a = turn(static_cast<long double>(upper), frequency);
  Complex b = turn(static_cast<long double>(position - upper), frequency);
  return {a.real * b.real - a.imag * b.imag, a.imag * b.real + a.real * b.imag};
}

template <typename T>
static Complex turn(T position, double frequency, AngleMode mode) {
  if (mode == AngleMode::Exact)
    return turnExactly(position, frequency);
  auto narrow = static_cast<float>(position);
  float angle = mode == AngleMode::F32Angle
                    ? narrow * static_cast<float>(frequency)
                    : narrow / static_cast<float>(1.0 / frequency);
  return {std::cos(static_cast<long double>(angle)),
          std::sin(static_cast<long double>(angle))};
}

static const Shape &getShape(const Positions &positions) {
  return std::visit(
      [](const auto &array) -> const Shape & { return array.getShape(); },
      positions);
}

MaybeError mlir::rope::reference::findError(const TableInputs &inputs) {
  if (inputs.axes.empty())
    return std::nullopt;
  const Shape &shape = getShape(inputs.positions);
  if (static_cast<int64_t>(inputs.axes.size()) !=
      inputs.frequencies.getNumPairs())
    return std::to_string(inputs.axes.size()) + " axes for " +
           std::to_string(inputs.frequencies.getNumPairs()) + " pairs";
  if (shape.empty())
    return std::string("positions of several axes need an axis dim");
  for (int64_t axis : inputs.axes)
    if (axis < 0 || axis >= shape[0])
      return "axis " + std::to_string(axis) + " of positions with " +
             std::to_string(shape[0]) + " axes";
  return std::nullopt;
}

template <typename T>
static Array makeTableOf(const BasicArray<T> &positions,
                         const TableInputs &inputs) {
  const std::vector<double> &frequencies = inputs.frequencies.values;
  int64_t pairs = inputs.frequencies.getNumPairs();
  Shape shape = positions.getShape();
  if (!inputs.axes.empty())
    shape.erase(shape.begin());
  int64_t rows = getNumElements(shape);
  shape.push_back(2);
  shape.push_back(pairs);

  Array table(shape);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < pairs; ++i) {
      int64_t axis = inputs.axes.empty() ? 0 : inputs.axes[i];
      Complex entry =
          turn(positions[axis * rows + row], frequencies[i], inputs.mode);
      long double magnitude = inputs.frequencies.magnitude;
      table[row * 2 * pairs + i] = static_cast<double>(magnitude * entry.real);
      table[row * 2 * pairs + pairs + i] =
          static_cast<double>(magnitude * entry.imag);
    }
  return table;
}

Array mlir::rope::reference::makeTable(const TableInputs &inputs) {
  if (MaybeError error = findError(inputs))
    reportInvalid(*error);
  return std::visit(
      [&](const auto &positions) { return makeTableOf(positions, inputs); },
      inputs.positions);
}

MaybeError mlir::rope::reference::findAssembleError(const Array &cos,
                                                    const Array &sin) {
  if (cos.getShape() != sin.getShape())
    return "cos of shape " + toString(cos.getShape()) + ", sin of shape " +
           toString(sin.getShape());
  if (cos.getRank() == 0)
    return std::string("cos and sin need a dim of pairs");
  return std::nullopt;
}

Array mlir::rope::reference::assemble(const Array &cos, const Array &sin) {
  if (MaybeError error = findAssembleError(cos, sin))
    reportInvalid(*error);
  Shape plane = cos.getShape();
  plane.insert(plane.end() - 1, 1);
  return Array::concat({cos.reshape(plane), sin.reshape(plane)},
                       cos.getRank() - 1);
}

MaybeError mlir::rope::reference::findComposeError(const Array &lhs,
                                                   const Array &rhs) {
  if (lhs.getShape() != rhs.getShape())
    return "tables of shapes " + toString(lhs.getShape()) + " and " +
           toString(rhs.getShape());
  if (lhs.getRank() < 2 || lhs.getDim(lhs.getRank() - 2) != 2)
    return "no table [lead…, 2, P]: " + toString(lhs.getShape());
  return std::nullopt;
}

static Complex multiply(Complex lhs, Complex rhs, bool inverse) {
  // 1/z is the conjugate of z over |z|².
  if (inverse) {
    long double square = rhs.real * rhs.real + rhs.imag * rhs.imag;
    rhs = {rhs.real / square, -rhs.imag / square};
  }
  return {lhs.real * rhs.real - lhs.imag * rhs.imag,
          lhs.imag * rhs.real + lhs.real * rhs.imag};
}

Array mlir::rope::reference::compose(const Array &lhs, const Array &rhs,
                                     bool inverse) {
  if (MaybeError error = findComposeError(lhs, rhs))
    reportInvalid(*error);
  Array result(lhs.getShape());
  int64_t pairs = lhs.getShape().back();
  for (int64_t row = 0; row < result.getNumElements(); row += 2 * pairs)
    for (int64_t cos = row, sin = row + pairs; cos < row + pairs;
         ++cos, ++sin) {
      Complex entry =
          multiply({lhs[cos], lhs[sin]}, {rhs[cos], rhs[sin]}, inverse);
      result[cos] = static_cast<double>(entry.real);
      result[sin] = static_cast<double>(entry.imag);
    }
  return result;
}
