//===- Numbers.cpp - Arrays of programs and of the reference --------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/Numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir::rope;
using namespace mlir::rope::test;

static Array makeUninitialized(DType dtype, const reference::Shape &shape) {
  return llvm::cantFail(Array::create(dtype, shape));
}

Array test::makeArray(DType dtype, const reference::Array &values) {
  Array array = makeUninitialized(dtype, values.getShape());
  for (int64_t i = 0; i < values.getNumElements(); ++i)
    array.set(i, values[i]);
  return array;
}

Array test::makeArray(DType dtype, const reference::IntArray &values) {
  Array array = makeUninitialized(dtype, values.getShape());
  size_t width = getByteSize(dtype);
  // Little endian: the low bytes come first.
  for (int64_t i = 0; i < values.getNumElements(); ++i)
    std::memcpy(array.getData() + i * width, &values[i], width);
  return array;
}

Array test::makeFilled(DType dtype, const reference::Shape &shape,
                       double value) {
  return makeArray(dtype, reference::Array::filled(shape, value));
}

Array test::makeRandom(DType dtype, const reference::Shape &shape,
                       RandomGenerator &random, double scale) {
  reference::Array values(shape);
  for (int64_t i = 0; i < values.getNumElements(); ++i)
    values[i] = scale * random.nextNormal();
  return makeArray(dtype, values);
}

static reference::Shape getShape(const Array &array) {
  return reference::Shape(array.getShape().begin(), array.getShape().end());
}

reference::Array test::toReference(const Array &array) {
  reference::Array values(getShape(array));
  for (int64_t i = 0; i < values.getNumElements(); ++i)
    values[i] = at(array, i);
  return values;
}

template <typename T> static int64_t readInteger(const char *data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

reference::IntArray test::toIntegers(const Array &array) {
  reference::IntArray values(getShape(array));
  size_t width = getByteSize(array.getDType());
  for (int64_t i = 0; i < values.getNumElements(); ++i) {
    const char *data = array.getData() + i * width;
    values[i] = width == 1   ? readInteger<int8_t>(data)
                : width == 2 ? readInteger<int16_t>(data)
                : width == 4 ? readInteger<int32_t>(data)
                             : readInteger<int64_t>(data);
  }
  return values;
}

reference::FloatFormat test::getFormat(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return reference::FloatFormat::F64;
  case DType::F32:
    return reference::FloatFormat::F32;
  case DType::BF16:
    return reference::FloatFormat::BF16;
  case DType::F16:
    return reference::FloatFormat::F16;
  default:
    reference::reportInvalid("not a float type: " + getTypeName(dtype));
  }
}

std::string test::getTypeName(DType dtype) {
  return rope::getName(dtype).str();
}

std::string test::getTensorType(DType dtype, const reference::Shape &shape) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += (extent < 0 ? "?" : std::to_string(extent)) + "x";
  return text + getTypeName(dtype) + ">";
}

double test::getMaxUlpError(const Array &got, const reference::Array &want,
                            const reference::Array &scale) {
  reference::Array values = toReference(got);
  if (values.getShape() != want.getShape())
    reference::reportInvalid("comparing shape " +
                             reference::toString(values.getShape()) + " with " +
                             reference::toString(want.getShape()));
  reference::FloatFormat format = getFormat(got.getDType());
  double largest = 0;
  for (int64_t i = 0; i < want.getNumElements(); ++i) {
    if (values[i] == want[i] || (std::isnan(values[i]) && std::isnan(want[i])))
      continue;
    double size = std::max(std::fabs(want[i]),
                           scale[scale.getNumElements() == 1 ? 0 : i]);
    double error =
        std::fabs(values[i] - want[i]) / reference::getUlp(size, format);
    largest = std::isfinite(error) ? std::max(largest, error)
                                   : std::numeric_limits<double>::infinity();
  }
  return largest;
}
