//===- ConstantData.h - The bytes of constants ------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_ANALYSIS_CONSTANTDATA_H
#define ROPE_ANALYSIS_CONSTANTDATA_H

#include "mlir/IR/BuiltinAttributes.h"

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

} // namespace mlir::rope

#endif // ROPE_ANALYSIS_CONSTANTDATA_H
