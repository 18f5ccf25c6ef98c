//===- ConstantColumns.cpp - Elements and slices of constants -------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model's tables often hold each frequency twice. Elements of two columns
// are equal wherever they are read if the columns are, so each constant is
// gone through once for each choice of fixed dims.
//
//===----------------------------------------------------------------------===//

#include "ConstantColumns.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/Hashing.h"

#include <cstring>

using namespace mlir;
using namespace mlir::rope;

/// Elements of the largest constant that is gone through.
static constexpr int64_t kMaxElements = int64_t(1) << 25;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The bits of one element, or 0 if it is no whole number of bytes.
static int64_t getElementBits(Type type) {
  int64_t parts = 1;
  if (auto complex = dyn_cast<ComplexType>(type)) {
    type = complex.getElementType();
    parts = 2;
  }
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() % 8 != 0 ||
      type.getIntOrFloatBitWidth() > 64)
    return 0;
  return parts * type.getIntOrFloatBitWidth();
}

ConstantReader::ConstantReader(ElementsAttr elements)
    : type(elements.getElementType()),
      count(elements.getShapedType().getNumElements()),
      bytes(getElementBits(type) / 8) {
  if (bytes == 0)
    return;
  if (auto dense = dyn_cast<DenseElementsAttr>(elements)) {
    if (!dense.isSplat())
      data = dense.getRawData();
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      data = blob->getData();
  }
  if (static_cast<int64_t>(data.size()) != count * bytes)
    data = {};
}

/// A number of `type` from its bytes.
static Attribute readAttribute(Type type, const char *from) {
  unsigned bits = type.getIntOrFloatBitWidth();
  uint64_t raw = 0;
  std::memcpy(&raw, from, bits / 8);
  APInt value(bits, raw);
  if (auto real = dyn_cast<FloatType>(type))
    return FloatAttr::get(type, APFloat(real.getFloatSemantics(), value));
  return IntegerAttr::get(type, value);
}

Attribute ConstantReader::getAttribute(int64_t position) const {
  const char *from = data.data() + position * bytes;
  auto complex = dyn_cast<ComplexType>(type);
  if (!complex)
    return readAttribute(type, from);
  Type part = complex.getElementType();
  return ArrayAttr::get(
      type.getContext(),
      {readAttribute(part, from), readAttribute(part, from + bytes / 2)});
}

double ConstantReader::getNumber(int64_t position, unsigned part) const {
  const char *from = data.data() + position * bytes;
  Type number = type;
  if (auto complex = dyn_cast<ComplexType>(type)) {
    number = complex.getElementType();
    from += part * (bytes / 2);
  }
  // The common types, without an attribute for each element.
  if (number.isF32()) {
    float value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
  if (number.isF64()) {
    double value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
  Attribute value = readAttribute(number, from);
  if (auto real = dyn_cast<FloatAttr>(value))
    return real.getValueAsDouble();
  return static_cast<double>(
      cast<IntegerAttr>(value).getValue().getSExtValue());
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

namespace {
/// A constant whose dims are either fixed or whole.
class SliceView {
public:
  SliceView(ArrayRef<int64_t> shape, ArrayRef<bool> fixed) {
    for (auto [extent, isFixed] : llvm::zip_equal(shape, fixed))
      (isFixed ? slices : length) *= extent;
    int64_t stride = 1;
    for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
      (fixed[dim] ? fixedDims : wholeDims).push_back({shape[dim], stride});
      stride *= shape[dim];
    }
  }

  int64_t getNumSlices() const { return slices; }
  int64_t getLength() const { return length; }
  /// The position of element `i` of a slice.
  int64_t getPosition(int64_t slice, int64_t i) const {
    return getOffset(fixedDims, slice) + getOffset(wholeDims, i);
  }

private:
  /// Dims from the innermost on.
  using Dims = SmallVector<std::pair<int64_t, int64_t>>;
  static int64_t getOffset(const Dims &dims, int64_t number) {
    int64_t offset = 0;
    for (auto [extent, stride] : dims) {
      offset += number % extent * stride;
      number /= extent;
    }
    return offset;
  }

  int64_t slices = 1, length = 1;
  Dims fixedDims, wholeDims;
};
} // namespace

/// The first slice that equals each one. Slices are compared by hash first.
static SmallVector<int64_t> classify(const ConstantReader &reader,
                                     const SliceView &view) {
  SmallVector<int64_t> representatives;
  llvm::DenseMap<uint64_t, SmallVector<int64_t, 1>> byHash;
  for (int64_t slice = 0; slice < view.getNumSlices(); ++slice) {
    llvm::hash_code hash(0);
    for (int64_t i = 0; i < view.getLength(); ++i)
      hash =
          llvm::hash_combine(hash, reader.getBytes(view.getPosition(slice, i)));
    auto equals = [&](int64_t other) {
      for (int64_t i = 0; i < view.getLength(); ++i)
        if (reader.getBytes(view.getPosition(slice, i)) !=
            reader.getBytes(view.getPosition(other, i)))
          return false;
      return true;
    };
    // The two greatest numbers are keys of the map's own.
    SmallVector<int64_t, 1> &candidates =
        byHash[static_cast<uint64_t>(size_t(hash)) >> 1];
    int64_t *found = llvm::find_if(candidates, equals);
    representatives.push_back(found == candidates.end() ? slice : *found);
    if (found == candidates.end())
      candidates.push_back(slice);
  }
  return representatives;
}

SmallVector<std::optional<int64_t>>
ConstantColumns::getRepresentative(ElementsAttr elements,
                                   ArrayRef<std::optional<int64_t>> index) {
  SmallVector<std::optional<int64_t>> result(index);
  SmallVector<bool> fixed = llvm::map_to_vector(
      index, [](std::optional<int64_t> i) { return i.has_value(); });
  ConstantReader reader(elements);
  if (!reader || reader.size() > kMaxElements ||
      llvm::none_of(fixed, [](bool f) { return f; }))
    return result;
  ArrayRef<int64_t> shape = elements.getShapedType().getShape();
  int64_t slice = 0;
  for (auto [i, extent] : llvm::zip_equal(index, shape)) {
    if (i && (*i < 0 || *i >= extent))
      return result;
    slice = i ? slice * extent + *i : slice;
  }
  auto [entry, inserted] = classes.try_emplace(
      {elements.getAsOpaquePointer(), fixed}, SmallVector<int64_t>());
  if (inserted)
    entry->second = classify(reader, SliceView(shape, fixed));
  int64_t representative = entry->second[slice];
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim)
    if (fixed[dim]) {
      result[dim] = representative % shape[dim];
      representative /= shape[dim];
    }
  return result;
}
