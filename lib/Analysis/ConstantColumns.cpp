//===- ConstantColumns.cpp - Equal slices of constants --------------------===//
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

using namespace mlir;
using namespace mlir::rope;

ArrayRef<char> rope::getRawData(ElementsAttr elements) {
  Type type = elements.getElementType();
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() % 8 != 0)
    return {};
  ArrayRef<char> data;
  if (auto dense = dyn_cast<DenseElementsAttr>(elements)) {
    if (!dense.isSplat())
      data = dense.getRawData();
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      data = blob->getData();
  }
  int64_t bytes = type.getIntOrFloatBitWidth() / 8;
  bool whole = static_cast<int64_t>(data.size()) ==
               elements.getShapedType().getNumElements() * bytes;
  return whole ? data : ArrayRef<char>();
}

/// The bytes of each slice, in row-major order of the fixed dims.
static SmallVector<std::string>
getSlices(ElementsAttr elements, ArrayRef<bool> fixed, ArrayRef<char> data) {
  ArrayRef<int64_t> shape = elements.getShapedType().getShape();
  int64_t bytes = elements.getElementType().getIntOrFloatBitWidth() / 8;
  int64_t count = 1;
  for (auto [extent, isFixed] : llvm::zip_equal(shape, fixed))
    count *= isFixed ? extent : 1;
  SmallVector<std::string> slices(count);
  int64_t total = elements.getShapedType().getNumElements();
  SmallVector<int64_t> at(shape.size(), 0);
  for (int64_t position = 0; position < total; ++position) {
    int64_t slice = 0;
    for (auto [i, extent, isFixed] : llvm::zip_equal(at, shape, fixed))
      slice = isFixed ? slice * extent + i : slice;
    slices[slice].append(data.data() + position * bytes, bytes);
    for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
      if (++at[dim] < shape[dim])
        break;
      at[dim] = 0;
    }
  }
  return slices;
}

static SmallVector<int64_t> classify(ArrayRef<std::string> slices) {
  llvm::StringMap<int64_t> first;
  return llvm::map_to_vector(
      llvm::enumerate(slices), [&](auto slice) -> int64_t {
        return first.try_emplace(slice.value(), slice.index()).first->second;
      });
}

SmallVector<std::optional<int64_t>>
ConstantColumns::getRepresentative(ElementsAttr elements,
                                   ArrayRef<std::optional<int64_t>> index) {
  SmallVector<std::optional<int64_t>> result(index);
  SmallVector<bool> fixed = llvm::map_to_vector(
      index, [](std::optional<int64_t> i) { return i.has_value(); });
  ArrayRef<char> data = getRawData(elements);
  if (data.empty() || llvm::none_of(fixed, [](bool f) { return f; }))
    return result;
  auto [entry, inserted] = classes.try_emplace(
      {elements.getAsOpaquePointer(), fixed}, SmallVector<int64_t>());
  if (inserted)
    entry->second = classify(getSlices(elements, fixed, data));
  ArrayRef<int64_t> shape = elements.getShapedType().getShape();
  int64_t slice = 0;
  for (auto [i, extent] : llvm::zip_equal(index, shape)) {
    if (i && (*i < 0 || *i >= extent))
      return result;
    slice = i ? slice * extent + *i : slice;
  }
  int64_t representative = entry->second[slice];
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim)
    if (fixed[dim]) {
      result[dim] = representative % shape[dim];
      representative /= shape[dim];
    }
  return result;
}
