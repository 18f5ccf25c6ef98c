//===- Strides.cpp - Elements that are not dense --------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Strides.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace mlir::rope;

void mlir::rope::copyStrided(Array &array, const char *source,
                             llvm::ArrayRef<int64_t> strides) {
  llvm::ArrayRef<int64_t> shape = array.getShape();
  size_t width = getByteSize(array.getDType());
  llvm::SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0, e = array.getNumElements(); i != e; ++i) {
    int64_t offset = 0;
    for (auto [position, stride] : llvm::zip_equal(index, strides))
      offset += position * stride;
    std::memcpy(array.getData() + i * width, source + offset * width, width);
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++index[dim] < shape[dim])
        break;
      index[dim] = 0;
    }
  }
}
