//===- Descriptors.cpp - Arguments and results of one call ----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Descriptors.h"
#include "Strides.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir;
using namespace mlir::rope;

/// What MLIR's lowering puts in place of the block of a constant
/// (memref.get_global in MemRefToLLVM.cpp).
static constexpr uintptr_t kConstantBlock = 0xdeadbeef;

/// 8-byte words of a descriptor: two pointers, an offset, sizes and strides.
static size_t getDescriptorWords(const ValueSpec &spec) {
  return 3 + 2 * spec.shape.size();
}

static size_t getResultBytes(const ValueSpec &spec) {
  return spec.isScalar ? getByteSize(spec.dtype)
                       : getDescriptorWords(spec) * sizeof(int64_t);
}

static size_t getResultAlignment(const ValueSpec &spec) {
  if (!spec.isScalar)
    return alignof(int64_t);
  return getByteSize(spec.dtype) / (isComplex(spec.dtype) ? 2 : 1);
}

/// The offsets of the results in the struct that holds them, and its size.
static size_t layOutResults(ArrayRef<ValueSpec> results,
                            SmallVectorImpl<size_t> &offsets) {
  size_t size = 0;
  for (const ValueSpec &spec : results) {
    size = llvm::alignTo(size, getResultAlignment(spec));
    offsets.push_back(size);
    size += getResultBytes(spec);
  }
  return size;
}

static std::vector<int64_t> describe(const ArrayView &arg) {
  size_t rank = arg.shape.size();
  std::vector<int64_t> words(3 + 2 * rank);
  words[0] = words[1] = reinterpret_cast<intptr_t>(arg.data);
  int64_t stride = 1;
  for (size_t dim = rank; dim-- > 0;) {
    words[3 + dim] = arg.shape[dim];
    words[3 + rank + dim] = stride;
    stride *= arg.shape[dim];
  }
  return words;
}

/// Whether a function with these results returns the value itself instead of
/// writing it through a pointer.
static bool returnsValue(ArrayRef<ValueSpec> results) {
  return results.size() == 1 && results[0].isScalar &&
         !isComplex(results[0].dtype);
}

CallFrame::CallFrame(const EntryPoint &entry, ArrayRef<ArrayView> args)
    : entry(entry), args(args) {
  size_t bytes = layOutResults(entry.results, resultOffsets);
  resultMemory.resize(bytes / sizeof(int64_t) + 1);
  resultPointer = resultMemory.data();
  bool throughPointer = !entry.results.empty() && !returnsValue(entry.results);
  if (throughPointer)
    packed.push_back(&resultPointer);
  pointers.reserve(args.size());
  for (auto [spec, arg] : llvm::zip_equal(entry.args, args)) {
    if (spec.isScalar) {
      packed.push_back(arg.data);
      continue;
    }
    descriptors.push_back(describe(arg));
    pointers.push_back(descriptors.back().data());
    packed.push_back(&pointers.back());
  }
  if (!entry.results.empty() && !throughPointer)
    packed.push_back(resultPointer);
}

bool CallFrame::belongsToCaller(const char *block) const {
  return llvm::any_of(args, [&](const ArrayView &arg) {
    auto *data = static_cast<const char *>(arg.data);
    size_t bytes =
        countElements(arg.shape).value_or(0) * getByteSize(arg.dtype);
    return block == data || (block >= data && block < data + bytes);
  });
}

static bool isDense(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  int64_t expected = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (shape[dim] != 1 && strides[dim] != expected)
      return false;
    expected *= shape[dim];
  }
  return true;
}

llvm::Expected<Array> CallFrame::takeTensor(const ValueSpec &spec,
                                            const char *memory) {
  SmallVector<int64_t> words(getDescriptorWords(spec));
  std::memcpy(words.data(), memory, words.size() * sizeof(int64_t));
  auto *block = reinterpret_cast<char *>(words[0]);
  size_t width = getByteSize(spec.dtype);
  char *data = reinterpret_cast<char *>(words[1]) + words[2] * width;
  ArrayRef<int64_t> shape = ArrayRef(words).slice(3, spec.shape.size());
  ArrayRef<int64_t> strides = ArrayRef(words).drop_front(3 + shape.size());

  bool isConstant = words[0] == static_cast<int64_t>(kConstantBlock);
  bool isOwned = !isConstant && !belongsToCaller(block) &&
                 !llvm::is_contained(claimed, block);
  if (isOwned && isDense(shape, strides)) {
    llvm::erase(unclaimed, block);
    claimed.push_back(block);
    return Array::adopt(spec.dtype, shape, block, data);
  }
  if (isOwned && !llvm::is_contained(unclaimed, block))
    unclaimed.push_back(block);
  llvm::Expected<Array> array = Array::create(spec.dtype, shape);
  if (array)
    copyStrided(*array, data, strides);
  return array;
}

llvm::Expected<SmallVector<Array>> CallFrame::takeResults() {
  SmallVector<Array> arrays;
  llvm::Error failure = llvm::Error::success();
  for (auto [spec, offset] : llvm::zip_equal(entry.results, resultOffsets)) {
    auto *memory = reinterpret_cast<const char *>(resultMemory.data()) + offset;
    llvm::Expected<Array> array = spec.isScalar ? Array::create(spec.dtype, {})
                                                : takeTensor(spec, memory);
    if (!array) {
      failure = llvm::joinErrors(std::move(failure), array.takeError());
      continue;
    }
    if (spec.isScalar)
      std::memcpy(array->getData(), memory, getByteSize(spec.dtype));
    arrays.push_back(std::move(*array));
  }
  for (void *block : unclaimed)
    std::free(block);
  if (failure)
    return std::move(failure);
  return arrays;
}
