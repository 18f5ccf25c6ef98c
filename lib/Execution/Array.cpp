//===- Array.cpp - Dense arrays and their element types -------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Execution/Array.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>

using namespace mlir::rope;
using llvm::APFloat;

namespace {

struct DTypeInfo {
  llvm::StringRef name;
  size_t byteSize;
};

} // namespace

static constexpr size_t kAlignment = 64;

static DTypeInfo getInfo(DType dtype) {
  static constexpr DTypeInfo infos[kNumDTypes] = {
      {"f16", 2},  {"bf16", 2},         {"f32", 4},          {"f64", 8},
      {"i1", 1},   {"i8", 1},           {"i16", 2},          {"i32", 4},
      {"i64", 8},  {"ui8", 1},          {"ui16", 2},         {"ui32", 4},
      {"ui64", 8}, {"complex<f32>", 8}, {"complex<f64>", 16}};
  return infos[static_cast<int32_t>(dtype)];
}

size_t mlir::rope::getByteSize(DType dtype) { return getInfo(dtype).byteSize; }

llvm::StringRef mlir::rope::getName(DType dtype) { return getInfo(dtype).name; }

bool mlir::rope::isFloat(DType dtype) { return dtype <= DType::F64; }

bool mlir::rope::isComplex(DType dtype) { return dtype >= DType::C64; }

bool mlir::rope::isReadableAs(DType stored, DType wanted) {
  if (stored == wanted || (stored == DType::U16 && wanted == DType::BF16))
    return true;
  auto isInteger = [](DType dtype) {
    return dtype >= DType::I8 && dtype <= DType::U64;
  };
  return isInteger(stored) && isInteger(wanted) &&
         getByteSize(stored) == getByteSize(wanted);
}

std::string mlir::rope::formatShape(llvm::ArrayRef<int64_t> shape) {
  return llvm::join(llvm::map_range(shape,
                                    [](int64_t size) {
                                      return size < 0 ? std::string("?")
                                                      : std::to_string(size);
                                    }),
                    "x");
}

std::optional<int64_t>
mlir::rope::countElements(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (size < 0 || llvm::MulOverflow(count, size, count))
      return std::nullopt;
  return count;
}

llvm::Expected<Array> Array::create(DType dtype,
                                    llvm::ArrayRef<int64_t> shape) {
  std::optional<int64_t> count = countElements(shape);
  int64_t bytes = 0, padded = 0;
  if (!count ||
      llvm::MulOverflow(*count, static_cast<int64_t>(getByteSize(dtype)),
                        bytes) ||
      llvm::AddOverflow(bytes, static_cast<int64_t>(kAlignment), padded))
    return llvm::createStringError("an array of shape " + formatShape(shape) +
                                   " is too large");
  // calloc, so that untouched pages of a large array cost nothing.
  void *block = std::calloc(padded, 1);
  if (!block)
    return llvm::createStringError("no memory for an array of " +
                                   llvm::Twine(bytes) + " bytes");
  uintptr_t start =
      llvm::alignTo(reinterpret_cast<uintptr_t>(block), kAlignment);
  return adopt(dtype, shape, block, reinterpret_cast<void *>(start));
}

Array Array::adopt(DType dtype, llvm::ArrayRef<int64_t> shape, void *allocated,
                   void *data) {
  Array array;
  array.dtype = dtype;
  array.shape.assign(shape.begin(), shape.end());
  array.numElements = countElements(shape).value_or(0);
  array.block.reset(allocated);
  array.data = static_cast<char *>(data);
  return array;
}

template <typename T> static T load(const char *data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T> static void store(char *data, int64_t index, T value) {
  std::memcpy(data + index * sizeof(T), &value, sizeof(T));
}

static double decodeHalf(const llvm::fltSemantics &semantics, uint16_t bits) {
  APFloat value(semantics, llvm::APInt(16, bits));
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

static uint16_t encodeHalf(const llvm::fltSemantics &semantics, double value) {
  APFloat rounded(value);
  bool losesInfo;
  rounded.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return rounded.bitcastToAPInt().getZExtValue();
}

/// The nearest integer towards zero; 0 for what has none in 64 bits.
static int64_t toInteger(double value) {
  return std::abs(value) < 0x1p63 ? static_cast<int64_t>(value) : 0;
}

std::complex<double> Array::get(int64_t index) const {
  switch (dtype) {
  case DType::F16:
    return decodeHalf(APFloat::IEEEhalf(), load<uint16_t>(data, index));
  case DType::BF16:
    return decodeHalf(APFloat::BFloat(), load<uint16_t>(data, index));
  case DType::F32:
    return load<float>(data, index);
  case DType::F64:
    return load<double>(data, index);
  case DType::I1:
    return data[index] != 0;
  case DType::I8:
    return load<int8_t>(data, index);
  case DType::I16:
    return load<int16_t>(data, index);
  case DType::I32:
    return load<int32_t>(data, index);
  case DType::I64:
    return static_cast<double>(load<int64_t>(data, index));
  case DType::U8:
    return load<uint8_t>(data, index);
  case DType::U16:
    return load<uint16_t>(data, index);
  case DType::U32:
    return load<uint32_t>(data, index);
  case DType::U64:
    return static_cast<double>(load<uint64_t>(data, index));
  case DType::C64:
    return {load<float>(data, 2 * index), load<float>(data, 2 * index + 1)};
  case DType::C128:
    return {load<double>(data, 2 * index), load<double>(data, 2 * index + 1)};
  }
  llvm_unreachable("unknown element type");
}

void Array::set(int64_t index, double value) {
  int64_t integer = toInteger(value);
  switch (dtype) {
  case DType::F16:
    return store(data, index, encodeHalf(APFloat::IEEEhalf(), value));
  case DType::BF16:
    return store(data, index, encodeHalf(APFloat::BFloat(), value));
  case DType::F32:
    return store(data, index, static_cast<float>(value));
  case DType::F64:
    return store(data, index, value);
  case DType::I1:
    return store<uint8_t>(data, index, value != 0);
  case DType::I8:
  case DType::U8:
    return store(data, index, static_cast<uint8_t>(integer));
  case DType::I16:
  case DType::U16:
    return store(data, index, static_cast<uint16_t>(integer));
  case DType::I32:
  case DType::U32:
    return store(data, index, static_cast<uint32_t>(integer));
  case DType::I64:
  case DType::U64:
    return store(data, index, integer);
  case DType::C64:
    store(data, 2 * index, static_cast<float>(value));
    return store(data, 2 * index + 1, 0.0f);
  case DType::C128:
    store(data, 2 * index, value);
    return store(data, 2 * index + 1, 0.0);
  }
  llvm_unreachable("unknown element type");
}
