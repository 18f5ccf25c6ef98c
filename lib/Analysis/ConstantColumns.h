//===- ConstantColumns.h - Elements and slices of constants -----*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_ANALYSIS_CONSTANTCOLUMNS_H
#define ROPE_LIB_ANALYSIS_CONSTANTCOLUMNS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

namespace mlir::rope {

/// The elements of a constant, in row-major order, read where they lie. Those
/// of types that are no whole number of bytes are not at hand, nor are elided
/// resources.
class ConstantReader {
public:
  explicit ConstantReader(ElementsAttr elements);

  /// Whether the elements are at hand.
  explicit operator bool() const { return !data.empty(); }
  int64_t size() const { return count; }
  /// The bytes of an element.
  StringRef getBytes(int64_t position) const {
    return StringRef(data.data() + position * bytes, bytes);
  }
  /// An element as an attribute of the element type.
  Attribute getAttribute(int64_t position) const;
  /// An element as a number; part 1 is the imaginary part of a complex one.
  double getNumber(int64_t position, unsigned part = 0) const;

private:
  ArrayRef<char> data;
  Type type;
  int64_t count = 0;
  int64_t bytes = 0;
};

/// Tells which slices of constants are equal. A slice fixes the index along
/// some dims and is whole along the others. Constants too large to be gone
/// through have no slices that are known to be equal.
class ConstantColumns {
public:
  /// The first index along the fixed dims (those with a value in `index`)
  /// whose slice equals that of `index`; `index` itself if none is before it.
  SmallVector<std::optional<int64_t>>
  getRepresentative(ElementsAttr elements,
                    ArrayRef<std::optional<int64_t>> index);

private:
  /// For a constant and a choice of fixed dims, the representative of each
  /// fixed index, in row-major order.
  std::map<std::pair<const void *, SmallVector<bool>>, SmallVector<int64_t>>
      classes;
};

} // namespace mlir::rope

#endif // ROPE_LIB_ANALYSIS_CONSTANTCOLUMNS_H
