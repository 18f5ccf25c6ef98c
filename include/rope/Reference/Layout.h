//===- Layout.h - Dimension letters -----------------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Brings an array from a layout written in dimension letters to another one, as
// for a query [b, m, (h g), d] which the attention evaluator wants as
// [b, h, g, m, d].
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_REFERENCE_LAYOUT_H
#define ROPE_REFERENCE_LAYOUT_H

#include "rope/Reference/Array.h"
#include <map>
#include <string_view>

namespace mlir::rope::reference {

/// Extents of dimension letters.
using Extents = std::map<char, int64_t>;

/// Reorders, splits, merges, adds and drops dims. A layout has one item per
/// dim: a letter, `1` (a unit dim) or a group such as `(hg)`, in which the
/// first letter varies slowest. For example
///
///     rearrange(query, "bm(hg)d", "bhgmd", {{'g', 4}})
///     rearrange(output, "bhgmd", "bm(hg)d")
///
/// - Of the letters of one group in `from`, at most one may be missing from
///   `extents`: it is inferred.
/// - A letter only in `to` has extent 1 in the result, unless `extents` names
///   one: then the array is repeated along it.
/// - A letter only in `from` must have extent 1.
///
/// Aborts when the layouts do not fit the array; `findLayoutError` tells.
Array rearrange(const Array &array, std::string_view from, std::string_view to,
                const Extents &extents = {});

/// Why `rearrange` would refuse these arguments, or nothing.
MaybeError findLayoutError(const Shape &shape, std::string_view from,
                           std::string_view to, const Extents &extents = {});

} // namespace mlir::rope::reference

#endif // ROPE_REFERENCE_LAYOUT_H
