//===- ConstantColumns.h - Elements and slices of constants -----*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_ANALYSIS_CONSTANTCOLUMNS_H
#define ROPE_LIB_ANALYSIS_CONSTANTCOLUMNS_H

#include "rope/Analysis/ConstantData.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

namespace mlir::rope {

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
