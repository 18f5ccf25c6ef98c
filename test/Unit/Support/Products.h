//===- Products.h - Errors of matrix products -------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_TEST_UNIT_SUPPORT_PRODUCTS_H
#define ROPE_TEST_UNIT_SUPPORT_PRODUCTS_H

#include "Support/Numbers.h"

namespace mlir::rope::test {

/// Extents of a product [batch, rows, steps] by [batch, steps, columns].
struct Sizes {
  int64_t batch, rows, columns, steps;
};

/// The largest error of r = c + a·b, relative to the sum of the magnitudes of
/// the terms. b is stored [steps, columns], or transposed.
double getProductError(const Array &a, const Array &b, const Array &c,
                       const Array &r, Sizes s, bool transposed);

} // namespace mlir::rope::test

#endif // ROPE_TEST_UNIT_SUPPORT_PRODUCTS_H
