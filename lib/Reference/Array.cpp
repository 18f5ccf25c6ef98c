//===- Array.cpp - Dense f64 and i64 arrays -------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Storage and movements of the reference evaluator's arrays.
//
//===----------------------------------------------------------------------===//

#include "rope/Reference/Array.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

using namespace mlir::rope::reference;

void mlir::rope::reference::reportInvalid(const std::string &message) {
  std::fprintf(stderr, "rope reference: %s\n", message.c_str());
  std::abort();
}

int64_t mlir::rope::reference::getNumElements(const Shape &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

std::string mlir::rope::reference::toString(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

/// How far apart neighbours along each dim lie in row-major order.
static std::vector<int64_t> getStrides(const Shape &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

/// Reads `source` at the sum of index·stride for each index of `shape`, in
/// row-major order.
template <typename T>
static std::vector<T> gather(const T *source, const Shape &shape,
                             const std::vector<int64_t> &strides) {
  std::vector<T> result(getNumElements(shape));
  Shape index(shape.size(), 0);
  int64_t offset = 0;
  for (T &element : result) {
    element = source[offset];
    for (int64_t dim = static_cast<int64_t>(shape.size()) - 1; dim >= 0;
         --dim) {
      offset += strides[dim];
      if (++index[dim] < shape[dim])
        break;
      offset -= strides[dim] * shape[dim];
      index[dim] = 0;
    }
  }
  return result;
}

template <typename T>
BasicArray<T>::BasicArray(Shape shape) : shape(std::move(shape)) {
  for (int64_t extent : this->shape)
    if (extent < 0)
      reportInvalid("negative extent in shape " + toString(this->shape));
  elements.resize(reference::getNumElements(this->shape));
}

template <typename T>
BasicArray<T>::BasicArray(Shape shape, std::vector<T> elements)
    : shape(std::move(shape)), elements(std::move(elements)) {
  if (reference::getNumElements(this->shape) != getNumElements())
    reportInvalid(std::to_string(getNumElements()) +
                  " elements for an array of shape " + toString(this->shape));
}

template <typename T>
BasicArray<T> BasicArray<T>::filled(Shape shape, T value) {
  BasicArray result(std::move(shape));
  std::fill(result.elements.begin(), result.elements.end(), value);
  return result;
}

template <typename T> BasicArray<T> BasicArray<T>::iota(int64_t size, T start) {
  BasicArray result(Shape{size});
  std::iota(result.elements.begin(), result.elements.end(), start);
  return result;
}

template <typename T>
int64_t BasicArray<T>::getOffset(const Shape &index) const {
  bool inside = index.size() == shape.size();
  int64_t offset = 0;
  for (size_t i = 0; inside && i < shape.size(); ++i) {
    inside = index[i] >= 0 && index[i] < shape[i];
    offset = offset * shape[i] + index[i];
  }
  if (!inside)
    reportInvalid("index " + toString(index) + " outside of shape " +
                  toString(shape));
  return offset;
}

template <typename T>
BasicArray<T>
BasicArray<T>::permute(const std::vector<int64_t> &permutation) const {
  std::vector<bool> seen(shape.size(), false);
  Shape newShape;
  std::vector<int64_t> strides, oldStrides = getStrides(shape);
  for (int64_t dim : permutation) {
    if (dim < 0 || dim >= getRank() || seen[dim])
      break;
    seen[dim] = true;
    newShape.push_back(shape[dim]);
    strides.push_back(oldStrides[dim]);
  }
  if (newShape.size() != shape.size() || permutation.size() != shape.size())
    reportInvalid("no permutation of " + std::to_string(getRank()) +
                  " dims: " + toString(permutation));
  return BasicArray(newShape, gather(data(), newShape, strides));
}

template <typename T>
BasicArray<T> BasicArray<T>::reshape(Shape newShape) const {
  auto inferred = std::find(newShape.begin(), newShape.end(), -1);
  if (inferred != newShape.end()) {
    *inferred = 1;
    int64_t others = reference::getNumElements(newShape);
    *inferred = others ? getNumElements() / others : 0;
  }
  return BasicArray(std::move(newShape), elements);
}

template <typename T>
BasicArray<T> BasicArray<T>::broadcastTo(const Shape &newShape) const {
  int64_t added = static_cast<int64_t>(newShape.size()) - getRank();
  bool fits = added >= 0;
  std::vector<int64_t> strides(newShape.size(), 0);
  std::vector<int64_t> oldStrides = getStrides(shape);
  for (int64_t i = 0; fits && i < getRank(); ++i) {
    fits = shape[i] == 1 || shape[i] == newShape[added + i];
    if (shape[i] != 1)
      strides[added + i] = oldStrides[i];
  }
  if (!fits)
    reportInvalid("cannot broadcast " + toString(shape) + " to " +
                  toString(newShape));
  return BasicArray(newShape, gather(data(), newShape, strides));
}

template <typename T>
BasicArray<T> BasicArray<T>::slice(int64_t dim, int64_t start,
                                   int64_t size) const {
  if (dim < 0 || dim >= getRank() || start < 0 || size < 0 ||
      start > shape[dim] - size)
    reportInvalid("slice of dim " + std::to_string(dim) + " from " +
                  std::to_string(start) + " of size " + std::to_string(size) +
                  " outside of shape " + toString(shape));
  Shape newShape = shape;
  newShape[dim] = size;
  std::vector<int64_t> strides = getStrides(shape);
  return BasicArray(newShape,
                    gather(data() + start * strides[dim], newShape, strides));
}

/// The product of the extents outside of dim `dim`.
static int64_t getOuterSize(const Shape &shape, int64_t dim) {
  return getNumElements(Shape(shape.begin(), shape.begin() + dim));
}

template <typename T>
BasicArray<T> BasicArray<T>::concat(const std::vector<BasicArray> &arrays,
                                    int64_t dim) {
  if (arrays.empty() || dim < 0 || dim >= arrays[0].getRank())
    reportInvalid("nothing to concatenate along dim " + std::to_string(dim));
  Shape newShape = arrays[0].shape;
  newShape[dim] = 0;
  for (const BasicArray &array : arrays) {
    Shape others = array.shape;
    if (array.getRank() == arrays[0].getRank())
      others[dim] = arrays[0].shape[dim];
    if (others != arrays[0].shape)
      reportInvalid("cannot concatenate " + toString(arrays[0].shape) +
                    " and " + toString(array.shape) + " along dim " +
                    std::to_string(dim));
    newShape[dim] += array.shape[dim];
  }
  std::vector<T> elements;
  int64_t outerSize = getOuterSize(newShape, dim);
  for (int64_t outer = 0; outer < outerSize; ++outer)
    for (const BasicArray &array : arrays) {
      int64_t chunk = array.getNumElements() / outerSize;
      const T *begin = array.data() + outer * chunk;
      elements.insert(elements.end(), begin, begin + chunk);
    }
  return BasicArray(std::move(newShape), std::move(elements));
}

template class mlir::rope::reference::BasicArray<double>;
template class mlir::rope::reference::BasicArray<int64_t>;
